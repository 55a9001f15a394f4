-- The options of an alert, and the state of its life cycle, both JSON; null if there are none.
ALTER TABLE alerts ADD COLUMN options TEXT;
ALTER TABLE alerts ADD COLUMN lifecycle TEXT;
