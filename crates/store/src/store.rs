//! The store itself: opening, reading.

use alerts::AlertId;
use alerts::Revision;
use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{BarRow, InsiderRow, MentionRow, StockRow};
use market::{Bar, Symbol};

use crate::model::{
    Account, AccountId, AlertFilter, AlertSort, ApiKey, Compose, EvaluationCommit, EvaluationOutcome, HistoryRow,
    LatestQuote, Page, PageRequest, StockFacts, StoredAlert, StoredEvent,
};
use crate::{Abort, StoreError, Work};
use std::sync::Arc;

/// How a database is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite://FILE` or `postgres://...`.
    pub url: String,
    /// At most so many connections for reading.
    pub max_connections: u32,
}

/// The database. Cloning it is cheap and gives another handle of the same.
#[derive(Clone, Debug)]
pub struct Store {}

impl Store {
    /// Opens the database, makes it if it is a file that is not there, and brings its tables up to date.
    pub async fn open(_options: Options) -> Result<Self, StoreError> {
        todo!()
    }

    /// Answers if the database does.
    pub async fn ping(&self) -> Result<(), StoreError> {
        todo!()
    }

    /// Finishes what is being written and closes all connections.
    pub async fn close(&self) {
        todo!()
    }

    /// Does a unit of work. What has been returned is on disk.
    pub async fn write<W: Work>(&self, _work: W) -> Result<W::Done, Abort<W::Refusal>> {
        todo!()
    }

    /// Commits what an evaluation brought about. `compose` makes the `data` of each event.
    pub async fn commit_evaluation(
        &self,
        _commit: EvaluationCommit,
        _compose: Arc<Compose>,
    ) -> Result<EvaluationOutcome, StoreError> {
        todo!()
    }

    /// An account.
    pub async fn account(&self, _id: AccountId) -> Result<Option<Account>, StoreError> {
        todo!()
    }

    /// The account of an address, which is in lower case.
    pub async fn account_by_email(&self, _email: &str) -> Result<Option<Account>, StoreError> {
        todo!()
    }

    /// The API key of that hash, with its account.
    pub async fn api_key_by_hash(&self, _hash: [u8; 32]) -> Result<Option<(ApiKey, Account)>, StoreError> {
        todo!()
    }

    /// An account's API keys, oldest first.
    pub async fn api_keys(&self, _account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        todo!()
    }

    /// Notes when a key was used last. Not worth an fsync: it may be lost in a crash.
    pub async fn touch_api_keys(&self, _used: &[(crate::model::ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        todo!()
    }

    /// An alert of an account that is not deleted.
    pub async fn alert(&self, _account: AccountId, _id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        todo!()
    }

    /// An account's alerts, a page of them.
    pub async fn alerts(
        &self,
        _account: AccountId,
        _filter: &AlertFilter,
        _sort: AlertSort,
        _page: PageRequest,
    ) -> Result<Page<StoredAlert>, StoreError> {
        todo!()
    }

    /// An alert's history, newest first; also of a deleted alert. `None`: the account never had such an alert.
    pub async fn history(
        &self,
        _account: AccountId,
        _alert: AlertId,
        _page: PageRequest,
    ) -> Result<Option<Page<HistoryRow>>, StoreError> {
        todo!()
    }

    /// An account's events after a place in their order, oldest first, at most `limit`.
    pub async fn events_after(&self, _account: AccountId, _seq: i64, _limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        todo!()
    }

    /// All active alerts, in the order of their creation, handed to `take` in pieces as they are read.
    pub async fn active_alerts(&self, _take: &mut (dyn FnMut(Vec<StoredAlert>) + Send)) -> Result<(), StoreError> {
        todo!()
    }

    /// The revisions of all active alerts, for comparison with the engine's, in pieces.
    pub async fn active_revisions(
        &self,
        _take: &mut (dyn FnMut(Vec<(AlertId, Revision)>) + Send),
    ) -> Result<(), StoreError> {
        todo!()
    }

    /// Alerts by their ids, whoever owns them, in any order; those that are deleted are missing.
    pub async fn alerts_by_id(&self, _ids: &[AlertId]) -> Result<Vec<StoredAlert>, StoreError> {
        todo!()
    }

    /// The alerts that have changed since a place in the order of all history entries, and the place to go on from.
    /// A place may be given again after it was passed: changes that committed out of order come once more.
    pub async fn changed_since(&self, _place: i64, _limit: u32) -> Result<(Vec<(AlertId, Option<StoredAlert>)>, i64), StoreError> {
        todo!()
    }

    /// The last instant that the clock was processed with.
    pub async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        todo!()
    }

    /// A stock of the catalog.
    pub async fn stock(&self, _symbol: Symbol) -> Result<Option<StockRow>, StoreError> {
        todo!()
    }

    /// All stocks of the catalog, by symbol.
    pub async fn stocks(&self) -> Result<Vec<StockRow>, StoreError> {
        todo!()
    }

    /// A stock's bars from `from` on, by date.
    pub async fn bars(&self, _symbol: Symbol, _from: Date) -> Result<Vec<Bar>, StoreError> {
        todo!()
    }

    /// All stocks' bars from `from` on, by symbol and date, in pieces.
    pub async fn all_bars(&self, _from: Date, _take: &mut (dyn FnMut(Vec<BarRow>) + Send)) -> Result<(), StoreError> {
        todo!()
    }

    /// The last observation of each stock.
    pub async fn latest_quotes(&self) -> Result<Vec<LatestQuote>, StoreError> {
        todo!()
    }

    /// What is known beside prices, of each stock of which something is.
    pub async fn stock_facts(&self) -> Result<Vec<(Symbol, StockFacts)>, StoreError> {
        todo!()
    }

    /// Insiders' trades filed on or after `from`, by filing date.
    pub async fn insider_trades(&self, _from: Date) -> Result<Vec<InsiderRow>, StoreError> {
        todo!()
    }

    /// Counts of mentions of hours from `from` on, by hour.
    pub async fn mentions(&self, _from: Timestamp) -> Result<Vec<MentionRow>, StoreError> {
        todo!()
    }

    /// All splits by date, each with whether it has been applied ([`Unit::mark_split_applied`](crate::Unit)).
    pub async fn splits(&self) -> Result<Vec<(market::records::SplitRow, bool)>, StoreError> {
        todo!()
    }
}
