//! The members of an alert over many stocks: one alert for each of its stocks, which is evaluated like any other.

use std::collections::HashSet;

use alerts::transition::{self, ArmingDetails, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, AlertScope, NewAlert, Status, plan};
use jiff::Timestamp;
use market::Symbol;
use store::model::{Account, HistoryRow, ScopeRole, StoredAlert};
use store::{Abort, UnitOfWork};

use crate::{Random, ServiceError};

/// The changes of members that the engine must know.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MemberChanges {
    /// The members that are new or have changed.
    pub changed: Vec<Alert>,
    /// The members that were removed.
    pub removed: Vec<AlertId>,
}

/// Returns the present stocks of a scope. For a watchlist, the account must be locked.
///
/// # Errors
/// [`Abort::Store`]
pub async fn scope_symbols(
    unit: &mut UnitOfWork,
    account: &Account,
    scope: &AlertScope,
) -> Result<Vec<Symbol>, Abort<ServiceError>> {
    Ok(match scope {
        AlertScope::Symbols(symbols) => symbols.clone(),
        AlertScope::Watchlist(intention) => unit.watchlist_symbols(account.id, *intention).await?,
    })
}

/// Brings the members of an alert in line with its scope: adds and removes stocks. The account must be locked.
///
/// A new member is active if the alert is, within the quota of the plan; beyond it, the member is paused.
///
/// # Errors
/// [`Abort::Store`]
pub async fn follow_scope(
    unit: &mut UnitOfWork,
    account: &Account,
    parent: &StoredAlert,
    random: &Random,
    price: impl Fn(Symbol) -> PriceAvailability,
    now: Timestamp,
) -> Result<MemberChanges, Abort<ServiceError>> {
    let Some(scope) = parent.scope() else {
        return Ok(MemberChanges::default());
    };
    let wanted = scope_symbols(unit, account, scope).await?;
    let members = unit.lock_members(parent.alert.id).await?;
    let mut changes = MemberChanges::default();
    let kept: HashSet<Symbol> = wanted.iter().copied().collect();
    for member in members.iter().filter(|member| !kept.contains(&member.alert.symbol)) {
        if unit.delete_alert(&member.alert, now).await? {
            changes.removed.push(member.alert.id);
        }
    }
    let present: HashSet<Symbol> = members.iter().map(|member| member.alert.symbol).collect();
    for symbol in wanted.into_iter().filter(|symbol| !present.contains(symbol)) {
        let id = AlertId(random.uuid());
        let member = insert_member(unit, account, parent, (symbol, id, price(symbol)), now).await?;
        changes.changed.extend(member);
    }
    Ok(changes)
}

/// Brings all alerts of an account that follow its watchlist in line with it. The account must be locked.
///
/// # Errors
/// [`Abort::Store`]
pub async fn follow_watchlist(
    unit: &mut UnitOfWork,
    account: &Account,
    random: &Random,
    now: Timestamp,
) -> Result<MemberChanges, Abort<ServiceError>> {
    let mut all = MemberChanges::default();
    for parent in unit.scoped_alerts(account.id).await? {
        if matches!(parent.scope(), Some(AlertScope::Watchlist(_))) {
            let changes = follow_scope(unit, account, &parent, random, |_| PriceAvailability::Awaited, now).await?;
            all.changed.extend(changes.changed);
            all.removed.extend(changes.removed);
        }
    }
    Ok(all)
}

/// Returns whether the plan permits one more active alert. Without a quota nothing is counted.
async fn has_room(unit: &mut UnitOfWork, account: &Account) -> Result<bool, Abort<ServiceError>> {
    if account.plan.active_alert_quota().is_none() {
        return Ok(true);
    }
    let active = unit.count_active_alerts(account.id).await?;
    Ok(plan::check_active_quota(account.plan, active).is_ok())
}

/// Inserts a member. `None` if the alert cannot be on that stock.
async fn insert_member(
    unit: &mut UnitOfWork,
    account: &Account,
    parent: &StoredAlert,
    (symbol, id, price): (Symbol, AlertId, PriceAvailability),
    now: Timestamp,
) -> Result<Option<Alert>, Abort<ServiceError>> {
    let template = &parent.alert;
    let request = NewAlert {
        symbol,
        condition: template.condition.clone(),
        notification: template.notification,
        parameters: template.parameters.clone(),
        note: template.note.clone(),
        tags: template.tags.clone(),
        options: template.options.clone(),
        routing: template.routing.of_member(),
        managed_by: None,
        email: None,
    };
    let Ok(made) = transition::create(request, id, OwnerVerification::Verified, price, now) else {
        return Ok(None);
    };
    let mut alert = made.alert;
    if template.status != Status::Active || !has_room(unit, account).await? {
        alert.status = Status::Paused;
    }
    let details = ArmingDetails::of(&alert, None, now).to_json();
    let row = HistoryRow {
        alert: id,
        symbol,
        entry: made.entry,
        at: now,
        price: None,
        details,
    };
    let stored = StoredAlert {
        alert,
        owner: parent.owner.clone(),
        created_by: parent.created_by.clone(),
        role: ScopeRole::Member(template.id),
        managed_by: None,
    };
    unit.insert_alert(&stored, &row).await?;
    Ok(Some(stored.alert))
}
