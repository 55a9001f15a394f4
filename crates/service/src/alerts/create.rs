//! Creates an alert, on one stock or over many.

use std::sync::Arc;

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, ArmingDetails, OwnerVerification, PriceAvailability};
use alerts::{AlertId, AlertScope, Condition, NewAlert, Routing};
use foundation::account::lock_active_account;
use foundation::plan_limits;
use foundation::route_check::check_routing;
use foundation::scope_members::{MemberChanges, follow_scope, scope_symbols};
use foundation::template_check::require_payload_scope;
use foundation::{Actor, MadeBy, ServiceError};
use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, AccountId, AlertOwner, HistoryRow, ScopeRole, StoredAlert};
use store::{Abort, UnitOfWork};

use super::AlertDetail;
use super::scoped::{check_quota, read_scope};
use crate::alerts::Alerts;

/// The result of a create request.
#[derive(Clone, PartialEq, Debug)]
pub enum Created {
    /// A new alert.
    New(Box<AlertDetail>),
    /// An equivalent alert, which existed already and is unchanged.
    Existing(Box<AlertDetail>),
}

/// The creation of an alert: everything that its transaction needs.
pub(super) struct CreateAlert {
    /// Shared: the futures around the transaction move this value.
    alerts: Arc<Alerts>,
    account: AccountId,
    /// The alert; of one over many stocks what its members have in common.
    new_alert: NewAlert,
    /// The stocks of an alert over many stocks.
    scope: Option<AlertScope>,
    id: AlertId,
    created_by: String,
    price: PriceAvailability,
    now: Timestamp,
}

/// The new or the existing alert, and the changes that the engine must know.
pub(super) struct CreateResult {
    pub(super) stored: StoredAlert,
    pub(super) is_new: bool,
    pub(super) changes: MemberChanges,
}

impl Alerts {
    /// Creates an alert from the body of a create request (interface 2.1, decisions 2.15, 2.16, 2.22).
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::UnknownStock`] for an unknown symbol;
    /// [`ServiceError::Forbidden`] if the plan does not include the alert, or the actor lacks
    /// the scope for a payload template; [`ServiceError::Conflict`] if another alert has the same `managed_by`;
    /// [`ServiceError::Unavailable`] for a percentage without a current price, and if no source answers for an unknown symbol.
    pub async fn create_alert(&self, actor: &Actor, body: &Value) -> Result<Created, ServiceError> {
        self.create_alert_as(actor, body, &MadeBy::of(actor)).await
    }

    /// Creates an alert with an explicit author, for a request that was made before.
    pub(crate) async fn create_alert_as(
        &self,
        actor: &Actor,
        body: &Value,
        made_by: &MadeBy,
    ) -> Result<Created, ServiceError> {
        let work = self.prepare_create(actor, body, made_by).await?;
        let alerts = Arc::clone(&work.alerts);
        let done = self
            .ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| alerts.apply_changes(&done.changes),
            )
            .await?;
        let detail = Box::new(self.shown(actor, done.stored).await?);
        Ok(if done.is_new {
            Created::New(detail)
        } else {
            Created::Existing(detail)
        })
    }

    /// Reads a create request, and collects what its transaction needs.
    pub(super) async fn prepare_create(
        &self,
        actor: &Actor,
        body: &Value,
        made_by: &MadeBy,
    ) -> Result<CreateAlert, ServiceError> {
        require_payload_scope(actor, body)?;
        let (new_alert, scope, price) = match body.get("scope").filter(|scope| !scope.is_null()) {
            Some(sent) => {
                let scope = read_scope(sent)?;
                let template = self.read_template(actor, body).await?;
                plan::check_alert_features(actor.plan, &template.condition, template.notification)?;
                self.require_scope_stocks(sent, &scope).await?;
                (template, Some(scope), PriceAvailability::Awaited)
            }
            None => {
                let context = ParseContext {
                    now: self.ports.clock.now(),
                    time_zone: &actor.time_zone,
                    calendar: &self.settings.calendar,
                };
                let new_alert = parse_create(body, &context)?;
                plan::check_alert_features(actor.plan, &new_alert.condition, new_alert.notification)?;
                self.prices.require_stock(new_alert.symbol).await?;
                if matches!(new_alert.condition, Condition::Expression(_)) {
                    self.require_named_stocks(body, new_alert.symbol).await?;
                }
                let price = self.prices.start_price(new_alert.symbol).await;
                (new_alert, None, price)
            }
        };
        Ok(CreateAlert {
            alerts: Arc::new(self.clone()),
            account: actor.account,
            new_alert,
            scope,
            id: AlertId(self.ports.random.uuid()),
            created_by: made_by.to_text(),
            price,
            now: self.ports.clock.now(),
        })
    }

    /// Returns an alert with its details. The shown status of an alert over many stocks depends on its members.
    pub(super) async fn shown(&self, actor: &Actor, stored: StoredAlert) -> Result<AlertDetail, ServiceError> {
        match stored.scope() {
            Some(_) => self.alert(actor, stored.alert.id).await,
            None => Ok(self.detail(stored)),
        }
    }
}

impl CreateAlert {
    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<CreateResult, Abort<ServiceError>> {
        let account = lock_active_account(unit, self.account).await?;
        let owner = AlertOwner::Account(account.id);
        if let Some(stored) = self.existing(unit, &owner).await? {
            return Ok(CreateResult {
                stored,
                is_new: false,
                changes: MemberChanges::default(),
            });
        }
        // The present plan: the actor's may be a few seconds old.
        plan_limits::check(&account, &self.new_alert.condition, self.new_alert.notification)?;
        self.check_active_alert_quota(unit, &account).await?;
        check_routing(unit, account.id, &self.new_alert.routing, &Routing::default()).await?;
        let verified = OwnerVerification::Verified;
        let made = transition::create(self.new_alert.clone(), self.id, verified, self.price, self.now);
        let made = made.map_err(ServiceError::from)?;
        let row = HistoryRow {
            alert: self.id,
            symbol: made.alert.symbol,
            entry: made.entry,
            at: self.now,
            price: None,
            details: ArmingDetails::of(&made.alert, None, self.now).to_json(),
        };
        let stored = StoredAlert {
            alert: made.alert,
            owner,
            created_by: Some(self.created_by.clone()),
            role: self.scope.clone().map_or(ScopeRole::Single, ScopeRole::Scoped),
            managed_by: self.new_alert.managed_by.clone(),
        };
        unit.insert_alert(&stored, &row).await?;
        if let Some(managed_by) = &stored.managed_by {
            unit.raise_source_revision(account.id, managed_by.source()).await?;
        }
        let changes = match self.scope {
            None => MemberChanges {
                changed: vec![stored.alert.clone()],
                removed: Vec::new(),
            },
            Some(_) => {
                let price = |symbol| self.alerts.member_price(symbol);
                follow_scope(unit, &account, &stored, &self.alerts.ports.random, price, self.now).await?
            }
        };
        Ok(CreateResult {
            stored,
            is_new: true,
            changes,
        })
    }

    /// Returns the alert that the request would duplicate. A managed alert duplicates only the one of the same name, so that an alert
    /// that a person made stays as it is.
    async fn existing(
        &self,
        unit: &mut UnitOfWork,
        owner: &AlertOwner,
    ) -> Result<Option<StoredAlert>, Abort<ServiceError>> {
        if let Some(managed_by) = &self.new_alert.managed_by {
            return match unit.managed_alert(self.account, managed_by).await? {
                Some(found) if !self.is_same(&found) => Err(Abort::Refused(super::name_taken(&found))),
                found => Ok(found),
            };
        }
        let candidates = match self.scope {
            None => unit.similar_alerts(owner, &self.new_alert).await?,
            Some(_) => unit.scoped_alerts(self.account).await?,
        };
        Ok(candidates.into_iter().find(|stored| self.is_same(stored)))
    }

    fn is_same(&self, stored: &StoredAlert) -> bool {
        let has_same_stocks = match (stored.scope(), &self.scope) {
            (None, None) => true,
            (Some(present), Some(requested)) => present.is_same(requested),
            (Some(_), None) | (None, Some(_)) => false,
        };
        has_same_stocks && equivalent(&stored.alert, &self.new_alert, self.now)
    }

    async fn check_active_alert_quota(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
    ) -> Result<(), Abort<ServiceError>> {
        match &self.scope {
            None => plan_limits::check_active_alert_quota(unit, account).await,
            Some(scope) => {
                let members = scope_symbols(unit, account, scope).await?.len();
                check_quota(unit, account, members).await
            }
        }
    }
}
