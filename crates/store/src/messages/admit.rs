//! Admitting messages: each is counted once against all limits before it is first tried.
//!
//! Counting and admitting are one transaction. On SQLite there is one writer at a time; on PostgreSQL those who admit to a channel
//! do it one after another, by a lock that ends with the transaction. So of any number of processes that have one place left
//! to give, one gives it.
//!
//! Most letters are counted for their recipient and for the account that they are about, so that nobody is flooded. What a
//! stranger can have sent in somebody's name must not use up what that person needs, though. So links that let an owner in are
//! not counted there: where they are asked for each comes a while after the last. And what tells an owner that their account
//! was changed is counted by itself.

use std::collections::HashMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, execute_many, query_many};
use crate::columns::text;
use crate::deliveries::never;
use crate::model::{Admission, Applicant, MessageChannel, MessageLimits, is_news};
use crate::unit::ask;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// The lock of those who admit: "BWADMIT" and the channel.
const LOCK: i64 = 0x4257_4144_4d49_5400;

const STILL_MINE: Statement = Statement {
    before: "WITH asked (seq, lease) AS (VALUES ",
    columns: 2,
    after: ") SELECT messages.seq FROM messages JOIN asked ON asked.seq = messages.seq
            WHERE messages.status = 'pending' AND messages.lease = asked.lease",
};

/// The kinds that [`is_news`] knows, for statements.
macro_rules! news {
    () => {
        "'fired', 'alerts_blind', 'alerts_see', 'split_adjusted', 'sms_quota_low', 'sms_quota_used'"
    };
}

/// As what a message is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CountedAs {
    /// News of an alert.
    Firing,
    /// A link that lets an account's owner in.
    WayIn,
    /// What tells an owner that their account was changed.
    Notice,
    /// Anything else.
    Letter,
}

impl CountedAs {
    /// By what a message is, in a word; the statements below say the same.
    fn of(kind: &str) -> Self {
        match kind {
            kind if is_news(kind) => Self::Firing,
            "magic_link" | "reset_password" => Self::WayIn,
            "password_changed" | "address_changed" => Self::Notice,
            _ => Self::Letter,
        }
    }
}

/// How many letters, messages about firings and notices were admitted to recipients.
const TO_RECIPIENTS: Statement = Statement {
    before: "WITH asked (recipient, channel, since) AS (VALUES ",
    columns: 3,
    after: concat!(
        ") SELECT asked.recipient,
                COUNT(CASE WHEN messages.kind NOT IN (",
        news!(),
        ", 'magic_link', 'reset_password', 'password_changed',
                                                      'address_changed') THEN 1 END),
                COUNT(CASE WHEN messages.kind IN (",
        news!(),
        ") THEN 1 END),
                COUNT(CASE WHEN messages.kind IN ('password_changed', 'address_changed') THEN 1 END)
            FROM asked JOIN messages ON messages.recipient = asked.recipient AND messages.channel = asked.channel
                AND messages.admitted_at >= asked.since
            GROUP BY asked.recipient"
    ),
};

/// How many letters were admitted because of accounts today, and how many messages about firings in this month, without those
/// that came to nothing.
const OF_ACCOUNTS: Statement = Statement {
    before: "WITH asked (account_id, channel, day, month) AS (VALUES ",
    columns: 4,
    after: concat!(
        ") SELECT asked.account_id,
                COUNT(CASE WHEN messages.kind NOT IN (", news!(), ", 'magic_link', 'reset_password', 'password_changed',
                                                      'address_changed') AND messages.admitted_at >= asked.day THEN 1 END),
                COUNT(CASE WHEN messages.kind IN (", news!(), ") AND messages.status <> 'failed' THEN 1 END)
            FROM asked JOIN messages ON messages.account_id = asked.account_id AND messages.channel = asked.channel
                AND messages.admitted_at >= asked.month
            GROUP BY asked.account_id"
    ),
};

const GRANT: Statement = Statement {
    before: "WITH granted (seq, lease, at, recipient) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET admitted_at = granted.at, recipient = granted.recipient FROM granted
            WHERE messages.seq = granted.seq AND messages.lease = granted.lease",
};

impl Store {
    /// Counts messages of a channel that were claimed against the limits, those first that come first, and says of each, in
    /// their order, whether it is within them.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn admit_messages(
        &self,
        channel: MessageChannel,
        applicants: Vec<Applicant>,
        limits: MessageLimits,
        now: Timestamp,
    ) -> Result<Vec<Admission>, StoreError> {
        if applicants.is_empty() {
            return Ok(Vec::new());
        }
        let admit = Admit {
            channel,
            applicants,
            limits,
            now,
        };
        self.write(admit).await.map_err(never)
    }
}

struct Admit {
    channel: MessageChannel,
    applicants: Vec<Applicant>,
    limits: MessageLimits,
    now: Timestamp,
}

/// What was admitted: in all, to each recipient, because of each account.
#[derive(Default)]
struct Counts {
    letters: i64,
    firings: i64,
    to_recipients: HashMap<String, Admitted>,
    of_accounts: HashMap<Uuid, Admitted>,
}

#[derive(Clone, Copy, Default)]
struct Admitted {
    letters: i64,
    firings: i64,
    notices: i64,
}

impl Counts {
    fn judge(&mut self, applicant: &Applicant, limits: &MessageLimits) -> Admission {
        let below = |count: i64, limit: u32| count < i64::from(limit);
        let to = self.to_recipients.entry(applicant.recipient.clone()).or_default();
        let mut nobody = Admitted::default();
        let of = match applicant.account {
            Some(account) => self.of_accounts.entry(account.0).or_default(),
            None => &mut nobody,
        };
        let total = self.letters + self.firings;
        let counted_as = CountedAs::of(&applicant.kind);
        if counted_as == CountedAs::Firing && applicant.quota.is_some_and(|quota| !below(of.firings, quota)) {
            return Admission::OverQuota;
        }
        let is_within = match counted_as {
            CountedAs::Firing => below(to.firings, limits.firings_to_each),
            CountedAs::WayIn => true,
            CountedAs::Notice => below(to.notices, limits.letters_to_each),
            CountedAs::Letter => below(to.letters, limits.letters_to_each) && below(of.letters, limits.letters_of_each),
        };
        if !is_within {
            return Admission::OverLimit;
        }
        let is_within = match counted_as {
            CountedAs::Firing => below(self.firings, limits.firings),
            CountedAs::WayIn | CountedAs::Letter => below(self.letters, limits.letters),
            // Nobody can ask for these without having the account.
            CountedAs::Notice => true,
        };
        if !is_within || !below(total, limits.in_all) {
            return Admission::OverBudget;
        }
        match counted_as {
            CountedAs::Firing => {
                self.firings += 1;
                to.firings += 1;
                of.firings += 1;
            }
            CountedAs::WayIn => self.letters += 1,
            CountedAs::Notice => {
                self.letters += 1;
                to.notices += 1;
            }
            CountedAs::Letter => {
                self.letters += 1;
                to.letters += 1;
                of.letters += 1;
            }
        }
        Admission::Granted
    }
}

impl Admit {
    async fn count(&self, unit: &mut Unit) -> Result<Counts, StoreError> {
        let (channel, day) = (self.channel.name(), self.limits.day_from.as_microsecond());
        // The other bound of the index is the channel's and the instant's.
        let sql = concat!(
            "SELECT COUNT(*), COUNT(CASE WHEN kind IN (",
            news!(),
            ") THEN 1 END) FROM messages
                   WHERE channel = $1 AND admitted_at >= $2"
        );
        let (all, firings) = ask!(unit, fetch_one(i64, i64), sql, channel, day);
        let mut recipients: Vec<&str> = self.applicants.iter().map(|one| one.recipient.as_str()).collect();
        recipients.sort_unstable();
        recipients.dedup();
        let found = query_many!(
            (String, i64, i64, i64),
            &mut unit.link,
            TO_RECIPIENTS,
            &recipients,
            |query, to| query.bind(text(to)).bind(channel).bind(day)
        );
        let to_recipients = unit.noted(found)?.into_iter();
        let mut accounts: Vec<Uuid> = self.applicants.iter().filter_map(|one| Some(one.account?.0)).collect();
        accounts.sort_unstable();
        accounts.dedup();
        let month = self.limits.month_from.min(self.limits.day_from).as_microsecond();
        let found = query_many!(
            (Uuid, i64, i64),
            &mut unit.link,
            OF_ACCOUNTS,
            &accounts,
            |query, account| query.bind(*account).bind(channel).bind(day).bind(month)
        );
        let of_accounts = unit.noted(found)?.into_iter();
        Ok(Counts {
            letters: all - firings,
            firings,
            to_recipients: to_recipients
                .map(|(to, letters, firings, notices)| {
                    let admitted = Admitted {
                        letters,
                        firings,
                        notices,
                    };
                    (to, admitted)
                })
                .collect(),
            of_accounts: of_accounts
                .map(|(of, letters, firings)| {
                    let admitted = Admitted {
                        letters,
                        firings,
                        notices: 0,
                    };
                    (of, admitted)
                })
                .collect(),
        })
    }

    async fn still_mine(&self, unit: &mut Unit) -> Result<std::collections::HashSet<i64>, StoreError> {
        let found = query_many!((i64,), &mut unit.link, STILL_MINE, &self.applicants, |query, one| query
            .bind(one.seq)
            .bind(one.lease));
        Ok(unit.noted(found)?.into_iter().map(|(seq,)| seq).collect())
    }
}

impl Work for Admit {
    type Done = Vec<Admission>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Vec<Admission>, Abort<Self::Refusal>>> {
        Box::pin(async move {
            if unit.link.is_pg() {
                let lock = LOCK + i64::from(self.channel == MessageChannel::Sms);
                let sql = "SELECT CAST(pg_advisory_xact_lock($1) AS TEXT)";
                ask!(unit, fetch_one(String,), sql, lock);
            }
            let mine = self.still_mine(unit).await?;
            let mut counts = self.count(unit).await?;
            let judged = self.applicants.iter().map(|applicant| {
                if mine.contains(&applicant.seq) {
                    counts.judge(applicant, &self.limits)
                } else {
                    Admission::Lost
                }
            });
            let judged: Vec<Admission> = judged.collect();
            let granted = self.applicants.iter().zip(&judged);
            let granted: Vec<&Applicant> = granted
                .filter(|(_, admission)| **admission == Admission::Granted)
                .map(|(applicant, _)| applicant)
                .collect();
            let at = self.now.as_microsecond();
            let written = execute_many!(&mut unit.link, GRANT, &granted, |query, applicant| {
                query
                    .bind(applicant.seq)
                    .bind(applicant.lease)
                    .bind(at)
                    .bind(text(&applicant.recipient))
            });
            if unit.noted_rows(written)? != u64::try_from(granted.len()).unwrap_or(u64::MAX) {
                return Err(TABLE.corrupt("a claim ended while it was admitted").into());
            }
            Ok(judged)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{FIRED, NEWS};

    #[test]
    fn the_statements_count_the_same_kinds_as_news() {
        let kinds: Vec<String> = [FIRED].iter().chain(&NEWS).map(|kind| format!("'{kind}'")).collect();
        assert_eq!(news!(), kinds.join(", "));
    }
}
