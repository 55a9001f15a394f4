-- The nodes of a cluster, each until its lease ends, and which of them evaluates each shard of the stocks. Always empty on SQLite, which one process uses.
CREATE TABLE nodes (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    roles INTEGER NOT NULL,
    is_connected INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE TABLE shards (
    shard INTEGER PRIMARY KEY NOT NULL CHECK (shard BETWEEN 0 AND 255),
    owner_id BLOB,
    standby_id BLOB,
    is_standby_ready INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    clock INTEGER
) STRICT;
-- The last message of each origin whose results are on disk, for each shard.
CREATE TABLE shard_progress (
    shard INTEGER NOT NULL,
    origin_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    judged_at INTEGER NOT NULL,
    PRIMARY KEY (shard, origin_id)
) STRICT;
-- The random id of the cluster, which tells its messages from those of others. Always empty on SQLite, which one process uses.
CREATE TABLE cluster_identity (cluster_id BLOB NOT NULL) STRICT;
