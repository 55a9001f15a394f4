//! Admits messages: counts each message once against all limits before its first attempt.
//!
//! Counting and admission are one transaction. SQLite has one writer at a time. On PostgreSQL an advisory lock per
//! channel serializes admissions until the end of the transaction. So of any number of processes, only one gets the
//! last free slot.
//!
//! Most account messages count for their recipient and for their account, to prevent flooding. Requests by strangers
//! must not use up the limits that a person needs. So links that sign an owner in are not counted there; their
//! requests have a minimum interval instead. Security notices have their own count.

use std::collections::HashMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::TABLE;
use super::day_totals::DayTotals;
use crate::bulk::{Statement, fetch_many, write_many};
use crate::columns::text;
use crate::model::{MessageChannel, MessageLimits, QuotaDecision, QuotaRequest, is_alert_news};
use crate::unit_of_work::fetch;
use crate::{Store, StoreError, UnitOfWork};

/// Advisory lock number for admissions: "BWADMIT" and the channel.
const QUOTA_LOCK_ID: i64 = 0x4257_4144_4d49_5400;

const HELD_LEASES: Statement = Statement {
    before: "WITH asked (seq, lease) AS (VALUES ",
    columns: 2,
    after: ") SELECT messages.seq FROM messages JOIN asked ON asked.seq = messages.seq
            WHERE messages.status = 'pending' AND messages.lease = asked.lease",
};

/// The kinds of [`is_alert_news`] as an SQL list.
macro_rules! alert_news_kinds {
    () => {
        "'fired', 'alert_expired', 'alerts_blind', 'alerts_see', 'split_adjusted', 'sms_quota_low', 'sms_quota_used', 'template_failed', 'alert_template_failed'"
    };
}

pub(super) use alert_news_kinds;

/// The limit that a message counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum QuotaClass {
    /// News about an alert.
    Firing,
    /// A link that signs an account's owner in.
    SignInLink,
    /// A notice that the account was changed.
    SecurityNotice,
    /// Any other message.
    Other,
}

impl QuotaClass {
    /// The class of a message kind. The statements below use the same rules.
    fn for_kind(kind: &str) -> Self {
        match kind {
            kind if is_alert_news(kind) => Self::Firing,
            "magic_link" | "reset_password" => Self::SignInLink,
            "password_changed" | "address_changed" => Self::SecurityNotice,
            _ => Self::Other,
        }
    }
}

/// Admitted account messages, firing messages and security notices per recipient.
const COUNT_BY_RECIPIENT: Statement = Statement {
    before: "WITH asked (recipient, channel, since) AS (VALUES ",
    columns: 3,
    after: concat!(
        ") SELECT asked.recipient,
                COUNT(CASE WHEN messages.kind NOT IN (",
        alert_news_kinds!(),
        ", 'magic_link', 'reset_password', 'password_changed',
                                                      'address_changed') THEN 1 END),
                COUNT(CASE WHEN messages.kind IN (",
        alert_news_kinds!(),
        ") THEN 1 END),
                COUNT(CASE WHEN messages.kind IN ('password_changed', 'address_changed') THEN 1 END)
            FROM asked JOIN messages ON messages.recipient = asked.recipient AND messages.channel = asked.channel
                AND messages.admitted_at >= asked.since
            GROUP BY asked.recipient"
    ),
};

/// Account messages admitted per account today, and firing messages of the month, or of the day, except failed ones.
const COUNT_BY_ACCOUNT: Statement = Statement {
    before: "WITH asked (account_id, channel, day, month) AS (VALUES ",
    columns: 4,
    after: concat!(
        ") SELECT asked.account_id,
                COUNT(CASE WHEN messages.kind NOT IN (", alert_news_kinds!(), ", 'magic_link', 'reset_password', 'password_changed',
                                                      'address_changed') AND messages.admitted_at >= asked.day THEN 1 END),
                COUNT(CASE WHEN messages.kind IN (", alert_news_kinds!(), ") AND messages.status <> 'failed' THEN 1 END)
            FROM asked JOIN messages ON messages.account_id = asked.account_id AND messages.channel = asked.channel
                AND messages.admitted_at >= asked.month
            GROUP BY asked.account_id"
    ),
};

const MARK_ADMITTED: Statement = Statement {
    before: "WITH granted (seq, lease, at, recipient) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET admitted_at = granted.at, recipient = granted.recipient FROM granted
            WHERE messages.seq = granted.seq AND messages.lease = granted.lease",
};

impl Store {
    /// Counts claimed messages of a channel against the limits, in order, and returns a decision for each.
    pub async fn admit_messages(
        &self,
        channel: MessageChannel,
        requests: Vec<QuotaRequest>,
        limits: MessageLimits,
        now: Timestamp,
    ) -> Result<Vec<QuotaDecision>, StoreError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let admit = AdmitMessages {
            channel,
            requests,
            limits,
            now,
        };
        self.commit(admit, |admit, unit| Box::pin(admit.run(unit))).await
    }
}

struct AdmitMessages {
    channel: MessageChannel,
    requests: Vec<QuotaRequest>,
    limits: MessageLimits,
    now: Timestamp,
}

/// Admitted messages: in total, per recipient and per account.
#[derive(Default)]
struct QuotaCounts {
    of_all: DayTotals,
    by_recipient: HashMap<String, MessageCounts>,
    by_account: HashMap<Uuid, MessageCounts>,
}

#[derive(Clone, Copy, Default)]
struct MessageCounts {
    account_messages: i64,
    firings: i64,
    notices: i64,
}

impl QuotaCounts {
    fn decide(&mut self, request: &QuotaRequest, limits: &MessageLimits) -> QuotaDecision {
        let below = |count: i64, limit: u32| count < i64::from(limit);
        let to = self.by_recipient.entry(request.recipient.clone()).or_default();
        let mut no_account = MessageCounts::default();
        let of = match request.account {
            Some(account) => self.by_account.entry(account.0).or_default(),
            None => &mut no_account,
        };
        let total = self.of_all.account_messages + self.of_all.firings;
        let class = QuotaClass::for_kind(&request.kind);
        if class == QuotaClass::Firing && request.quota.is_some_and(|quota| !below(of.firings, quota)) {
            return QuotaDecision::OverQuota;
        }
        let is_within = match class {
            QuotaClass::Firing => below(to.firings, limits.max_firing_messages_per_recipient),
            QuotaClass::SignInLink => true,
            QuotaClass::SecurityNotice => below(to.notices, limits.max_account_messages_per_recipient),
            QuotaClass::Other => {
                below(to.account_messages, limits.max_account_messages_per_recipient)
                    && below(of.account_messages, limits.max_account_messages_per_account)
            }
        };
        if !is_within {
            return QuotaDecision::OverLimit;
        }
        let is_within = match class {
            QuotaClass::Firing => below(self.of_all.firings, limits.max_firing_messages),
            QuotaClass::SignInLink | QuotaClass::Other => {
                below(self.of_all.account_messages, limits.max_account_messages)
            }
            // Only the account's owner can trigger these.
            QuotaClass::SecurityNotice => true,
        };
        if !is_within || !below(total, limits.max_total) {
            return QuotaDecision::OverBudget;
        }
        match class {
            QuotaClass::Firing => {
                self.of_all.firings += 1;
                to.firings += 1;
                of.firings += 1;
            }
            QuotaClass::SignInLink => self.of_all.account_messages += 1,
            QuotaClass::SecurityNotice => {
                self.of_all.account_messages += 1;
                to.notices += 1;
            }
            QuotaClass::Other => {
                self.of_all.account_messages += 1;
                to.account_messages += 1;
                of.account_messages += 1;
            }
        }
        QuotaDecision::Granted
    }
}

impl AdmitMessages {
    async fn count(&self, unit: &mut UnitOfWork) -> Result<QuotaCounts, StoreError> {
        let (channel, day) = (self.channel.name(), self.limits.day_start.as_microsecond());
        let of_all = unit.day_totals(self.channel, day).await?;
        let mut recipients: Vec<&str> = self.requests.iter().map(|request| request.recipient.as_str()).collect();
        recipients.sort_unstable();
        recipients.dedup();
        let found = fetch_many!(
            unit,
            (String, i64, i64, i64),
            COUNT_BY_RECIPIENT,
            &recipients,
            |query, to| query.bind(text(to)).bind(channel).bind(day)
        );
        let by_recipient = found.into_iter();
        // News about alerts without a quota count for their recipient alone.
        let counts_for_account = |request: &&QuotaRequest| {
            request.quota.is_some() || QuotaClass::for_kind(&request.kind) == QuotaClass::Other
        };
        let accounts = self.requests.iter().filter(counts_for_account);
        let mut accounts: Vec<Uuid> = accounts.filter_map(|request| Some(request.account?.0)).collect();
        accounts.sort_unstable();
        accounts.dedup();
        // Only a quota counts the whole month, in which an account may have got any number of messages.
        let has_quota = self.requests.iter().any(|request| request.quota.is_some());
        let month = match has_quota {
            true => self.limits.month_start.min(self.limits.day_start).as_microsecond(),
            false => day,
        };
        let found = fetch_many!(unit, (Uuid, i64, i64), COUNT_BY_ACCOUNT, &accounts, |query, account| {
            query.bind(*account).bind(channel).bind(day).bind(month)
        });
        let by_account = found.into_iter();
        Ok(QuotaCounts {
            of_all,
            by_recipient: by_recipient
                .map(|(to, account_messages, firings, notices)| {
                    let admitted = MessageCounts {
                        account_messages,
                        firings,
                        notices,
                    };
                    (to, admitted)
                })
                .collect(),
            by_account: by_account
                .map(|(of, account_messages, firings)| {
                    let admitted = MessageCounts {
                        account_messages,
                        firings,
                        notices: 0,
                    };
                    (of, admitted)
                })
                .collect(),
        })
    }

    async fn held_leases(&self, unit: &mut UnitOfWork) -> Result<std::collections::HashSet<i64>, StoreError> {
        let found = fetch_many!(unit, (i64,), HELD_LEASES, &self.requests, |query, request| query
            .bind(request.seq)
            .bind(request.lease));
        Ok(found.into_iter().map(|(seq,)| seq).collect())
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<Vec<QuotaDecision>, StoreError> {
        if unit.connection.is_pg() {
            let lock = QUOTA_LOCK_ID + i64::from(self.channel == MessageChannel::Sms);
            let sql = "SELECT CAST(pg_advisory_xact_lock($1) AS TEXT)";
            fetch!(unit, fetch_one(String,), sql, lock);
        }
        let held = self.held_leases(unit).await?;
        let mut counts = self.count(unit).await?;
        let decisions = self.requests.iter().map(|request| {
            if held.contains(&request.seq) {
                counts.decide(request, &self.limits)
            } else {
                QuotaDecision::Lost
            }
        });
        let decisions: Vec<QuotaDecision> = decisions.collect();
        let granted = self.requests.iter().zip(&decisions);
        let granted: Vec<&QuotaRequest> = granted
            .filter(|(_, decision)| **decision == QuotaDecision::Granted)
            .map(|(request, _)| request)
            .collect();
        if !granted.is_empty() {
            let day = self.limits.day_start.as_microsecond();
            unit.keep_day_totals(self.channel, day, counts.of_all).await?;
        }
        let at = self.now.as_microsecond();
        let written = write_many!(unit, MARK_ADMITTED, &granted, |query, request| {
            query
                .bind(request.seq)
                .bind(request.lease)
                .bind(at)
                .bind(text(&request.recipient))
        });
        if written != u64::try_from(granted.len()).unwrap_or(u64::MAX) {
            return Err(TABLE.corrupt("a claim was lost during admission"));
        }
        Ok(decisions)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{ALERT_NEWS_KINDS, FIRING_KIND};

    #[test]
    fn sql_kinds_match_alert_news_kinds() {
        let kinds: Vec<String> = [FIRING_KIND]
            .iter()
            .chain(&ALERT_NEWS_KINDS)
            .map(|kind| format!("'{kind}'"))
            .collect();
        assert_eq!(alert_news_kinds!(), kinds.join(", "));
    }
}
