// @ts-check

/**
 * Returns places that are at least `gap` apart and as near as possible to the wanted ones, in their order, between `top` and `bottom`.
 * Without enough space for the gap they are as far apart as there is space.
 *
 * Less the gaps before it, each place has to be at or after the one before. Groups of places that contradict this have their weighted
 * mean (pool-adjacent-violators algorithm of isotonic regression).
 * @param {{y: number, weight: number}[]} wanted
 * @param {number} gap
 * @param {number} top
 * @param {number} bottom
 */
export function spread(wanted, gap, top, bottom) {
  const last = wanted.length - 1;
  const space = last > 0 ? Math.min(gap, (bottom - top) / last) : 0;
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a]?.y ?? 0) - (wanted[b]?.y ?? 0) || a - b);
  /** @type {{sum: number, weight: number, count: number}[]} */
  const groups = [];
  order.forEach((index, rank) => {
    const { y, weight } = wanted[index] ?? { y: 0, weight: 1 };
    let group = { sum: (y - rank * space) * weight, weight, count: 1 };
    for (let before = groups.at(-1); before && before.sum / before.weight >= group.sum / group.weight; before = groups.at(-1)) {
      group = { sum: group.sum + before.sum, weight: group.weight + before.weight, count: group.count + before.count };
      groups.pop();
    }
    groups.push(group);
  });
  const places = wanted.map(({ y }) => y);
  let rank = 0;
  for (const { sum, weight, count } of groups) {
    const base = Math.max(top, Math.min(sum / weight, bottom - last * space));
    for (let left = count; left > 0; left -= 1, rank += 1) places[order[rank] ?? 0] = base + rank * space;
  }
  return places;
}
