//! Preview of a change: one sentence for the owner. Changes that would fail are rejected here, before they are stored.

use ::alerts::options::AlertOptions;
use ::alerts::request::{ParseContext, parse_create, parse_update, without_snooze};
use ::alerts::scope::shown_symbol;
use ::alerts::{Alert, AlertId, Condition, Note, Routing, Tags, plan};
use ::market::Symbol;
use serde_json::Value;
use store::model::WatchlistItemId;

use super::AgentChange;
use crate::alerts::scoped::{name_of_stocks, read_scope};
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
                let scope = body.get("scope").filter(|scope| !scope.is_null());
                let (requested, stocks) = match scope {
                    Some(sent) => {
                        let scope = read_scope(sent)?;
                        self.alerts.require_scope_stocks(sent, &scope).await?;
                        (
                            self.alerts.read_template(actor, body).await?,
                            Some(name_of_stocks(&scope)),
                        )
                    }
                    None => {
                        let requested = parse_create(body, &context)?;
                        self.prices.require_stock(requested.symbol).await?;
                        (requested, None)
                    }
                };
                plan::check_alert_features(actor.plan, &requested.condition, requested.notification)?;
                let on = stocks.map_or_else(String::new, |stocks| format!(", on {stocks}"));
                let routing = self
                    .routing_preview(actor, &Routing::default(), &requested.routing)
                    .await?;
                format!(
                    "Make an alert: {}{on}, notified by {}{routing}{}{}",
                    describe(requested.symbol, &requested.condition),
                    requested.notification.name(),
                    options(&requested.options),
                    labels(requested.note.as_ref(), &requested.tags)
                )
            }
            AgentChange::UpdateAlert(id, body) => {
                let alert = self.alert_to_preview(actor, *id).await?;
                let body = without_snooze(&alert, body, &context)?;
                let requested = parse_update(&alert, &body, &context)?;
                plan::check_alert_features(actor.plan, &requested.condition, requested.notification)?;
                let channel = requested.notification.name();
                let changes_labels = requested.note != alert.note || requested.tags != alert.tags;
                let labels = match labels(requested.note.as_ref(), &requested.tags) {
                    _ if !changes_labels => String::new(),
                    none if none.is_empty() => ", without note and tags".to_owned(),
                    labels => labels,
                };
                let options = match options(&requested.options) {
                    none if none.is_empty() && !alert.options.are_default() => ", without options".to_owned(),
                    options => options,
                };
                let routing = self.routing_preview(actor, &alert.routing, &requested.routing).await?;
                format!(
                    "Change the alert {} to {}, notified by {channel}{routing}{options}{labels}",
                    describe(alert.symbol, &alert.condition),
                    describe(alert.symbol, &requested.condition)
                )
            }
            AgentChange::PauseAlert(id) => {
                format!(
                    "Pause the alert {}",
                    describe_alert(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::ResumeAlert(id) => {
                format!(
                    "Make the alert {} active again",
                    describe_alert(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::DeleteAlert(id) => {
                format!(
                    "Delete the alert {} for good",
                    describe_alert(&self.alert_to_preview(actor, *id).await?)
                )
            }
            AgentChange::CreateWatchlistItem(body) => {
                let requested = CreateWatchlistItemRequest::read(body)?;
                if requested.stock_name.is_none() {
                    self.prices.require_stock(requested.stock_symbol).await?;
                }
                format!(
                    "Add {} to the watchlist, to {}",
                    requested.stock_symbol,
                    requested.intention.name()
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

fn describe_alert(alert: &Alert) -> String {
    describe(alert.symbol, &alert.condition)
}

/// Describes an alert: `AAPL price_above 200`, or `AAPL expression rsi(14) < 30`.
fn describe(symbol: Symbol, condition: &Condition) -> String {
    let kind = condition.kind();
    let symbol = shown_symbol(symbol).map_or_else(|| "many stocks".to_owned(), |symbol| symbol.to_string());
    match condition {
        Condition::Expression(watched) => match watched.within {
            Some(within) => format!("{symbol} {kind} {} within {within}", watched.expression),
            None => format!("{symbol} {kind} {}", watched.expression),
        },
        named => match named.threshold() {
            Some(threshold) => format!("{symbol} {kind} {threshold}"),
            None => format!("{symbol} {kind}"),
        },
    }
}

/// Describes the options that differ from their defaults.
fn options(options: &AlertOptions) -> String {
    if options.are_default() {
        return String::new();
    }
    format!(", with the options {}", Value::Object(options.to_json()))
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
