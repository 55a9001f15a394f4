//! Several nodes of a cluster on one PostgreSQL database, in one process: the bus is in process, and each node has its own clock.

mod clocks;
mod due_hints;
mod fixture;
mod late_messages;
mod open_changes;
mod skewed_clocks;
mod without_bus;
