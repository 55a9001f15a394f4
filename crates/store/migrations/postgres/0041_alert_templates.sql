-- The templates of the messages about an alert: a JSON object. Members of an alert over many stocks have those of that alert.
ALTER TABLE alerts ADD COLUMN templates TEXT;
