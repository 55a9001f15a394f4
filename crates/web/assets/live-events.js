// @ts-check
/**
 * Live events. One tab of the browser holds the stream of the account; it passes the events to the other tabs. Each tab announces
 * firings as DOM events `firing` and quotes as DOM events `quote`, both on the document.
 */

/**
 * @typedef {{position: number, alert_id: string, symbol: string | null, price: number | null, reason: string | null}} LiveFiring
 * @typedef {{symbol: string, price: number | null, change_percent: number | null, time: string | null}} LiveQuote
 * @typedef {{type: "join", position: number, symbols: string[]} | {type: "who"} | {type: "firing", firing: LiveFiring} | {type: "quote", quote: LiveQuote}} TabMessage
 */

/** The first and the longest time before a refused stream is opened again, in milliseconds. */
const FIRST_RETRY = 2_000;
const LONGEST_RETRY = 60_000;
/** The largest number of stocks of a stream. */
const MAX_SYMBOLS = 100;

/** The stocks on this page. */
function symbolsOnScreen() {
  const elements = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-quote], [data-symbol]")]);
  const symbols = elements.map((element) => element.dataset["quote"] ?? element.dataset["symbol"] ?? "");
  return [...new Set(symbols)].filter((symbol) => symbol !== "").slice(0, MAX_SYMBOLS);
}

class LiveEvents {
  /**
   * @param {string} base
   * @param {string} account
   * @param {number} position the position of the history before the page was rendered
   */
  constructor(base, account, position) {
    this.base = base;
    this.name = `bellwether-${account}`;
    this.position = position;
    this.symbols = symbolsOnScreen();
    this.channel = new BroadcastChannel(this.name);
    /** @type {EventSource | undefined} */
    this.stream = undefined;
    /** Whether this tab holds the stream. */
    this.isLeader = false;
    /** The last position that the stream has reached. */
    this.reached = position;
    /** @type {Set<string>} */
    this.streamed = new Set();
    this.retry = FIRST_RETRY;
  }

  start() {
    this.channel.addEventListener("message", (event) => this.onMessage(/** @type {TabMessage} */ (event.data)));
    document.addEventListener("htmx:after:swap", () => this.onSwap());
    this.join();
    // Without locks, which need a secure context, each tab holds a stream of its own.
    if (navigator.locks) void navigator.locks.request(this.name, () => this.lead());
    else void this.lead();
  }

  join() {
    this.send({ type: "join", position: this.position, symbols: this.symbols });
  }

  onSwap() {
    const symbols = symbolsOnScreen();
    if (symbols.every((symbol) => this.symbols.includes(symbol))) return;
    this.symbols = symbols;
    this.join();
    if (this.isLeader) this.include(this.position, symbols);
  }

  /** Holds the stream until the tab closes. */
  lead() {
    this.isLeader = true;
    this.reached = this.position;
    this.symbols.forEach((symbol) => this.streamed.add(symbol));
    this.open();
    this.send({ type: "who" });
    return new Promise(() => {});
  }

  /** @param {TabMessage} message */
  onMessage(message) {
    switch (message.type) {
      case "join":
        if (this.isLeader) this.include(message.position, message.symbols);
        break;
      case "who":
        this.join();
        break;
      case "firing":
        this.announceFiring(message.firing);
        break;
      case "quote":
        this.announceQuote(message.quote);
    }
  }

  /**
   * Serves another tab: it may have been rendered before firings that the stream has passed, and it may show other stocks.
   * @param {number} position
   * @param {string[]} symbols
   */
  include(position, symbols) {
    const missing = symbols.filter((symbol) => !this.streamed.has(symbol));
    if (position >= this.reached && missing.length === 0) return;
    missing.forEach((symbol) => this.streamed.add(symbol));
    for (const symbol of this.streamed) {
      if (this.streamed.size <= MAX_SYMBOLS) break;
      this.streamed.delete(symbol);
    }
    this.reached = Math.min(this.reached, position);
    this.open();
  }

  open() {
    this.stream?.close();
    const query = new URLSearchParams({ after: String(this.reached), symbols: [...this.streamed].join(",") });
    const stream = new EventSource(`${this.base}/app/events?${query}`);
    this.stream = stream;
    stream.addEventListener("open", () => {
      this.retry = FIRST_RETRY;
      document.documentElement.dataset["live"] = "on";
    });
    stream.addEventListener("alert.triggered", (event) => {
      const firing = { ...JSON.parse(event.data), position: Number(event.lastEventId) };
      this.reached = Math.max(this.reached, firing.position);
      this.send({ type: "firing", firing });
      this.announceFiring(firing);
    });
    stream.addEventListener("quote", (event) => {
      const quote = JSON.parse(event.data);
      this.send({ type: "quote", quote });
      this.announceQuote(quote);
    });
    stream.addEventListener("error", () => {
      document.documentElement.dataset["live"] = "off";
      // The browser repeats a broken stream by itself, but not a refused one.
      if (stream.readyState !== EventSource.CLOSED || stream !== this.stream) return;
      setTimeout(() => stream === this.stream && this.open(), this.retry);
      this.retry = Math.min(this.retry * 2, LONGEST_RETRY);
    });
  }

  /** @param {LiveFiring} firing */
  announceFiring(firing) {
    if (firing.position <= this.position) return;
    this.position = firing.position;
    document.dispatchEvent(new CustomEvent("firing", { detail: firing }));
  }

  /** @param {LiveQuote} quote */
  announceQuote(quote) {
    if (this.symbols.includes(quote.symbol)) document.dispatchEvent(new CustomEvent("quote", { detail: quote }));
  }

  /** @param {TabMessage} message */
  send(message) {
    this.channel.postMessage(message);
  }
}

/** Starts the live events of a page for a signed-in account. */
export function startLiveEvents() {
  const { base = "", account, position } = document.body.dataset;
  if (account) new LiveEvents(base, account, Number(position)).start();
}
