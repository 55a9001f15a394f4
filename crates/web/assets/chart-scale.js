// @ts-check
/** The frame of a chart, its candles and its scale. */
import { CandlestickSeries, createChart } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";

/** @typedef {[string, number, number, number, number, number]} Candle The date, the open, the high, the low, the close, the volume. */

/** The space at the right of the last session, in pixels: half a mark's text has to fit in it. */
const RIGHT_SPACE = 32;

/** The width of a chart on paper (A4, Letter), in pixels. */
const SHEET_WIDTH = 620;

/**
 * Creates a chart in the colors of the page.
 * @param {HTMLElement} canvas
 */
export function createPageChart(canvas) {
  const [text, line] = ["--muted", "--line"].map((name) => color(canvas, name));
  return createChart(canvas, {
    autoSize: true,
    layout: { background: { color: "transparent" }, textColor: text, attributionLogo: false },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line, minimumWidth: 72 },
    timeScale: { borderColor: line, rightOffsetPixels: RIGHT_SPACE },
  });
}

/** The charts of the page, with their canvases. */
function* chartsOfPage() {
  for (const element of document.querySelectorAll("price-chart, rule-chart, performance-chart")) {
    const { chart } = /** @type {{chart?: import("lightweight-charts").IChartApi}} */ (/** @type {unknown} */ (element));
    const canvas = element.querySelector(".canvas");
    if (chart && canvas) yield { chart, canvas };
  }
}

// A sheet is narrower than the window, and it is printed before a chart would notice.
addEventListener("beforeprint", () => {
  for (const { chart, canvas } of chartsOfPage()) {
    chart.applyOptions({ autoSize: false });
    chart.resize(Math.min(SHEET_WIDTH, canvas.clientWidth), canvas.clientHeight, true);
    chart.timeScale().fitContent();
  }
});
addEventListener("afterprint", () => {
  for (const { chart } of chartsOfPage()) chart.applyOptions({ autoSize: true });
});

/**
 * Adds candles whose scale shows the levels, too.
 * @param {import("lightweight-charts").IChartApi} chart
 * @param {Element} canvas
 * @param {Candle[]} candles
 * @param {() => number[]} levels
 */
export function addCandles(chart, canvas, candles, levels) {
  const [rise, fall] = ["--rise", "--fall"].map((name) => color(canvas, name));
  const series = chart.addSeries(CandlestickSeries, {
    upColor: rise,
    downColor: fall,
    wickUpColor: rise,
    wickDownColor: fall,
    borderVisible: false,
    // The label of the price is an element, so that no level covers it (`PriceLabel`).
    lastValueVisible: false,
    autoscaleInfoProvider: (/** @type {() => import("lightweight-charts").AutoscaleInfo | null} */ original) => withPrices(original(), levels()),
  });
  setCandles(series, candles);
  return series;
}

/**
 * Replaces the candles.
 * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
 * @param {Candle[]} candles
 */
export function setCandles(series, candles) {
  series.setData(candles.map(([time, open, high, low, close]) => ({ time, open, high, low, close })));
}

/**
 * Returns the prices that a chart's scale shows: those of the candles, and the levels that are not too far away to be seen beside them.
 * @param {import("lightweight-charts").AutoscaleInfo | null} info
 * @param {number[]} levels
 */
function withPrices(info, levels) {
  const range = info?.priceRange;
  if (!info || !range) return info;
  const near = levels.filter((price) => price > range.minValue / 2 && price < range.maxValue * 2);
  const priceRange = { minValue: Math.min(range.minValue, ...near), maxValue: Math.max(range.maxValue, ...near) };
  return { ...info, priceRange };
}
