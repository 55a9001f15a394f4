-- The newest bid and ask of a stock in the session of its latest quote.
ALTER TABLE quotes ADD COLUMN bid INTEGER;
ALTER TABLE quotes ADD COLUMN ask INTEGER;
