//! Several nodes with one database: real processes, a real PostgreSQL and a real NATS server.
//!
//! * [`harness`]: nodes that are started, killed, stopped, continued and cut off; [`node`] and [`database`] are parts of it.
//! * [`sharing`]: all nodes know the same, and the alerts are shared.
//! * [`dispatching`]: two dispatchers share the deliveries.
//! * [`takeover`]: nodes that are killed or stopped, and one that leaves.
//! * [`cuts`]: a node that is cut off from the database or from NATS.
//! * [`lost_primary`]: the machine of the database vanishes, and another one takes its place.
//! * [`full_disk`]: the database cannot write.
//! * [`rolling_upgrade`]: each node is shut down and started again while prices are pushed.
//! * [`clock_skew`]: nodes whose system clocks are wrong.
//! * [`hot_symbol`]: thousands of alerts on one stock.
//! * [`two_feeds`]: two nodes that can run the source of market data.
//! * [`account_deletion`], [`splits`]: alerts are deleted or adjusted while another node takes them over.

mod account_deletion;
mod clock_skew;
mod cuts;
mod database;
mod dispatching;
mod full_disk;
mod harness;
mod hot_symbol;
mod lost_primary;
mod node;
mod rolling_upgrade;
mod sharing;
mod splits;
mod takeover;
mod two_feeds;
