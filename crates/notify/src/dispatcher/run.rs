//! The dispatcher at work: asks the outbox, starts attempts, settles what came of them.
//!
//! One task holds the lanes and waits for whatever happens next. Attempts, and questions to the outbox, are tasks beside it. Of
//! questions there is one at a time of each kind, so what happens meanwhile is settled and claimed together by the next one: the
//! busier it is, the larger the batches.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::task::JoinSet;
use tracing::{error, warn};

use super::lane::{Held, STANDINGS};
use super::lanes::Lanes;
use super::{ClaimOrder, Claimed, Dispatcher, LaneDue, Outbox, Settled, Transport};
use crate::schedule::{Next, Report, Verdict};
use crate::time::later;

/// So many lanes are looked at, at a time.
const LANES_A_LOOK: u32 = 4_096;

/// An attempt that has ended.
struct Ended<R> {
    key: i64,
    ended_at: Timestamp,
    report: R,
}

/// What is known of an attempt that goes on.
struct Begun {
    lane: i64,
    lease: i64,
    tries: u32,
    at: Timestamp,
}

/// What the outbox has answered.
enum Answer<O: Outbox> {
    Lanes(Result<Vec<LaneDue>, Failure>),
    Claimed(usize, ClaimOrder, Result<Vec<Claimed<O::Job>>, Failure>),
    Settled(Vec<Settled<O::Report>>, Result<(), Failure>),
}

/// The outbox has failed. Why has been logged.
struct Failure;

pub(super) struct Run<O: Outbox, T> {
    of: Dispatcher<O, T>,
    lanes: Lanes<O::Job>,
    attempts: JoinSet<Ended<O::Report>>,
    begun: HashMap<i64, Begun>,
    answers: JoinSet<Answer<O>>,
    unsettled: Vec<Settled<O::Report>>,
    is_settling: bool,
    is_claiming: [bool; 3],
    is_looking: bool,
    /// Whether to look, and after which lane.
    look: Option<i64>,
    look_at: Timestamp,
    sweep_at: Timestamp,
    /// Before then the outbox is not asked, as it has just failed.
    outbox_rests_until: Timestamp,
}

impl<O, T> Run<O, T>
where
    O: Outbox,
    T: Transport<Job = O::Job, Report = O::Report>,
{
    pub(super) fn new(of: Dispatcher<O, T>) -> Self {
        let now = of.time.now();
        Self {
            lanes: Lanes::new(of.limits.clone()),
            of,
            attempts: JoinSet::new(),
            begun: HashMap::new(),
            answers: JoinSet::new(),
            unsettled: Vec::new(),
            is_settling: false,
            is_claiming: [false; 3],
            is_looking: false,
            look: Some(i64::MIN),
            look_at: now,
            sweep_at: now,
            outbox_rests_until: now,
        }
    }

    /// Works until `stop`, then lets attempts end and settles what there is.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let time = Arc::clone(&self.of.time);
        let bell = Arc::clone(&self.of.bell.0);
        let mut end: Option<Timestamp> = None;
        loop {
            let now = time.now();
            if end.is_none() {
                self.proceed(now);
            }
            self.settle(now);
            let wake_at = match end {
                Some(_) if self.is_done() => return,
                Some(end) if now >= end => return self.give_up(),
                Some(end) => end.min(self.wake_at_for_outbox(now)),
                None => self.wake_at(now),
            };
            tokio::select! {
                biased;
                () = &mut stop, if end.is_none() => {
                    end = Some(later(time.now(), self.of.limits.drain));
                    self.lanes.release_all();
                }
                Some(ended) = self.attempts.join_next(), if !self.attempts.is_empty() => {
                    self.ended(ended.ok());
                    while let Some(ended) = self.attempts.try_join_next() {
                        self.ended(ended.ok());
                    }
                }
                Some(answer) = self.answers.join_next(), if !self.answers.is_empty() => {
                    self.answered(answer.ok());
                    if end.is_some() {
                        self.lanes.release_all();
                    }
                }
                () = bell.notified(), if end.is_none() => self.look = Some(i64::MIN),
                () = time.sleep_until(wake_at) => {}
            }
        }
    }

    /// Whether nothing is left to do before stopping.
    fn is_done(&self) -> bool {
        self.attempts.is_empty() && self.answers.is_empty() && self.unsettled.is_empty()
    }

    /// Stops although something is under way. It stays claimed until its claim ends, and is then claimed again.
    fn give_up(mut self) {
        warn!(
            attempts = self.begun.len(),
            unsettled = self.unsettled.len(),
            "stopped before all was settled"
        );
        self.attempts.abort_all();
    }

    /// Starts whatever may be started.
    fn proceed(&mut self, now: Timestamp) {
        self.lanes.note_slow(now);
        if now >= self.sweep_at {
            self.lanes.release_stale(now);
            self.sweep_at = later(now, self.of.limits.lease / 4);
        }
        if now >= self.look_at {
            self.look = self.look.or(Some(i64::MIN));
        }
        while let Some(held) = self.lanes.start(now) {
            self.begin(held, now);
        }
        if now < self.outbox_rests_until {
            return;
        }
        self.ask_for_lanes(now);
        for (place, standing) in STANDINGS.into_iter().enumerate() {
            if !self.is_claiming[place] {
                let lease = i64::try_from((self.of.chance)() >> 1).unwrap_or_default();
                if let Some(order) = self.lanes.order(standing, now, lease) {
                    self.is_claiming[place] = true;
                    self.claim(place, order);
                }
            }
        }
    }

    fn begin(&mut self, held: Held<O::Job>, now: Timestamp) {
        let Held { claimed, lease, .. } = held;
        let (key, id, job) = (claimed.key, claimed.id, claimed.job);
        let begun = Begun {
            lane: claimed.lane,
            lease,
            tries: claimed.tries,
            at: now,
        };
        self.begun.insert(key, begun);
        let (transport, time) = (Arc::clone(&self.of.transport), Arc::clone(&self.of.time));
        self.attempts.spawn(async move {
            // A fault of ours in one delivery must not stop the others.
            let report = AssertUnwindSafe(transport.attempt(id, &job)).catch_unwind().await;
            let report = report.unwrap_or_else(|_| {
                error!(delivery = %id, "an attempt panicked");
                Report::broken(now)
            });
            Ended {
                key,
                ended_at: time.now(),
                report,
            }
        });
    }

    fn ended(&mut self, ended: Option<Ended<O::Report>>) {
        let Some(Ended { key, ended_at, report }) = ended else {
            return;
        };
        let Some(begun) = self.begun.remove(&key) else { return };
        let verdict = report.verdict();
        let succeeded = verdict == Verdict::Delivered;
        self.lanes.finish(key, ended_at.duration_since(begun.at), succeeded);
        let next = self.of.delays.next(verdict, begun.tries, ended_at, (self.of.chance)());
        if let Next::RetryAt(at) = next {
            self.look_at = self.look_at.min(at);
        }
        self.unsettled.push(Settled {
            key,
            lane: begun.lane,
            lease: begun.lease,
            report: Some(report),
            next,
        });
    }

    /// Looks which lanes have something due.
    fn ask_for_lanes(&mut self, now: Timestamp) {
        if self.is_looking {
            return;
        }
        let Some(after) = self.look.take() else { return };
        self.is_looking = true;
        if after == i64::MIN {
            self.look_at = later(now, self.of.limits.look_every);
        }
        let outbox = Arc::clone(&self.of.outbox);
        self.answers
            .spawn(async move { Answer::Lanes(guarded("lanes", outbox.lanes(after, LANES_A_LOOK)).await) });
    }

    fn claim(&mut self, place: usize, order: ClaimOrder) {
        let outbox = Arc::clone(&self.of.outbox);
        self.answers.spawn(async move {
            let claimed = guarded("claim", outbox.claim(&order)).await;
            Answer::Claimed(place, order, claimed)
        });
    }

    /// Settles what has ended since, all at once.
    fn settle(&mut self, now: Timestamp) {
        for held in self.lanes.take_released() {
            self.unsettled.push(Settled {
                key: held.claimed.key,
                lane: held.claimed.lane,
                lease: held.lease,
                report: None,
                next: Next::Released,
            });
        }
        if self.is_settling || self.unsettled.is_empty() || now < self.outbox_rests_until {
            return;
        }
        self.is_settling = true;
        let count = self.unsettled.len().min(self.of.limits.settled_at_once.max(1));
        let batch: Vec<_> = self.unsettled.drain(..count).collect();
        let outbox = Arc::clone(&self.of.outbox);
        self.answers.spawn(async move {
            let settled = guarded("settle", outbox.settle(&batch)).await;
            Answer::Settled(batch, settled)
        });
    }

    fn answered(&mut self, answer: Option<Answer<O>>) {
        let now = self.of.time.now();
        let failed = match answer {
            Some(Answer::Lanes(looked)) => {
                self.is_looking = false;
                looked.map(|lanes| self.looked(&lanes, now)).is_err()
            }
            Some(Answer::Claimed(place, order, claimed)) => {
                self.is_claiming[place] = false;
                let failed = claimed.is_err();
                match claimed {
                    Ok(claimed) => self.lanes.claimed(&order, claimed),
                    Err(Failure) => self.lanes.claim_failed(&order),
                }
                failed
            }
            Some(Answer::Settled(batch, settled)) => {
                self.is_settling = false;
                match settled {
                    Ok(()) if batch.iter().any(|settled| settled.next == Next::Released) => self.look = Some(i64::MIN),
                    Ok(()) => {}
                    Err(Failure) => self.unsettled.extend(batch),
                }
                settled.is_err()
            }
            None => false,
        };
        if failed {
            self.outbox_rests_until = later(now, self.of.limits.retry_outbox);
            self.look = Some(i64::MIN);
        }
    }

    fn looked(&mut self, lanes: &[LaneDue], now: Timestamp) {
        for lane in lanes {
            if lane.first_due <= now {
                self.lanes.is_due(lane.lane);
            } else {
                self.look_at = self.look_at.min(lane.first_due);
            }
        }
        let all = lanes.len() < usize::try_from(LANES_A_LOOK).unwrap_or(usize::MAX);
        if let Some(last) = lanes.last().filter(|_| !all) {
            // Whoever rang meanwhile wants a look from the beginning, which comes to these, too.
            self.look = self.look.or(Some(last.lane));
        }
    }

    /// When something is to be done at the latest.
    fn wake_at(&mut self, now: Timestamp) -> Timestamp {
        let slow = self.lanes.note_slow(now).unwrap_or(Timestamp::MAX);
        let sweep = if self.lanes.waiting() > 0 {
            self.sweep_at
        } else {
            Timestamp::MAX
        };
        slow.min(sweep)
            .min(self.look_at.max(self.outbox_rests_until))
            .min(self.wake_at_for_outbox(now))
    }

    fn wake_at_for_outbox(&self, now: Timestamp) -> Timestamp {
        let rests = self.outbox_rests_until > now;
        if rests { self.outbox_rests_until } else { Timestamp::MAX }
    }
}

/// What the outbox answers, if it answers at all.
async fn guarded<A, E: std::fmt::Display>(
    what: &'static str,
    asked: impl Future<Output = Result<A, E>>,
) -> Result<A, Failure> {
    match AssertUnwindSafe(asked).catch_unwind().await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            warn!(%error, what, "the outbox has failed; it is asked again");
            Err(Failure)
        }
        Err(_) => {
            error!(what, "the outbox panicked; it is asked again");
            Err(Failure)
        }
    }
}
