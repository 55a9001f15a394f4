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
    mark: Timestamp,
    follow: Timestamp,
    compare: Timestamp,
}

impl Evaluator {
    /// Lets time pass until `stop`.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let now = self.clock.now();
        let mut plan = Plan {
            mark: now,
            follow: now,
            compare: now + self.settings.compare_every,
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

    /// Judges what is due by now, and what was armed or became known since it was judged last.
    ///
    /// # Errors
    /// [`StoreError`] when the database did not take what was decided.
    pub(crate) async fn evaluate(self: &Arc<Self>, is_marked: bool) -> Result<(), StoreError> {
        let now = self.engine_now();
        self.judge(|engine, decisions| {
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
        .await
    }

    fn count_alerts(&self) {
        let now = self.engine_now();
        let tally = self.read(|engine| engine.tally(now));
        for (state, count) in [("ok", tally.ok), ("waiting", tally.waiting), ("blind", tally.blind)] {
            // Counts are far below 2⁵³.
            metrics::gauge!("bellwether_alerts", "state" => state).set(count as f64);
        }
    }
}
