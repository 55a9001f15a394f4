// @ts-check
/** The chart of a rule: candles, its levels, and its firings in the preview. It follows the data in its page. */
import { LineStyle, createSeriesMarkers } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";
import { addCandles, createPageChart, setCandles } from "./chart-scale.js";
import { followScale } from "./level-slider.js";
import { PriceLabel } from "./price-label.js";
import { RuleLevel, sourceOf } from "./rule-level.js";

/** With more firings than this, the marks have no text. */
const MAX_NAMED_FIRINGS = 6;

/**
 * @typedef {{price: number, is_former: boolean, text: string}} Level
 * @typedef {{symbol: string, candles: [string, number, number, number, number, number][], levels: Level[], firings: string[], firing_text: string}} RuleChartData
 * @typedef {import("lightweight-charts").ISeriesApi<"Candlestick">} CandleSeries
 */

class RuleChart extends HTMLElement {
  /** @type {import("lightweight-charts").IChartApi | undefined} */
  chart;
  /** The data that is drawn. */
  drawn = "";
  /** The stock of the chart: that of another one is drawn anew. */
  symbol = "";
  /** @type {AbortController | undefined} */
  connection;
  /**
   * The levels that can be moved, by their sources.
   * @type {Map<string, RuleLevel>}
   */
  sliders = new Map();
  /**
   * The lines of the other levels.
   * @type {import("lightweight-charts").IPriceLine[]}
   */
  lines = [];

  connectedCallback() {
    this.connection = new AbortController();
    // What a person types counts, so no answer about a moved level is awaited any more.
    const onInput = () => this.sliders.forEach((slider) => (slider.awaited = undefined));
    document.addEventListener("input", onInput, { signal: this.connection.signal });
    // The builder replaces the data while one types; the data of an approval stays.
    document.addEventListener("htmx:after:swap", () => this.draw(), { signal: this.connection.signal });
    this.draw();
  }

  disconnectedCallback() {
    this.connection?.abort();
    this.removeChart();
  }

  removeChart() {
    for (const slider of this.sliders.values()) slider.button.remove();
    this.sliders.clear();
    this.lines = [];
    this.label?.remove();
    this.chart?.remove();
    this.chart = undefined;
    this.symbol = "";
  }

  draw() {
    const source = this.dataset["source"];
    const text = (source ? document.getElementById(source) : this)?.dataset["chart"] ?? "";
    const canvas = this.querySelector(".canvas");
    if (!(canvas instanceof HTMLElement) || text === this.drawn) return;
    // While a level moves through prices that no alert can have, the chart stays.
    if (text === "" && [...this.sliders.values()].some((slider) => slider.isMoving())) return;
    this.drawn = text;
    canvas.hidden = text === "";
    if (text === "") return this.removeChart();
    /** @type {RuleChartData} */
    const data = JSON.parse(text);
    if (data.symbol === this.symbol && this.candles) {
      setCandles(this.candles, data.candles);
    } else {
      this.removeChart();
      this.addChart(canvas, data);
      this.symbol = data.symbol;
    }
    this.showLevels(data.levels);
    this.showFirings(data);
  }

  /**
   * @param {HTMLElement} canvas
   * @param {RuleChartData} data
   */
  addChart(canvas, data) {
    canvas.ariaLabel = `${canvas.dataset["label"]} ${data.symbol}`;
    const [muted, accent] = ["--muted", "--accent"].map((name) => color(canvas, name));
    const chart = createPageChart(canvas);
    this.chart = chart;
    this.colors = { muted: muted ?? "", accent: accent ?? "" };
    this.candles = addCandles(chart, canvas, data.candles, () => this.scalePrices());
    this.markers = createSeriesMarkers(this.candles, []);
    chart.timeScale().fitContent();
    this.label = new PriceLabel(this, this.candles);
    followScale(
      this.label,
      () => this.sliders.values(),
      () => this.chart === chart,
    );
  }

  scalePrices() {
    const lines = this.lines.map((line) => line.options().price);
    return [...lines, ...[...this.sliders.values()].map((slider) => slider.scalePrice())];
  }

  /**
   * Shows the levels: a slider for each one that comes from a number in the form, a line for the others.
   * @param {Level[]} levels
   */
  showLevels(levels) {
    const candles = this.candles;
    if (!candles) return;
    const prices = levels.map((level) => level.price);
    if ([...this.sliders.values()].some((slider) => slider.hasLeft(prices))) return;
    for (const line of this.lines) candles.removePriceLine(line);
    this.lines = [];
    const kept = new Set();
    for (const level of levels) {
      const source = level.is_former || !this.querySelector("template.level-button") ? undefined : sourceOf(level.price);
      if (!source) {
        this.lines.push(this.addLine(candles, level, true));
        continue;
      }
      const key = `${source.id} ${source.place}`;
      kept.add(key);
      const slider = this.sliders.get(key);
      if (slider) slider.set(level.price);
      else this.sliders.set(key, new RuleLevel(this, level.price, source, this.addLine(candles, level, false), candles));
    }
    for (const [key, slider] of this.sliders) {
      if (kept.has(key)) continue;
      slider.remove();
      this.sliders.delete(key);
    }
  }

  /**
   * @param {CandleSeries} candles
   * @param {Level} level
   * @param {boolean} isLabelled
   */
  addLine(candles, level, isLabelled) {
    return candles.createPriceLine({
      price: level.price,
      color: level.is_former ? this.colors?.muted : this.colors?.accent,
      lineWidth: 1,
      lineStyle: level.is_former ? LineStyle.Dotted : LineStyle.Dashed,
      axisLabelVisible: isLabelled,
      title: isLabelled ? level.text : "",
    });
  }

  /** @param {RuleChartData} data */
  showFirings(data) {
    const marks = data.firings.map((time) => ({
      time,
      text: data.firings.length > MAX_NAMED_FIRINGS ? "" : data.firing_text,
      position: /** @type {const} */ ("aboveBar"),
      shape: /** @type {const} */ ("arrowDown"),
      color: this.colors?.accent ?? "",
    }));
    this.markers?.setMarkers(marks);
  }
}

customElements.define("rule-chart", RuleChart);
