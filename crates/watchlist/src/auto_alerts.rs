//! The analyst's alerts of a watchlist item. They belong to the account and are deleted with the item.

use alerts::equivalence::equivalent;
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, NewAlert, Status};
use jiff::Timestamp;
use serde_json::json;
use store::model::{Account, AlertOwner, HistoryRow, ScopeRole, StoredAlert, WatchlistItem, WatchlistItemId};
use store::{Abort, StoreError, UnitOfWork};

use foundation::{MadeBy, plan_limits};

/// A selection of the analyst's alerts of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AlertSelection {
    /// All alerts.
    All,
    /// The alerts that have not fired. New ones replace them.
    Unfired,
}

/// A proposed alert with the id that it will get.
#[derive(Clone, Debug)]
pub(super) struct PlannedAlert {
    pub(super) id: AlertId,
    pub(super) new_alert: NewAlert,
}

/// Deletes alerts that the analyst created for an item. Their history is kept. Returns the deleted alerts.
pub(super) async fn remove(
    unit: &mut UnitOfWork,
    id: WatchlistItemId,
    selection: AlertSelection,
    now: Timestamp,
) -> Result<Vec<AlertId>, StoreError> {
    let mut deleted = Vec::new();
    for stored in unit.lock_alerts_of_item(id).await? {
        let alert = stored.alert;
        if selection == AlertSelection::Unfired && alert.status == Status::Triggered {
            continue;
        }
        if unit.delete_alert(&alert, now).await? {
            deleted.push(alert.id);
        }
    }
    Ok(deleted)
}

/// Creates the proposed alerts of an item, within the quota of the account's plan. Alerts that the account has
/// already are not created again. The account must be locked. Returns the created alerts.
pub(super) async fn make(
    unit: &mut UnitOfWork,
    account: &Account,
    item: &WatchlistItem,
    proposed: &[PlannedAlert],
    price: PriceAvailability,
    now: Timestamp,
) -> Result<Vec<Alert>, StoreError> {
    let owner = AlertOwner::Account(account.id);
    let mut made = Vec::new();
    for PlannedAlert { id, new_alert } in proposed {
        let mut new_alert = new_alert.clone();
        let parameters = new_alert.parameters.get_or_insert_default();
        parameters.insert("watchlist_item_id".to_owned(), json!(item.id.0));
        let similar = unit.similar_alerts(&owner, &new_alert).await?;
        let is_there = similar
            .iter()
            .any(|similar| equivalent(&similar.alert, &new_alert, now));
        if is_there || plan_limits::check(account, &new_alert.condition, new_alert.notification).is_err() {
            continue;
        }
        match plan_limits::check_active_alert_quota(unit, account).await {
            Ok(()) => {}
            Err(Abort::Refused(_)) => break,
            Err(Abort::Store(error)) => return Err(error),
        }
        // Only a percentage of an unknown price is refused.
        let Ok(created) = transition::create(new_alert, *id, OwnerVerification::Verified, price, now) else {
            continue;
        };
        let row = HistoryRow {
            alert: *id,
            symbol: created.alert.symbol,
            entry: created.entry,
            at: now,
            price: None,
            details: None,
        };
        let stored = StoredAlert {
            alert: created.alert,
            owner: owner.clone(),
            created_by: Some(MadeBy::Analyst.to_text()),
            role: ScopeRole::Single,
            managed_by: None,
        };
        unit.insert_alert(&stored, &row).await?;
        unit.assign_alert_to_item(*id, item.id).await?;
        made.push(stored.alert);
    }
    Ok(made)
}
