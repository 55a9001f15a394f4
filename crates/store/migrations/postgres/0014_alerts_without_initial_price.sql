-- Active alerts that wait for their stock's first current price.
CREATE INDEX alerts_without_initial_price ON alerts (symbol)
    WHERE initial_price IS NULL AND status = 'active' AND deleted_at IS NULL;
