//! Changes proposed by agents that wait for the account owner's approval.

use jiff::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::AccountId;

/// Approval id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApprovalId(pub Uuid);

alerts::named_enum! {
    /// The status of an approval.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ApprovalStatus {
        /// Not decided yet.
        Pending = "pending",
        /// Approved and being executed. An approval remains in this status if the process crashes.
        Begun = "begun",
        /// Approved and executed.
        Approved = "approved",
        /// Denied.
        Denied = "denied",
    }
}

/// A change proposed by an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct Approval {
    /// Unique id.
    pub id: ApprovalId,
    /// The account that it concerns.
    pub account: AccountId,
    /// The tool that the agent called.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The effect of the change, in one sentence.
    pub preview: String,
    /// The agent that proposed the change.
    pub asked_by: String,
    /// Status.
    pub status: ApprovalStatus,
    /// Time of the proposal.
    pub created_at: Timestamp,
    /// Time until which it can be approved.
    pub expires_at: Timestamp,
    /// Time of approval, when execution began.
    pub begun_at: Option<Timestamp>,
    /// Time of completion or denial.
    pub decided_at: Option<Timestamp>,
}
