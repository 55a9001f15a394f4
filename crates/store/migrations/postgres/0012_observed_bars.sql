-- Whether a bar was made of the prices that were observed in its session (1). A bar that a source delivers (0) replaces it.
ALTER TABLE bars ADD COLUMN observed BIGINT NOT NULL DEFAULT 0;
