//! Has the analyst look at items, one after another, and makes alerts of what it proposes.
//!
//! What is to be looked at stands in a queue in the database, each item once. It is claimed under a lease, so whatever a process was
//! at when it died is looked at by the next one. If an item was asked about again meanwhile, because it was turned for
//! instance, what was found out is thrown away, and the item is looked at again.
//!
//! From time to time all items are passed by: where the analyst's alerts went stale (their horizon has passed, the price has
//! gone elsewhere, or all of them have fired), the analyst is asked again.

use alerts::transition::PriceAvailability;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use store::model::{Account, AnalystAdvice, ClaimedAnalysis, TimedPrice, WatchlistItem};
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use super::After;
use super::auto_alerts::{self, Proposed, Which};
use crate::ServiceError;
use crate::analyst::{self, WhyNot, Wish};
use crate::identity::account::{must_be_awake, present};
use crate::watchlist::Watchlists;

/// So long a claim holds: longer than a language model may take.
const LEASE: SignedDuration = SignedDuration::from_mins(15);
/// So many items are looked at at once.
const AT_ONCE: u32 = 4;
/// After a failure an item waits so long, and with each further one twice that, up to [`LONGEST_WAIT`].
const FIRST_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// See [`FIRST_WAIT`].
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(1);
/// So often it is looked for what another process has left: its claims, when it died.
const LOOKED_EVERY: SignedDuration = SignedDuration::from_mins(1);
/// So often all items are passed by.
const PASSED_EVERY: SignedDuration = SignedDuration::from_hours(1);
/// Items are passed by in pieces of so many.
const PIECE: u32 = 256;

/// Those who work on the queue in this process, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Rings when the analyst was asked something.
    pub(super) bell: Notify,
    gate: Mutex<()>,
}

/// Looks at what is asked for until it is told to stop.
pub(crate) async fn run(watchlists: Watchlists, stop: CancellationToken) {
    let clock = &watchlists.ports.clock;
    let after = |duration| clock.now().saturating_add(duration).unwrap_or(Timestamp::MAX);
    let mut next_pass = after(PASSED_EVERY);
    while !stop.is_cancelled() {
        let mut wake = next_pass.min(after(LOOKED_EVERY));
        match watchlists.look_at_what_is_due(&stop).await {
            // There may be more.
            Ok(looked) if looked > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the analyst's queue could not be worked on; it is tried again"),
        }
        match watchlists.ports.store.next_analysis_due().await {
            Ok(due) => wake = due.map_or(wake, |due| wake.min(due)),
            Err(_) => wake = wake.min(after(FIRST_WAIT)),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = watchlists.analyses.bell.notified() => {}
            () = clock.sleep_until(wake.max(after(SignedDuration::from_secs(1)))) => {}
        }
        if next_pass <= clock.now() {
            next_pass = after(PASSED_EVERY);
            if let Err(error) = watchlists.ask_about_stale_items().await {
                tracing::warn!(%error, "watchlists could not be looked through for stale alerts; it is tried again in an hour");
            }
        }
    }
}

impl Watchlists {
    /// Has the analyst look at the items that are due, a few at once. Answers how many were claimed.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    async fn look_at_what_is_due(&self, stop: &CancellationToken) -> Result<usize, StoreError> {
        let _alone = self.analyses.gate.lock().await;
        let now = self.ports.clock.now();
        let until = now.saturating_add(LEASE).unwrap_or(Timestamp::MAX);
        let claimed = self.ports.store.claim_analyses(now, until, AT_ONCE).await?;
        let count = claimed.len();
        let looks = claimed.into_iter().map(|claim| async move {
            if let Err(error) = self.look_at_claimed(&claim, stop).await {
                self.put_off(&claim, &error).await;
            }
        });
        futures_util::future::join_all(looks).await;
        Ok(count)
    }

    /// Asks the analyst about the items whose alerts went stale, and has it look at all that is due. Answers about how many it
    /// was asked.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub(crate) async fn run_analyst(&self) -> Result<u64, ServiceError> {
        let asked = self.ask_about_stale_items().await?;
        while self.look_at_what_is_due(&self.stop).await? > 0 {}
        Ok(asked)
    }

    async fn look_at_claimed(&self, claim: &ClaimedAnalysis, stop: &CancellationToken) -> Result<(), ServiceError> {
        let store = &self.ports.store;
        let found = store.item_with_auto_alerts(claim.item).await?;
        let account = store.account(claim.account).await?;
        let advised = match (found, account) {
            (Some((item, own)), Some(account)) if item.is_active && must_be_awake(&account).is_ok() => {
                let wish = self.wish_for(&item, &account, own).await?;
                let advised = self.analysis.advise(wish, stop.cancelled()).await?;
                if advised.fell_back == Some(WhyNot::Stopping) {
                    // The next process waits for the model as long as it takes.
                    let now = self.ports.clock.now();
                    store
                        .write(PutOff {
                            claim: *claim,
                            due: now,
                        })
                        .await?;
                    return Ok(());
                }
                Some((item, advised))
            }
            _ => None,
        };
        let chance = &self.ports.chance;
        let proposed = advised.iter().flat_map(|(_, advised)| &advised.advice.proposals);
        let proposed = proposed.map(|proposal| Proposed {
            id: alerts::AlertId(chance.uuid()),
            asked: proposal.alert.clone(),
        });
        let current = advised
            .as_ref()
            .and_then(|(item, _)| self.prices.current_price(item.symbol));
        let start = current.map_or(PriceAvailability::Awaited, PriceAvailability::Current);
        let work = Adopt {
            watchlists: self.clone(),
            claim: *claim,
            proposed: proposed.collect(),
            start,
            advised,
            now: self.ports.clock.now(),
        };
        store.write(work).await?;
        Ok(())
    }

    /// What the analyst is told of an item of which it has made so many active alerts.
    async fn wish_for(&self, item: &WatchlistItem, account: &Account, own: u64) -> Result<Wish, ServiceError> {
        let counts = self.ports.store.count_alerts(account.id).await?;
        let active = counts.iter().find(|(status, _)| *status == alerts::Status::Active);
        // Those that it made before make room.
        let others = active.map_or(0, |(_, count)| count.saturating_sub(own));
        Ok(Wish {
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

    async fn put_off(&self, claim: &ClaimedAnalysis, why: &ServiceError) {
        let waits = FIRST_WAIT * 2_i32.saturating_pow(claim.tries.min(10));
        let now = self.ports.clock.now();
        let due = now.saturating_add(waits.min(LONGEST_WAIT)).unwrap_or(Timestamp::MAX);
        tracing::warn!(item = %claim.item.0, error = %why, "the analyst could not look at an item; it is tried again");
        let put_off = self.ports.store.write(PutOff { claim: *claim, due }).await;
        if let Err(error) = put_off {
            tracing::warn!(%error, "that could not be written down; the claim ends by itself");
        }
    }

    /// Asks the analyst about the items whose alerts went stale, and about those that it has not looked at. Answers how many.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    async fn ask_about_stale_items(&self) -> Result<u64, ServiceError> {
        let store = &self.ports.store;
        let (mut asked, mut after) = (0, None);
        loop {
            let items = store.items_with_auto_alerts(after, PIECE).await?;
            let Some((last, _)) = items.last() else {
                return Ok(asked);
            };
            after = Some(last.id);
            for (item, own) in items {
                if self.is_stale(&item, own).await? {
                    let work = Ask {
                        watchlists: self.clone(),
                        item,
                        now: self.ports.clock.now(),
                    };
                    store.write(work).await?;
                    asked += 1;
                }
            }
        }
    }

    async fn is_stale(&self, item: &WatchlistItem, own: u64) -> Result<bool, ServiceError> {
        if item.initial_price.is_none() {
            // It is asked about once there is a price.
            return Ok(false);
        }
        let Some(AnalystAdvice { priced, .. }) = &item.advised else {
            return Ok(true);
        };
        let now = self.ports.clock.now();
        if own == 0 {
            return Ok(new_york_date(priced.at) < new_york_date(now));
        }
        let Some(account) = self.ports.store.account(item.account).await? else {
            return Ok(false);
        };
        let wish = self.wish_for(item, &account, own).await?;
        match self.analysis.look_at(wish).await {
            Ok(look) => Ok(look.stale_since(priced.at, priced.price).is_some()),
            Err(ServiceError::NotFound(_) | ServiceError::UnknownStock { .. } | ServiceError::Unavailable(_)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the analyst makes alerts for an item.
const fn is_wanted(item: &WatchlistItem) -> bool {
    item.is_active && item.has_auto_alerts
}

/// Makes alerts of what the analyst proposes; without advice the item is only taken out of the queue.
struct Adopt {
    watchlists: Watchlists,
    claim: ClaimedAnalysis,
    advised: Option<(WatchlistItem, analyst::Advised)>,
    proposed: Vec<Proposed>,
    /// The price that the alerts start from.
    start: PriceAvailability,
    now: Timestamp,
}

impl Transaction for Adopt {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = present(unit, self.claim.account).await?;
            if !unit.finish_analysis(&self.claim, self.now).await? {
                return Ok(After::default());
            }
            let found = unit.watchlist_item(account.id, self.claim.item).await?;
            let wanted = found.filter(|item| item.is_active && must_be_awake(&account).is_ok());
            let (Some(item), Some((before, advised))) = (wanted, &self.advised) else {
                return Ok(After::default());
            };
            if (item.intention, item.target_price) != (before.intention, before.target_price) {
                // It was changed without being asked about again, by a split for instance.
                unit.request_analysis(item.id, account.id, self.now).await?;
                return Ok(After {
                    asked: true,
                    ..After::default()
                });
            }
            let mut after = After::default();
            if item.has_auto_alerts {
                after.forgotten = auto_alerts::remove(unit, item.id, Which::Unfired, self.now).await?;
                after.told = auto_alerts::make(unit, &account, &item, &self.proposed, self.start, self.now).await?;
            }
            let noted = AnalystAdvice {
                priced: TimedPrice {
                    price: advised.price,
                    at: advised.at,
                },
                by: advised.author.name().to_owned(),
                summary: advised.advice.summary.clone(),
            };
            unit.record_advice(item.id, &noted).await?;
            Ok(after)
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}

/// Asks the analyst about an item.
struct Ask {
    watchlists: Watchlists,
    item: WatchlistItem,
    now: Timestamp,
}

impl Transaction for Ask {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            let found = unit.watchlist_item(self.item.account, self.item.id).await?;
            let asked = found.as_ref().is_some_and(is_wanted);
            if asked {
                unit.request_analysis(self.item.id, self.item.account, self.now).await?;
            }
            Ok(After {
                asked,
                ..After::default()
            })
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}

/// Gives a claim back.
struct PutOff {
    claim: ClaimedAnalysis,
    due: Timestamp,
}

impl Transaction for PutOff {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move { Ok(unit.reschedule_analysis(&self.claim, self.due).await?) })
    }
}
