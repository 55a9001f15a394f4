-- The newest bid and ask of a stock in the session of its latest quote.
ALTER TABLE quotes ADD COLUMN bid BIGINT;
ALTER TABLE quotes ADD COLUMN ask BIGINT;
