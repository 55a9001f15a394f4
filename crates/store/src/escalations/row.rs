//! Rows of escalations.

use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::MessageHold;
use crate::sqlite::row;

pub(super) const TABLE: Table = Table("escalations");

row! {
    /// A due escalation, with its firing and the message at its current channel.
    pub(super) struct DueRow {
        pub(super) event_seq: i64,
        pub(super) account_id: Uuid,
        pub(super) event_id: Uuid,
        pub(super) alert_seq: i64,
        next_channels: String,
        pub(super) ack_timeout: Option<i64>,
        pub(super) is_acknowledged: bool,
        status: Option<String>,
        outcome: Option<String>,
        message_due_at: Option<i64>,
    }
}

impl DueRow {
    /// Returns the remaining channels in their order.
    pub(super) fn next_channels(&self) -> Result<Vec<i64>, StoreError> {
        serde_json::from_str(&self.next_channels).map_err(|error| TABLE.corrupt(error))
    }

    /// Returns until when the current message is held back, for instance until the end of quiet hours.
    pub(super) fn held_until(&self) -> Option<i64> {
        let hold = self.outcome.as_deref().and_then(MessageHold::from_name);
        let is_held = self.status.as_deref() == Some("pending") && hold.is_some();
        self.message_due_at.filter(|_| is_held)
    }
}

/// Returns the column of the remaining channels.
pub(super) fn next_channels_column(seqs: impl Iterator<Item = i64>) -> String {
    serde_json::Value::from_iter(seqs).to_string()
}
