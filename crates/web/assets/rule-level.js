// @ts-check
/**
 * A level of the rule in the builder. Moving it writes the price into the input of the form that it comes from, and the rule, the
 * sentence and the preview follow the form.
 */
import { LevelSlider, formatLevel } from "./level-slider.js";

/** Minimum time between two previews while a level moves, in milliseconds. */
const PREVIEW_INTERVAL = 150;
/** A number in an expression that stands alone: not a part of a name or of another number. */
const NUMBERS = /(?<![\w.])\d+(?:\.\d+)?(?![\w.%])/g;

/**
 * @typedef {{id: string, place: number}} LevelSource The input, and which of its numbers the level is.
 */

/** @param {string} id */
const inputOf = (id) => {
  const input = document.getElementById(id);
  return input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement ? input : undefined;
};

/**
 * Returns the number in the form that a level comes from. A level that is calculated, or that stands in the form twice, has none.
 * @param {number} price
 * @returns {LevelSource | undefined}
 */
export function sourceOf(price) {
  for (const id of ["threshold", "parameters.when"]) {
    const numbers = [...(inputOf(id)?.value.matchAll(NUMBERS) ?? [])].map(([number]) => Number(number));
    const place = numbers.indexOf(price);
    if (place !== -1) return numbers.lastIndexOf(price) === place ? { id, place } : undefined;
  }
  return undefined;
}

export class RuleLevel extends LevelSlider {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  sentAt = 0;
  /** Whether the form does not have the price yet. */
  isAhead = false;
  /**
   * The price in the form whose answer has not come yet.
   * @type {number | undefined}
   */
  awaited;

  /**
   * @param {HTMLElement} chart
   * @param {number} price
   * @param {LevelSource} source
   * @param {import("lightweight-charts").IPriceLine} line
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
   */
  constructor(chart, price, source, line, series) {
    super(chart, price, line, series);
    this.source = source;
    /** The price to which Escape returns. */
    this.former = price;
  }

  /** Whether the level moves. */
  isMoving() {
    return this.draggedFrom !== undefined || this.isAhead;
  }

  /**
   * Whether an answer is about a price that the level has left by now.
   * @param {number[]} prices the levels of the answer
   */
  hasLeft(prices) {
    if (this.awaited !== undefined && prices.includes(this.awaited)) this.awaited = undefined;
    return this.isMoving() || this.awaited !== undefined;
  }

  /**
   * Shows a price that was typed.
   * @param {number} price
   */
  set(price) {
    // After a move Escape still returns to the price before it.
    if (price === Number(formatLevel(this.price))) return;
    this.price = price;
    this.former = price;
    this.show();
  }

  /** @override */
  onMove() {
    this.isAhead = true;
    clearTimeout(this.timer);
    const wait = Math.max(0, this.sentAt + PREVIEW_INTERVAL - performance.now());
    this.timer = setTimeout(() => this.write(), wait);
  }

  /** @override */
  onCommit() {
    this.former = this.price;
  }

  /** @override */
  onCancel() {
    if (this.price !== this.former) this.moveTo(this.former);
  }

  /** Writes the price into the form, which is read at once. */
  write() {
    this.sentAt = performance.now();
    this.isAhead = false;
    const input = inputOf(this.source.id);
    if (!input) return;
    const price = Number(formatLevel(this.price));
    this.awaited = price;
    let place = -1;
    input.value = input.value.replace(NUMBERS, (number) => {
      place += 1;
      return place === this.source.place ? String(price) : number;
    });
    input.form?.querySelector("#form")?.dispatchEvent(new CustomEvent("level"));
  }
}
