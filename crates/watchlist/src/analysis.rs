//! Analyzes watchlist items, and creates alerts from the proposals.
//!
//! Requested analyses are in a queue in the database, each item once. An analysis is claimed under a lease, so the
//! next process repeats the analyses of one that died. If another analysis of an item was requested meanwhile, for
//! instance because its intention was swapped, the result is discarded and the item is analyzed again.
//!
//! Periodically all items are checked for stale alerts: their horizon has passed, the price has moved away, or all
//! of them have fired. A stale item is analyzed again. Of several processes on one database, one checks.

use alerts::transition::PriceAvailability;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use store::StoreError;
use store::model::{Account, AnalystAdvice, ClaimedAnalysis, TimedPrice, WatchlistItem};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use super::WatchlistEffects;
use super::auto_alerts::{self, AlertSelection, PlannedAlert};
use crate::Watchlists;
use crate::analyst::{AnalysisRequest, FallbackReason};
use foundation::account::{lock_account, require_active};
use foundation::{JobLease, ServiceError};

/// The lease of a claim: longer than the timeout of a language model.
const ANALYSIS_LEASE: SignedDuration = SignedDuration::from_mins(15);
/// The number of items that are analyzed at once.
const CLAIM_BATCH_SIZE: u32 = 4;
/// The delay after the first failure of an item. Each further failure doubles it, up to [`MAX_RETRY_DELAY`].
const FIRST_RETRY_DELAY: SignedDuration = SignedDuration::from_secs(30);
/// See [`FIRST_RETRY_DELAY`].
const MAX_RETRY_DELAY: SignedDuration = SignedDuration::from_hours(1);
/// How often expired claims of other processes are looked for.
const QUEUE_POLL_INTERVAL: SignedDuration = SignedDuration::from_mins(1);
/// The shortest pause between two searches of the queue.
const MIN_PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// How often all items are checked for stale alerts.
const STALE_CHECK_INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// Lease of that check.
const STALE_CHECK_LEASE: SignedDuration = SignedDuration::from_mins(90);
/// The number of items that one query reads.
const ITEM_BATCH_SIZE: u32 = 256;

/// Makes the work on the queue in this process sequential, and wakes the worker.
#[derive(Debug, Default)]
pub(crate) struct AnalysisQueue {
    /// Notified when an analysis was requested.
    pub(super) wake: Notify,
    processing: Mutex<()>,
}

/// Analyzes the requested items until `stop`.
pub async fn run(watchlists: Watchlists, stop: CancellationToken) {
    let lease = JobLease::new(&watchlists.ports, "stale_analyses", STALE_CHECK_LEASE);
    run_with_lease(&watchlists, &lease, &stop).await;
    lease.release().await;
}

async fn run_with_lease(watchlists: &Watchlists, lease: &JobLease, stop: &CancellationToken) {
    let clock = &watchlists.ports.clock;
    // By the uptime, so that a clock that is set back does not postpone the check.
    let mut next_stale_check = clock.uptime() + STALE_CHECK_INTERVAL;
    while !stop.is_cancelled() {
        match watchlists.analyze_due_items(stop).await {
            // There may be more.
            Ok(count) if count > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the analysis queue could not be processed; it is tried again"),
        }
        let pause = match watchlists.ports.store.next_analysis_due().await {
            Ok(Some(due)) => due.duration_since(clock.now()).clamp(MIN_PAUSE, QUEUE_POLL_INTERVAL),
            Ok(None) => QUEUE_POLL_INTERVAL,
            Err(_) => FIRST_RETRY_DELAY,
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = watchlists.analyses.wake.notified() => {}
            () = clock.sleep(pause.unsigned_abs()) => {}
        }
        if next_stale_check <= clock.uptime() {
            next_stale_check = clock.uptime() + STALE_CHECK_INTERVAL;
            if let Err(error) = lease.run(watchlists.request_stale_analyses()).await {
                tracing::warn!(%error, "watchlists could not be checked for stale alerts; the next check is in an hour");
            }
        }
    }
}

impl Watchlists {
    /// Analyzes the items that are due, a few at once. Returns the number of claimed items.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    async fn analyze_due_items(&self, stop: &CancellationToken) -> Result<usize, StoreError> {
        let _alone = self.analyses.processing.lock().await;
        let now = self.ports.clock.now();
        let until = now.saturating_add(ANALYSIS_LEASE).unwrap_or(Timestamp::MAX);
        let claimed = self.ports.store.claim_analyses(now, until, CLAIM_BATCH_SIZE).await?;
        let count = claimed.len();
        let analyses = claimed.into_iter().map(|claim| async move {
            if let Err(error) = self.analyze_claimed(&claim, stop).await {
                self.reschedule(&claim, &error).await;
            }
        });
        futures_util::future::join_all(analyses).await;
        Ok(count)
    }

    /// Requests analyses of the items with stale alerts, and analyzes all items that are due. Returns the number of
    /// requests.
    pub async fn run_analyst(&self) -> Result<u64, ServiceError> {
        let requested = self.request_stale_analyses().await?;
        while self.analyze_due_items(&self.stop).await? > 0 {}
        Ok(requested)
    }

    async fn analyze_claimed(&self, claim: &ClaimedAnalysis, stop: &CancellationToken) -> Result<(), ServiceError> {
        let store = &self.ports.store;
        let found = store.item_with_auto_alerts(claim.item).await?;
        let account = store.account(claim.account).await?;
        let advised = match (found, account) {
            (Some((item, own_alerts)), Some(account)) if item.is_active && require_active(&account).is_ok() => {
                let request = self.analysis_request_for(&item, &account, own_alerts).await?;
                let advised = self.analysis.advise(request, stop.cancelled()).await?;
                if advised.fallback == Some(FallbackReason::Stopping) {
                    // The next process waits for the model as long as necessary.
                    return Ok(self.return_claim(claim, self.ports.clock.now()).await?);
                }
                Some((item, advised))
            }
            _ => None,
        };
        let random = &self.ports.random;
        let proposed = advised.iter().flat_map(|(_, advised)| &advised.advice.proposals);
        let proposed = proposed.map(|proposal| PlannedAlert {
            id: alerts::AlertId(random.uuid()),
            new_alert: proposal.alert.clone(),
        });
        let current = advised
            .as_ref()
            .and_then(|(item, _)| self.prices.current_price(item.symbol));
        let start = current.map_or(PriceAvailability::Awaited, PriceAvailability::Current);
        let proposed: Vec<PlannedAlert> = proposed.collect();
        // Without advice the transaction only removes the item from the queue.
        let inputs = (*claim, proposed, start, advised, self.ports.clock.now());
        let transaction = self.transaction(inputs, |&(claim, ref proposed, start, ref advised, now), unit| {
            Box::pin(async move {
                let account = lock_account(unit, claim.account).await?;
                if !unit.finish_analysis(&claim, now).await? {
                    return Ok(WatchlistEffects::default());
                }
                let found = unit.watchlist_item(account.id, claim.item).await?;
                let wanted = found.filter(|item| item.is_active && require_active(&account).is_ok());
                let (Some(item), Some((before, advised))) = (wanted, advised) else {
                    return Ok(WatchlistEffects::default());
                };
                if (item.intention, item.target_price) != (before.intention, before.target_price) {
                    // It was changed without a new request, for instance by a split.
                    unit.request_analysis(item.id, account.id, now).await?;
                    return Ok(WatchlistEffects {
                        analysis_requested: true,
                        ..WatchlistEffects::default()
                    });
                }
                let mut effects = WatchlistEffects::default();
                if item.has_auto_alerts {
                    effects.deleted_alerts = auto_alerts::remove(unit, item.id, AlertSelection::Unfired, now).await?;
                    effects.created_alerts = auto_alerts::make(unit, &account, &item, proposed, start, now).await?;
                }
                let advice = AnalystAdvice {
                    priced: TimedPrice {
                        price: advised.price,
                        at: advised.at,
                    },
                    by: advised.author.name().to_owned(),
                    summary: advised.advice.summary.clone(),
                };
                unit.record_advice(item.id, &advice).await?;
                Ok(effects)
            })
        });
        transaction.await?;
        Ok(())
    }

    /// Returns the analysis request for an item for which the analyst has created `own_alerts` active alerts.
    async fn analysis_request_for(
        &self,
        item: &WatchlistItem,
        account: &Account,
        own_alerts: u64,
    ) -> Result<AnalysisRequest, ServiceError> {
        let active = self.analysis.count_active_alerts(account.id).await?;
        // The new alerts replace the earlier ones, so these do not count.
        let others = active.saturating_sub(own_alerts);
        Ok(AnalysisRequest {
            symbol: item.symbol,
            intention: item.intention,
            target_price: item.target_price.map(|target| target.price),
            notes: item.notes.clone(),
            account: account.id,
            plan: account.plan,
            active_alerts: u32::try_from(others).unwrap_or(u32::MAX),
            time_zone: TimeZone::get(&account.time_zone).unwrap_or(TimeZone::UTC),
        })
    }

    async fn reschedule(&self, claim: &ClaimedAnalysis, why: &ServiceError) {
        let waits = FIRST_RETRY_DELAY * 2_i32.saturating_pow(claim.tries.min(10));
        let now = self.ports.clock.now();
        let due = now.saturating_add(waits.min(MAX_RETRY_DELAY)).unwrap_or(Timestamp::MAX);
        tracing::warn!(item = %claim.item.0, error = %why, "a watchlist item could not be analyzed; it is tried again");
        if let Err(error) = self.return_claim(claim, due).await {
            tracing::warn!(%error, "the retry of an analysis could not be stored; its claim expires");
        }
    }

    /// Returns a claim to the queue.
    async fn return_claim(&self, claim: &ClaimedAnalysis, due: Timestamp) -> Result<(), StoreError> {
        let transaction = self.ports.store.commit((*claim, due), |(claim, due), unit| {
            Box::pin(unit.reschedule_analysis(claim, *due))
        });
        transaction.await
    }

    /// Requests analyses of the items with stale alerts and of those that were never analyzed. Returns their number.
    async fn request_stale_analyses(&self) -> Result<u64, ServiceError> {
        let store = &self.ports.store;
        let (mut requested, mut after) = (0, None);
        loop {
            let items = store.items_with_auto_alerts(after, ITEM_BATCH_SIZE).await?;
            let Some((last, _)) = items.last() else {
                return Ok(requested);
            };
            after = Some(last.id);
            for (item, own_alerts) in items {
                if self.is_stale(&item, own_alerts).await? {
                    let transaction = self.transaction((item, self.ports.clock.now()), |&(ref item, now), unit| {
                        Box::pin(async move {
                            let found = unit.watchlist_item(item.account, item.id).await?;
                            let analysis_requested = found.as_ref().is_some_and(is_wanted);
                            if analysis_requested {
                                unit.request_analysis(item.id, item.account, now).await?;
                            }
                            Ok(WatchlistEffects {
                                analysis_requested,
                                ..WatchlistEffects::default()
                            })
                        })
                    });
                    transaction.await?;
                    requested += 1;
                }
            }
        }
    }

    async fn is_stale(&self, item: &WatchlistItem, own_alerts: u64) -> Result<bool, ServiceError> {
        if item.initial_price.is_none() {
            // The analysis is requested once there is a price.
            return Ok(false);
        }
        let Some(AnalystAdvice { priced, .. }) = &item.advised else {
            return Ok(true);
        };
        let now = self.ports.clock.now();
        if own_alerts == 0 {
            return Ok(new_york_date(priced.at) < new_york_date(now));
        }
        let Some(account) = self.ports.store.account(item.account).await? else {
            return Ok(false);
        };
        let request = self.analysis_request_for(item, &account, own_alerts).await?;
        match self.analysis.analyze_by_rules(request).await {
            Ok(analysis) => Ok(analysis.staleness(priced.at, priced.price).is_some()),
            Err(ServiceError::NotFound(_) | ServiceError::UnknownStock { .. } | ServiceError::Unavailable(_)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the analyst creates alerts for an item.
const fn is_wanted(item: &WatchlistItem) -> bool {
    item.is_active && item.has_auto_alerts
}
