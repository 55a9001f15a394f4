//! Filtered, sorted and paged lists of alerts.

use alerts::{AlertId, Status};
use sqlx::AssertSqlSafe;

use super::filter::Condition;
use super::row::{AlertRow, TABLE};
use super::scopes::{select_shown, shown_status, shown_triggered_at};
use super::totals::AlertTotals;
use crate::columns::values;
use crate::database::{Reads, query};
use crate::model::{AccountId, AlertFilter, AlertSort, AlertSortField, ListError, ListRequest, Page, StoredAlert};
use crate::parameters::{Parameter, fetch_with};
use crate::{Store, StoreError};

/// A column, or an expression, that a list is sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SortColumn {
    name: &'static str,
    is_nullable: bool,
    is_text: bool,
}

impl SortColumn {
    const fn of(field: AlertSortField) -> Self {
        let (name, is_nullable, is_text) = match field {
            AlertSortField::CreatedAt => ("alerts.created_at", false, false),
            AlertSortField::Symbol => ("alerts.symbol", false, true),
            AlertSortField::Condition => ("condition", false, true),
            AlertSortField::Status => (concat!("(", shown_status!(), ")"), false, true),
            AlertSortField::Threshold => ("threshold", true, false),
            AlertSortField::TriggeredAt => (concat!("(", shown_triggered_at!(), ")"), true, false),
            AlertSortField::InitialPrice => ("initial_price", true, false),
        };
        Self {
            name,
            is_nullable,
            is_text,
        }
    }

    /// Returns the `ORDER BY` clause. `NULLS LAST` would keep PostgreSQL from reading an index backwards.
    fn order(self, ascending: bool) -> String {
        let direction = if ascending { "ASC" } else { "DESC" };
        let nulls = if self.is_nullable { " NULLS LAST" } else { "" };
        format!("ORDER BY {} {direction}{nulls}, alerts.seq DESC", self.name)
    }
}

/// The place of an alert in a sorted list.
struct Position {
    seq: i64,
    /// `None`: the alert comes after those with a value.
    value: Option<Parameter>,
}

impl Position {
    /// Restricts a list to the alerts after this one.
    fn restrict(self, condition: &mut Condition, column: SortColumn, ascending: bool) {
        let SortColumn { name, is_nullable, .. } = column;
        let seq = condition.add(Parameter::Number(self.seq));
        let Some(value) = self.value else {
            condition.and(format_args!("{name} IS NULL AND alerts.seq < ${seq}"));
            return;
        };
        let value = condition.add(value);
        if ascending {
            let nulls = if is_nullable {
                format!(" OR {name} IS NULL")
            } else {
                String::new()
            };
            condition.and(format_args!(
                "({name} > ${value} OR ({name} = ${value} AND alerts.seq < ${seq}){nulls})"
            ));
        } else if is_nullable {
            condition.and(format_args!(
                "({name} < ${value} OR ({name} = ${value} AND alerts.seq < ${seq}) OR {name} IS NULL)"
            ));
        } else {
            condition.and(format_args!("({name}, alerts.seq) < (${value}, ${seq})"));
        }
    }
}

impl Store {
    /// Returns one page of an account's alerts. An alert that was deleted meanwhile keeps its place as [`ListRequest::after`].
    pub async fn alerts(
        &self,
        account: AccountId,
        filter: &AlertFilter,
        sort: AlertSort,
        request: impl Into<ListRequest<AlertId>>,
    ) -> Result<Page<StoredAlert>, ListError> {
        let (request, column) = (request.into(), SortColumn::of(sort.field));
        let position = match request.after {
            Some(after) => Some(self.position(account, after, column).await?),
            None => None,
        };
        let Some(mut condition) = Condition::new(account, filter) else {
            return Ok(Page {
                items: Vec::new(),
                total: 0,
            });
        };
        let is_by_status_alone = *filter
            == AlertFilter {
                status: filter.status,
                ..AlertFilter::default()
            };
        let totals = match is_by_status_alone {
            true => Some(self.alert_totals(account).await?),
            false => None,
        };
        let total = match (&totals, filter.status) {
            (None, _) => self.count(&condition).await?,
            (Some(totals), None) => totals.listed()?,
            (Some(totals), Some(status)) => self.in_status(account, totals, status).await?,
        };
        let (limit, offset) = request.limit_and_offset();
        // The newest alerts are the first rows of an index, and those on one stock need no other rows.
        let is_first_page =
            filter.status.is_none() && sort == AlertSort::default() && offset == 0 && position.is_none();
        let reads = match totals {
            Some(totals) if is_first_page && totals.scoped()? == 0 => self.short_reads(),
            _ => self.reads(),
        };
        if let Some(position) = position {
            position.restrict(&mut condition, column, sort.ascending);
        }
        let items = listed(reads, &condition, sort, (limit, offset)).await?;
        Ok(Page { items, total })
    }

    /// Returns the number of alerts in a status as the owner sees it. Only those over many stocks are counted.
    async fn in_status(&self, account: AccountId, totals: &AlertTotals, status: Status) -> Result<u64, StoreError> {
        let single = totals.single(status)?;
        if totals.scoped()? == 0 {
            return Ok(single);
        }
        let sql = concat!(
            "SELECT COUNT(*) FROM alerts WHERE account_id = $1 AND deleted_at IS NULL AND scope IS NOT NULL AND $2 = ",
            shown_status!()
        );
        let (scoped,) = query!(fetch_one(i64,), &self.pools, sql, account.0, status.name())?;
        let scoped: u64 = TABLE.narrow("COUNT(*)", scoped)?;
        Ok(single + scoped)
    }

    async fn count(&self, condition: &Condition) -> Result<u64, StoreError> {
        let Condition { sql, parameters } = condition;
        let count = format!("SELECT COUNT(*) FROM alerts {sql}");
        let counted = fetch_with!(self.reads(), (i64,), count, parameters)?;
        TABLE.narrow("COUNT(*)", counted.first().map_or(0, |(count,)| *count))
    }

    /// Returns the place of an alert that the account has or had.
    async fn position(&self, account: AccountId, alert: AlertId, column: SortColumn) -> Result<Position, ListError> {
        let sql = format!(
            "SELECT alerts.seq, {} FROM alerts WHERE id = $1 AND account_id = $2 AND parent_seq IS NULL",
            column.name
        );
        let sql = AssertSqlSafe(sql);
        let found = if column.is_text {
            let found = query!(
                fetch_optional(i64, Option<String>),
                &self.pools,
                sql,
                alert.0,
                account.0
            )?;
            found.map(|(seq, value)| (seq, value.map(Parameter::Text)))
        } else {
            let found = query!(fetch_optional(i64, Option<i64>), &self.pools, sql, alert.0, account.0)?;
            found.map(|(seq, value)| (seq, value.map(Parameter::Number)))
        };
        let (seq, value) = found.ok_or(ListError::UnknownItem)?;
        Ok(Position { seq, value })
    }
}

async fn listed(
    reads: Reads<'_>,
    condition: &Condition,
    sort: AlertSort,
    (limit, offset): (i64, i64),
) -> Result<Vec<StoredAlert>, StoreError> {
    let order = SortColumn::of(sort.field).order(sort.ascending);
    let Condition { sql, parameters } = condition;
    let limited = [limit, offset].map(Parameter::Number);
    let (first, second) = (parameters.len() + 1, parameters.len() + 2);
    let list = format!("{}{sql} {order} LIMIT ${first} OFFSET ${second}", select_shown!(""));
    values(fetch_with!(reads, AlertRow, list, parameters.iter().chain(&limited))?)
}
