// @ts-check
/** The chart of a stock: candles, volume, and the levels of the account's price alerts. */
import { CandlestickSeries, HistogramSeries, LineStyle, createChart } from "./vendor/lightweight-charts.js";

/**
 * @typedef {{id: string, price: number, text: string}} Level
 * @typedef {{candles: [string, number, number, number, number, number][], levels: Level[]}} ChartData
 */

/**
 * Returns a color of the page, which follows the theme. The chart understands no `light-dark()`, so the browser computes it.
 * @param {Element} element
 * @param {string} name
 */
function color(element, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

class PriceChart extends HTMLElement {
  /** @type {ReturnType<typeof createChart> | undefined} */
  chart;

  connectedCallback() {
    const box = this.querySelector(".canvas");
    const data = this.querySelector("script")?.textContent;
    if (!(box instanceof HTMLElement) || !data || this.chart) return;
    this.draw(box, /** @type {ChartData} */ (JSON.parse(data)));
  }

  disconnectedCallback() {
    this.chart?.remove();
    this.chart = undefined;
  }

  /**
   * @param {HTMLElement} box
   * @param {ChartData} data
   */
  draw(box, data) {
    const [text, line, rise, fall] = ["--muted", "--line", "--rise", "--fall"].map((name) => color(box, name));
    const chart = createChart(box, {
      autoSize: true,
      layout: { background: { color: "transparent" }, textColor: text, attributionLogo: false },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
    });
    this.chart = chart;
    const candles = chart.addSeries(CandlestickSeries, {
      upColor: rise,
      downColor: fall,
      wickUpColor: rise,
      wickDownColor: fall,
      borderVisible: false,
    });
    candles.setData(data.candles.map(([time, open, high, low, close]) => ({ time, open, high, low, close })));
    const volume = chart.addSeries(HistogramSeries, { priceFormat: { type: "volume" }, priceScaleId: "", color: line });
    volume.priceScale().applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } });
    volume.setData(data.candles.map(([time, , , , , value]) => ({ time, value })));
    const accent = color(box, "--accent");
    for (const level of data.levels) {
      candles.createPriceLine({ price: level.price, color: accent, lineWidth: 1, lineStyle: LineStyle.Dashed, title: "" });
    }
    chart.timeScale().fitContent();
  }
}

customElements.define("price-chart", PriceChart);
