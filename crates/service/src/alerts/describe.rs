//! Describes an alert that does not exist yet.

use std::collections::HashMap;

use alerts::condition::Condition;
use alerts::expression::conversion::from_condition;
use alerts::expression::shape::compared_prices;
use alerts::request::{ParseContext, parse_create};
use alerts::sentence as condition_sentence;
use alerts::text::{option_phrases, sentence};
use alerts::{AlertId, AlertScope, NewAlert};
use market::Price;
use serde_json::Value;
use store::model::{AlertOwner, StoredAlert};

use super::guests::as_new_alert;
use super::scoped::{name_of_stocks, read_scope};
use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};

/// An alert in words.
#[derive(Clone, PartialEq, Debug)]
pub struct DescribedAlert {
    /// The alert as a sentence.
    pub sentence: String,
    /// The text that [`Alerts::parse_alert_text`] reads as the same alert; `None` if no text means exactly the same.
    pub text: Option<String>,
    /// The constant prices that the price of the alert's own stock is compared with.
    pub levels: Vec<Price>,
}

impl Alerts {
    /// Describes the alert of a create request. Nothing is stored.
    ///
    /// # Errors
    /// As [`Self::create_alert`] up to the plan's features.
    pub async fn describe_alert(&self, actor: &Actor, body: &Value) -> Result<DescribedAlert, ServiceError> {
        if let Some(sent) = body.get("scope").filter(|scope| !scope.is_null()) {
            let scope = read_scope(sent)?;
            let template = self.read_template(actor, body).await?;
            self.require_scope_stocks(sent, &scope).await?;
            return Ok(describe_scoped(&scope, &template));
        }
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let alert = parse_create(body, &context)?;
        self.prices.require_stock(alert.symbol).await?;
        if matches!(alert.condition, Condition::Expression(_)) {
            self.require_named_stocks(body, alert.symbol).await?;
        }
        Ok(describe_single(&alert, None))
    }
}

/// Alerts as sentences, by id.
pub type AlertSentences = HashMap<AlertId, String>;

impl Alerts {
    /// Returns those of some alerts that the actor has, as sentences.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the alerts cannot be read.
    pub async fn alert_sentences(&self, actor: &Actor, ids: &[AlertId]) -> Result<AlertSentences, ServiceError> {
        let owner = AlertOwner::Account(actor.account);
        let found = self.ports.store.alerts_by_id(ids).await?;
        let own = found.iter().filter(|stored| stored.owner == owner);
        Ok(own
            .map(|stored| (stored.alert.id, describe_stored(stored).sentence))
            .collect())
    }
}

/// Describes a stored alert with its options: its sentence is that of [`Alerts::describe_alert`].
#[must_use]
pub fn describe_stored(stored: &StoredAlert) -> DescribedAlert {
    let alert = as_new_alert(&stored.alert);
    match stored.scope() {
        Some(scope) => describe_scoped(scope, &alert),
        None => describe_single(&alert, stored.alert.initial_price),
    }
}

fn describe_single(alert: &NewAlert, initial_price: Option<Price>) -> DescribedAlert {
    let text = sentence(alert);
    let in_words = || {
        let condition = condition_sentence::sentence_with_options(&alert.condition, &alert.options, initial_price);
        format!("{}: {condition}{}", alert.symbol, option_phrases(alert))
    };
    DescribedAlert {
        sentence: text.clone().unwrap_or_else(in_words),
        text,
        levels: levels(alert),
    }
}

fn describe_scoped(scope: &AlertScope, template: &NewAlert) -> DescribedAlert {
    let stocks = match scope {
        AlertScope::Symbols(symbols) => symbols.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        AlertScope::Watchlist(_) => name_of_stocks(scope),
    };
    let condition = condition_sentence::sentence_with_options(&template.condition, &template.options, None);
    let options = option_phrases(template);
    DescribedAlert {
        sentence: format!("{stocks}: {condition}, for each stock on its own{options}"),
        text: None,
        levels: levels(template),
    }
}

fn levels(alert: &NewAlert) -> Vec<Price> {
    from_condition(&alert.condition).map_or_else(Vec::new, |expression| compared_prices(&expression))
}
