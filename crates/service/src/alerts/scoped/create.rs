//! Reads an alert over many stocks from a request, and counts its members against the plan.

use alerts::request::{ParseContext, parse_template};
use alerts::transition::PriceAvailability;
use alerts::{AlertScope, Condition, NewAlert, plan};
use foundation::{Actor, ServiceError};
use market::Symbol;
use serde_json::Value;
use store::model::Account;
use store::{Abort, UnitOfWork};

use crate::alerts::Alerts;

impl Alerts {
    /// Reads what the members of an alert over many stocks have in common from the body of a create request.
    ///
    /// # Errors
    /// As [`Self::create_alert`].
    pub(crate) async fn read_template(&self, actor: &Actor, body: &Value) -> Result<NewAlert, ServiceError> {
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let template = parse_template(body, &context)?;
        if matches!(template.condition, Condition::Expression(_)) {
            self.require_named_stocks(body, template.symbol).await?;
        }
        Ok(template)
    }

    /// Requires that this service or a source knows the stocks of a scope in a request.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with the place of the first unknown symbol in the list.
    pub(crate) async fn require_scope_stocks(&self, sent: &Value, scope: &AlertScope) -> Result<(), ServiceError> {
        if let AlertScope::Symbols(symbols) = scope {
            for &symbol in symbols {
                let known = self.prices.require_stock(symbol).await;
                known.map_err(|error| at_place(sent, symbol, error))?;
            }
        }
        Ok(())
    }

    /// Returns the start price of a new member. Its first quote sets the price if none is known now.
    pub(in crate::alerts) fn member_price(&self, symbol: Symbol) -> PriceAvailability {
        match self.prices.current_price(symbol) {
            Some(price) => PriceAvailability::Current(price),
            None => PriceAvailability::Awaited,
        }
    }
}

/// Returns the error of an unknown stock as that of its place in a scope, any other as it is.
pub(in crate::alerts) fn at_place(sent: &Value, symbol: Symbol, error: ServiceError) -> ServiceError {
    let ServiceError::UnknownStock { candidates, .. } = error else {
        return error;
    };
    let is_same = |text: &Value| text.as_str().and_then(|text| text.parse().ok()) == Some(symbol);
    let place = sent["symbols"]
        .as_array()
        .and_then(|texts| texts.iter().position(is_same));
    let names: Vec<_> = candidates.iter().map(|found| found.symbol.to_string()).collect();
    let help = match names.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    let message = format!("no stock has the symbol {symbol}{help}");
    ServiceError::field(&format!("scope.symbols.{}", place.unwrap_or_default()), message)
}

/// Refuses active members beyond the quota of the plan. The account must be locked.
pub(in crate::alerts) async fn check_quota(
    unit: &mut UnitOfWork,
    account: &Account,
    members: usize,
) -> Result<(), Abort<ServiceError>> {
    let Some(others) = members.checked_sub(1) else {
        return Ok(());
    };
    if account.plan.active_alert_quota().is_none() {
        return Ok(());
    }
    let active = unit.count_active_alerts(account.id).await?;
    let active = active.saturating_add(u32::try_from(others).unwrap_or(u32::MAX));
    plan::check_active_quota(account.plan, active).map_err(|refusal| Abort::Refused(refusal.into()))
}
