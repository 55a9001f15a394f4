// @ts-check

/** The weight of the label among the levels: it stays at its price, and the levels make room. */
const WEIGHT = 1000;

/** The label of the last price at the scale of a chart. It is placed together with the levels (`followScale`). */
export class PriceLabel {
  weight = WEIGHT;
  y = 0;
  /** A label cannot be dragged. */
  draggedFrom = undefined;

  /**
   * @param {Element} chart
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
   */
  constructor(chart, series) {
    this.series = series;
    this.element = document.createElement("span");
    this.element.className = "price-label";
    this.element.ariaHidden = "true";
    chart.querySelector(".box")?.append(this.element);
  }

  /** Finds the place of the last price. Returns `null` if the chart has no scale or no price. */
  findLevel() {
    const price = this.lastPrice();
    const y = price === undefined ? null : this.series.priceToCoordinate(price);
    this.element.hidden = y === null || y < 0 || y > this.series.getPane().getHeight();
    if (y !== null && price !== undefined) {
      this.y = y;
      const text = this.series.priceFormatter().format(price);
      if (this.element.textContent !== text) this.element.textContent = text;
    }
    return this.element.hidden ? null : y;
  }

  lastPrice() {
    const last = this.series.data().at(-1);
    return last && "close" in last ? last.close : undefined;
  }

  /** @param {number} y */
  placeAt(y) {
    const top = `${y}px`;
    if (this.element.style.top !== top) this.element.style.top = top;
  }

  remove() {
    this.element.remove();
  }
}
