-- An alert over many stocks has a scope, as JSON; each of its stocks is an alert of its own, a member, which refers to it.
ALTER TABLE alerts ADD COLUMN scope TEXT;
ALTER TABLE alerts ADD COLUMN parent_seq BIGINT;
CREATE INDEX alerts_of_parent ON alerts (parent_seq) WHERE parent_seq IS NOT NULL;
