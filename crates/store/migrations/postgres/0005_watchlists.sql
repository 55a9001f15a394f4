-- What an account means to do with a stock, to buy it or to sell it. A price is in the shares of the day of its instant.
-- initial_price is what the stock cost when the item was added, turned or made active again; an active item without one awaits the stock's
-- first price. The last five columns are what the analyst said last, and by what it was said.
CREATE TABLE watchlist_items (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    symbol TEXT NOT NULL,
    intention TEXT NOT NULL,
    target_price BIGINT,
    target_at BIGINT,
    initial_price BIGINT,
    initial_at BIGINT,
    notes TEXT,
    has_auto_alerts BOOLEAN NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    analysed_at BIGINT,
    analysed_price BIGINT,
    analysed_by TEXT,
    summary TEXT,
    UNIQUE (account_id, symbol)
);
CREATE INDEX watchlist_items_of_symbol ON watchlist_items (symbol);
CREATE INDEX watchlist_items_awaiting ON watchlist_items (symbol) WHERE initial_price IS NULL;

-- Which alerts the analyst made, and for which item: they go when it goes.
ALTER TABLE alerts ADD COLUMN watchlist_item_id UUID;
CREATE INDEX alerts_of_item ON alerts (watchlist_item_id) WHERE watchlist_item_id IS NOT NULL;

-- Paper trades: to buy is a long one, to sell a short one. What splits and dividends make of them is reckoned, not kept. They outlive
-- their items.
CREATE TABLE paper_trades (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    item_id UUID NOT NULL,
    symbol TEXT NOT NULL,
    intention TEXT NOT NULL,
    notional BIGINT NOT NULL,
    entry_at BIGINT NOT NULL,
    entry_price BIGINT NOT NULL,
    exit_at BIGINT,
    exit_price BIGINT
);
CREATE UNIQUE INDEX paper_trades_open ON paper_trades (item_id) WHERE exit_at IS NULL;
CREATE INDEX paper_trades_of_account ON paper_trades (account_id, seq);
CREATE INDEX paper_trades_of_symbol ON paper_trades (symbol, account_id);

-- How far an account's trades have been followed, session by session, and what each session brought. version counts whatever makes that
-- invalid, so that nobody writes down what they have reckoned from before.
CREATE TABLE paper_progress (
    account_id UUID PRIMARY KEY NOT NULL,
    version BIGINT NOT NULL,
    through BIGINT,
    state TEXT
);
CREATE TABLE paper_returns (
    account_id UUID NOT NULL,
    date BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (account_id, date)
);

-- Items that the analyst is to look at, each once however often it was asked for. asked counts that: who has looked since before the
-- last time has to look again. lease and due_at are as in deliveries.
CREATE TABLE analyst_queue (
    item_id UUID PRIMARY KEY NOT NULL,
    account_id UUID NOT NULL,
    asked BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    lease BIGINT
);
CREATE INDEX analyst_queue_due ON analyst_queue (due_at);
