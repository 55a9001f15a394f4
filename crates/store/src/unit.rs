//! A unit of work: what can be read and written within one transaction.

use alerts::transition::Changed;
use alerts::{Alert, AlertId, NewAlert, Revision};
use jiff::Timestamp;
use market::Symbol;
use market::records::{Batch, SplitRow};

use crate::StoreError;
use crate::model::{Account, AccountId, ApiKey, ApiKeyId, HistoryRow, LatestQuote, Owner, StoredAlert};

/// One transaction, shared by those whose work is done in it.
#[derive(Debug)]
pub struct Unit {}

impl Unit {
    /// Reads an account and keeps others from changing it, or anything that is counted for it, until the end of the
    /// transaction.
    pub async fn lock_account(&mut self, _id: AccountId) -> Result<Option<Account>, StoreError> {
        todo!()
    }

    /// Adds an account. `false`: its address has one already; nothing is written.
    pub async fn insert_account(&mut self, _account: &Account) -> Result<bool, StoreError> {
        todo!()
    }

    /// Writes an account's fields over. `false`: there is none.
    pub async fn update_account(&mut self, _account: &Account) -> Result<bool, StoreError> {
        todo!()
    }

    /// The account of an address.
    pub async fn account_by_email(&mut self, _email: &str) -> Result<Option<Account>, StoreError> {
        todo!()
    }

    /// Adds an API key.
    pub async fn insert_api_key(&mut self, _key: &ApiKey) -> Result<(), StoreError> {
        todo!()
    }

    /// How many API keys an account has.
    pub async fn count_api_keys(&mut self, _account: AccountId) -> Result<u64, StoreError> {
        todo!()
    }

    /// Deletes an API key of an account. `false`: it has no such key.
    pub async fn delete_api_key(&mut self, _account: AccountId, _id: ApiKeyId) -> Result<bool, StoreError> {
        todo!()
    }

    /// How many of an account's alerts are active.
    pub async fn count_active_alerts(&mut self, _account: AccountId) -> Result<u32, StoreError> {
        todo!()
    }

    /// The alerts of the owner that [`alerts::equivalence::equivalent`] may find equivalent to `asked`: those of the same
    /// symbol and condition, and those of the same `onboarding_id`; none that is deleted. Oldest first.
    pub async fn similar_alerts(&mut self, _owner: &Owner, _asked: &NewAlert) -> Result<Vec<StoredAlert>, StoreError> {
        todo!()
    }

    /// An alert of an account, kept from changing until the end of the transaction. `None`: it has no such alert, or
    /// it was deleted.
    pub async fn alert_to_change(&mut self, _account: AccountId, _id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        todo!()
    }

    /// All alerts of a stock that are not deleted, kept from changing until the end of the transaction.
    pub async fn alerts_of_symbol_to_change(&mut self, _symbol: Symbol) -> Result<Vec<StoredAlert>, StoreError> {
        todo!()
    }

    /// Adds an alert with its history entry.
    pub async fn insert_alert(&mut self, _alert: &StoredAlert, _row: &HistoryRow) -> Result<(), StoreError> {
        todo!()
    }

    /// Writes a changed alert and its history entry, if it still is of the revision `before`. `false`: it is not, and
    /// nothing was written.
    pub async fn update_alert(
        &mut self,
        _changed: &Changed,
        _before: Revision,
        _at: Timestamp,
        _details: Option<&serde_json::Map<String, serde_json::Value>>,
    ) -> Result<bool, StoreError> {
        todo!()
    }

    /// Marks an alert as deleted and writes its history entry.
    pub async fn delete_alert(&mut self, _alert: &Alert, _row: &HistoryRow) -> Result<bool, StoreError> {
        todo!()
    }

    /// Adds an entry to an alert's history.
    pub async fn append_history(&mut self, _row: &HistoryRow) -> Result<(), StoreError> {
        todo!()
    }

    /// Takes in what a source delivered, but for quotes and splits: later figures of the same key replace earlier ones. New
    /// stocks get a place in the catalog; a stock known by its symbol only takes over the name.
    pub async fn record_market(&mut self, _batch: &Batch) -> Result<(), StoreError> {
        todo!()
    }

    /// Notes a split. `false`: it was noted before, and nothing is written.
    pub async fn record_split(&mut self, _split: &SplitRow) -> Result<bool, StoreError> {
        todo!()
    }

    /// Notes that a split has been applied: alerts were moved into the new shares. (Bars and quotes stay as they were delivered, in the
    /// shares of their day.) `false`: that was noted before, and nothing is written.
    pub async fn mark_split_applied(&mut self, _split: &SplitRow) -> Result<bool, StoreError> {
        todo!()
    }

    /// Keeps the last observations, each unless a later one is kept already.
    pub async fn record_quotes(&mut self, _quotes: &[LatestQuote]) -> Result<(), StoreError> {
        todo!()
    }
}
