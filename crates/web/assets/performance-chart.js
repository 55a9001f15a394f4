// @ts-check
/** The performance of the paper trades against the benchmark, both 100 on the first day. */
import { LineSeries, createChart } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";

class PerformanceChart extends HTMLElement {
  /** @type {ReturnType<typeof createChart> | undefined} */
  chart;

  connectedCallback() {
    const canvas = this.querySelector(".canvas");
    const text = this.querySelector("script")?.textContent;
    if (!(canvas instanceof HTMLElement) || !text || this.chart) return;
    /** @type {{own: [string, number][], benchmark: [string, number][]}} */
    const data = JSON.parse(text);
    const line = color(canvas, "--line");
    const chart = createChart(canvas, {
      autoSize: true,
      layout: { background: { color: "transparent" }, textColor: color(canvas, "--muted"), attributionLogo: false },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
    });
    this.chart = chart;
    const add = (/** @type {[string, number][]} */ points, /** @type {string} */ name) => {
      const series = chart.addSeries(LineSeries, { color: color(canvas, name), lineWidth: 2, priceLineVisible: false });
      series.setData(points.map(([time, value]) => ({ time, value })));
    };
    add(data.benchmark, "--muted");
    add(data.own, "--accent");
    chart.timeScale().fitContent();
  }

  disconnectedCallback() {
    this.chart?.remove();
    this.chart = undefined;
  }
}

customElements.define("performance-chart", PerformanceChart);
