-- The nodes of a cluster, each until its lease ends, and which of them evaluates each shard of the stocks. Empty on SQLite, which one process uses.
CREATE TABLE nodes (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    roles BIGINT NOT NULL,
    is_connected BOOLEAN NOT NULL,
    until BIGINT NOT NULL
);
-- The clock of a shard is written several times a second. With space on its page, an update writes no index.
CREATE TABLE shards (
    shard BIGINT PRIMARY KEY CHECK (shard BETWEEN 0 AND 255),
    owner_id UUID,
    standby_id UUID,
    is_standby_ready BOOLEAN NOT NULL,
    epoch BIGINT NOT NULL,
    clock BIGINT
) WITH (fillfactor = 50);
INSERT INTO shards (shard, is_standby_ready, epoch) SELECT number, FALSE, 0 FROM generate_series(0, 255) AS number;
-- The last message of each origin whose results are on disk, for each shard. They are written in one transaction, so that a new owner
-- knows which messages it has to judge. A row changes with each message.
CREATE TABLE shard_progress (
    shard BIGINT NOT NULL,
    origin_id UUID NOT NULL,
    sequence BIGINT NOT NULL,
    judged_at BIGINT NOT NULL,
    PRIMARY KEY (shard, origin_id)
) WITH (fillfactor = 50);
-- The random id of the cluster, which tells its messages from those of others.
CREATE TABLE cluster_identity (cluster_id UUID NOT NULL);
INSERT INTO cluster_identity (cluster_id) VALUES (gen_random_uuid());
