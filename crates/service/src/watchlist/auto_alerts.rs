//! The analyst's alerts of an item: what the analyst proposes becomes alerts of the account's, and goes with the item.

use alerts::equivalence::equivalent;
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, NewAlert, Status};
use jiff::Timestamp;
use serde_json::json;
use store::model::{Account, AlertOwner, HistoryRow, StoredAlert, WatchlistItem, WatchlistItemId};
use store::{Abort, StoreError, UnitOfWork};

use crate::alerts::{MadeBy, terms};

/// Which of the analyst's alerts of an item go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    /// All.
    All,
    /// Those that have not fired: others take their place.
    Unfired,
}

/// An alert that the analyst proposes, with the id that it would get.
#[derive(Clone, Debug)]
pub(super) struct Proposed {
    pub(super) id: AlertId,
    pub(super) asked: NewAlert,
}

/// Deletes alerts that the analyst made for an item. Their history stays. Answers which.
pub(super) async fn remove(
    unit: &mut UnitOfWork,
    id: WatchlistItemId,
    which: Which,
    now: Timestamp,
) -> Result<Vec<AlertId>, StoreError> {
    let mut deleted = Vec::new();
    for stored in unit.lock_alerts_of_item(id).await? {
        let alert = stored.alert;
        if which == Which::Unfired && alert.status == Status::Triggered {
            continue;
        }
        if unit.delete_alert(&alert, now).await? {
            deleted.push(alert.id);
        }
    }
    Ok(deleted)
}

/// Makes alerts of what the analyst proposes for an item, as far as the account's plan has room for them; what the account has
/// already is not made again. The account is locked. Answers what was made.
pub(super) async fn make(
    unit: &mut UnitOfWork,
    account: &Account,
    item: &WatchlistItem,
    proposed: &[Proposed],
    price: PriceAvailability,
    now: Timestamp,
) -> Result<Vec<Alert>, StoreError> {
    let owner = AlertOwner::Account(account.id);
    let mut made = Vec::new();
    for Proposed { id, asked } in proposed {
        let mut asked = asked.clone();
        let parameters = asked.parameters.get_or_insert_default();
        parameters.insert("watchlist_item_id".to_owned(), json!(item.id.0));
        let similar = unit.similar_alerts(&owner, &asked).await?;
        let is_there = similar.iter().any(|similar| equivalent(&similar.alert, &asked));
        if is_there || terms::check(account, asked.condition.kind(), asked.notification).is_err() {
            continue;
        }
        match terms::require_room(unit, account).await {
            Ok(()) => {}
            Err(Abort::Refused(_)) => break,
            Err(Abort::Store(error)) => return Err(error),
        }
        // Only a percentage of an unknown price is refused.
        let Ok(created) = transition::create(asked, *id, OwnerVerification::Verified, price, now) else {
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
        };
        unit.insert_alert(&stored, &row).await?;
        unit.assign_alert_to_item(*id, item.id).await?;
        made.push(stored.alert);
    }
    Ok(made)
}
