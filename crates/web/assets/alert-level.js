// @ts-check
/**
 * The level of a price alert: a slider over the chart, moved by pointer or keys. Arrows move by one tick, PageUp and PageDown by a
 * dollar. A level is stored on drop, on Enter, or half a second after the last key; Escape restores it. A level that crosses the price
 * would fire at once, so it is stored only after a button has turned the alert around.
 */

/**
 * @typedef {import("./price-chart.js").Level} Level
 * @typedef {{symbol: string, lastPrice: number | null}} Stock
 */

/** Time between the last key and the storage, in milliseconds. */
const KEY_DELAY = 500;
/** Minimum time between two previews while a level moves, in milliseconds. */
const PREVIEW_INTERVAL = 150;

/**
 * Returns the smallest step of a price: a cent, or a hundredth of a cent below a dollar.
 * @param {number} price
 */
const tickOf = (price) => (price < 1 ? 0.0001 : 0.01);

/** @param {number} price */
const format = (price) => price.toFixed(price < 1 ? 4 : 2);

export class AlertLevel {
  /**
   * @param {HTMLElement} chart
   * @param {Stock} stock
   * @param {Level} level
   * @param {import("lightweight-charts").IPriceLine} line
   * @param {import("lightweight-charts").ISeriesApi<"Candlestick">} series
   */
  constructor(chart, stock, level, line, series) {
    this.chart = chart;
    this.stock = stock;
    this.level = level;
    this.line = line;
    this.series = series;
    /** The price that is shown; `level.price` is the stored one. */
    this.price = level.price;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.previewedAt = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.previewTimer = undefined;
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

  /** Moves the slider to its price, because the scale may have changed. */
  place() {
    const y = this.series.priceToCoordinate(this.price);
    this.button.hidden = y === null;
    if (y !== null) this.button.style.top = `${y}px`;
  }

  show() {
    const text = format(this.price);
    const button = this.button;
    button.textContent = text;
    button.setAttribute("aria-label", `${this.label} ${text}`);
    button.setAttribute("aria-valuemin", "0");
    button.setAttribute("aria-valuemax", String(Math.max(this.price, this.stock.lastPrice ?? 0) * 2));
    button.setAttribute("aria-valuenow", text);
    button.setAttribute("aria-valuetext", text);
    button.classList.toggle("crossed", this.isCrossed());
    this.line.applyOptions({ price: this.price });
    this.place();
  }

  /** Whether the alert would fire at once. */
  isCrossed() {
    const last = this.stock.lastPrice;
    if (last === null || this.price === this.level.price) return false;
    return this.level.side === "above" ? this.price <= last : this.price >= last;
  }

  /** @param {number} price */
  moveTo(price) {
    const tick = tickOf(price);
    this.price = Math.max(tick, Math.round(price / tick) * tick);
    this.say(".level-error", "");
    this.show();
    this.showFlip();
    this.previewSoon();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const steps = { ArrowUp: tickOf(this.price), ArrowDown: -tickOf(this.price), PageUp: 1, PageDown: -1 };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step !== undefined) {
      this.moveTo(this.price + step);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.store(), KEY_DELAY);
    } else if (event.key === "Enter") {
      void this.store();
    } else if (event.key === "Escape") {
      this.restore();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  onPointerDown(event) {
    const button = this.button;
    button.setPointerCapture(event.pointerId);
    const top = () => this.chart.querySelector(".canvas")?.getBoundingClientRect().top ?? 0;
    const move = (/** @type {PointerEvent} */ moved) => {
      const price = this.series.coordinateToPrice(moved.clientY - top());
      if (price !== null) this.moveTo(price);
    };
    const end = (/** @type {PointerEvent} */ ended) => {
      button.removeEventListener("pointermove", move);
      button.removeEventListener("pointerup", end);
      button.removeEventListener("pointercancel", end);
      if (ended.type === "pointercancel") this.restore();
      else void this.store();
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  /** Shows that the alert has fired: its level cannot be moved any more. */
  fire() {
    this.restore();
    this.button.disabled = true;
    this.button.classList.add("fired");
  }

  restore() {
    clearTimeout(this.timer);
    clearTimeout(this.previewTimer);
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
      button.hidden = !this.isCrossed() || this.level.side === side;
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
    const price = Number(format(this.price));
    const body = isFlip ? { condition: `price_${side}`, threshold: price } : { threshold: price };
    const result = await this.send("PATCH", `/alerts/${this.level.id}`, body);
    if (result.success) {
      this.level = { ...this.level, price, side };
      this.price = price;
      this.show();
      this.showFlip();
    } else {
      this.restore();
      this.say(".level-error", result.error?.message ?? "");
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
    const condition = this.isCrossed() ? (this.level.side === "above" ? "below" : "above") : this.level.side;
    const alert = { symbol: this.stock.symbol, condition: `price_${condition}`, threshold: Number(format(this.price)) };
    const result = await this.send("POST", "/alerts/preview", { alert });
    const perYear = result.data?.per_year;
    const text = this.chart.querySelector(".level-preview")?.getAttribute("data-text") ?? "";
    if (typeof perYear !== "number") return;
    this.say(".level-preview", text.replace("{count}", perYear.toLocaleString(undefined, { maximumFractionDigits: 1 })));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} body
   * @returns {Promise<{success: boolean, data?: {per_year?: number}, error?: {message: string}}>}
   */
  async send(method, path, body) {
    try {
      const response = await fetch(`${this.chart.dataset["base"] ?? ""}/api/v1${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return await response.json();
    } catch (error) {
      return { success: false, error: { message: String(error) } };
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
