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
  movedAt = -Infinity;

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

  /** Whether the level has just moved, so that answers about its former price may still come. */
  isMoving() {
    return this.draggedFrom !== undefined || performance.now() - this.movedAt < 1000;
  }

  /**
   * Shows a price that was typed.
   * @param {number} price
   */
  set(price) {
    this.price = price;
    this.former = price;
    this.show();
  }

  /** @override */
  onMove() {
    this.movedAt = performance.now();
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
    const input = inputOf(this.source.id);
    if (!input) return;
    let place = -1;
    input.value = input.value.replace(NUMBERS, (number) => {
      place += 1;
      return place === this.source.place ? String(Number(formatLevel(this.price))) : number;
    });
    input.form?.querySelector("#form")?.dispatchEvent(new CustomEvent("level"));
  }
}
