// @ts-check

/**
 * Returns the prices that a chart's scale shows: those of the candles, and the levels that are not too far away to be seen beside them.
 * @param {import("lightweight-charts").AutoscaleInfo | null} info
 * @param {number[]} levels
 */
export function withPrices(info, levels) {
  const range = info?.priceRange;
  if (!info || !range) return info;
  const near = levels.filter((price) => price > range.minValue / 2 && price < range.maxValue * 2);
  const priceRange = { minValue: Math.min(range.minValue, ...near), maxValue: Math.max(range.maxValue, ...near) };
  return { ...info, priceRange };
}
