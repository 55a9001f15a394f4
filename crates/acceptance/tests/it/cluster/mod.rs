//! Several nodes with one database: real processes, a real PostgreSQL and a real NATS server.
//!
//! * [`harness`]: nodes that are started, killed, stopped and continued.
//! * [`sharing`]: all nodes know the same, and the alerts are shared.
//! * [`dispatching`]: two dispatchers share the deliveries.
//! * [`takeover`]: nodes that are killed or stopped, and one that leaves.

mod dispatching;
mod harness;
mod sharing;
mod takeover;
