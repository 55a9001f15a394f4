//! Changes that agents can make, as values that can be stored until they are approved.
//!
//! All changes are idempotent: an equivalent alert is found instead of created, a paused alert stays paused, and a
//! deleted one cannot be deleted again.

use alerts::AlertId;
use serde_json::{Map, Value, json};
use store::model::WatchlistItemId;
use uuid::Uuid;

use crate::alerts::{AlertDetail, Created};
use crate::approvals::Approvals;
use foundation::MadeBy;
use foundation::{Actor, ServiceError};
use watchlist::ItemView;

/// A change that an agent requests.
#[derive(Clone, PartialEq, Debug)]
pub enum AgentChange {
    /// Creates an alert, with the body of a create request.
    CreateAlert(Value),
    /// Updates an alert, with the body of an update request.
    UpdateAlert(AlertId, Value),
    /// Pauses an alert.
    PauseAlert(AlertId),
    /// Activates a paused alert.
    ResumeAlert(AlertId),
    /// Deletes an alert.
    DeleteAlert(AlertId),
    /// Adds a stock to the watchlist, with the body of a create request.
    CreateWatchlistItem(Value),
    /// Removes a stock from the watchlist.
    DeleteWatchlistItem(WatchlistItemId),
}

/// Result of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum CompletedChange {
    /// The result of a create request.
    Created(Created),
    /// The alert after an update.
    Updated(Box<AlertDetail>),
    /// The paused alert.
    Paused(Box<AlertDetail>),
    /// The activated alert.
    Resumed(Box<AlertDetail>),
    /// The deleted alert.
    AlertDeleted(AlertId),
    /// The added item.
    Item(Box<ItemView>),
    /// The removed item.
    ItemDeleted(WatchlistItemId),
}

impl AgentChange {
    /// Returns the name of the tool.
    #[must_use]
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::CreateAlert(_) => "create_alert",
            Self::UpdateAlert(..) => "update_alert",
            Self::PauseAlert(_) => "pause_alert",
            Self::ResumeAlert(_) => "resume_alert",
            Self::DeleteAlert(_) => "delete_alert",
            Self::CreateWatchlistItem(_) => "create_watchlist_item",
            Self::DeleteWatchlistItem(_) => "delete_watchlist_item",
        }
    }

    /// Returns the arguments of the tool.
    #[must_use]
    pub fn arguments(&self) -> Map<String, Value> {
        let mut arguments = Map::new();
        match self {
            Self::UpdateAlert(id, _) | Self::PauseAlert(id) | Self::ResumeAlert(id) | Self::DeleteAlert(id) => {
                arguments.insert("alert_id".to_owned(), json!(id.0));
            }
            Self::DeleteWatchlistItem(id) => {
                arguments.insert("item_id".to_owned(), json!(id.0));
            }
            Self::CreateAlert(_) | Self::CreateWatchlistItem(_) => {}
        }
        if let Self::CreateAlert(Value::Object(body))
        | Self::UpdateAlert(_, Value::Object(body))
        | Self::CreateWatchlistItem(Value::Object(body)) = self
        {
            arguments.extend(body.clone());
        }
        arguments
    }

    /// Returns the change for a tool call; `None` for an unknown tool or a missing id.
    #[must_use]
    pub fn from_tool_call(tool: &str, mut arguments: Map<String, Value>) -> Option<Self> {
        let mut id = |name: &str| -> Option<Uuid> { arguments.remove(name)?.as_str()?.parse().ok() };
        Some(match tool {
            "create_alert" => Self::CreateAlert(Value::Object(arguments)),
            "update_alert" => {
                let id = AlertId(id("alert_id")?);
                Self::UpdateAlert(id, Value::Object(arguments))
            }
            "pause_alert" => Self::PauseAlert(AlertId(id("alert_id")?)),
            "resume_alert" => Self::ResumeAlert(AlertId(id("alert_id")?)),
            "delete_alert" => Self::DeleteAlert(AlertId(id("alert_id")?)),
            "create_watchlist_item" => Self::CreateWatchlistItem(Value::Object(arguments)),
            "delete_watchlist_item" => Self::DeleteWatchlistItem(WatchlistItemId(id("item_id")?)),
            _ => return None,
        })
    }
}

impl Approvals {
    /// Applies a change on behalf of its creator.
    pub(super) async fn apply_change(
        &self,
        actor: &Actor,
        change: &AgentChange,
        made_by: &MadeBy,
    ) -> Result<CompletedChange, ServiceError> {
        Ok(match change {
            AgentChange::CreateAlert(body) => {
                CompletedChange::Created(self.alerts.create_alert_as(actor, body, made_by).await?)
            }
            AgentChange::UpdateAlert(id, body) => {
                CompletedChange::Updated(Box::new(self.alerts.patch_alert(actor, *id, body).await?))
            }
            AgentChange::PauseAlert(id) => {
                CompletedChange::Paused(Box::new(self.alerts.pause_alert(actor, *id).await?))
            }
            AgentChange::ResumeAlert(id) => {
                CompletedChange::Resumed(Box::new(self.alerts.activate_alert(actor, *id).await?))
            }
            AgentChange::DeleteAlert(id) => {
                self.alerts.delete_alert(actor, *id).await?;
                CompletedChange::AlertDeleted(*id)
            }
            AgentChange::CreateWatchlistItem(body) => {
                CompletedChange::Item(Box::new(self.watchlists.add_to_watchlist(actor, body).await?))
            }
            AgentChange::DeleteWatchlistItem(id) => {
                self.watchlists.delete_watchlist_item(actor, *id).await?;
                CompletedChange::ItemDeleted(*id)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_survives_round_trip_through_tool_call() {
        let (alert, item) = (AlertId(Uuid::from_u128(1)), WatchlistItemId(Uuid::from_u128(2)));
        for change in [
            AgentChange::CreateAlert(json!({"symbol": "AAPL", "condition": "new_high"})),
            AgentChange::UpdateAlert(alert, json!({"threshold": null})),
            AgentChange::PauseAlert(alert),
            AgentChange::ResumeAlert(alert),
            AgentChange::DeleteAlert(alert),
            AgentChange::CreateWatchlistItem(json!({"stock_symbol": "AAPL", "intention": "buy"})),
            AgentChange::DeleteWatchlistItem(item),
        ] {
            assert_eq!(
                AgentChange::from_tool_call(change.tool(), change.arguments()),
                Some(change)
            );
        }
        assert_eq!(AgentChange::from_tool_call("pause_alert", Map::new()), None);
        assert_eq!(AgentChange::from_tool_call("list_alerts", Map::new()), None);
    }
}
