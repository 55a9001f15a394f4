//! How far accounts' paper trades have been followed, and what each session brought.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::records::Batch;
use market::{Decimal, Symbol};
use uuid::Uuid;

use crate::bulk::{Statement, execute_many};
use crate::columns::{Table, days};
use crate::database::query;
use crate::model::{AccountId, PaperProgress, PaperReturn};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const PROGRESS: Table = Table("paper_progress");
const RETURNS: Table = Table("paper_returns");

/// A dividend of which the amount may not be known.
type Amount = (Option<i64>,);

const INSERT: Statement = Statement {
    before: "INSERT INTO paper_returns (account_id, date, value) VALUES ",
    columns: 3,
    after: " ON CONFLICT (account_id, date) DO UPDATE SET value = excluded.value",
};

impl Store {
    /// How far an account's trades have been followed. `None`: it never had one.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
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

    /// What the sessions from `from` on have brought, by date.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
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

    /// The accounts with trades that have not been followed through a session: at most `limit` after `after`, by id.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
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

impl Unit {
    /// Writes down how far an account's trades have been followed since, if nothing has made `before` invalid. `anew`
    /// says that they were followed from the beginning. `false`: something has, and nothing was written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn note_progress(
        &mut self,
        account: AccountId,
        before: i64,
        reached: &(Date, String),
        returns: &[PaperReturn],
        anew: bool,
    ) -> Result<bool, StoreError> {
        let (through, state) = reached;
        let sql = "UPDATE paper_progress SET version = version + 1, through = $3, state = $4
                   WHERE account_id = $1 AND version = $2";
        if write!(self, sql, account.0, before, days(*through), state) == 0 {
            return Ok(false);
        }
        if anew {
            write!(self, "DELETE FROM paper_returns WHERE account_id = $1", account.0);
        }
        let written = execute_many!(&mut self.link, INSERT, returns, |query, day| {
            query.bind(account.0).bind(days(day.date)).bind(day.value)
        });
        self.noted_rows(written)?;
        Ok(true)
    }

    /// The first day of each stock with paper trades on which a delivery says something else than what is known.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub(crate) async fn news_of_the_past(&mut self, batch: &Batch) -> Result<Vec<(Symbol, Date)>, StoreError> {
        if batch.bars.is_empty() && batch.dividends.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT DISTINCT symbol FROM paper_trades";
        let traded: BTreeSet<String> = ask!(self, fetch_all(String,), sql)
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
            let known = ask!(self, fetch_optional(i64,), sql, row.symbol.as_str(), days(row.bar.date));
            if known != Some((row.bar.close.micros(),)) {
                note(row.symbol, row.bar.date);
            }
        }
        for row in batch.dividends.iter().filter(|row| concerns(row.symbol)) {
            let sql = "SELECT amount FROM dividends WHERE symbol = $1 AND ex_date = $2";
            let known = ask!(
                self,
                fetch_optional Amount,
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

    /// Something has become known of some stocks that concerns sessions from a day on: whoever has, or had, a trade in them and
    /// was followed so far is followed from the beginning; whoever is just being followed has to look again.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub(crate) async fn forget_progress(&mut self, stocks: &[(Symbol, Date)]) -> Result<(), StoreError> {
        for (symbol, from) in stocks {
            write!(
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
