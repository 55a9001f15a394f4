//! Preview of a change: one sentence for the owner. Changes that would fail are rejected here, before they are stored.

use ::alerts::request::{ParseContext, parse_create, parse_update};
use ::alerts::{Alert, AlertId, NewAlert, Note, Tags, plan};
use store::model::WatchlistItemId;

use super::AgentChange;
use crate::approvals::Approvals;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use watchlist::body::CreateWatchlistItemRequest;

impl Approvals {
    /// Returns the preview.
    ///
    /// # Errors
    /// The errors of the change itself, as far as they are known now.
    pub(super) async fn preview(&self, actor: &Actor, change: &AgentChange) -> Result<String, ServiceError> {
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        Ok(match change {
            AgentChange::CreateAlert(body) => {
                let asked = parse_create(body, &context)?;
                plan::check_alert_features(actor.plan, asked.condition.kind(), asked.notification)?;
                self.prices.require_stock(asked.symbol).await?;
                format!(
                    "Make an alert: {}, told by {}{}",
                    describe_request(&asked),
                    asked.notification.name(),
                    labels(asked.note.as_ref(), &asked.tags)
                )
            }
            AgentChange::UpdateAlert(id, body) => {
                let alert = self.alert_to_preview(actor, *id).await?;
                let asked = parse_update(&alert, body, &context)?;
                plan::check_alert_features(actor.plan, asked.condition.kind(), asked.notification)?;
                let after = Alert {
                    condition: asked.condition,
                    ..alert.clone()
                };
                let channel = asked.notification.name();
                let changes_labels = asked.note != alert.note || asked.tags != alert.tags;
                let labels = match labels(asked.note.as_ref(), &asked.tags) {
                    _ if !changes_labels => String::new(),
                    none if none.is_empty() => ", without note and tags".to_owned(),
                    labels => labels,
                };
                format!(
                    "Change the alert {} to {}, told by {channel}{labels}",
                    describe(&alert),
                    describe(&after)
                )
            }
            AgentChange::PauseAlert(id) => {
                format!(
                    "Pause the alert {}",
                    describe(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::ResumeAlert(id) => {
                format!(
                    "Make the alert {} active again",
                    describe(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::DeleteAlert(id) => {
                format!(
                    "Delete the alert {} for good",
                    describe(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::CreateWatchlistItem(body) => {
                let asked = CreateWatchlistItemRequest::read(body)?;
                if asked.stock_name.is_none() {
                    self.prices.require_stock(asked.stock_symbol).await?;
                }
                format!(
                    "Add {} to the watchlist, to {}",
                    asked.stock_symbol,
                    asked.intention.name()
                )
            }
            AgentChange::DeleteWatchlistItem(id) => self.removal_preview(actor, *id).await?,
        })
    }

    async fn alert_to_preview(&self, actor: &Actor, id: AlertId) -> Result<Alert, ServiceError> {
        Ok(self.alerts.alert(actor, id).await?.stored.alert)
    }

    async fn removal_preview(&self, actor: &Actor, id: WatchlistItemId) -> Result<String, ServiceError> {
        let item = self.watchlists.watchlist_item(actor.account, id).await?.listed.item;
        Ok(format!(
            "Take {} off the watchlist, with its paper trade and what the analyst made for it",
            item.symbol
        ))
    }
}

fn describe_request(asked: &NewAlert) -> String {
    let threshold = asked.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    format!("{} {}{threshold}", asked.symbol, asked.condition.kind().name())
}

/// Returns the note on one line, and the tags.
fn labels(note: Option<&Note>, tags: &Tags) -> String {
    let words: Option<Vec<&str>> = note.map(|note| note.as_str().split_whitespace().collect());
    let note = words.map_or_else(String::new, |words| format!(", note: {}", words.join(" ")));
    let tags = tags.as_slice().join(", ");
    if tags.is_empty() {
        note
    } else {
        format!("{note}, tags: {tags}")
    }
}

fn describe(alert: &Alert) -> String {
    let threshold = alert.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    format!("{} {}{threshold}", alert.symbol, alert.condition.kind().name())
}
