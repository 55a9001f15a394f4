//! Rows that are dated after the present, because the clock was ahead when they were written.

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::day::day_number;

use crate::deliveries::never;
use crate::model::SupersededQuote;
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// No lease and no retry of a delivery, a message or an analysis is set for longer.
const MAX_DELIVERY_WAIT: SignedDuration = SignedDuration::from_hours(2);
/// No message waits longer for the end of its recipient's quiet hours.
const MAX_QUIET_WAIT: SignedDuration = SignedDuration::from_hours(25);

impl Store {
    /// Makes rows that are dated after `now` due now: the instant up to which the clock was processed, and messages, deliveries and
    /// analyses that were queued, leased or put off in the future. Otherwise they would wait until the present has caught up.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn bring_back_from_future(&self, now: Timestamp) -> Result<(), StoreError> {
        self.write(BringBack(now)).await.map_err(never)
    }
}

struct BringBack(Timestamp);

impl Work for BringBack {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let now = self.0.as_microsecond();
            let latest = self.0.saturating_add(MAX_DELIVERY_WAIT).unwrap_or(Timestamp::MAX);
            write!(unit, "UPDATE marks SET at = $1 WHERE name = 'clock' AND at > $1", now);
            let after_quiet_hours = self.0.saturating_add(MAX_QUIET_WAIT).unwrap_or(Timestamp::MAX);
            write!(
                unit,
                "UPDATE messages SET due_at = $1
                 WHERE status = 'pending' AND lease IS NULL AND due_at > $1 AND (created_at > $1
                   OR (due_at > $2 AND COALESCE(outcome, '') <> 'quiet_hours') OR due_at > $3)",
                now,
                latest.as_microsecond(),
                after_quiet_hours.as_microsecond()
            );
            write!(
                unit,
                "UPDATE messages SET due_at = $1, lease = NULL
                 WHERE status = 'pending' AND lease IS NOT NULL AND due_at > $2",
                now,
                latest.as_microsecond()
            );
            write!(
                unit,
                "UPDATE analyst_queue SET due_at = $1, lease = NULL WHERE due_at > $2",
                now,
                latest.as_microsecond()
            );
            write!(
                unit,
                "UPDATE deliveries SET due_at = $1
                 WHERE status = 'pending' AND lease IS NULL AND due_at > $1 AND (created_at > $1 OR due_at > $2)",
                now,
                latest.as_microsecond()
            );
            write!(
                unit,
                "UPDATE deliveries SET due_at = $1, lease = NULL
                 WHERE status = 'pending' AND lease IS NOT NULL AND due_at > $2",
                now,
                latest.as_microsecond()
            );
            Ok(())
        })
    }
}

impl Unit {
    /// Removes last observations that are dated in the future, so that present ones can take their place, and observed bars of
    /// sessions that they ended too early: each if it is the stock's last one. A delivered bar stays: the clock may be behind.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub(crate) async fn remove_superseded(&mut self, superseded: &[SupersededQuote]) -> Result<(), StoreError> {
        for SupersededQuote { symbol, unfinished_bar } in superseded {
            let symbol: Symbol = *symbol;
            write!(self, "DELETE FROM quotes WHERE symbol = $1", symbol.as_str());
            let Some(date) = *unfinished_bar else {
                continue;
            };
            write!(
                self,
                "DELETE FROM bars WHERE symbol = $1 AND date = $2 AND observed = 1
                 AND NOT EXISTS (SELECT 1 FROM bars AS later WHERE later.symbol = $1 AND later.date > $2)",
                symbol.as_str(),
                i64::from(day_number(date))
            );
            self.forget_progress(&[(symbol, date)]).await?;
        }
        Ok(())
    }
}
