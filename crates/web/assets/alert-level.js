// @ts-check
/**
 * The level of a price alert on the chart of its stock. It is stored on drop, on Enter, or half a second after the last key; Escape
 * restores it. A level that crosses the price would fire at once, so it is stored only after a button has turned the alert around.
 */
import { LevelSlider, formatLevel } from "./level-slider.js";

/**
 * @typedef {import("./price-chart.js").Level} Level
 * @typedef {{symbol: string, lastPrice: number | null}} Stock
 */

/** Time between the last key and the storage, in milliseconds. */
const KEY_DELAY = 500;
/** Minimum time between two previews while a level moves, in milliseconds. */
const PREVIEW_INTERVAL = 150;

export class AlertLevel extends LevelSlider {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  previewTimer;
  previewedAt = 0;
  /** The number of the newest question; an answer to an earlier one is too old. */
  question = 0;

  /**
   * @param {HTMLElement} chart
   * @param {Stock} stock
   * @param {Level} level
   * @param {import("lightweight-charts").IPriceLine} line
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
   */
  constructor(chart, stock, level, line, series) {
    super(chart, level.price, line, series);
    this.stock = stock;
    /** The level as it is stored. */
    this.level = level;
    this.maximum = Math.max(level.price, stock.lastPrice ?? 0) * 2;
    this.show();
  }

  /** @override */
  show() {
    super.show();
    this.button.classList.toggle("crossed", this.isCrossed());
  }

  /** Whether the alert would fire at once. */
  isCrossed() {
    // The slider shows itself before it has its level.
    const last = this.stock?.lastPrice ?? null;
    if (last === null || this.price === this.level.price) return false;
    return this.level.side === "above" ? this.price <= last : this.price >= last;
  }

  /** @override */
  onMove() {
    this.say(".level-error", "");
    this.showFlip();
    this.previewSoon();
  }

  /** @override */
  onKeyMove() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.store(), KEY_DELAY);
  }

  /** @override */
  onCommit() {
    void this.store();
  }

  /** @override */
  onCancel() {
    this.restore();
  }

  /** Shows that the alert has fired: its level cannot be moved any more. */
  fire() {
    this.restore();
    this.isFixed = true;
    this.button.setAttribute("aria-disabled", "true");
    this.button.classList.add("fired");
  }

  restore() {
    clearTimeout(this.timer);
    clearTimeout(this.previewTimer);
    this.question += 1;
    this.price = this.level.price;
    this.say(".level-preview", "");
    this.show();
    this.showFlip();
  }

  /** Offers to turn the alert around if its level has crossed the price. */
  showFlip() {
    for (const side of /** @type {const} */ (["above", "below"])) {
      const button = this.chart.querySelector(`.flip-${side}`);
      if (!(button instanceof HTMLButtonElement)) continue;
      const hadFocus = document.activeElement === button;
      button.hidden = !this.isCrossed() || this.level.side === side;
      if (hadFocus && button.hidden) this.button.focus();
      button.onclick = () => void this.store(side);
    }
  }

  /**
   * Stores the level. A failure restores it and says so.
   * @param {"above" | "below"} side
   */
  async store(side = this.level.side) {
    clearTimeout(this.timer);
    const isFlip = side !== this.level.side;
    if ((!isFlip && this.isCrossed()) || (this.price === this.level.price && !isFlip)) return;
    const price = Number(formatLevel(this.price));
    const body = isFlip ? { condition: `price_${side}`, threshold: price } : { threshold: price };
    const result = await this.send("PATCH", `/alerts/${this.level.id}`, body);
    if (result.success) {
      this.level = { ...this.level, price, side };
      this.price = price;
      this.show();
      this.showFlip();
    } else {
      this.restore();
      const messages = Object.values(result.error?.details?.fields ?? {}).flat();
      const unreachable = this.chart.querySelector(".level-error")?.getAttribute("data-unreachable");
      this.say(".level-error", messages.join("; ") || (result.error?.message ?? unreachable ?? ""));
    }
  }

  /** Asks how often the level would have been reached, at most every 150 ms. */
  previewSoon() {
    clearTimeout(this.previewTimer);
    const wait = Math.max(0, this.previewedAt + PREVIEW_INTERVAL - performance.now());
    this.previewTimer = setTimeout(() => void this.preview(), wait);
  }

  async preview() {
    this.previewedAt = performance.now();
    const question = ++this.question;
    const condition = this.isCrossed() ? (this.level.side === "above" ? "below" : "above") : this.level.side;
    const alert = { symbol: this.stock.symbol, condition: `price_${condition}`, threshold: Number(formatLevel(this.price)) };
    const result = await this.send("POST", "/alerts/preview", { alert });
    const perYear = result.data?.per_year;
    const text = this.chart.querySelector(".level-preview")?.getAttribute("data-text") ?? "";
    if (typeof perYear !== "number" || question !== this.question) return;
    this.say(".level-preview", text.replace("{count}", perYear.toLocaleString(undefined, { maximumFractionDigits: 1 })));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} body
   * @returns {Promise<{success: boolean, data?: {per_year?: number}, error?: {message: string, details?: {fields?: Record<string, string[]>}}}>}
   */
  async send(method, path, body) {
    try {
      const response = await fetch(`${this.chart.dataset["base"] ?? ""}/api/v1${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return await response.json();
    } catch {
      // The service cannot be reached, or a proxy has answered in its place.
      return { success: false };
    }
  }

  /**
   * @param {string} selector
   * @param {string} text
   */
  say(selector, text) {
    const element = this.chart.querySelector(selector);
    if (element) element.textContent = text;
  }
}
