//! What agents can change, as a value that can wait.
//!
//! None of it does more when it is made twice: an equivalent alert is found and not made again, what is paused stays paused, and
//! what is gone cannot be deleted once more.

use alerts::AlertId;
use serde_json::{Map, Value, json};
use store::model::WatchlistItemId;
use uuid::Uuid;

use crate::alerts::{AlertDetail, Created, MadeBy};
use crate::approvals::Approvals;
use crate::watchlist::ItemView;
use crate::{Actor, ServiceError};

/// A change that an agent wants.
#[derive(Clone, PartialEq, Debug)]
pub enum AgentChange {
    /// Makes an alert of the body of a create request.
    CreateAlert(Value),
    /// Changes an alert by the body of an update request.
    UpdateAlert(AlertId, Value),
    /// Puts an alert aside.
    PauseAlert(AlertId),
    /// Takes an alert up again.
    ResumeAlert(AlertId),
    /// Deletes an alert.
    DeleteAlert(AlertId),
    /// Adds a stock to the watchlist, by the body of a create request.
    CreateWatchlistItem(Value),
    /// Takes a stock off the watchlist.
    DeleteWatchlistItem(WatchlistItemId),
}

/// A change that was made.
#[derive(Clone, PartialEq, Debug)]
pub enum Changed {
    /// The result of a create request.
    Created(Created),
    /// The alert after an update.
    Updated(Box<AlertDetail>),
    /// The alert that is put aside.
    Paused(Box<AlertDetail>),
    /// The alert that is active again.
    Resumed(Box<AlertDetail>),
    /// The alert that is gone.
    AlertDeleted(AlertId),
    /// The item that was added.
    Item(Box<ItemView>),
    /// The item that is gone.
    ItemDeleted(WatchlistItemId),
}

impl AgentChange {
    /// The name of the tool that makes it.
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

    /// The tool's arguments.
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

    /// The change that a tool makes with these arguments; `None` if there is no such tool, or they lack an id.
    #[must_use]
    pub fn read(tool: &str, mut arguments: Map<String, Value>) -> Option<Self> {
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
    /// Makes a change that somebody has asked for.
    pub(super) async fn make_change(
        &self,
        actor: &Actor,
        change: &AgentChange,
        made_by: &MadeBy,
    ) -> Result<Changed, ServiceError> {
        Ok(match change {
            AgentChange::CreateAlert(body) => {
                Changed::Created(self.alerts.create_alert_as(actor, body, made_by).await?)
            }
            AgentChange::UpdateAlert(id, body) => {
                Changed::Updated(Box::new(self.alerts.update_alert(actor, *id, body).await?))
            }
            AgentChange::PauseAlert(id) => Changed::Paused(Box::new(self.alerts.pause_alert(actor, *id).await?)),
            AgentChange::ResumeAlert(id) => Changed::Resumed(Box::new(self.alerts.activate_alert(actor, *id).await?)),
            AgentChange::DeleteAlert(id) => {
                self.alerts.delete_alert(actor, *id).await?;
                Changed::AlertDeleted(*id)
            }
            AgentChange::CreateWatchlistItem(body) => {
                Changed::Item(Box::new(self.watchlists.add_to_watchlist(actor, body).await?))
            }
            AgentChange::DeleteWatchlistItem(id) => {
                self.watchlists.delete_watchlist_item(actor, *id).await?;
                Changed::ItemDeleted(*id)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_kept() {
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
            assert_eq!(AgentChange::read(change.tool(), change.arguments()), Some(change));
        }
        assert_eq!(AgentChange::read("pause_alert", Map::new()), None);
        assert_eq!(AgentChange::read("list_alerts", Map::new()), None);
    }
}
