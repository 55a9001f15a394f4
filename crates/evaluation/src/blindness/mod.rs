//! Emails to account owners when their alerts are blind because quotes have stopped, and when they recover.
//!
//! An alert is blind when the session is open and its stock's quotes have stopped (`stale_after`). Most of the time
//! that passes by itself, so the notice is delayed by [`NOTICE_DELAY`]. Then the account gets one email that names
//! all its blind alerts. The notices are stored by stock in the transaction that queues the email, with the account
//! locked, so neither a restart nor another process on the same database repeats them.
//!
//! A dead feed affects many stocks, but a stock with a later last quote becomes blind later. A stock whose quotes
//! had stopped when the email was written belongs to the same blind period, although it becomes blind afterwards;
//! it is recorded without another email. A stock that was quoted after the email gets a new one.
//!
//! A blind period ends when each of its stocks has been quoted again and is fresh. Then one email reports the
//! recovery, and the notices are deleted. A stock that was quoted again and stops once more leaves its period for a
//! new one, so that one stock that stays blind does not suppress notices about others. Outside sessions nothing is
//! stale and no email is sent: a stock that is blind at the close and at the next open has one period. A period
//! ends without an email if its alerts were paused, deleted or have fired, or if the owner has switched the notices
//! off.
//!
//! The check runs once a minute and reads each stock. Alerts are read for stale stocks only, and of those only the
//! ones without a notice. Another process may receive the feed, so the last quote in the database counts as well.

mod notice;
mod recovery;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ::alerts::engine::{EvaluationIssue, EvaluationStatus, StaleStock};
use ::market::Symbol;
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use store::model::{Account, AlertOwner, BlindnessNotice, NewMessage};
use store::{BoxFuture, Store, StoreError, UnitOfWork};
use tokio_util::sync::CancellationToken;

use crate::EvaluationConfig;
use crate::evaluator::Evaluator;
use delivery::messages;
use foundation::vault::Vault;
use foundation::{Ports, Random, ServiceError};
use notice::{AffectedAlert, QueueBlindnessNotice};
use recovery::QueueRecoveryNotice;
use store::model::AccountId;

/// How long an alert is blind before its owner gets a notice.
pub const NOTICE_DELAY: SignedDuration = SignedDuration::from_mins(10);
/// The interval of checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The number of accounts that are notified at once: concurrent writes share a transaction.
const NOTICE_BATCH_SIZE: usize = 64;

/// Notices to the owners of alerts that cannot be evaluated.
#[derive(Clone)]
pub struct BlindnessNotices {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
}

impl BlindnessNotices {
    /// Sends notices about blind and recovered alerts to the owners who want them. The check also runs every minute;
    /// this call does not wait for it.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails. The next check sends the remaining notices.
    pub async fn send_due_notices(&self) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        if self.settings.calendar.session_at(now).is_none() {
            return Ok(());
        }
        let stale = self.evaluator.read(|engine| engine.stale_stocks(now));
        self.notify_recovered(&stale, now).await?;
        self.notify_blind(stale, now).await?;
        Ok(())
    }

    /// Checks periodically until `stop`.
    pub async fn run_until_stopped(self, stop: CancellationToken) {
        let clock = &self.ports.clock;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = clock.sleep(CHECK_INTERVAL) => {}
            }
            if let Err(error) = self.send_due_notices().await {
                tracing::warn!(%error, "notices about blind alerts could not be sent; the next attempt is in a minute");
            }
        }
    }

    async fn notify_blind(&self, stale: Vec<StaleStock>, now: Timestamp) -> Result<(), StoreError> {
        if !stale.iter().any(|stock| is_due(stock.since, now)) {
            return Ok(());
        }
        let store = &self.ports.store;
        let symbols: Vec<Symbol> = stale.iter().map(|stock| stock.symbol).collect();
        let without_notice = store.alerts_without_blindness_notice(&symbols).await?;
        if without_notice.is_empty() {
            return Ok(());
        }
        let stale = self.stale_to_all(stale, now).await?;
        let mut accounts: BTreeMap<AccountId, Vec<AffectedAlert>> = BTreeMap::new();
        self.evaluator.read(|engine| {
            for stored in without_notice {
                let (AlertOwner::Account(account), Some(stock)) = (stored.owner, stale.get(&stored.alert.symbol))
                else {
                    continue;
                };
                let evaluation = self.evaluator.evaluation_of(engine, &stored.alert, now);
                let state = evaluation.map(|evaluation| evaluation.state);
                if state == Some(EvaluationStatus::Blind(EvaluationIssue::StaleQuotes)) {
                    accounts.entry(account).or_default().push(AffectedAlert {
                        since: stock.since.max(stored.alert.armed_at),
                        last_at: stock.last_at,
                        alert: stored.alert,
                    });
                }
            }
        });
        let writer = self.writer(now);
        let due = accounts
            .into_iter()
            .filter(|(_, blind)| blind.iter().any(|blind| is_due(blind.since, now)))
            .map(|(account, blind)| QueueBlindnessNotice {
                account,
                blind,
                writer: writer.clone(),
            });
        write_in_batches(store, due.collect(), |notice, unit| Box::pin(notice.run(unit))).await
    }

    /// Returns the stocks that are stale in every process on the database.
    async fn stale_to_all(
        &self,
        stale: Vec<StaleStock>,
        now: Timestamp,
    ) -> Result<HashMap<Symbol, StaleStock>, StoreError> {
        let quotes = self.ports.store.latest_quotes().await?;
        let quoted: HashMap<Symbol, Timestamp> = quotes.into_iter().map(|quote| (quote.symbol, quote.at)).collect();
        let stale_after = self.settings.engine.stale_after;
        let stale = stale.into_iter().filter_map(|stock| {
            let at = quoted.get(&stock.symbol).copied().unwrap_or(stock.last_at);
            let since = stock
                .since
                .max(at.saturating_add(stale_after).unwrap_or(Timestamp::MAX));
            let stock = StaleStock {
                last_at: stock.last_at.max(at),
                since,
                ..stock
            };
            (since < now).then_some((stock.symbol, stock))
        });
        Ok(stale.collect())
    }

    async fn notify_recovered(&self, stale: &[StaleStock], now: Timestamp) -> Result<(), StoreError> {
        let store = &self.ports.store;
        let mut notices = store.blindness_notices().await?;
        if notices.is_empty() {
            return Ok(());
        }
        let deleted = store.commit((), |(), unit| Box::pin(unit.delete_obsolete_blindness_notices()));
        if deleted.await? > 0 {
            notices = store.blindness_notices().await?;
        }
        let stale: HashSet<Symbol> = stale.iter().map(|stock| stock.symbol).collect();
        let seeing: Vec<&[BlindnessNotice]> = self.evaluator.read(|engine| {
            let sees = |notice: &BlindnessNotice| {
                let seen = engine.observed_session(notice.symbol).map(|session| session.last_at);
                !stale.contains(&notice.symbol) && seen.is_some_and(|seen| seen > notice.since)
            };
            let periods =
                notices.chunk_by(|one, next| (one.account, one.notified_at) == (next.account, next.notified_at));
            periods.filter(|stocks| stocks.iter().all(sees)).collect()
        });
        let writer = self.writer(now);
        let ended = seeing.into_iter().filter_map(|stocks| {
            let first = stocks.first()?;
            Some(QueueRecoveryNotice {
                account: first.account,
                notified_at: first.notified_at,
                writer: writer.clone(),
            })
        });
        write_in_batches(store, ended.collect(), |notice, unit| Box::pin(notice.run(unit))).await
    }

    fn writer(&self, now: Timestamp) -> BlindnessNoticeWriter {
        BlindnessNoticeWriter {
            vault: Arc::clone(&self.ports.vault),
            random: Arc::clone(&self.ports.random),
            now,
        }
    }
}

/// Whether an alert is blind for long enough.
fn is_due(since: Timestamp, now: Timestamp) -> bool {
    now.duration_since(since) >= NOTICE_DELAY
}

/// Runs transactions, some at a time.
async fn write_in_batches<I: Send + Sync + 'static>(
    store: &Store,
    inputs: Vec<I>,
    run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), StoreError>> + Copy + Send + Sync + 'static,
) -> Result<(), StoreError> {
    let mut inputs = inputs.into_iter().peekable();
    while inputs.peek().is_some() {
        let some = inputs.by_ref().take(NOTICE_BATCH_SIZE);
        try_join_all(some.map(|input| store.commit(input, run))).await?;
    }
    Ok(())
}

/// Renders emails within a transaction.
#[derive(Clone)]
struct BlindnessNoticeWriter {
    vault: Arc<Vault>,
    random: Arc<Random>,
    now: Timestamp,
}

impl BlindnessNoticeWriter {
    /// Renders an email to an account's owner; `None` if it cannot be rendered, which is logged.
    fn email(&self, account: &Account, email: &AccountEmail) -> Option<NewMessage> {
        let to = &account.email;
        messages::account_email(&self.vault, &self.random, self.now, to, Some(account.id), email)
            .inspect_err(|error| tracing::error!(%error, kind = email.kind(), "an email cannot be rendered"))
            .ok()
    }
}

/// Whether the owner of an account wants notices.
fn wants_notices(account: &Account) -> bool {
    account.profile.notify_blind && account.profile.deactivated_at.is_none()
}
