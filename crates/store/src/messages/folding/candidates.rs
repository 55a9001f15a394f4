//! The messages that can be folded, by channel.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::plan::{FoldState, Foldable};
use super::traffic::Traffic;
use super::{FoldingClaim, RESENT};
use crate::alerts::parse_routing;
use crate::bulk::{Statement, fetch_many};
use crate::messages::TABLE;
use crate::model::{ChannelThrottle, MessageHold, throttle};
use crate::notification_channels;
use crate::sqlite::row;
use crate::unit_of_work::fetch;
use crate::{StoreError, UnitOfWork};

/// Maximum number of messages that are folded at once. It limits the memory and the duration of a claim.
const MAX_FOLDED: i64 = 10_000;

const CANDIDATES: Statement = Statement {
    before: "SELECT m.seq, m.lane, m.notification_channel_seq, m.account_id, m.outcome, m.created_at, a.routing, u.time_zone,
             EXISTS (SELECT 1 FROM messages f WHERE f.folded_into = m.seq) AS has_folded,
             c.burst_limit, c.digest, c.daily_budget,
             EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = m.event_seq AND k.at >= m.created_at) AS is_acknowledged
             FROM messages m JOIN accounts u ON u.id = m.account_id LEFT JOIN alerts a ON a.seq = m.alert_seq
             LEFT JOIN notification_channels c ON c.seq = m.notification_channel_seq
             WHERE m.kind = 'fired' AND m.event_seq IS NOT NULL AND m.admitted_at IS NULL AND m.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

/// The messages of a group that are due and not claimed. They are many, so the account and the channel are not joined again.
macro_rules! due_messages {
    ($lock:literal) => {
        concat!(
            "SELECT m.seq, m.outcome, m.created_at, EXISTS (SELECT 1 FROM messages f WHERE f.folded_into = m.seq) AS has_folded,
             (SELECT routing FROM alerts a WHERE a.seq = m.alert_seq) AS routing,
             EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = m.event_seq AND k.at >= m.created_at) AS is_acknowledged
             FROM messages m WHERE m.status = 'pending' AND m.channel = $1 AND m.lane = $2 AND m.due_at <= $3
             AND m.notification_channel_seq IS NOT DISTINCT FROM $4
             AND m.kind = 'fired' AND m.event_seq IS NOT NULL AND m.account_id = $5 AND m.admitted_at IS NULL
             ORDER BY m.due_at, m.seq LIMIT $6",
            $lock
        )
    };
}

row! {
    struct CandidateRow {
        seq: i64,
        lane: i64,
        notification_channel_seq: Option<i64>,
        account_id: Uuid,
        outcome: Option<String>,
        created_at: i64,
        has_folded: bool,
        routing: Option<String>,
        time_zone: String,
        burst_limit: Option<i64>,
        digest: Option<String>,
        daily_budget: Option<i64>,
        is_acknowledged: bool,
    }
}

row! {
    struct DueRow {
        seq: i64,
        outcome: Option<String>,
        created_at: i64,
        has_folded: bool,
        routing: Option<String>,
        is_acknowledged: bool,
    }
}

/// The channel of messages that can be folded together: the own address or number of an account, or a notification channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GroupKey {
    pub(super) lane: i64,
    pub(super) channel_seq: Option<i64>,
    pub(super) account: Uuid,
    pub(super) is_urgent: bool,
}

impl GroupKey {
    /// Returns the part that the urgent and the other messages of a channel share.
    pub(super) const fn channel(&self) -> (i64, Option<i64>) {
        (self.lane, self.channel_seq)
    }
}

/// The messages for one channel.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) key: GroupKey,
    pub(super) messages: Vec<Foldable>,
    pub(super) throttle: ChannelThrottle,
    pub(super) traffic: Traffic,
    pub(super) zone: TimeZone,
}

impl Group {
    /// Returns the facts that the plan depends on.
    pub(super) fn state(&self, claim: &FoldingClaim) -> Result<FoldState, StoreError> {
        let throttle = if self.key.is_urgent {
            // Urgent firings are not held back.
            ChannelThrottle {
                digest: None,
                daily_budget: None,
                ..self.throttle
            }
        } else {
            self.throttle
        };
        let used = self.traffic.sent_today + self.traffic.leased;
        let budget = throttle.daily_budget.map(i64::from);
        Ok(FoldState {
            now: claim.now,
            zone: self.zone.clone(),
            burst_limit: i64::from(throttle.burst_limit.unwrap_or(claim.burst_limit)),
            digest: throttle.digest,
            budget_left: budget.map(|budget| budget.saturating_sub(used).max(0)),
            recent: self.traffic.sent_recently + self.traffic.leased,
            burst_at: TABLE.optional_instant(self.traffic.burst_at.filter(|_| !self.key.is_urgent))?,
        })
    }

    /// Returns the beginning of the day that the budget counts, or `None` without a budget.
    pub(super) fn budget_start(&self, now: Timestamp) -> Option<Timestamp> {
        self.throttle.daily_budget?;
        Some(throttle::day_start(now, &self.zone))
    }
}

impl CandidateRow {
    /// `None` for a message that is sent as it is.
    fn foldable(&self) -> Result<Option<Foldable>, StoreError> {
        foldable(
            self.seq,
            self.outcome.as_deref(),
            self.created_at,
            self.has_folded,
            self.is_acknowledged,
        )
    }
}

fn foldable(
    seq: i64,
    outcome: Option<&str>,
    created_at: i64,
    has_folded: bool,
    is_acknowledged: bool,
) -> Result<Option<Foldable>, StoreError> {
    // One that others are folded into is sent for them, too.
    let is_stopped = is_acknowledged && !has_folded;
    if is_stopped || outcome == Some(RESENT) {
        return Ok(None);
    }
    Ok(Some(Foldable {
        seq,
        created_at: TABLE.instant(created_at)?,
        hold: outcome.and_then(MessageHold::from_name),
        is_claimed: false,
        has_folded,
    }))
}

fn is_urgent(routing: Option<&str>) -> Result<bool, StoreError> {
    Ok(parse_routing(routing, None)?.is_urgent)
}

impl UnitOfWork {
    /// Returns the claimed messages that can be folded, by channel.
    pub(super) async fn candidate_groups(&mut self, claimed: &[i64]) -> Result<Vec<Group>, StoreError> {
        let rows = fetch_many!(self, CandidateRow, CANDIDATES, claimed, |query, seq| query.bind(*seq));
        let mut groups: BTreeMap<GroupKey, Group> = BTreeMap::new();
        for row in rows {
            let Some(message) = row.foldable()? else { continue };
            let key = GroupKey {
                lane: row.lane,
                channel_seq: row.notification_channel_seq,
                account: row.account_id,
                is_urgent: is_urgent(row.routing.as_deref())?,
            };
            let message = Foldable {
                is_claimed: true,
                ..message
            };
            if let Some(group) = groups.get_mut(&key) {
                group.messages.push(message);
                continue;
            }
            let group = Group {
                key,
                messages: vec![message],
                throttle: notification_channels::throttle(row.burst_limit, row.digest.as_deref(), row.daily_budget)?,
                traffic: Traffic::default(),
                zone: TimeZone::get(&row.time_zone).unwrap_or(TimeZone::UTC),
            };
            groups.insert(key, group);
        }
        Ok(groups.into_values().collect())
    }

    /// Adds the messages of a group that are due and not claimed, in their order. Those that another transaction is changing are missing.
    pub(super) async fn add_due_messages(&mut self, claim: &FoldingClaim, group: &mut Group) -> Result<(), StoreError> {
        let sql = if self.connection.is_pg() {
            due_messages!(" FOR NO KEY UPDATE OF m SKIP LOCKED")
        } else {
            due_messages!("")
        };
        let key = group.key;
        let rows = fetch!(
            self,
            fetch_all DueRow,
            sql,
            claim.channel.name(),
            key.lane,
            claim.now.as_microsecond(),
            key.channel_seq,
            key.account,
            MAX_FOLDED,
        );
        for row in rows {
            let message = foldable(
                row.seq,
                row.outcome.as_deref(),
                row.created_at,
                row.has_folded,
                row.is_acknowledged,
            )?;
            if is_urgent(row.routing.as_deref())? == key.is_urgent {
                group.messages.extend(message);
            }
        }
        group.messages.sort_unstable_by_key(|message| message.seq);
        Ok(())
    }
}
