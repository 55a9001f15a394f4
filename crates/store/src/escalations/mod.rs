//! Escalations: firings with the policy `failover` that have channels left.
//!
//! The transaction of a firing creates its escalation ([`create`]), so it exists after a crash if the firing does. It becomes due
//! when nobody has acknowledged the firing in time. It is made due by the settlement after which the current message has failed for
//! good (`queue/settle.rs`). [`advance`] sends a due firing to its next channel in one transaction: the message is created and the
//! escalation is changed together. An acknowledgement deletes the escalation (`firings/acknowledge.rs`).
//!
//! A firing of any policy that no channel could get goes to the account's own address ([`unreached`]).

mod advance;
mod create;
mod row;
mod unreached;
