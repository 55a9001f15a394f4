//! The passing of time: every second what is due is judged, and now and then the engine is compared with the database.

use std::sync::Arc;

use ::alerts::engine::Event;
use jiff::{SignedDuration, Timestamp};
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::Evaluator;
use super::judge::Observed;

/// How often what is due is looked for.
const EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How often the instant up to which the clock was processed is written down though nothing fired.
const MARK_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// When what is to be done next.
struct Plan {
    last: Timestamp,
    mark: Timestamp,
    follow: Timestamp,
    compare: Timestamp,
}

impl Plan {
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
    /// Lets time pass until `stop`.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let now = self.clock.now();
        let mut plan = Plan {
            compare: now + self.settings.compare_every,
            ..Plan::from(now)
        };
        loop {
            let next = self.clock.now() + EVERY;
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep_until(next) => {}
            }
            match self.tick(&mut plan).await {
                Ok(()) => metrics::gauge!("bellwether_evaluation_behind").set(0.0),
                Err(error) => {
                    metrics::gauge!("bellwether_evaluation_behind").set(1.0);
                    tracing::error!(%error, "what was decided could not be committed; it is kept and tried again");
                }
            }
        }
    }

    async fn tick(self: &Arc<Self>, plan: &mut Plan) -> Result<(), StoreError> {
        let now = self.clock.now();
        if now < plan.last {
            // A plan that was made while the clock was ahead would come late.
            *plan = Plan::from(now);
        }
        plan.last = now;
        self.apply_due_splits().await?;
        let is_marked = now >= plan.mark;
        self.evaluate(is_marked).await?;
        if is_marked {
            plan.mark = now + MARK_EVERY;
            self.count_alerts();
        }
        if now >= plan.follow && self.store.is_shared() {
            plan.follow = now + self.settings.follow_every;
            self.follow_splits().await?;
            self.follow().await?;
        }
        if now >= plan.compare {
            plan.compare = now + self.settings.compare_every;
            self.compare().await?;
        }
        Ok(())
    }

    /// Judges what is due by now, and what was armed or became known since it was judged last. Stores sessions that have ended.
    ///
    /// # Errors
    /// [`StoreError`] when the database did not take what was decided.
    pub(crate) async fn evaluate(self: &Arc<Self>, is_marked: bool) -> Result<(), StoreError> {
        self.follow_clock().await?;
        self.judge(|engine, decisions| {
            // Under the gate, so that no loading for an earlier instant comes in between.
            let now = self.engine_now();
            // Both are always taken.
            let _ = engine.process(Event::Clock, now, decisions);
            let _ = engine.process(Event::Evaluate, now, decisions);
            let is_worth_a_mark = is_marked || !decisions.is_empty();
            let observed = Observed {
                symbols: Vec::new(),
                clock: is_worth_a_mark.then_some(now),
            };
            (observed, ())
        })
        .await?;
        self.store_ended_sessions().await
    }

    fn count_alerts(&self) {
        let now = self.engine_now();
        let tally = self.read(|engine| engine.evaluation_counts(now));
        for (state, count) in [("ok", tally.ok), ("waiting", tally.waiting), ("blind", tally.blind)] {
            // Counts are far below 2⁵³.
            metrics::gauge!("bellwether_alerts", "state" => state).set(count as f64);
        }
    }
}
