//! The dispatcher at work: asks the outbox, starts attempts, settles what came of them.
//!
//! One task holds the lanes and waits for whatever happens next. Attempts, and questions to the outbox, are tasks beside it. Of
//! questions there is one at a time of each kind, so what happens meanwhile is settled and claimed together by the next one: the
//! busier it is, the larger the batches.

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

use super::lane::{Held, STANDINGS, Standing};
use super::lanes::Lanes;
use super::{ClaimOrder, Claimed, Dispatcher, LaneDue, Limits, Outbox, Settled, Transport};
use crate::schedule::{Next, Report, Verdict};
use crate::time::later;

/// So many lanes are looked at, at a time.
const LANES_A_LOOK: u32 = 4_096;

/// So many instants are kept at which something is to be tried again.
const RETRIES: usize = 16_384;

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
    /// So many results are being settled.
    settling: usize,
    is_claiming: [bool; 3],
    /// So many results are settled at a time. Fewer after a failure: one that cannot be written costs itself, not the others.
    settled_at_once: usize,
    is_looking: bool,
    /// Whether to look before it is time to.
    is_rung: bool,
    /// Where to look on, after the lanes up to there. A look goes to the end, however often it is rung meanwhile.
    look_on_after: Option<i64>,
    look_at: Timestamp,
    /// When what was put back is due. A look tells of each lane when the first is due, and not of those behind it.
    retries: BTreeSet<Timestamp>,
    sweep_at: Timestamp,
    /// Before then the outbox is not asked, as it has just failed.
    outbox_rests_until: Timestamp,
    /// While it runs, nothing is claimed for endpoints that fail or are slow. It is no instant of the clock, so it ends also while
    /// the clock is set back.
    poor_claim_pause: Option<Pin<Box<Sleep>>>,
    /// The time when the loop ran last.
    last_now: Timestamp,
}

impl<O, T> Run<O, T>
where
    O: Outbox,
    T: Transport<Job = O::Job, Report = O::Report>,
{
    pub(super) fn new(mut of: Dispatcher<O, T>) -> Self {
        let now = of.time.now();
        of.limits = of.limits.workable();
        Self {
            settled_at_once: of.limits.settled_at_once,
            lanes: Lanes::new(of.limits.clone()),
            of,
            attempts: JoinSet::new(),
            begun: HashMap::new(),
            answers: JoinSet::new(),
            unsettled: Vec::new(),
            settling: 0,
            is_claiming: [false; 3],
            is_looking: false,
            is_rung: true,
            look_on_after: None,
            look_at: now,
            retries: BTreeSet::new(),
            sweep_at: now,
            outbox_rests_until: now,
            poor_claim_pause: None,
            last_now: now,
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
            if now < self.last_now {
                // After a step back of the clock, the outbox would rest for too long.
                self.outbox_rests_until = self.outbox_rests_until.min(now);
            }
            self.last_now = now;
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
                () = bell.notified(), if end.is_none() => self.is_rung = true,
                () = passed(self.poor_claim_pause.as_mut()) => self.poor_claim_pause = None,
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
        let Limits { look_every, lease, .. } = self.of.limits;
        // The clock may have been set back, which must not make anything wait longer.
        self.look_at = self.look_at.min(later(now, look_every));
        self.sweep_at = self.sweep_at.min(later(now, lease / 4));
        self.lanes.note_slow(now);
        if now >= self.sweep_at {
            self.lanes.release_stale(now);
            self.sweep_at = later(now, lease / 4);
        }
        while let Some(held) = self.lanes.start(now) {
            self.begin(held, now);
        }
        if now < self.outbox_rests_until {
            return;
        }
        self.ask_for_lanes(now);
        // If results cannot be written, more attempts only come to more of them, and to deliveries that arrive again and again.
        if self.unsettled.len() + self.settling > self.of.limits.waiting {
            return;
        }
        for (place, standing) in STANDINGS.into_iter().enumerate() {
            let pauses = standing == Standing::Poor && self.poor_claim_pause.is_some();
            if !self.is_claiming[place] && !pauses {
                let lease = || i64::try_from((self.of.chance)() >> 1).unwrap_or_default();
                if let Some(order) = self.lanes.order(standing, now, lease) {
                    if standing == Standing::Poor {
                        let pause = self.of.limits.poor_claim_pause.unsigned_abs();
                        self.poor_claim_pause = Some(Box::pin(tokio::time::sleep(pause)));
                    }
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
            let attempt = async { transport.attempt(id, &job).await };
            let report = AssertUnwindSafe(attempt).catch_unwind().await;
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
        let after = if let Some(last) = self.look_on_after.take() {
            last
        } else if self.is_rung || now >= self.look_at {
            self.is_rung = false;
            self.look_at = later(now, self.of.limits.look_every);
            while let Some(at) = self.retries.first().copied() {
                if at > now {
                    self.look_at = self.look_at.min(at);
                    break;
                }
                self.retries.pop_first();
            }
            i64::MIN
        } else {
            return;
        };
        self.is_looking = true;
        let outbox = Arc::clone(&self.of.outbox);
        self.answers.spawn(async move {
            Answer::Lanes(guarded("lanes", async { outbox.lanes(after, LANES_A_LOOK).await }).await)
        });
    }

    fn claim(&mut self, place: usize, order: ClaimOrder) {
        let outbox = Arc::clone(&self.of.outbox);
        self.answers.spawn(async move {
            let claimed = guarded("claim", async { outbox.claim(&order).await }).await;
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
        if self.settling > 0 || self.unsettled.is_empty() || now < self.outbox_rests_until {
            return;
        }
        let count = self.unsettled.len().min(self.settled_at_once);
        let batch: Vec<_> = self.unsettled.drain(..count).collect();
        self.settling = batch.len();
        let outbox = Arc::clone(&self.of.outbox);
        self.answers.spawn(async move {
            let settled = guarded("settle", async { outbox.settle(&batch).await }).await;
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
                self.settling = 0;
                let most = self.of.limits.settled_at_once;
                match settled {
                    Ok(()) => {
                        self.settled_at_once = self.settled_at_once.saturating_mul(2).min(most);
                        self.settled(&batch);
                    }
                    Err(Failure) => {
                        self.settled_at_once = (batch.len() / 2).max(1);
                        self.unsettled.extend(batch);
                    }
                }
                settled.is_err()
            }
            None => false,
        };
        if failed {
            self.outbox_rests_until = later(now, self.of.limits.retry_outbox);
            self.is_rung = true;
        }
    }

    /// Takes note of when to look for what was put back. Not before it has been: whoever looks sooner does not see it.
    fn settled(&mut self, batch: &[Settled<O::Report>]) {
        for settled in batch {
            match settled.next {
                Next::Released => self.is_rung = true,
                Next::RetryAt(at) => {
                    self.look_at = self.look_at.min(at);
                    self.retries.insert(at);
                    // What is forgotten is found by the looks that come anyway.
                    if self.retries.len() > RETRIES {
                        self.retries.pop_last();
                    }
                }
                Next::Delivered | Next::GivenUp | Next::SwitchOff => {}
            }
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
        self.look_on_after = lanes.last().filter(|_| !all).map(|last| last.lane);
    }

    /// When something is to be done at the latest. It is never an instant that has passed, or this would be asked again and
    /// again: whatever is due by now has been begun, and what cannot be begun waits for something else to end.
    fn wake_at(&mut self, now: Timestamp) -> Timestamp {
        let slow = self.lanes.next_slow().unwrap_or(Timestamp::MAX);
        let sweep = if self.lanes.waiting() > 0 {
            self.sweep_at
        } else {
            Timestamp::MAX
        };
        // While one looks, there is nothing to do when it is time to look.
        let look = if self.is_looking {
            Timestamp::MAX
        } else {
            self.look_at.max(self.outbox_rests_until)
        };
        slow.min(sweep).min(look).min(self.wake_at_for_outbox(now))
    }

    fn wake_at_for_outbox(&self, now: Timestamp) -> Timestamp {
        let rests = self.outbox_rests_until > now;
        if rests { self.outbox_rests_until } else { Timestamp::MAX }
    }
}

/// Ends with a pause; never, if there is none.
async fn passed(pause: Option<&mut Pin<Box<Sleep>>>) {
    match pause {
        Some(pause) => pause.await,
        None => std::future::pending().await,
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
