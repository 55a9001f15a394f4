//! Repairs rows that are dated in the future because the clock was ahead when they were written.

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::day::day_number;

use crate::model::SupersededQuote;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

/// Maximum lease and retry delay of deliveries, messages and analyses.
const MAX_DELIVERY_WAIT: SignedDuration = SignedDuration::from_hours(2);
/// Maximum delay of a message until the end of quiet hours.
const MAX_QUIET_WAIT: SignedDuration = SignedDuration::from_hours(25);

impl Store {
    /// Resets times after `now` to `now`: the clock mark, and messages, deliveries and analyses that were queued,
    /// leased or postponed in the future. Otherwise they would wait until that time.
    pub async fn reschedule_future_rows(&self, now: Timestamp) -> Result<(), StoreError> {
        let transaction = self.commit(now, |&now, unit| {
            Box::pin(async move {
                let after = |wait| now.saturating_add(wait).unwrap_or(Timestamp::MAX).as_microsecond();
                let (latest, latest_quiet) = (after(MAX_DELIVERY_WAIT), after(MAX_QUIET_WAIT));
                let now = now.as_microsecond();
                write_rows!(unit, "UPDATE marks SET at = $1 WHERE name = 'clock' AND at > $1", now);
                let sql = "UPDATE analyst_queue SET due_at = $1, lease = NULL WHERE due_at > $2";
                write_rows!(unit, sql, now, latest);
                unit.reschedule_future_notifications(now, latest, latest_quiet).await
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Deletes latest quotes that are dated in the future, so that current quotes can replace them. Also deletes
    /// observed bars of sessions that such a quote ended too early, if the bar is the stock's last one. Delivered
    /// bars remain, because the clock may be behind.
    pub(crate) async fn remove_superseded(&mut self, superseded: &[SupersededQuote]) -> Result<(), StoreError> {
        for SupersededQuote { symbol, unfinished_bar } in superseded {
            let symbol: Symbol = *symbol;
            write_rows!(self, "DELETE FROM quotes WHERE symbol = $1", symbol.as_str());
            let Some(date) = *unfinished_bar else {
                continue;
            };
            write_rows!(
                self,
                "DELETE FROM bars WHERE symbol = $1 AND date = $2 AND observed = 1
                 AND NOT EXISTS (SELECT 1 FROM bars AS later WHERE later.symbol = $1 AND later.date > $2)",
                symbol.as_str(),
                i64::from(day_number(date))
            );
            self.invalidate_progress(&[(symbol, date)]).await?;
        }
        Ok(())
    }
}
