// @ts-check
/** The candles of a chart and its scale. */
import { CandlestickSeries } from "./vendor/lightweight-charts.js";
import { color } from "./chart-color.js";

/** @typedef {[string, number, number, number, number, number]} Candle The date, the open, the high, the low, the close, the volume. */

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
