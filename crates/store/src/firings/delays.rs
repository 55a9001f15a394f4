//! The delays of an account's messages about firings.

use jiff::{SignedDuration, Timestamp};

use crate::database::query;
use crate::model::{AccountId, MessageChannel};
use crate::{Store, StoreError};

/// The admitted messages of a channel are found by an index.
const MESSAGES: &str =
    "SELECT m.finished_at - COALESCE(e.quoted_at, e.at) FROM messages m JOIN events e ON e.seq = m.event_seq
     WHERE m.account_id = $1 AND m.channel = $2 AND m.admitted_at >= $3 AND m.status = 'sent' AND m.finished_at >= $3
     ORDER BY m.admitted_at DESC LIMIT $4";

/// The latest attempt of a delivery that was delivered is the one that succeeded.
const DELIVERIES: &str = "SELECT t.ended_at - COALESCE(e.quoted_at, e.at)
     FROM webhooks w JOIN deliveries d ON d.webhook_seq = w.seq JOIN events e ON e.seq = d.event_seq
     JOIN (SELECT delivery_seq, MAX(at + duration_ms * 1000) AS ended_at FROM delivery_attempts
           WHERE at >= $2 GROUP BY delivery_seq) t ON t.delivery_seq = d.seq
     WHERE w.account_id = $1 AND d.status = 'delivered' AND d.created_at >= $2
     ORDER BY d.created_at DESC LIMIT $3";

impl Store {
    /// Returns the time from the quote that made an alert fire (or from the firing) until a receiver accepted the message or delivery,
    /// for those of an account that were accepted since an instant; at most the newest `limit` of each channel, in no order.
    pub async fn notification_delays(
        &self,
        account: AccountId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<SignedDuration>, StoreError> {
        let (since, limit) = (since.as_microsecond(), i64::from(limit));
        let mut delays = Vec::new();
        for channel in MessageChannel::ALL {
            let found = query!(
                fetch_all(i64,),
                &self.pools,
                MESSAGES,
                account.0,
                channel.name(),
                since,
                limit
            )?;
            delays.extend(found);
        }
        delays.extend(query!(
            fetch_all(i64,),
            &self.pools,
            DELIVERIES,
            account.0,
            since,
            limit
        )?);
        // A source's clock may be ahead.
        let delays = delays
            .into_iter()
            .map(|(micros,): (i64,)| SignedDuration::from_micros(micros.max(0)));
        Ok(delays.collect())
    }
}
