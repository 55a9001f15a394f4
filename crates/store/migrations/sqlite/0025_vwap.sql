-- The newest volume-weighted average price of a stock in the session of its latest quote.
ALTER TABLE quotes ADD COLUMN vwap INTEGER;
