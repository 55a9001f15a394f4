//! The number of alerts of each account, by status, kept beside the alerts.
//!
//! A list says how many alerts it has, and a plan limits the active ones; counting them would cost more the more there are. Each
//! transaction collects its changes in its [`UnitOfWork`] and writes them before its commit. Firings change many alerts
//! of few accounts, so this costs little. [`Store::correct_alert_totals`] compares the totals with a count.

use std::collections::{BTreeSet, HashMap};

use alerts::Status;
use uuid::Uuid;

use super::row::TABLE;
use crate::bulk::{Statement, write_many};
use crate::database::query;
use crate::model::{AccountId, ScopeRole};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

/// The kind of an alert over many stocks. Its status is derived from its members.
const SCOPED: &str = "scoped";

/// The kind of an alert row that is not deleted, as [`TotalKind::name`] returns it.
macro_rules! kind_column {
    () => {
        "CASE WHEN parent_seq IS NOT NULL THEN 'member_' || status WHEN scope IS NOT NULL THEN 'scoped' ELSE status END"
    };
}
pub(super) use kind_column;

const ADD: Statement = Statement {
    before: "INSERT INTO alert_totals (account_id, kind, alerts) VALUES ",
    columns: 3,
    after: " ON CONFLICT (account_id, kind) DO UPDATE SET alerts = alert_totals.alerts + excluded.alerts",
};

/// Counts the alerts of an account that are not deleted.
const COUNTED: &str = concat!(
    "SELECT ",
    kind_column!(),
    ", COUNT(*) FROM alerts WHERE account_id = $1 AND deleted_at IS NULL GROUP BY 1"
);

/// The accounts whose totals differ from a count, as one snapshot.
const WRONG: &str = concat!(
    "WITH counted AS (SELECT account_id, ",
    kind_column!(),
    " AS kind, COUNT(*) AS alerts FROM alerts WHERE account_id IS NOT NULL AND deleted_at IS NULL GROUP BY 1, 2),
     stored AS (SELECT account_id, kind, alerts FROM alert_totals WHERE alerts <> 0)
     SELECT account_id FROM (SELECT * FROM counted EXCEPT SELECT * FROM stored) AS missing
     UNION SELECT account_id FROM (SELECT * FROM stored EXCEPT SELECT * FROM counted) AS superfluous"
);

/// A kind of alert that is counted by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TotalKind {
    /// An alert on one stock.
    Single(Status),
    /// An alert over many stocks.
    Scoped,
    /// A member of an alert over many stocks.
    Member(Status),
}

impl TotalKind {
    /// Returns the kind of an alert with a role and a status.
    pub(crate) const fn of(role: &ScopeRole, status: Status) -> Self {
        match role {
            ScopeRole::Single => Self::Single(status),
            ScopeRole::Scoped(_) => Self::Scoped,
            ScopeRole::Member(_) => Self::Member(status),
        }
    }

    /// Returns the same kind of alert in another status.
    pub(super) const fn with_status(self, status: Status) -> Self {
        match self {
            Self::Single(_) => Self::Single(status),
            Self::Scoped => Self::Scoped,
            Self::Member(_) => Self::Member(status),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Single(status) => status.name().to_owned(),
            Self::Scoped => SCOPED.to_owned(),
            Self::Member(status) => format!("member_{}", status.name()),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        if name == SCOPED {
            return Some(Self::Scoped);
        }
        match name.strip_prefix("member_") {
            Some(status) => Status::from_name(status).map(Self::Member),
            None => Status::from_name(name).map(Self::Single),
        }
    }
}

/// The changes of totals by a transaction, by account and kind.
pub(crate) type TotalChanges = HashMap<(Uuid, TotalKind), i64>;

/// The totals of an account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AlertTotals(HashMap<TotalKind, i64>);

impl AlertTotals {
    fn read(rows: Vec<(String, i64)>) -> Result<Self, StoreError> {
        let kinds = rows.into_iter().map(|(kind, alerts)| {
            let kind = TABLE.parse("kind", &kind, TotalKind::from_name)?;
            Ok((kind, alerts))
        });
        kinds
            .filter(|kind| !matches!(kind, Ok((_, 0))))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn sum(&self, is_counted: impl Fn(TotalKind) -> bool) -> Result<u64, StoreError> {
        let counted = self.0.iter().filter(|(kind, _)| is_counted(**kind));
        TABLE.narrow(
            "the sum of alert_totals",
            counted.map(|(_, alerts)| alerts).sum::<i64>(),
        )
    }

    /// Returns the number of alerts that a list without filters shows.
    pub(super) fn listed(&self) -> Result<u64, StoreError> {
        self.sum(|kind| !matches!(kind, TotalKind::Member(_)))
    }

    /// Returns the number of alerts on one stock in a status.
    pub(super) fn single(&self, status: Status) -> Result<u64, StoreError> {
        self.sum(|kind| kind == TotalKind::Single(status))
    }

    /// Returns the number of alerts over many stocks.
    pub(super) fn scoped(&self) -> Result<u64, StoreError> {
        self.sum(|kind| kind == TotalKind::Scoped)
    }

    /// Returns the number of alerts in a status; of those over many stocks their members.
    pub(crate) fn evaluated(&self, status: Status) -> Result<u64, StoreError> {
        self.sum(|kind| kind == TotalKind::Single(status) || kind == TotalKind::Member(status))
    }
}

impl Store {
    /// Returns the totals of an account.
    pub(crate) async fn alert_totals(&self, account: AccountId) -> Result<AlertTotals, StoreError> {
        let sql = "SELECT kind, alerts FROM alert_totals WHERE account_id = $1";
        AlertTotals::read(query!(fetch_all(String, i64), self.short_reads(), sql, account.0)?)
    }

    /// Compares the totals of all accounts with a count of their alerts and corrects them. Returns the number of accounts whose totals
    /// were wrong.
    pub async fn correct_alert_totals(&self) -> Result<u64, StoreError> {
        let mut corrected = 0;
        for (account,) in query!(fetch_all(Uuid,), &self.pools, WRONG)? {
            let correct = self.commit(AccountId(account), |&account, unit| {
                Box::pin(unit.correct_totals_of(account))
            });
            corrected += u64::from(correct.await?);
        }
        Ok(corrected)
    }
}

impl UnitOfWork {
    /// Returns the totals of an account after the changes of this transaction.
    pub(super) async fn alert_totals(&mut self, account: AccountId) -> Result<AlertTotals, StoreError> {
        let sql = "SELECT kind, alerts FROM alert_totals WHERE account_id = $1";
        let mut totals = AlertTotals::read(fetch!(self, fetch_all(String, i64), sql, account.0))?;
        for ((_, kind), change) in self.total_changes.iter().filter(|((of, _), _)| *of == account.0) {
            *totals.0.entry(*kind).or_default() += change;
        }
        totals.0.retain(|_, alerts| *alerts != 0);
        Ok(totals)
    }

    /// Counts a new alert, or one that an account has taken over.
    pub(crate) fn count_added(&mut self, account: Uuid, kind: TotalKind) {
        *self.total_changes.entry((account, kind)).or_default() += 1;
    }

    /// Counts a deleted alert.
    pub(crate) fn count_removed(&mut self, account: Uuid, kind: TotalKind) {
        *self.total_changes.entry((account, kind)).or_default() -= 1;
    }

    /// Counts an alert with a new status.
    pub(crate) fn count_changed(&mut self, account: Uuid, before: TotalKind, status: Status) {
        self.count_removed(account, before);
        self.count_added(account, before.with_status(status));
    }

    /// Reads the owner's account and the kind of an alert from the columns of a statement that wrote it; `None` for a guest's alert.
    pub(super) fn counted_kind(
        (account, kind): (Option<Uuid>, String),
    ) -> Result<Option<(Uuid, TotalKind)>, StoreError> {
        let kind = TABLE.parse("kind", &kind, TotalKind::from_name)?;
        Ok(account.map(|account| (account, kind)))
    }

    /// Notes that something else than a number changes in the lists of an account.
    pub(super) fn note_listed_change(&mut self, account: Uuid) {
        self.total_changes.entry((account, TotalKind::Scoped)).or_default();
    }

    /// Writes the changes of the totals and the new revisions. The last statements of a transaction: PostgreSQL locks the rows, always
    /// in the same order, so that others wait for the commit only.
    pub(crate) async fn write_alert_totals(&mut self) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.total_changes);
        let accounts: BTreeSet<Uuid> = changes.keys().map(|(account, _)| *account).collect();
        let mut rows: Vec<(Uuid, String, i64)> = changes
            .into_iter()
            .filter(|(_, change)| *change != 0)
            .map(|((account, kind), change)| (account, kind.name(), change))
            .collect();
        rows.sort_unstable();
        write_many!(self, ADD, &rows, |query, row| query
            .bind(row.0)
            .bind(row.1.as_str())
            .bind(row.2));
        self.raise_alert_revisions(&accounts).await
    }

    async fn correct_totals_of(&mut self, account: AccountId) -> Result<bool, StoreError> {
        self.lock_account(account).await?;
        let counted = AlertTotals::read(fetch!(self, fetch_all(String, i64), COUNTED, account.0))?;
        if self.alert_totals(account).await? == counted {
            return Ok(false);
        }
        self.total_changes.retain(|(of, _), _| *of != account.0);
        write_rows!(self, "DELETE FROM alert_totals WHERE account_id = $1", account.0);
        for (kind, alerts) in counted.0 {
            self.total_changes.insert((account.0, kind), alerts);
        }
        // Also if all totals are 0 now.
        self.note_listed_change(account.0);
        Ok(true)
    }
}
