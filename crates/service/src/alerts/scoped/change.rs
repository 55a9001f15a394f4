//! Changes an alert over many stocks.

use alerts::request::{AlertChange, changes_nothing};
use alerts::transition::{self, ArmingDetails, OwnerVerification, PriceAvailability, Transition};
use alerts::{AlertScope, Status};
use foundation::account::require_active;
use foundation::route_check::check_routing;
use foundation::scope_members::{MemberChanges, follow_scope};
use foundation::{ServiceError, plan_limits};
use serde_json::Value;
use store::model::{Account, ScopeRole, StoredAlert};
use store::{Abort, UnitOfWork};

use super::create::check_quota;
use super::read_scope;
use crate::alerts::change::{ChangeAlert, ChangeResult, RequestedChange};

/// The change of each member.
enum MemberChange {
    Update(Box<AlertChange>),
    Pause,
    Activate,
}

impl ChangeAlert {
    /// Changes the template and all members.
    pub(in crate::alerts) async fn run_scoped(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        stored: StoredAlert,
    ) -> Result<ChangeResult, Abort<ServiceError>> {
        // A deactivated account may pause its alerts.
        if !matches!(self.change, RequestedChange::Pause) {
            require_active(account)?;
        }
        let awaited = PriceAvailability::Awaited;
        let mut scope = None;
        let (transition, change) = match &self.change {
            RequestedChange::Update { request, .. } => {
                let (body, change) = request.read(&stored.alert, self.now, &self.alerts.settings.calendar)?;
                scope = changed_scope(&stored, &body)?;
                if changes_nothing(&body) && scope.is_none() {
                    return Ok(ChangeResult::unchanged(stored));
                }
                plan_limits::check(account, &change.condition, change.notification)?;
                check_routing(unit, account.id, &change.routing, &stored.alert.routing).await?;
                let transition = match changes_nothing(&body) {
                    true => Ok(Transition::Unchanged),
                    false => transition::update(&stored.alert, change.clone(), awaited, self.now),
                };
                (transition, MemberChange::Update(Box::new(change)))
            }
            RequestedChange::Pause => (transition::pause(&stored.alert), MemberChange::Pause),
            RequestedChange::Activate { .. } => (
                transition::activate(&stored.alert, OwnerVerification::Verified, awaited, self.now),
                MemberChange::Activate,
            ),
        };
        let transition = transition.map_err(ServiceError::from)?;
        let members = unit.lock_members(stored.alert.id).await?;
        if matches!(change, MemberChange::Activate) {
            plan_limits::check(account, &stored.alert.condition, stored.alert.notification)?;
            let idle = members.iter().filter(|member| member.alert.status != Status::Active);
            check_quota(unit, account, idle.count()).await?;
        }
        let is_template_changed = matches!(transition, Transition::Changed(_));
        let is_changed = is_template_changed || scope.is_some();
        let stored = self.write(unit, stored, transition).await?;
        let stored = match scope {
            Some(scope) => self.replace_scope(unit, account, stored, &members, scope).await?,
            None => stored,
        };
        let mut changes = MemberChanges::default();
        if is_template_changed || matches!(change, MemberChange::Activate) {
            for member in members {
                let transition = self.member_transition(&member, &change).map_err(ServiceError::from)?;
                let revision = member.alert.revision;
                let member = self.write(unit, member, transition).await?;
                if member.alert.revision != revision {
                    changes.changed.push(member.alert);
                }
            }
        }
        let price = |symbol| self.alerts.member_price(symbol);
        let random = &self.alerts.ports.random;
        let followed = follow_scope(unit, account, &stored, random, price, self.now).await?;
        changes.changed.retain(|alert| !followed.removed.contains(&alert.id));
        changes.changed.extend(followed.changed);
        changes.removed.extend(followed.removed);
        Ok(ChangeResult {
            stored,
            is_changed,
            changes,
        })
    }

    fn member_transition(
        &self,
        member: &StoredAlert,
        change: &MemberChange,
    ) -> Result<Transition, transition::TransitionError> {
        let alert = &member.alert;
        match change {
            MemberChange::Update(change) => {
                let mut change = change.as_ref().clone();
                change.routing = change.routing.of_member();
                transition::update(alert, change, PriceAvailability::Awaited, self.now)
            }
            MemberChange::Pause if alert.status == Status::Active => transition::pause(alert),
            MemberChange::Pause => Ok(Transition::Unchanged),
            MemberChange::Activate => {
                let price = self.alerts.member_price(alert.symbol);
                transition::activate(alert, OwnerVerification::Verified, price, self.now)
            }
        }
    }

    /// Writes a transition and returns the alert after it.
    async fn write(
        &self,
        unit: &mut UnitOfWork,
        stored: StoredAlert,
        transition: Transition,
    ) -> Result<StoredAlert, Abort<ServiceError>> {
        let Transition::Changed(changed) = transition else {
            return Ok(stored);
        };
        let details = ArmingDetails::of(&changed.alert, Some(&stored.alert), self.now).to_json();
        let written = unit.update_alert(&changed, &stored.alert, self.now, details.as_ref());
        if !written.await? {
            // It was read under its lock, so this is not expected.
            let message = "another request changed this alert at the same time; try again";
            return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
        }
        Ok(StoredAlert {
            alert: changed.alert,
            ..stored
        })
    }

    /// Writes a new scope.
    async fn replace_scope(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        stored: StoredAlert,
        members: &[StoredAlert],
        scope: AlertScope,
    ) -> Result<StoredAlert, Abort<ServiceError>> {
        let wanted = foundation::scope_members::scope_symbols(unit, account, &scope).await?;
        let is_new = |symbol| members.iter().all(|member| member.alert.symbol != symbol);
        if stored.alert.status == Status::Active {
            check_quota(
                unit,
                account,
                wanted.into_iter().filter(|&symbol| is_new(symbol)).count(),
            )
            .await?;
        }
        unit.set_scope(stored.alert.id, &scope).await?;
        Ok(StoredAlert {
            role: ScopeRole::Scoped(scope),
            ..stored
        })
    }
}

/// Returns the scope of an update request if it is another one.
fn changed_scope(stored: &StoredAlert, body: &Value) -> Result<Option<AlertScope>, ServiceError> {
    match body.get("scope") {
        None => Ok(None),
        Some(Value::Null) => {
            let message = "cannot be taken away from an alert over many stocks; delete it, and create one on a stock";
            Err(ServiceError::field("scope", message))
        }
        Some(value) => {
            let scope = read_scope(value)?;
            let is_same = stored.scope().is_some_and(|present| present.is_same(&scope));
            Ok((!is_same).then_some(scope))
        }
    }
}
