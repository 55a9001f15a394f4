//! The periodic work: evaluates due alerts every second, and compares the engine with the database from time to
//! time.

use std::sync::Arc;

use ::alerts::engine::Event;
use jiff::{SignedDuration, Timestamp};
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::Evaluator;
use super::inputs::EvaluationInputs;

/// The interval of evaluations.
pub(crate) const TICK_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// How often the instant up to which the clock was processed is stored without a firing.
pub(crate) const CLOCK_MARK_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// The next instant of each periodic task.
struct TickSchedule {
    last: Timestamp,
    mark: Timestamp,
    follow: Timestamp,
    compare: Timestamp,
}

impl TickSchedule {
    /// Everything is due at `now`.
    const fn from(now: Timestamp) -> Self {
        Self {
            last: now,
            mark: now,
            follow: now,
            compare: now,
        }
    }
}

impl Evaluator {
    /// Evaluates periodically until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let now = self.clock.now();
        let mut schedule = TickSchedule {
            compare: now + self.settings.compare_every,
            ..TickSchedule::from(now)
        };
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep(TICK_INTERVAL.unsigned_abs()) => {}
            }
            match self.tick(&mut schedule).await {
                Ok(()) => metrics::gauge!("bellwether_evaluation_behind").set(0.0),
                Err(error) => {
                    metrics::gauge!("bellwether_evaluation_behind").set(1.0);
                    tracing::error!(%error, "decisions could not be committed; they are kept, and the next evaluation commits them");
                }
            }
        }
    }

    async fn tick(self: &Arc<Self>, schedule: &mut TickSchedule) -> Result<(), StoreError> {
        let now = self.clock.now();
        if now < schedule.last {
            // A schedule that was made while the clock was ahead would be late.
            *schedule = TickSchedule::from(now);
        }
        schedule.last = now;
        self.apply_due_splits().await?;
        let is_marked = now >= schedule.mark;
        self.evaluate_due(is_marked).await?;
        if is_marked {
            schedule.mark = now + CLOCK_MARK_INTERVAL;
            self.count_alerts();
        }
        if now >= schedule.follow && self.store.is_shared() {
            schedule.follow = now + self.settings.follow_every;
            self.follow_splits().await?;
            self.follow_changes().await?;
        }
        if now >= schedule.compare {
            schedule.compare = now + self.settings.compare_every;
            self.compare().await?;
        }
        Ok(())
    }

    /// Evaluates alerts that are due, newly armed, or affected by data since the last evaluation. Stores the sessions
    /// that have ended.
    pub async fn evaluate_due(self: &Arc<Self>, is_marked: bool) -> Result<(), StoreError> {
        self.follow_clock().await?;
        self.evaluate(|engine, decisions| {
            // Under the lock, so that no reload for an earlier instant comes in between. While the engine's time stands still, because the
            // clock was set back, alerts that wait for an instant wait for the clock.
            let (present, now) = (self.clock.now(), self.engine_now());
            // Both events are always accepted.
            let _ = engine.process(Event::Clock, present, decisions);
            let _ = engine.process(Event::Evaluate, now, decisions);
            // On several nodes, a mark is written for each shard, so rarely. An earlier mark is always safe.
            let is_worth_a_mark = is_marked || (self.is_single() && !decisions.is_empty());
            let observed = EvaluationInputs {
                clock: is_worth_a_mark.then_some(present),
                ..EvaluationInputs::default()
            };
            (observed, ())
        })
        .await?;
        self.store_ended_sessions().await
    }

    /// Evaluates the alerts that wait for an instant, and no others.
    pub(crate) async fn evaluate_moments(self: &Arc<Self>) -> Result<(), StoreError> {
        self.follow_clock().await?;
        self.evaluate(|engine, decisions| {
            // The event is always accepted.
            let _ = engine.process(Event::Clock, self.clock.now(), decisions);
            (EvaluationInputs::default(), ())
        })
        .await
    }

    pub(crate) fn count_alerts(&self) {
        let now = self.engine_now();
        let tally = self.read(|engine| engine.evaluation_counts(now));
        for (state, count) in [("ok", tally.ok), ("waiting", tally.waiting), ("blind", tally.blind)] {
            // Counts are far below 2⁵³.
            metrics::gauge!("bellwether_alerts", "state" => state).set(count as f64);
        }
    }
}
