//! Counts the messages that a channel has got and will get beside the claimed ones.

use std::collections::HashMap;

use super::FoldingClaim;
use super::candidates::Group;
use super::plan::BURST_WINDOW;
use crate::bulk::{Statement, fetch_many};
use crate::{StoreError, UnitOfWork};

/// The messages of a channel that have been admitted to be sent after a time. Those about an account have another endpoint. Subqueries let PostgreSQL use the index of the account.
macro_rules! admitted_after {
    ($value:literal, $after:literal) => {
        concat!(
            "(SELECT ",
            $value,
            " FROM messages m WHERE m.account_id = wanted.account_id AND m.channel = wanted.channel AND m.admitted_at > ",
            $after,
            " AND m.lane = wanted.lane AND m.notification_channel_seq IS NOT DISTINCT FROM wanted.channel_seq)"
        )
    };
}

const SENT: Statement = Statement {
    before: "WITH wanted (lane, channel_seq, account_id, channel, recently, since) AS (VALUES ",
    columns: 6,
    after: concat!(
        ") SELECT lane, channel_seq, ",
        admitted_after!("COUNT(*)", "wanted.recently"),
        ", ",
        admitted_after!("COUNT(*)", "wanted.since"),
        ", ",
        admitted_after!("MAX(m.burst_at)", "wanted.recently"),
        " FROM wanted"
    ),
};

/// Messages that are due, or are claimed by others.
const WAITING: Statement = Statement {
    before: "WITH wanted (lane, channel_seq, channel, now, until, lease) AS (VALUES ",
    columns: 6,
    after: ") SELECT wanted.lane, wanted.channel_seq, COUNT(CASE WHEN m.due_at <= wanted.now THEN 1 END),
                COUNT(CASE WHEN m.due_at > wanted.now AND m.lease IS NOT NULL THEN 1 END),
                MAX(CASE WHEN m.due_at > wanted.now AND m.lease IS NOT NULL THEN m.burst_at END)
            FROM wanted JOIN messages m ON m.status = 'pending' AND m.channel = wanted.channel AND m.lane = wanted.lane
                AND m.due_at <= wanted.until AND m.kind = 'fired' AND m.admitted_at IS NULL
                AND (m.lease IS NULL OR m.lease <> wanted.lease)
                AND m.notification_channel_seq IS NOT DISTINCT FROM wanted.channel_seq
            GROUP BY wanted.lane, wanted.channel_seq",
};

type CountRow = (i64, Option<i64>, i64, i64, Option<i64>);

/// The other messages for the channel of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Traffic {
    /// Sent within the [`BURST_WINDOW`].
    pub(super) sent_recently: i64,
    /// Sent on this day, if the channel has a budget.
    pub(super) sent_today: i64,
    /// Claimed by others and not sent yet.
    pub(super) leased: i64,
    /// Due and not claimed.
    pub(super) due: i64,
    /// When a message that was sent within the window got the firings of a burst.
    pub(super) burst_at: Option<i64>,
}

impl UnitOfWork {
    /// Counts the other messages for the channels of groups.
    pub(super) async fn read_traffic(&mut self, claim: &FoldingClaim, groups: &mut [Group]) -> Result<(), StoreError> {
        let mut wanted: Vec<&Group> = groups.iter().collect();
        // The urgent and the other firings of a channel are neighbours.
        wanted.dedup_by_key(|group| group.key.channel());
        let (channel, now) = (claim.channel.name(), claim.now.as_microsecond());
        let recently = claim
            .now
            .saturating_sub(BURST_WINDOW)
            .unwrap_or(claim.now)
            .as_microsecond();
        let sent = fetch_many!(self, CountRow, SENT, &wanted, |query, group| {
            let today = group.budget_start(claim.now);
            // The day begins with its first microsecond.
            let today = today.map(|start| start.as_microsecond().saturating_sub(1));
            query
                .bind(group.key.lane)
                .bind(group.key.channel_seq)
                .bind(group.key.account)
                .bind(channel)
                .bind(recently)
                .bind(today.map_or(recently, |today| today.min(recently)))
        });
        let waiting = fetch_many!(self, CountRow, WAITING, &wanted, |query, group| {
            query
                .bind(group.key.lane)
                .bind(group.key.channel_seq)
                .bind(channel)
                .bind(now)
                .bind(claim.until.as_microsecond())
                .bind(claim.lease)
        });
        let mut found: HashMap<(i64, Option<i64>), Traffic> = HashMap::new();
        for (lane, channel_seq, sent_recently, sent_today, burst_at) in sent {
            let traffic = found.entry((lane, channel_seq)).or_default();
            (traffic.sent_recently, traffic.sent_today) = (sent_recently, sent_today);
            traffic.burst_at = burst_at;
        }
        for (lane, channel_seq, due, leased, burst_at) in waiting {
            let traffic = found.entry((lane, channel_seq)).or_default();
            (traffic.due, traffic.leased) = (due, leased);
            traffic.burst_at = traffic.burst_at.max(burst_at);
        }
        for group in groups {
            let traffic = found.get(&group.key.channel());
            group.traffic = traffic.copied().unwrap_or_default();
        }
        Ok(())
    }
}
