//! The event loop of a dispatcher: it polls and claims from the outbox, starts attempts, and settles their results.
//!
//! One task owns the [`Scheduler`] and waits for the next event. Attempts and calls to the outbox run in separate tasks. There is
//! one call of each kind at a time, and the next call handles everything that was gathered meanwhile. So batches grow with the load.

mod outbox_calls;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::task::JoinSet;
use tokio::time::Sleep;
use tracing::{error, warn};

use super::endpoint_queue::{EndpointHealth, HEALTH_LEVELS, HeldJob};
use super::scheduler::Scheduler;
use super::{Dispatcher, Outbox, SettledJob, Transport};
use crate::schedule::{AttemptReport, AttemptResult};
use clock::later;
use outbox_calls::OutboxReply;

/// A finished attempt.
struct FinishedAttempt<R> {
    key: i64,
    ended_at: Timestamp,
    report: R,
}

/// The state of an attempt in progress.
struct StartedAttempt {
    endpoint: i64,
    lease: i64,
    previous_attempts: u32,
    caused_at: Option<Timestamp>,
    at: Timestamp,
}

/// The state of a running dispatcher.
pub(super) struct EventLoop<O: Outbox, T> {
    dispatcher: Dispatcher<O, T>,
    scheduler: Scheduler<O::Job>,
    attempts: JoinSet<FinishedAttempt<O::Report>>,
    started: HashMap<i64, StartedAttempt>,
    replies: JoinSet<OutboxReply<O>>,
    unsettled: Vec<SettledJob<O::Report>>,
    /// Number of results that are being settled.
    settling: usize,
    is_claiming: [bool; 3],
    /// Number of results per settle call. It is halved after a failure, so that one result that cannot be written does not block
    /// the others.
    settle_batch_size: usize,
    is_polling: bool,
    /// Whether to poll the outbox before `poll_at`.
    is_woken: bool,
    /// The endpoint after which the next page of the current poll starts. A poll goes through all pages, even if it is woken
    /// meanwhile.
    poll_after: Option<i64>,
    poll_at: Timestamp,
    /// The times of scheduled retries. A poll returns only the first due time of each endpoint, not those after it.
    retry_times: BTreeSet<Timestamp>,
    sweep_at: Timestamp,
    /// The outbox is not called before this time, because it has just failed.
    outbox_paused_until: Timestamp,
    /// Nothing is claimed for unhealthy endpoints while this timer runs. It is independent of the clock, so it also ends while
    /// the clock is set back.
    unhealthy_claim_pause: Option<Pin<Box<Sleep>>>,
    /// The time of the last iteration.
    last_now: Timestamp,
}

impl<O, T> EventLoop<O, T>
where
    O: Outbox,
    T: Transport<Job = O::Job, Report = O::Report>,
{
    pub(super) fn new(mut dispatcher: Dispatcher<O, T>) -> Self {
        let now = dispatcher.time.now();
        dispatcher.limits = dispatcher.limits.with_minimums();
        Self {
            settle_batch_size: dispatcher.limits.settle_batch_size,
            scheduler: Scheduler::new(dispatcher.limits.clone()),
            dispatcher,
            attempts: JoinSet::new(),
            started: HashMap::new(),
            replies: JoinSet::new(),
            unsettled: Vec::new(),
            settling: 0,
            is_claiming: [false; 3],
            is_polling: false,
            is_woken: true,
            poll_after: None,
            poll_at: now,
            retry_times: BTreeSet::new(),
            sweep_at: now,
            outbox_paused_until: now,
            unhealthy_claim_pause: None,
            last_now: now,
        }
    }

    /// Runs until `stop`, then waits for attempts in progress and settles their results.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let time = Arc::clone(&self.dispatcher.time);
        let wake = Arc::clone(&self.dispatcher.wake_handle.0);
        let mut end: Option<Timestamp> = None;
        loop {
            let now = time.now();
            if now < self.last_now {
                // The clock was set back, so the pauses would last too long.
                self.outbox_paused_until = self.outbox_paused_until.min(now);
            }
            self.last_now = now;
            if end.is_none() {
                self.start_work(now);
            }
            self.settle(now);
            let wake_at = match end {
                Some(_) if self.is_done() => return,
                Some(end) if now >= end => return self.give_up(),
                Some(end) => end.min(self.outbox_wake_at(now)),
                None => self.wake_at(now),
            };
            tokio::select! {
                biased;
                () = &mut stop, if end.is_none() => {
                    end = Some(later(time.now(), self.dispatcher.limits.drain_timeout));
                    self.scheduler.release_all();
                }
                Some(finished) = self.attempts.join_next(), if !self.attempts.is_empty() => {
                    self.attempt_finished(finished.ok());
                    while let Some(finished) = self.attempts.try_join_next() {
                        self.attempt_finished(finished.ok());
                    }
                }
                Some(reply) = self.replies.join_next(), if !self.replies.is_empty() => {
                    self.handle_reply(reply.ok());
                    if end.is_some() {
                        self.scheduler.release_all();
                    }
                }
                () = wake.notified(), if end.is_none() => self.is_woken = true,
                () = elapsed(self.unhealthy_claim_pause.as_mut()) => self.unhealthy_claim_pause = None,
                () = time.sleep_until(wake_at) => {}
            }
        }
    }

    /// Returns whether nothing is left to do before stopping.
    fn is_done(&self) -> bool {
        self.attempts.is_empty() && self.replies.is_empty() && self.unsettled.is_empty()
    }

    /// Stops although attempts are in progress. Their deliveries stay claimed until the lease ends, and are then claimed again.
    fn give_up(mut self) {
        warn!(
            attempts = self.started.len(),
            unsettled = self.unsettled.len(),
            "the dispatcher stopped before all results were settled"
        );
        self.attempts.abort_all();
    }

    /// Starts attempts, polls and claims.
    fn start_work(&mut self, now: Timestamp) {
        self.scheduler.set_share(self.dispatcher.outbox.share());
        let limits = &self.dispatcher.limits;
        let (poll_interval, lease_duration) = (limits.poll_interval, limits.lease_duration);
        // The clock may have been set back. That must not make anything wait longer.
        self.poll_at = self.poll_at.min(later(now, poll_interval));
        self.sweep_at = self.sweep_at.min(later(now, lease_duration / 4));
        self.scheduler.mark_slow(now);
        if now >= self.sweep_at {
            self.scheduler.release_stale(now);
            self.sweep_at = later(now, lease_duration / 4);
        }
        while let Some(held) = self.scheduler.next_attempt(now) {
            self.start_attempt(held, now);
        }
        if now < self.outbox_paused_until {
            return;
        }
        self.poll_outbox(now);
        // If results cannot be written, further attempts would only add to them, and receivers would get deliveries repeatedly.
        if self.unsettled.len() + self.settling > self.dispatcher.limits.max_waiting {
            return;
        }
        for (index, health) in HEALTH_LEVELS.into_iter().enumerate() {
            let is_paused = health == EndpointHealth::Unhealthy && self.unhealthy_claim_pause.is_some();
            if !self.is_claiming[index] && !is_paused {
                let lease = || i64::try_from((self.dispatcher.random)() >> 1).unwrap_or_default();
                if let Some(params) = self.scheduler.next_claim(health, now, lease) {
                    if health == EndpointHealth::Unhealthy {
                        let pause = self.dispatcher.limits.unhealthy_claim_interval.unsigned_abs();
                        self.unhealthy_claim_pause = Some(Box::pin(tokio::time::sleep(pause)));
                    }
                    self.is_claiming[index] = true;
                    self.claim(index, params);
                }
            }
        }
    }

    fn start_attempt(&mut self, held: HeldJob<O::Job>, now: Timestamp) {
        let HeldJob { claimed, lease, .. } = held;
        let (key, id, job) = (claimed.key, claimed.id, claimed.job);
        let started = StartedAttempt {
            endpoint: claimed.endpoint,
            lease,
            previous_attempts: claimed.previous_attempts,
            caused_at: claimed.caused_at,
            at: now,
        };
        self.started.insert(key, started);
        let transport = Arc::clone(&self.dispatcher.transport);
        let time = Arc::clone(&self.dispatcher.time);
        self.attempts.spawn(async move {
            // A panic in one attempt must not stop the others.
            let attempt = async { transport.attempt(id, &job).await };
            let report = AssertUnwindSafe(attempt).catch_unwind().await;
            let report = report.unwrap_or_else(|_| {
                error!(delivery = %id, "an attempt panicked");
                AttemptReport::internal_error(now)
            });
            FinishedAttempt {
                key,
                ended_at: time.now(),
                report,
            }
        });
    }

    fn attempt_finished(&mut self, finished: Option<FinishedAttempt<O::Report>>) {
        let Some(FinishedAttempt { key, ended_at, report }) = finished else {
            return;
        };
        let Some(started) = self.started.remove(&key) else {
            return;
        };
        let result = report.result();
        let succeeded = result == AttemptResult::Delivered;
        self.scheduler
            .attempt_finished(key, ended_at.duration_since(started.at), succeeded);
        let (schedule, random) = (&self.dispatcher.retry_schedule, (self.dispatcher.random)());
        let next = schedule.next(result, started.previous_attempts, ended_at, random);
        self.unsettled.push(SettledJob {
            key,
            endpoint: started.endpoint,
            lease: started.lease,
            caused_at: started.caused_at,
            report: Some(report),
            next,
        });
    }

    /// Returns when the loop must run again at the latest. This is never in the past, as the loop would spin: everything that is
    /// due has been started, and everything that cannot start waits for another event.
    fn wake_at(&mut self, now: Timestamp) -> Timestamp {
        let slow = self.scheduler.next_slow_at().unwrap_or(Timestamp::MAX);
        let sweep = if self.scheduler.waiting() > 0 {
            self.sweep_at
        } else {
            Timestamp::MAX
        };
        // During a poll there is no need to wake up for the next one.
        let poll = if self.is_polling {
            Timestamp::MAX
        } else {
            self.poll_at.max(self.outbox_paused_until)
        };
        slow.min(sweep).min(poll).min(self.outbox_wake_at(now))
    }

    fn outbox_wake_at(&self, now: Timestamp) -> Timestamp {
        let is_paused = self.outbox_paused_until > now;
        if is_paused {
            self.outbox_paused_until
        } else {
            Timestamp::MAX
        }
    }
}

/// Waits for a timer; forever if there is none.
async fn elapsed(timer: Option<&mut Pin<Box<Sleep>>>) {
    match timer {
        Some(timer) => timer.await,
        None => std::future::pending().await,
    }
}
