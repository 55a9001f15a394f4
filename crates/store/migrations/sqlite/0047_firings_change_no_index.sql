-- Without the status: a firing changes no column of an index, so it changes no index.
DROP INDEX alerts_without_initial_price;
CREATE INDEX alerts_without_initial_price ON alerts (symbol) WHERE initial_price IS NULL AND deleted_at IS NULL;
