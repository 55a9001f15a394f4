//! Progress of computing accounts' paper trades, and the return of each session.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::records::Batch;
use market::{Decimal, Symbol};
use uuid::Uuid;

use crate::bulk::{Statement, write_many};
use crate::columns::{Table, days};
use crate::database::{OptionalNumberRow, query};
use crate::model::{AccountId, PaperProgress, PaperReturn};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const PROGRESS: Table = Table("paper_progress");
const RETURNS: Table = Table("paper_returns");

const INSERT_RETURNS: Statement = Statement {
    before: "INSERT INTO paper_returns (account_id, date, value) VALUES ",
    columns: 3,
    after: " ON CONFLICT (account_id, date) DO UPDATE SET value = excluded.value",
};

impl Store {
    /// Returns how far an account's trades have been computed. `None`: the account never had a trade.
    pub async fn paper_progress(&self, account: AccountId) -> Result<Option<PaperProgress>, StoreError> {
        let sql = "SELECT version, through, state FROM paper_progress WHERE account_id = $1";
        let row = query!(
            fetch_optional(i64, Option<i64>, Option<String>),
            &self.pools,
            sql,
            account.0
        )?;
        let progress = row.map(|(version, through, state)| {
            let reached = match through.zip(state) {
                Some((through, state)) => Some((PROGRESS.date(through)?, state)),
                None => None,
            };
            Ok(PaperProgress { version, reached })
        });
        progress.transpose()
    }

    /// Returns an account's session returns from `from` on, by date.
    pub async fn paper_returns(&self, account: AccountId, from: Date) -> Result<Vec<PaperReturn>, StoreError> {
        let sql = "SELECT date, value FROM paper_returns WHERE account_id = $1 AND date >= $2 ORDER BY date";
        let rows = query!(fetch_all(i64, f64), &self.pools, sql, account.0, days(from))?;
        let returns = rows.into_iter().map(|(date, value)| {
            Ok(PaperReturn {
                date: RETURNS.date(date)?,
                value,
            })
        });
        returns.collect()
    }

    /// Returns the accounts with trades that have not been computed through a session: at most `limit` after
    /// `after`, by id.
    pub async fn accounts_behind(
        &self,
        session: Date,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, StoreError> {
        let sql = "SELECT account_id FROM paper_progress
                   WHERE account_id > $1 AND (through IS NULL OR through < $2) ORDER BY account_id LIMIT $3";
        let after = after.map_or(Uuid::nil(), |account| account.0);
        let rows = query!(
            fetch_all(Uuid,),
            &self.pools,
            sql,
            after,
            days(session),
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(|(id,)| AccountId(id)).collect())
    }
}

impl UnitOfWork {
    /// Records the progress of an account's trades, unless the version `before` has become invalid. `from_start`
    /// says that they were computed from the beginning. Returns `false`, and writes nothing, if the version has
    /// changed.
    pub async fn record_progress(
        &mut self,
        account: AccountId,
        before: i64,
        reached: &(Date, String),
        returns: &[PaperReturn],
        from_start: bool,
    ) -> Result<bool, StoreError> {
        let (through, state) = reached;
        let sql = "UPDATE paper_progress SET version = version + 1, through = $3, state = $4
                   WHERE account_id = $1 AND version = $2";
        if write_rows!(self, sql, account.0, before, days(*through), state) == 0 {
            return Ok(false);
        }
        if from_start {
            write_rows!(self, "DELETE FROM paper_returns WHERE account_id = $1", account.0);
        }
        write_many!(self, INSERT_RETURNS, returns, |query, day| {
            query.bind(account.0).bind(days(day.date)).bind(day.value)
        });
        Ok(true)
    }

    /// Returns, for each stock with paper trades, the first date on which a delivery differs from the stored data.
    pub(crate) async fn first_changed_sessions(&mut self, batch: &Batch) -> Result<Vec<(Symbol, Date)>, StoreError> {
        if batch.bars.is_empty() && batch.dividends.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT DISTINCT symbol FROM paper_trades";
        let traded: BTreeSet<String> = fetch!(self, fetch_all(String,), sql)
            .into_iter()
            .map(|(symbol,)| symbol)
            .collect();
        let concerns = |symbol: Symbol| traded.contains(symbol.as_str());
        let mut first: BTreeMap<Symbol, Date> = BTreeMap::new();
        let mut note = |symbol: Symbol, date: Date| {
            let earliest = first.entry(symbol).or_insert(date);
            *earliest = date.min(*earliest);
        };
        for row in batch.bars.iter().filter(|row| concerns(row.symbol)) {
            let sql = "SELECT close FROM bars WHERE symbol = $1 AND date = $2";
            let known = fetch!(self, fetch_optional(i64,), sql, row.symbol.as_str(), days(row.bar.date));
            if known != Some((row.bar.close.micros(),)) {
                note(row.symbol, row.bar.date);
            }
        }
        for row in batch.dividends.iter().filter(|row| concerns(row.symbol)) {
            let sql = "SELECT amount FROM dividends WHERE symbol = $1 AND ex_date = $2";
            let known = fetch!(
                self,
                fetch_optional OptionalNumberRow,
                sql,
                row.symbol.as_str(),
                days(row.ex_date)
            );
            if known != Some((row.amount.map(Decimal::micros),)) {
                note(row.symbol, row.ex_date);
            }
        }
        Ok(first.into_iter().collect())
    }

    /// Invalidates progress after data of past sessions has changed, from a date on for each stock. Accounts with a
    /// trade in the stock that were computed through that date restart from the beginning. A computation that is
    /// running must check again.
    pub(crate) async fn invalidate_progress(&mut self, stocks: &[(Symbol, Date)]) -> Result<(), StoreError> {
        for (symbol, from) in stocks {
            write_rows!(
                self,
                "UPDATE paper_progress SET version = version + 1,
                 state = CASE WHEN through >= $2 THEN NULL ELSE state END,
                 through = CASE WHEN through >= $2 THEN NULL ELSE through END
                 WHERE account_id IN (SELECT account_id FROM paper_trades WHERE symbol = $1)",
                symbol.as_str(),
                days(*from),
            );
        }
        Ok(())
    }
}
