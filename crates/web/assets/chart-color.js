// @ts-check

/**
 * Returns a color of the page, which follows the theme. The chart understands no `light-dark()`, so the browser computes it.
 * @param {Element} element
 * @param {string} name
 */
export function color(element, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}
