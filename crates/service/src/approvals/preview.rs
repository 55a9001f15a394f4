//! What a change comes to, in a sentence for the owner; and whatever would be refused is refused before it waits.

use ::alerts::request::{ParseContext, parse_create, parse_update};
use ::alerts::{Alert, AlertId, NewAlert, plan};
use store::model::WatchlistItemId;

use super::AgentChange;
use crate::approvals::Approvals;
use crate::{Actor, ServiceError, watchlist};

impl Approvals {
    /// The sentence.
    ///
    /// # Errors
    /// As the change itself, as far as that can be said now.
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
                    "Make an alert: {}, told by {}",
                    wanted(&asked),
                    asked.notification.name()
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
                format!(
                    "Change the alert {} to {}, told by {channel}",
                    described(&alert),
                    described(&after)
                )
            }
            AgentChange::PauseAlert(id) => {
                format!(
                    "Pause the alert {}",
                    described(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::ResumeAlert(id) => {
                format!(
                    "Make the alert {} active again",
                    described(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::DeleteAlert(id) => {
                format!(
                    "Delete the alert {} for good",
                    described(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::CreateWatchlistItem(body) => {
                let asked = watchlist::body::read_new(body)?;
                if asked.stock_name.is_none() {
                    self.prices.require_stock(asked.symbol).await?;
                }
                format!("Add {} to the watchlist, to {}", asked.symbol, asked.intention.name())
            }
            AgentChange::DeleteWatchlistItem(id) => self.preview_of_removal(actor, *id).await?,
        })
    }

    async fn alert_to_preview(&self, actor: &Actor, id: AlertId) -> Result<Alert, ServiceError> {
        Ok(self.alerts.alert(actor, id).await?.stored.alert)
    }

    async fn preview_of_removal(&self, actor: &Actor, id: WatchlistItemId) -> Result<String, ServiceError> {
        let item = self.watchlists.watchlist_item(actor.account, id).await?.listed.item;
        Ok(format!(
            "Take {} off the watchlist, with its paper trade and what the analyst made for it",
            item.symbol
        ))
    }
}

fn wanted(asked: &NewAlert) -> String {
    let threshold = asked.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    format!("{} {}{threshold}", asked.symbol, asked.condition.kind().name())
}

fn described(alert: &Alert) -> String {
    let threshold = alert.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    format!("{} {}{threshold}", alert.symbol, alert.condition.kind().name())
}
