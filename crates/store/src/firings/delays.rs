//! The delays of an account's messages about firings.

use jiff::{SignedDuration, Timestamp};

use crate::database::query;
use crate::model::{AccountId, MessageChannel};
use crate::{Store, StoreError};

/// The longest time for which a message is tried again. One that is accepted after it is not counted.
const MAX_TRIED_FOR: SignedDuration = SignedDuration::from_hours(48);

/// The admitted messages of a channel are found by an index.
const MESSAGES: &str =
    "SELECT m.finished_at - COALESCE(e.quoted_at, e.at) FROM messages m JOIN events e ON e.seq = m.event_seq
     WHERE m.account_id = $1 AND m.channel = $2 AND m.admitted_at >= $3 AND m.status = 'sent' AND m.finished_at >= $4
     ORDER BY m.admitted_at DESC LIMIT $5";

/// The latest attempt of a delivery that was delivered is the one that succeeded.
const DELIVERIES: &str = "SELECT ended_at - caused_at FROM
     (SELECT COALESCE(e.quoted_at, e.at) AS caused_at, d.created_at,
             (SELECT MAX(t.at + t.duration_ms * 1000) FROM delivery_attempts t WHERE t.delivery_seq = d.seq) AS ended_at
      FROM webhooks w JOIN deliveries d ON d.webhook_seq = w.seq JOIN events e ON e.seq = d.event_seq
      WHERE w.account_id = $1 AND d.status = 'delivered' AND d.created_at >= $2) delivered
     WHERE ended_at >= $3 ORDER BY created_at DESC LIMIT $4";

impl Store {
    /// Returns the time from the quote that made an alert fire (or from the firing) until a receiver accepted the message or delivery,
    /// for those of an account that were accepted since an instant; at most the newest `limit` of each channel, in no order.
    pub async fn notification_delays(
        &self,
        account: AccountId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<SignedDuration>, StoreError> {
        let first = since.saturating_sub(MAX_TRIED_FOR).unwrap_or(since).as_microsecond();
        let (since, limit) = (since.as_microsecond(), i64::from(limit));
        let mut delays = Vec::new();
        for channel in MessageChannel::ALL {
            let name = channel.name();
            let found = query!(
                fetch_all(i64,),
                &self.pools,
                MESSAGES,
                account.0,
                name,
                first,
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
            first,
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
