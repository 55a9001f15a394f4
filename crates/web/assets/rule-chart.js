// @ts-check
/** The chart of a rule: candles, its levels, and its firings in the preview. It follows the data in its page. */
import { LineStyle, createChart, createSeriesMarkers } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";
import { addCandles } from "./chart-scale.js";

/** With more firings than this, the marks have no text. */
const MAX_NAMED_FIRINGS = 6;

/**
 * @typedef {{price: number, is_former: boolean, text: string}} Level
 * @typedef {{symbol: string, candles: [string, number, number, number, number, number][], levels: Level[], firings: string[], firing_text: string}} RuleChartData
 */

class RuleChart extends HTMLElement {
  /** @type {ReturnType<typeof createChart> | undefined} */
  chart;
  /** The data that is drawn. */
  drawn = "";
  /** @type {AbortController | undefined} */
  connection;

  connectedCallback() {
    this.connection = new AbortController();
    // The builder replaces the data while one types; the data of an approval stays.
    document.addEventListener("htmx:after:swap", () => this.draw(), { signal: this.connection.signal });
    this.draw();
  }

  disconnectedCallback() {
    this.connection?.abort();
    this.removeChart();
  }

  removeChart() {
    this.chart?.remove();
    this.chart = undefined;
  }

  draw() {
    const source = this.dataset["source"];
    const text = (source ? document.getElementById(source) : this)?.dataset["chart"] ?? "";
    const canvas = this.querySelector(".canvas");
    if (!(canvas instanceof HTMLElement) || text === this.drawn) return;
    this.drawn = text;
    canvas.hidden = text === "";
    this.removeChart();
    if (text === "") return;
    /** @type {RuleChartData} */
    const data = JSON.parse(text);
    canvas.ariaLabel = `${canvas.dataset["label"]} ${data.symbol}`;
    const [muted = "", line = "", accent = ""] = ["--muted", "--line", "--accent"].map((name) => color(canvas, name));
    const chart = createChart(canvas, {
      autoSize: true,
      layout: { background: { color: "transparent" }, textColor: muted, attributionLogo: false },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
    });
    this.chart = chart;
    const candles = addCandles(chart, canvas, data.candles, () => data.levels.map((level) => level.price));
    for (const level of data.levels) {
      candles.createPriceLine({
        price: level.price,
        color: level.is_former ? muted : accent,
        lineWidth: 1,
        lineStyle: level.is_former ? LineStyle.Dotted : LineStyle.Dashed,
        axisLabelVisible: true,
        title: level.text,
      });
    }
    const marks = data.firings.map((time) => ({
      time,
      text: data.firings.length > MAX_NAMED_FIRINGS ? "" : data.firing_text,
      position: /** @type {const} */ ("aboveBar"),
      shape: /** @type {const} */ ("arrowDown"),
      color: accent,
    }));
    createSeriesMarkers(candles, marks);
    chart.timeScale().fitContent();
  }
}

customElements.define("rule-chart", RuleChart);
