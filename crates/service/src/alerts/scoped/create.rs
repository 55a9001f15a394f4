//! Creates an alert over many stocks.

use alerts::Routing;
use alerts::equivalence::equivalent;
use alerts::request::{ParseContext, parse_template};
use alerts::transition::{self, ArmingDetails, OwnerVerification, PriceAvailability};
use alerts::{AlertId, AlertScope, Condition, NewAlert, plan};
use foundation::account::lock_active_account;
use foundation::route_check::check_routing;
use foundation::scope_members::{MemberChanges, follow_scope, scope_symbols};
use foundation::{Actor, MadeBy, ServiceError, plan_limits};
use jiff::Timestamp;
use market::Symbol;
use serde_json::Value;
use store::model::{Account, AccountId, AlertOwner, HistoryRow, ScopeRole, StoredAlert};
use store::{Abort, UnitOfWork};

use super::read_scope;
use crate::alerts::{Alerts, Created};

/// The creation of an alert over many stocks.
struct CreateScopedAlert {
    alerts: Alerts,
    account: AccountId,
    scope: AlertScope,
    template: NewAlert,
    id: AlertId,
    created_by: String,
    now: Timestamp,
}

/// The new or the existing alert, and the new members.
struct CreatedScope {
    is_new: bool,
    id: AlertId,
    changes: MemberChanges,
}

impl Alerts {
    /// Creates an alert over many stocks from the body of a create request.
    ///
    /// # Errors
    /// As [`Self::create_alert`].
    pub(in crate::alerts) async fn create_scoped_alert(
        &self,
        actor: &Actor,
        scope: &Value,
        body: &Value,
        made_by: &MadeBy,
    ) -> Result<Created, ServiceError> {
        let sent = scope;
        let scope = read_scope(sent)?;
        let template = self.read_template(actor, body).await?;
        plan::check_alert_features(actor.plan, &template.condition, template.notification)?;
        self.require_scope_stocks(sent, &scope).await?;
        let work = CreateScopedAlert {
            alerts: self.clone(),
            account: actor.account,
            scope,
            template,
            id: AlertId(self.ports.random.uuid()),
            created_by: made_by.to_text(),
            now: self.ports.clock.now(),
        };
        let alerts = self.clone();
        let done = self
            .ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| alerts.apply_changes(&done.changes),
            )
            .await?;
        let detail = Box::new(self.alert(actor, done.id).await?);
        Ok(if done.is_new {
            Created::New(detail)
        } else {
            Created::Existing(detail)
        })
    }

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
    pub(super) fn member_price(&self, symbol: Symbol) -> PriceAvailability {
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

impl CreateScopedAlert {
    async fn run(&self, unit: &mut UnitOfWork) -> Result<CreatedScope, Abort<ServiceError>> {
        let account = lock_active_account(unit, self.account).await?;
        let existing = unit.scoped_alerts(account.id).await?;
        let is_same = |stored: &StoredAlert| {
            stored.scope().is_some_and(|scope| scope.is_same(&self.scope))
                && equivalent(&stored.alert, &self.template, self.now)
        };
        if let Some(found) = existing.iter().find(|stored| is_same(stored)) {
            return Ok(CreatedScope {
                is_new: false,
                id: found.alert.id,
                changes: MemberChanges::default(),
            });
        }
        // The present plan: the actor's may be a few seconds old.
        plan_limits::check(&account, &self.template.condition, self.template.notification)?;
        check_routing(unit, account.id, &self.template.routing, &Routing::default()).await?;
        let members = scope_symbols(unit, &account, &self.scope).await?.len();
        check_quota(unit, &account, members).await?;
        let made = transition::create(
            self.template.clone(),
            self.id,
            OwnerVerification::Verified,
            PriceAvailability::Awaited,
            self.now,
        );
        let made = made.map_err(ServiceError::from)?;
        let details = ArmingDetails::of(&made.alert, None, self.now).to_json();
        let row = HistoryRow {
            alert: self.id,
            symbol: made.alert.symbol,
            entry: made.entry,
            at: self.now,
            price: None,
            details,
        };
        let stored = StoredAlert {
            alert: made.alert,
            owner: AlertOwner::Account(account.id),
            created_by: Some(self.created_by.clone()),
            role: ScopeRole::Scoped(self.scope.clone()),
        };
        unit.insert_alert(&stored, &row).await?;
        let price = |symbol| self.alerts.member_price(symbol);
        let changes = follow_scope(unit, &account, &stored, &self.alerts.ports.random, price, self.now).await?;
        Ok(CreatedScope {
            is_new: true,
            id: self.id,
            changes,
        })
    }
}

/// Refuses active members beyond the quota of the plan. The account must be locked.
pub(super) async fn check_quota(
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
