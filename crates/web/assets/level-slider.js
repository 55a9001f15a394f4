// @ts-check
/**
 * A slider over a chart at the level of an alert, moved by pointer or keys: arrows move by one tick, PageUp and PageDown by a dollar,
 * Escape restores. The line of the chart follows.
 */

import { spread } from "./level-spread.js";

/**
 * Returns the smallest step of a price: a cent, or a hundredth of a cent below a dollar.
 * @param {number} price
 */
const tickOf = (price) => (price < 1 ? 0.0001 : 0.01);

/** The distance of a slider's middle from the edge of the scale, in pixels. */
const EDGE = 14;
/** The space between two sliders, in pixels. */
const GAP = 2;

/** @param {number} price */
export const formatLevel = (price) => price.toFixed(price < 1 ? 4 : 2);

/**
 * Places the label of the price and the sliders on the scale of their chart, on each frame until the chart is gone. Those that are
 * close stand beside each other; only a slider under the pointer stays at its level, and the price at its place.
 * @param {import("./price-label.js").PriceLabel} label
 * @param {() => Iterable<LevelSlider>} sliders
 * @param {() => boolean} isThere
 */
export function followScale(label, sliders, isThere) {
  const place = () => {
    if (!isThere()) return;
    const all = [label, ...sliders()];
    const ys = all.map((item) => item.findLevel());
    const resting = all.filter((item, index) => ys[index] !== null && item.draggedFrom === undefined);
    const wanted = resting.map(({ y, weight }) => ({ y, weight }));
    const places = spread(wanted, label.element.offsetHeight + GAP, EDGE, bottomOf(label.series));
    for (const item of all) item.placeAt(places[resting.indexOf(item)] ?? item.y);
    requestAnimationFrame(place);
  };
  place();
}

/**
 * Returns the lowest place on the scale of a chart.
 * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
 */
const bottomOf = (series) => series.getPane().getHeight() - EDGE;

export class LevelSlider {
  weight = 1;

  /**
   * @param {HTMLElement} chart
   * @param {number} price
   * @param {import("lightweight-charts").IPriceLine} line
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
   */
  constructor(chart, price, line, series) {
    this.chart = chart;
    this.line = line;
    this.series = series;
    /** The price that is shown. */
    this.price = price;
    /** Whether it cannot be moved any more. It keeps the focus, which a disabled button would lose. */
    this.isFixed = false;
    /** The largest price of the scale as assistive technology has it. */
    this.maximum = price * 2;
    /**
     * The price at which the pointer has taken the slider.
     * @type {number | undefined}
     */
    this.draggedFrom = undefined;
    /** The place of the level from the top of the chart, in pixels. */
    this.y = 0;
    this.button = this.createButton();
    this.show();
  }

  createButton() {
    const template = /** @type {HTMLTemplateElement} */ (this.chart.querySelector("template.level-button"));
    const button = /** @type {HTMLButtonElement} */ (template.content.firstElementChild?.cloneNode(true));
    this.label = button.getAttribute("aria-label") ?? "";
    button.addEventListener("keydown", (event) => this.onKey(event));
    button.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    this.chart.querySelector(".box")?.append(button);
    return button;
  }

  /**
   * Finds the place of the level, because the scale may have changed. A level beyond the scale is at its edge, so that it is seen.
   * Returns `null` if the chart has no scale.
   */
  findLevel() {
    const y = this.series.priceToCoordinate(this.price);
    this.button.hidden = y === null;
    if (y !== null) this.y = Math.max(EDGE, Math.min(y, bottomOf(this.series)));
    return y;
  }

  /** @param {number} y */
  placeAt(y) {
    const top = `${y}px`;
    if (this.button.style.top !== top) this.button.style.top = top;
  }

  /** The price that the scale of the chart shows, too. It stays during a drag, so that the scale does not run away from the pointer. */
  scalePrice() {
    return this.draggedFrom ?? this.price;
  }

  show() {
    const text = formatLevel(this.price);
    const button = this.button;
    button.textContent = text;
    button.setAttribute("aria-label", `${this.label} ${text}`);
    button.setAttribute("aria-valuemin", "0");
    button.setAttribute("aria-valuemax", String(Math.max(this.price, this.maximum)));
    button.setAttribute("aria-valuenow", text);
    button.setAttribute("aria-valuetext", text);
    this.line.applyOptions({ price: this.price });
  }

  /** @param {number} price */
  moveTo(price) {
    const tick = tickOf(price);
    this.price = Math.max(tick, Math.round(price / tick) * tick);
    this.show();
    this.onMove();
  }

  /** Lets go of the pointer; further moves change nothing. */
  endDrag() {}

  /** Called after each move. */
  onMove() {}

  /** Called after a move by a key. */
  onKeyMove() {}

  /** Called on Enter, and when the slider is dropped. */
  onCommit() {}

  /** Called on Escape, and when a drag is cancelled. */
  onCancel() {}

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (this.isFixed) return;
    const steps = { ArrowUp: tickOf(this.price), ArrowDown: -tickOf(this.price), PageUp: 1, PageDown: -1 };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step !== undefined) {
      this.moveTo(this.price + step);
      this.onKeyMove();
    } else if (event.key === "Enter") {
      this.onCommit();
    } else if (event.key === "Escape") {
      this.endDrag();
      this.onCancel();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  onPointerDown(event) {
    if (this.isFixed) return;
    const button = this.button;
    button.setPointerCapture(event.pointerId);
    this.draggedFrom = this.price;
    const top = () => this.chart.querySelector(".canvas")?.getBoundingClientRect().top ?? 0;
    // The slider may stand beside its level, so the distance counts that the pointer has moved.
    const offset = this.y - (event.clientY - top());
    const move = (/** @type {PointerEvent} */ moved) => {
      const price = this.series.coordinateToPrice(moved.clientY - top() + offset);
      if (price !== null) this.moveTo(price);
    };
    this.endDrag = () => {
      button.removeEventListener("pointermove", move);
      button.removeEventListener("pointerup", end);
      button.removeEventListener("pointercancel", end);
      this.draggedFrom = undefined;
    };
    const end = (/** @type {PointerEvent} */ ended) => {
      this.endDrag();
      if (ended.type === "pointercancel") this.onCancel();
      else this.onCommit();
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  /** Removes the slider and its line. */
  remove() {
    this.button.remove();
    this.series.removePriceLine(this.line);
  }
}
