//! The number of messages of a channel that were admitted on the current day, kept beside the messages.
//!
//! Each admission needs it, and a count would cost more with each message of the day. Admissions of a channel come one after the other
//! (`quota.rs`), so the row has no other writer.

use crate::model::MessageChannel;
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

use super::quota::alert_news_kinds;

/// The messages of a channel that were admitted on a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct DayTotals {
    pub(super) account_messages: i64,
    /// Firings and other news about alerts.
    pub(super) firings: i64,
}

impl UnitOfWork {
    /// Returns the totals of the day that began at `day_start`, in microseconds since 1970.
    pub(super) async fn day_totals(
        &mut self,
        channel: MessageChannel,
        day_start: i64,
    ) -> Result<DayTotals, StoreError> {
        let sql = "SELECT account_messages, firings FROM admitted_messages WHERE channel = $1 AND day_start = $2";
        let kept = fetch!(self, fetch_optional(i64, i64), sql, channel.name(), day_start);
        if let Some((account_messages, firings)) = kept {
            return Ok(DayTotals {
                account_messages,
                firings,
            });
        }
        // The first admission of the day. The index covers the columns.
        let sql = concat!(
            "SELECT COUNT(*), COUNT(CASE WHEN kind IN (",
            alert_news_kinds!(),
            ") THEN 1 END) FROM messages WHERE channel = $1 AND admitted_at >= $2"
        );
        let (all, firings) = fetch!(self, fetch_one(i64, i64), sql, channel.name(), day_start);
        Ok(DayTotals {
            account_messages: all - firings,
            firings,
        })
    }

    /// Keeps the totals of a day; those of any other day are forgotten.
    pub(super) async fn keep_day_totals(
        &mut self,
        channel: MessageChannel,
        day_start: i64,
        totals: DayTotals,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO admitted_messages (channel, day_start, account_messages, firings) VALUES ($1, $2, $3, $4)
             ON CONFLICT (channel) DO UPDATE SET day_start = excluded.day_start,
             account_messages = excluded.account_messages, firings = excluded.firings",
            channel.name(),
            day_start,
            totals.account_messages,
            totals.firings,
        );
        Ok(())
    }
}
