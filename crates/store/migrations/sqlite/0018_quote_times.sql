-- When a stock's last price was made, by its quote; null: at the instant at which it was judged.
ALTER TABLE quotes ADD COLUMN made_at INTEGER;

-- When the prices of a paper trade were made, if that was on another day than the entry or the exit: a split of a day in between moves
-- them.
ALTER TABLE paper_trades ADD COLUMN entry_priced_at INTEGER;
ALTER TABLE paper_trades ADD COLUMN exit_priced_at INTEGER;
