// @ts-check
/** The performance of the paper trades against the benchmark, both 100 on the first day. */
import { LineSeries, LineStyle } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";
import { createPageChart } from "./chart-scale.js";

class PerformanceChart extends HTMLElement {
  /** @type {import("lightweight-charts").IChartApi | undefined} */
  chart;

  connectedCallback() {
    const canvas = this.querySelector(".canvas");
    const text = this.querySelector("script")?.textContent;
    if (!(canvas instanceof HTMLElement) || !text || this.chart) return;
    /** @type {{own: [string, number][], benchmark: [string, number][], benchmark_name: string}} */
    const data = JSON.parse(text);
    const chart = createPageChart(canvas);
    this.chart = chart;
    // Not by color alone: the colors of a high contrast theme are the same.
    const add = (/** @type {[string, number][]} */ points, /** @type {string} */ name, lineStyle = LineStyle.Solid, title = "") => {
      const options = { color: color(canvas, name), lineWidth: /** @type {const} */ (2), lineStyle, title, priceLineVisible: false };
      const series = chart.addSeries(LineSeries, options);
      series.setData(points.map(([time, value]) => ({ time, value })));
    };
    add(data.benchmark, "--muted", LineStyle.Dashed, data.benchmark_name);
    add(data.own, "--accent");
    chart.timeScale().fitContent();
  }

  disconnectedCallback() {
    this.chart?.remove();
    this.chart = undefined;
  }
}

customElements.define("performance-chart", PerformanceChart);
