// @ts-check
/** The chart of a stock: candles, volume, averages, RSI, marks, and the levels of the account's price alerts, which can be moved. */
import { HistogramSeries, LineSeries, LineStyle, createSeriesMarkers } from "./vendor/lightweight-charts.js";
import { AlertLevel } from "./alert-level.js";
import { color } from "./chart-color.js";
import { addCandles, createPageChart } from "./chart-scale.js";
import { followScale } from "./level-slider.js";
import { PriceLabel } from "./price-label.js";

/**
 * @typedef {{id: string, price: number, side: "above" | "below"}} Level
 * @typedef {{time: string, kind: "firing" | "split" | "dividend" | "earnings", text: string}} Mark
 * @typedef {{symbol: string, price: number | null, candles: [string, number, number, number, number, number][], averages: {period: number, values: (number | null)[]}[], rsi: (number | null)[], levels: Level[], marks: Mark[]}} ChartData
 */

/** The height of the pane with the RSI, in pixels. */
const RSI_HEIGHT = 90;
/** The date of a moment in New York, where the sessions are. */
const sessionDate = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" });

class PriceChart extends HTMLElement {
  /** @type {import("lightweight-charts").IChartApi | undefined} */
  chart;
  /** @type {AbortController | undefined} */
  connection;

  connectedCallback() {
    const canvas = this.querySelector(".canvas");
    const data = this.querySelector("script")?.textContent;
    if (!(canvas instanceof HTMLElement) || !data || this.chart) return;
    this.draw(canvas, /** @type {ChartData} */ (JSON.parse(data)));
  }

  disconnectedCallback() {
    this.connection?.abort();
    this.chart?.remove();
    this.chart = undefined;
  }

  /**
   * @param {HTMLElement} canvas
   * @param {ChartData} data
   */
  draw(canvas, data) {
    const line = color(canvas, "--line");
    const chart = createPageChart(canvas);
    this.chart = chart;
    /** @type {AlertLevel[]} */
    let levels = [];
    const candles = addCandles(chart, canvas, data.candles, () => levels.map((level) => level.scalePrice()));
    const volume = chart.addSeries(HistogramSeries, {
      priceFormat: { type: "volume" },
      priceScaleId: "",
      color: line,
      lastValueVisible: false,
      priceLineVisible: false,
    });
    volume.priceScale().applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } });
    volume.setData(data.candles.map(([time, , , , , value]) => ({ time, value })));
    this.addIndicators(data, canvas);
    createSeriesMarkers(
      candles,
      data.marks.map(({ time, kind, text }) => ({
        time,
        text,
        position: kind === "firing" ? "aboveBar" : "belowBar",
        shape: kind === "firing" ? "arrowDown" : "circle",
        color: color(canvas, kind === "firing" ? "--accent" : "--amber"),
      })),
    );
    chart.timeScale().fitContent();
    const stock = { symbol: data.symbol, lastPrice: data.price };
    levels = this.addLevels(stock, data.levels, candles, color(canvas, "--accent"));
    this.addButton(stock, candles);
    this.follow(stock, data.candles, candles, levels);
  }

  /**
   * Adds the averages over the candles, and the RSI in a pane of its own with its usual bounds.
   * @param {ChartData} data
   * @param {HTMLElement} canvas
   */
  addIndicators(data, canvas) {
    const chart = this.chart;
    if (!chart) return;
    const add = (/** @type {(number | null)[]} */ values, /** @type {string} */ name, /** @type {string} */ title, pane = 0) => {
      const options = { color: color(canvas, name), lineWidth: /** @type {const} */ (1), title, priceLineVisible: false, lastValueVisible: pane > 0 };
      const series = chart.addSeries(LineSeries, options, pane);
      series.setData(data.candles.map(([time], place) => ({ time, value: values[place] ?? undefined })));
      return series;
    };
    data.averages.forEach(({ period, values }, place) => add(values, place === 0 ? "--focus" : "--amber", String(period)));
    const rsi = add(data.rsi, "--muted", "RSI", 1);
    for (const price of [30, 70]) {
      rsi.createPriceLine({ price, color: color(canvas, "--line"), lineWidth: 1, lineStyle: LineStyle.Dotted, axisLabelVisible: false, title: "" });
    }
    chart.panes()[1]?.setHeight(RSI_HEIGHT);
  }

  /**
   * Follows the price and the firings while the page is open.
   * @param {import("./alert-level.js").Stock} stock
   * @param {ChartData["candles"]} bars
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} candles
   * @param {AlertLevel[]} levels
   */
  follow(stock, bars, candles, levels) {
    this.connection = new AbortController();
    const { signal } = this.connection;
    let [time = "", open = 0, high = 0, low = 0] = bars.at(-1) ?? [];
    document.addEventListener(
      "quote",
      (event) => {
        const quote = /** @type {CustomEvent<import("./live-events.js").LiveQuote>} */ (event).detail;
        if (quote.symbol !== stock.symbol || quote.price === null || quote.time === null) return;
        const price = quote.price;
        stock.lastPrice = price;
        const date = sessionDate.format(new Date(quote.time));
        if (date < time) return;
        [time, open, high, low] = date === time ? [time, open, Math.max(high, price), Math.min(low, price)] : [date, price, price, price];
        candles.update({ time, open, high, low, close: price });
      },
      { signal },
    );
    document.addEventListener(
      "firing",
      (event) => {
        const firing = /** @type {CustomEvent<import("./live-events.js").LiveFiring>} */ (event).detail;
        levels.find((level) => level.level.id === firing.alert_id)?.fire();
      },
      { signal },
    );
  }

  /**
   * Adds a line and a slider for each level. Their places follow the scale.
   * @param {import("./alert-level.js").Stock} stock
   * @param {Level[]} stored
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} candles
   * @param {string} accent
   */
  addLevels(stock, stored, candles, accent) {
    const levels = stored.map((level) => {
      const line = candles.createPriceLine({
        price: level.price,
        color: accent,
        lineWidth: 1,
        lineStyle: LineStyle.Dashed,
        axisLabelVisible: false,
        title: "",
      });
      return new AlertLevel(this, stock, level, line, candles);
    });
    followScale(
      new PriceLabel(this, candles),
      () => levels,
      () => this.chart !== undefined,
    );
    return levels;
  }

  /**
   * Shows a button at the price under the pointer, which leads to a new alert.
   * @param {import("./alert-level.js").Stock} stock
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} candles
   */
  addButton(stock, candles) {
    const button = this.querySelector("button.add");
    if (!(button instanceof HTMLButtonElement)) return;
    let price = 0;
    this.chart?.subscribeCrosshairMove((event) => {
      const found = event.point ? candles.coordinateToPrice(event.point.y) : null;
      // The crosshair leaves the chart when the pointer enters the button.
      if (found === null && button.matches(":hover")) return;
      button.hidden = found === null;
      if (found === null || !event.point) return;
      price = found;
      button.style.top = `${event.point.y}px`;
    });
    button.addEventListener("pointerleave", () => (button.hidden = true));
    button.addEventListener("click", () => {
      const comparison = stock.lastPrice !== null && price > stock.lastPrice ? ">=" : "<=";
      const query = new URLSearchParams({ text: `${stock.symbol} ${comparison} ${price.toFixed(2)}` });
      location.assign(`${this.dataset["base"] ?? ""}/alerts/new?${query}`);
    });
  }
}

customElements.define("price-chart", PriceChart);
