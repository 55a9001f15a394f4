//! Applies alert changes to the engine, so that an older state never replaces a newer one.
//!
//! A change is applied right after its commit, in the order of the commits. But alert states also come from reads:
//! with the result of a commit of firings, by following other processes, and by a comparison. A change that is
//! applied between such a read and its use makes the read state outdated. If the alert is still evaluated after
//! that change, the engine knows the newer revision. If it was paused, fired or deleted, the engine has removed it.
//! Therefore, while a read is in progress, the guard records the alerts that cease to be evaluated, and discards
//! read states from before that.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::alerts::engine::{Decision, Engine, Event};
use ::alerts::{Alert, AlertId, EvaluatedAlert, Revision, Status};
use jiff::Timestamp;

/// Records the alerts that cease to be evaluated while reads are in progress.
#[derive(Debug, Default)]
pub(super) struct RevisionGuard(Mutex<EndedEvaluations>);

#[derive(Debug, Default)]
struct EndedEvaluations {
    readers: usize,
    /// The revision from which an alert is not evaluated any more; `None` for a deleted alert.
    revisions: HashMap<AlertId, Option<Revision>>,
}

/// A read of alert states that will be applied to the engine. Obtain it before the read begins.
#[derive(Debug)]
pub(super) struct ReadGuard<'a>(&'a RevisionGuard);

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        let mut ended = self.0.ended();
        ended.readers -= 1;
        if ended.readers == 0 {
            // Releases the memory of a large number of changes.
            ended.revisions = HashMap::new();
        }
    }
}

impl ReadGuard<'_> {
    /// Applies an alert's state as it was read, unless it is outdated. Returns whether it was applied.
    pub(super) fn apply_change(
        &self,
        engine: &mut Engine,
        alert: &Alert,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) -> bool {
        let is_old = self.is_old(alert.id, alert.revision);
        if !is_old {
            self.0.apply_change(engine, alert, now, out);
        }
        !is_old
    }

    /// Arms an active alert that another process has evaluated, unless what was read is outdated.
    pub(super) fn take_over(
        &self,
        engine: &mut Engine,
        alert: &EvaluatedAlert,
        evaluated_until: Option<Timestamp>,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let is_known = engine.revision(alert.id).is_some_and(|known| known >= alert.revision);
        if !is_known && !self.is_old(alert.id, alert.revision) {
            let event = Event::TakenOver { alert, evaluated_until };
            // An alert that is taken over is always accepted.
            let _ = engine.process(event, now, out);
        }
    }

    fn is_old(&self, id: AlertId, read: Revision) -> bool {
        match self.0.ended().revisions.get(&id) {
            Some(Some(revision)) => read < *revision,
            Some(None) => true,
            None => false,
        }
    }
}

impl RevisionGuard {
    /// Begins a read.
    pub(super) fn begin_read(&self) -> ReadGuard<'_> {
        self.ended().readers += 1;
        ReadGuard(self)
    }

    /// Applies an alert's state as of a commit.
    pub(super) fn apply_change(&self, engine: &mut Engine, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) {
        if let Some(known) = engine.revision(alert.id) {
            // The engine's life cycle of the same revision is at least as new as the read one.
            let is_known = known == alert.revision && alert.status == Status::Active && alert.lifecycle.is_some();
            if known > alert.revision || is_known {
                return;
            }
        }
        if alert.status != Status::Active {
            self.note(alert.id, Some(alert.revision));
        }
        // An armed alert is always accepted.
        let _ = engine.process(Event::Armed(&with_clamped_armed_at(alert, now)), now, out);
    }

    /// Removes a deleted alert from the engine.
    pub(super) fn remove_alert(&self, engine: &mut Engine, id: AlertId, now: Timestamp) {
        self.note(id, None);
        // Fails only if the alert is not armed, which is fine.
        let _ = engine.process(Event::Disarmed(id), now, &mut Vec::new());
    }

    fn note(&self, id: AlertId, revision: Option<Revision>) {
        let mut ended = self.ended();
        if ended.readers > 0 {
            ended.revisions.insert(id, revision);
        }
    }

    fn ended(&self) -> MutexGuard<'_, EndedEvaluations> {
        // A panic elsewhere leaves the map consistent: each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the alert, armed at `now` at the latest. An alert that was armed while the clock was ahead is evaluated
/// from the present on.
pub(super) fn with_clamped_armed_at(alert: &Alert, now: Timestamp) -> Alert {
    Alert {
        armed_at: alert.armed_at.min(now),
        ..alert.clone()
    }
}

#[cfg(test)]
mod tests {
    use ::alerts::engine::EngineConfig;
    use ::alerts::request::{ParseContext, parse_create};
    use ::alerts::transition::{self, OwnerVerification, PriceAvailability, Transition};
    use ::market::Calendar;
    use jiff::tz::TimeZone;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn now() -> Timestamp {
        "2024-03-08T16:00:00Z".parse().unwrap()
    }

    fn alert() -> Alert {
        let context = ParseContext {
            now: now(),
            time_zone: &TimeZone::UTC,
            calendar: &Calendar::nyse(),
        };
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
        let asked = parse_create(&body, &context).unwrap();
        let id = AlertId(Uuid::from_u128(1));
        transition::create(
            asked,
            id,
            OwnerVerification::Verified,
            PriceAvailability::Unknown,
            now(),
        )
        .unwrap()
        .alert
    }

    fn changed(transition: Transition) -> Alert {
        match transition {
            Transition::Changed(changed) => changed.alert,
            Transition::Unchanged => panic!("it changes"),
        }
    }

    fn paused(alert: &Alert) -> Alert {
        changed(transition::pause(alert).unwrap())
    }

    fn activated(alert: &Alert) -> Alert {
        changed(transition::activate(alert, OwnerVerification::Verified, PriceAvailability::Awaited, now()).unwrap())
    }

    struct Fixture {
        engine: Engine,
        revision_guard: RevisionGuard,
    }

    impl Fixture {
        /// Creates an engine that evaluates `alert`.
        fn evaluating(alert: &Alert) -> Self {
            let mut fixture = Self {
                engine: Engine::new(Calendar::nyse(), EngineConfig::default()),
                revision_guard: RevisionGuard::default(),
            };
            fixture.apply_change(alert);
            assert_eq!(fixture.engine.revision(alert.id), Some(alert.revision));
            fixture
        }

        fn apply_change(&mut self, alert: &Alert) {
            self.revision_guard
                .apply_change(&mut self.engine, alert, now(), &mut Vec::new());
        }
    }

    #[test]
    fn read_from_before_a_pause_does_not_undo_it() {
        let alert = alert();
        let Fixture {
            mut engine,
            revision_guard,
        } = Fixture::evaluating(&alert);
        let reading = revision_guard.begin_read();
        revision_guard.apply_change(&mut engine, &paused(&alert), now(), &mut Vec::new());
        assert!(!reading.apply_change(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn read_from_before_a_deletion_does_not_undo_it() {
        let alert = alert();
        let Fixture {
            mut engine,
            revision_guard,
        } = Fixture::evaluating(&alert);
        let reading = revision_guard.begin_read();
        revision_guard.remove_alert(&mut engine, alert.id, now());
        assert!(!reading.apply_change(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn read_from_after_a_pause_is_applied() {
        let alert = alert();
        let Fixture {
            mut engine,
            revision_guard,
        } = Fixture::evaluating(&alert);
        let reading = revision_guard.begin_read();
        let paused = paused(&alert);
        revision_guard.apply_change(&mut engine, &paused, now(), &mut Vec::new());
        let active = activated(&paused);
        assert!(reading.apply_change(&mut engine, &active, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), Some(active.revision));
        assert!(!reading.apply_change(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), Some(active.revision));
    }

    #[test]
    fn one_read_tells_another_which_alerts_have_ended() {
        let alert = alert();
        let Fixture {
            mut engine,
            revision_guard,
        } = Fixture::evaluating(&alert);
        let (one, other) = (revision_guard.begin_read(), revision_guard.begin_read());
        assert!(one.apply_change(&mut engine, &paused(&alert), now(), &mut Vec::new()));
        drop(one);
        assert!(!other.apply_change(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn ended_alerts_are_recorded_only_during_reads() {
        let alert = alert();
        let mut fixture = Fixture::evaluating(&alert);
        fixture.apply_change(&paused(&alert));
        assert!(fixture.revision_guard.ended().revisions.is_empty());
        let reading = fixture.revision_guard.begin_read();
        fixture
            .revision_guard
            .remove_alert(&mut fixture.engine, alert.id, now());
        assert_eq!(fixture.revision_guard.ended().revisions.len(), 1);
        drop(reading);
        assert!(fixture.revision_guard.ended().revisions.is_empty());
    }
}
