-- What an account means to do with a stock, to buy it or to sell it. A price is in the shares of the day of its instant.
-- initial_price is what the stock cost when the item was added, turned or made active again; an active item without one awaits the stock's
-- first price. The last five columns are what the analyst said last, and by what it was said.
CREATE TABLE watchlist_items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB NOT NULL REFERENCES accounts (id),
    symbol TEXT NOT NULL,
    intention TEXT NOT NULL,
    target_price INTEGER,
    target_at INTEGER,
    initial_price INTEGER,
    initial_at INTEGER,
    notes TEXT,
    has_auto_alerts INTEGER NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    analysed_at INTEGER,
    analysed_price INTEGER,
    analysed_by TEXT,
    summary TEXT,
    UNIQUE (account_id, symbol)
) STRICT;
CREATE INDEX watchlist_items_of_symbol ON watchlist_items (symbol);
CREATE INDEX watchlist_items_awaiting ON watchlist_items (symbol) WHERE initial_price IS NULL;

-- Which alerts the analyst made, and for which item: they go when it goes.
ALTER TABLE alerts ADD COLUMN watchlist_item_id BLOB;
CREATE INDEX alerts_of_item ON alerts (watchlist_item_id) WHERE watchlist_item_id IS NOT NULL;

-- Paper trades: to buy is a long one, to sell a short one. What splits and dividends make of them is reckoned, not kept. They outlive
-- their items.
CREATE TABLE paper_trades (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB NOT NULL REFERENCES accounts (id),
    item_id BLOB NOT NULL,
    symbol TEXT NOT NULL,
    intention TEXT NOT NULL,
    notional INTEGER NOT NULL,
    entry_at INTEGER NOT NULL,
    entry_price INTEGER NOT NULL,
    exit_at INTEGER,
    exit_price INTEGER
) STRICT;
CREATE UNIQUE INDEX paper_trades_open ON paper_trades (item_id) WHERE exit_at IS NULL;
CREATE INDEX paper_trades_of_account ON paper_trades (account_id, seq);
CREATE INDEX paper_trades_of_symbol ON paper_trades (symbol, account_id);

-- How far an account's trades have been followed, session by session, and what each session brought. version counts whatever makes that
-- invalid, so that nobody writes down what they have reckoned from before.
CREATE TABLE paper_progress (
    account_id BLOB PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    through INTEGER,
    state TEXT
) STRICT;
CREATE TABLE paper_returns (
    account_id BLOB NOT NULL,
    date INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (account_id, date)
) STRICT, WITHOUT ROWID;

-- Items that the analyst is to look at, each once however often it was asked for. asked counts that: who has looked since before the
-- last time has to look again. lease and due_at are as in deliveries.
CREATE TABLE analyst_queue (
    item_id BLOB PRIMARY KEY NOT NULL,
    account_id BLOB NOT NULL,
    asked INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lease INTEGER
) STRICT;
CREATE INDEX analyst_queue_due ON analyst_queue (due_at);
