// @ts-check

/**
 * Returns places that are at least `gap` apart and as near as possible to the wanted ones, in their order, between `top` and `bottom`.
 * Without enough space for the gap they are as far apart as there is space.
 *
 * Less the gaps before it, each place has to be at or after the one before. Groups of places that contradict this have their mean
 * (pool-adjacent-violators algorithm of isotonic regression).
 * @param {number[]} wanted
 * @param {number} gap
 * @param {number} top
 * @param {number} bottom
 */
export function spread(wanted, gap, top, bottom) {
  const last = wanted.length - 1;
  const space = last > 0 ? Math.min(gap, (bottom - top) / last) : 0;
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0) || a - b);
  /** @type {{sum: number, count: number}[]} */
  const groups = [];
  order.forEach((index, rank) => {
    let group = { sum: (wanted[index] ?? 0) - rank * space, count: 1 };
    for (let before = groups.at(-1); before && before.sum / before.count >= group.sum / group.count; before = groups.at(-1)) {
      group = { sum: group.sum + before.sum, count: group.count + before.count };
      groups.pop();
    }
    groups.push(group);
  });
  const places = [...wanted];
  let rank = 0;
  for (const { sum, count } of groups) {
    const base = Math.max(top, Math.min(sum / count, bottom - last * space));
    for (let left = count; left > 0; left -= 1, rank += 1) places[order[rank] ?? 0] = base + rank * space;
  }
  return places;
}
