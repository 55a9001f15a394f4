//! Owners who want it are told when their alerts are blind for want of fresh quotes, and when they see again.
//!
//! An alert is blind when the session is open and its stock's quotes have stopped (`stale_after`). That passes by itself most
//! of the time, so nobody is told before it has lasted [`TOLD_AFTER`]. Then the account gets one letter that names all its
//! alerts that are blind by then. What it was told of is written down with the letter, stock by stock, in one transaction with
//! the account locked: so neither a restart nor another process on the same database says it again.
//!
//! A feed that dies takes many stocks with it, but one that was quoted late becomes blind late. So a stock whose quotes had stopped when the
//! letter was written belongs to the same stretch of blindness, though it shows only afterwards; it is noted, and not told. A stock
//! that was quoted since is news, and has a letter of its own.
//!
//! A stretch ends when each of its stocks has been quoted again and is fresh; then one letter says that the alerts see, and
//! what was noted is removed with it. A stock that was quoted again and stops once more leaves its stretch for a new one, so that
//! one stock that stays blind does not keep its owner from news of the others. Outside sessions nothing is stale, and nothing is
//! told: what was dark at the close and is
//! dark the next morning is one stretch. What nobody waits for any more (the alerts were paused, deleted or have fired, or
//! their owner does not want to be told) ends without a letter.
//!
//! It is looked for once a minute, and costs a look at each stock; alerts are looked at for stale stocks only, and of those only
//! what was not told yet. Another process may be the one that is fed, so what this one has not seen is not said to be missing
//! before the database has been asked when the stock was last quoted to anybody.

mod see;
mod tell;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ::alerts::Alert;
use ::alerts::engine::{EvaluationIssue, EvaluationStatus, StaleStock};
use ::market::Symbol;
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use notify::templates::{AccountEmail, AlertSummary};
use store::model::{Account, AlertOwner, BlindnessNotice, NewMessage};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::evaluator::Evaluator;
use crate::market::refused_never;
use crate::vault::Vault;
use crate::{AccountId, Chance, Ports, ServiceError, Settings, messages};
use see::{DropVoid, SeeAgain};
use tell::{Blind, Tell};

/// How long an alert is blind before its owner is told.
pub const TOLD_AFTER: SignedDuration = SignedDuration::from_mins(10);
/// How often it is looked for.
const EVERY: SignedDuration = SignedDuration::from_secs(60);
/// So many accounts are told at once: those who write at the same time share a transaction.
const AT_ONCE: usize = 64;
/// So many alerts a letter names; the others it counts.
pub(crate) const NAMED: usize = 50;

/// Notices to owners of alerts that cannot be judged.
#[derive(Clone)]
pub struct BlindnessNotices {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) evaluator: Arc<Evaluator>,
}

impl BlindnessNotices {
    /// Tells owners who want it of alerts that are blind, and of those that see again. It happens by itself every
    /// minute; this is for those who do not want to wait.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was not told is told the next time.
    pub async fn tell_of_blindness(&self) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        if self.settings.calendar.session_at(now).is_none() {
            return Ok(());
        }
        let stale = self.evaluator.read(|engine| engine.stale_stocks(now));
        self.tell_who_sees(&stale, now).await?;
        self.tell_who_is_blind(stale, now).await?;
        Ok(())
    }

    /// Does it until it is told to stop.
    pub(crate) async fn watch_for_blindness(self, stop: CancellationToken) {
        let clock = &self.ports.clock;
        loop {
            let next = clock.now().saturating_add(EVERY).unwrap_or(Timestamp::MAX);
            tokio::select! {
                () = stop.cancelled() => return,
                () = clock.sleep_until(next) => {}
            }
            if let Err(error) = self.tell_of_blindness().await {
                tracing::warn!(%error, "owners could not be told of blind alerts; it is tried again in a minute");
            }
        }
    }

    async fn tell_who_is_blind(&self, stale: Vec<StaleStock>, now: Timestamp) -> Result<(), StoreError> {
        if !stale.iter().any(|stock| is_due(stock.since, now)) {
            return Ok(());
        }
        let store = &self.ports.store;
        let symbols: Vec<Symbol> = stale.iter().map(|stock| stock.symbol).collect();
        let untold = store.alerts_without_blindness_notice(&symbols).await?;
        if untold.is_empty() {
            return Ok(());
        }
        let stale = self.stale_to_all(stale, now).await?;
        let mut accounts: BTreeMap<AccountId, Vec<Blind>> = BTreeMap::new();
        self.evaluator.read(|engine| {
            for stored in untold {
                let (AlertOwner::Account(account), Some(stock)) = (stored.owner, stale.get(&stored.alert.symbol))
                else {
                    continue;
                };
                let state = engine
                    .evaluation(stored.alert.id, now)
                    .map(|evaluation| evaluation.state);
                if state == Some(EvaluationStatus::Blind(EvaluationIssue::StaleQuotes)) {
                    accounts.entry(account).or_default().push(Blind {
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
            .map(|(account, blind)| Tell {
                account,
                blind,
                writer: writer.clone(),
            });
        write_all(store, due.collect()).await
    }

    /// The stocks that are stale by what every process on the database has seen.
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

    async fn tell_who_sees(&self, stale: &[StaleStock], now: Timestamp) -> Result<(), StoreError> {
        let store = &self.ports.store;
        let mut told = store.blindness_notices().await?;
        if told.is_empty() {
            return Ok(());
        }
        if store.write(DropVoid).await.map_err(refused_never)? > 0 {
            told = store.blindness_notices().await?;
        }
        let stale: HashSet<Symbol> = stale.iter().map(|stock| stock.symbol).collect();
        let seeing: Vec<&[BlindnessNotice]> = self.evaluator.read(|engine| {
            let sees = |told: &BlindnessNotice| {
                let seen = engine.observed_session(told.symbol).map(|session| session.last_at);
                !stale.contains(&told.symbol) && seen.is_some_and(|seen| seen > told.since)
            };
            let letters = told.chunk_by(|one, next| (one.account, one.notified_at) == (next.account, next.notified_at));
            letters.filter(|stocks| stocks.iter().all(sees)).collect()
        });
        let writer = self.writer(now);
        let ended = seeing.into_iter().filter_map(|stocks| {
            let first = stocks.first()?;
            Some(SeeAgain {
                account: first.account,
                told_at: first.notified_at,
                writer: writer.clone(),
            })
        });
        write_all(store, ended.collect()).await
    }

    fn writer(&self, now: Timestamp) -> Writer {
        Writer {
            vault: Arc::clone(&self.ports.vault),
            chance: Arc::clone(&self.ports.chance),
            now,
        }
    }
}

/// Whether it has lasted so long that it is told.
fn is_due(since: Timestamp, now: Timestamp) -> bool {
    now.duration_since(since) >= TOLD_AFTER
}

/// Does works, some at a time.
async fn write_all<W>(store: &Store, works: Vec<W>) -> Result<(), StoreError>
where
    W: store::Transaction<Output = (), Refusal = std::convert::Infallible>,
{
    let mut works = works.into_iter().peekable();
    while works.peek().is_some() {
        let some = works.by_ref().take(AT_ONCE).map(|work| store.write(work));
        try_join_all(some).await.map_err(refused_never)?;
    }
    Ok(())
}

/// Writes letters within a transaction.
#[derive(Clone)]
struct Writer {
    vault: Arc<Vault>,
    chance: Arc<Chance>,
    now: Timestamp,
}

impl Writer {
    /// A letter to an account's owner; `None` if it cannot be written, which is told to the operator.
    fn letter(&self, account: &Account, letter: &AccountEmail) -> Option<NewMessage> {
        let to = &account.email;
        messages::letter(&self.vault, &self.chance, self.now, to, Some(account.id), letter)
            .inspect_err(|error| tracing::error!(%error, kind = letter.kind(), "a letter cannot be written"))
            .ok()
    }
}

/// Whether the owner of an account wants to be told.
fn wants_to_be_told(account: &Account) -> bool {
    account.profile.notify_blind && account.profile.deactivated_at.is_none()
}

/// An alert as letters name it.
pub(crate) fn named(alert: &Alert) -> AlertSummary {
    AlertSummary {
        symbol: alert.symbol.to_string(),
        condition: alert.condition.kind().to_string(),
        threshold: alert.condition.threshold().map(|threshold| threshold.to_string()),
    }
}
