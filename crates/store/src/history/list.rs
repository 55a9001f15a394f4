//! Paged lists of history entries: the history of an alert, and the firings of an account.
//!
//! Both are in the order of positions, newest first. A page begins below a position, so an index finds its first entry, and only the
//! rows of the page are read.

use alerts::AlertId;
use jiff::Timestamp;
use uuid::Uuid;

use super::{EntryRow, TABLE};
use crate::merged::merged;
use crate::model::{
    AccountId, HistoryPosition, HistoryRow, ListError, ListRequest, ListedHistoryRow, Page, PageRequest,
};
use crate::parameters::{Parameter, fetch_with};
use crate::sqlite::row;
use crate::{Store, StoreError};

row! {
    /// An entry with its position, and the alert and the stock that it shows.
    struct ListedRow {
        seq: i64,
        alert_id: Uuid,
        symbol: String,
        ..entry: EntryRow,
    }
}

/// A list of history entries.
struct EntryList {
    /// The statements whose rows are the positions (`seq`) of the entries.
    positions: &'static [&'static str],
    /// The value of `$1`.
    owner: Parameter,
}

impl EntryList {
    /// Returns the history of an alert. One over many stocks shows its own entries, and those of its members of which its owner
    /// was notified.
    const fn of_alert(seq: i64) -> Self {
        Self {
            positions: &[
                "SELECT seq FROM history WHERE alert_seq = $1",
                "SELECT seq FROM history WHERE parent_seq = $1",
            ],
            owner: Parameter::Number(seq),
        }
    }

    /// Returns the firings of an account. An event has the position of its firing's history entry.
    const fn of_account(account: AccountId) -> Self {
        Self {
            positions: &["SELECT seq FROM events WHERE account_id = $1"],
            owner: Parameter::Uuid(account.0),
        }
    }

    /// Returns the expression of the number of entries. An index counts those of each statement.
    fn count(&self) -> String {
        let counts = self
            .positions
            .iter()
            .map(|select| format!("(SELECT COUNT(*) FROM ({select}) entries)"));
        counts.collect::<Vec<_>>().join(" + ")
    }

    /// Returns the statements of the positions with a further condition.
    fn positions(&self, and: &str) -> impl Iterator<Item = String> {
        self.positions.iter().map(move |select| format!("{select}{and}"))
    }

    /// Returns the statement of all positions with a further condition.
    fn all_positions(&self, and: &str) -> String {
        self.positions(and).collect::<Vec<_>>().join(" UNION ALL ")
    }
}

impl Store {
    /// Returns a page of an alert's history, newest first, including deleted alerts. `None`: the account never had
    /// such an alert.
    pub async fn history(
        &self,
        account: AccountId,
        alert: AlertId,
        page: PageRequest,
    ) -> Result<Option<Page<HistoryRow>>, ListError> {
        let found = self.history_since(account, alert, None, page).await?;
        Ok(found.map(|page| page.map(|listed| listed.row)))
    }

    /// Like [`Store::history`], of the entries from an instant on.
    pub async fn history_since(
        &self,
        account: AccountId,
        alert: AlertId,
        since: Option<Timestamp>,
        request: impl Into<ListRequest<HistoryPosition>>,
    ) -> Result<Option<Page<ListedHistoryRow>>, ListError> {
        let Some((seq, _)) = self.alert_seq_and_symbol(account, alert).await? else {
            return Ok(None);
        };
        let mut page = self.entries(EntryList::of_alert(seq), since, request.into()).await?;
        for listed in &mut page.items {
            listed.row.alert = alert;
        }
        Ok(Some(page))
    }

    /// Returns a page of an account's firings from an instant on, newest first, including deleted alerts.
    pub async fn firings_of_account(
        &self,
        account: AccountId,
        since: Option<Timestamp>,
        request: impl Into<ListRequest<HistoryPosition>>,
    ) -> Result<Page<ListedHistoryRow>, ListError> {
        self.entries(EntryList::of_account(account), since, request.into())
            .await
    }

    async fn entries(
        &self,
        list: EntryList,
        since: Option<Timestamp>,
        request: ListRequest<HistoryPosition>,
    ) -> Result<Page<ListedHistoryRow>, ListError> {
        let mut end = i64::MAX;
        if let Some(HistoryPosition(after)) = request.after {
            let parameters = [list.owner.clone(), Parameter::Number(after)];
            let found = fetch_with!(&self.pools, (i64,), list.all_positions(" AND seq = $2"), &parameters)?;
            (end,) = *found.first().ok_or(ListError::UnknownItem)?;
        }
        let since = since.map(|since| Parameter::Number(since.as_microsecond()));
        // Positions and instants are not in the same order, but no entry since the instant is older than the first one.
        let extent = match since {
            None => format!("SELECT {}, CAST(0 AS BIGINT)", list.count()),
            Some(_) => format!(
                "SELECT COUNT(*), COALESCE(MIN(seq), 0) FROM ({}) listed",
                list.all_positions(" AND at >= $2")
            ),
        };
        let parameters = [&list.owner].into_iter().chain(&since);
        let extent = fetch_with!(&self.pools, (i64, i64), extent, parameters)?;
        let (total, first) = extent.first().copied().unwrap_or_default();

        let since_too = since.as_ref().map_or("", |_| " AND at >= $7");
        let (limit, offset) = request.limit_and_offset();
        let page = format!(
            "SELECT h.seq, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id) AS alert_id, \
             a.symbol, h.action, h.previous_status, h.new_status, h.at, h.price, h.details \
             FROM ({} LIMIT $4 OFFSET $5) page \
             JOIN history h ON h.seq = page.seq JOIN alerts a ON a.seq = h.alert_seq ORDER BY h.seq DESC",
            merged(
                list.positions(&format!(" AND seq >= $2 AND seq < $3{since_too}")),
                "seq DESC",
                "$6"
            )
        );
        let numbers = [first, end, limit, offset, request.rows_until_end()].map(Parameter::Number);
        let parameters = [&list.owner].into_iter().chain(&numbers).chain(&since);
        let rows = fetch_with!(&self.pools, ListedRow, page, parameters)?;
        let items = rows.into_iter().map(ListedHistoryRow::try_from);
        Ok(Page {
            items: items.collect::<Result<_, _>>()?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }
}

impl TryFrom<ListedRow> for ListedHistoryRow {
    type Error = StoreError;

    fn try_from(listed: ListedRow) -> Result<Self, StoreError> {
        let (alert, symbol) = (AlertId(listed.alert_id), TABLE.symbol(&listed.symbol)?);
        Ok(Self {
            position: HistoryPosition(listed.seq),
            row: listed.entry.into_history_row(alert, symbol)?,
        })
    }
}
