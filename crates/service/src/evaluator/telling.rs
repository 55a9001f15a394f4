//! Telling the engine what alerts are, so that it never takes an older state for a newer one.
//!
//! A change is told right after its commit, in the order of the commits. But what an alert is also comes from reading it:
//! with the answer to a commit of firings, by following other processes, by a comparison. Between the reading and the
//! telling a change may be told that makes what was read an old story. If the alert is judged after that change, its
//! revision in the engine says so. If it is not, because it was paused, fired or deleted, the engine has forgotten it.
//! So while somebody reads, what ceases to be judged is noted, and what was read from before that is not told.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::alerts::engine::{Decision, Engine, Event};
use ::alerts::{Alert, AlertId, Revision, Status};
use jiff::Timestamp;

/// Notes what ceased to be judged while somebody read.
#[derive(Debug, Default)]
pub(super) struct Telling(Mutex<Ended>);

#[derive(Debug, Default)]
struct Ended {
    readers: usize,
    /// The revision by which an alert was not judged any more; `None` for one that was deleted.
    revisions: HashMap<AlertId, Option<Revision>>,
}

/// Somebody reads what alerts are, to tell the engine. To be had before the reading begins.
#[derive(Debug)]
pub(super) struct Reading<'a>(&'a Telling);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut ended = self.0.ended();
        ended.readers -= 1;
        if ended.readers == 0 {
            // What a storm of changes has filled is given back.
            ended.revisions = HashMap::new();
        }
    }
}

impl Reading<'_> {
    /// Tells the engine of an alert as it was read, unless that is an old story. Returns whether it is none.
    pub(super) fn tell(&self, engine: &mut Engine, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) -> bool {
        let is_old = match self.0.ended().revisions.get(&alert.id) {
            Some(Some(revision)) => alert.revision < *revision,
            Some(None) => true,
            None => false,
        };
        if !is_old {
            self.0.tell(engine, alert, now, out);
        }
        !is_old
    }
}

impl Telling {
    /// Somebody begins to read.
    pub(super) fn reading(&self) -> Reading<'_> {
        self.ended().readers += 1;
        Reading(self)
    }

    /// Tells the engine of an alert as it is since a commit.
    pub(super) fn tell(&self, engine: &mut Engine, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) {
        if engine.revision(alert.id).is_some_and(|judged| judged > alert.revision) {
            return;
        }
        if alert.status != Status::Active {
            self.note(alert.id, Some(alert.revision));
        }
        // An armed alert is always taken in.
        let _ = engine.process(Event::Armed(&armed_by(alert, now)), now, out);
    }

    /// Tells the engine that an alert was deleted.
    pub(super) fn forget(&self, engine: &mut Engine, id: AlertId, now: Timestamp) {
        self.note(id, None);
        // That it was not armed is as good.
        let _ = engine.process(Event::Disarmed(id), now, &mut Vec::new());
    }

    fn note(&self, id: AlertId, revision: Option<Revision>) {
        let mut ended = self.ended();
        if ended.readers > 0 {
            ended.revisions.insert(id, revision);
        }
    }

    fn ended(&self) -> MutexGuard<'_, Ended> {
        // A panic elsewhere leaves the notes whole: each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An alert that was armed while the clock was ahead is judged from the present on.
pub(super) fn armed_by(alert: &Alert, now: Timestamp) -> Alert {
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

    struct Room {
        engine: Engine,
        telling: Telling,
    }

    impl Room {
        /// One that judges an alert.
        fn judging(alert: &Alert) -> Self {
            let mut room = Self {
                engine: Engine::new(Calendar::nyse(), EngineConfig::default()),
                telling: Telling::default(),
            };
            room.tell(alert);
            assert_eq!(room.engine.revision(alert.id), Some(alert.revision));
            room
        }

        fn tell(&mut self, alert: &Alert) {
            self.telling.tell(&mut self.engine, alert, now(), &mut Vec::new());
        }
    }

    #[test]
    fn what_was_read_before_a_pause_does_not_undo_it() {
        let alert = alert();
        let Room { mut engine, telling } = Room::judging(&alert);
        let reading = telling.reading();
        telling.tell(&mut engine, &paused(&alert), now(), &mut Vec::new());
        assert!(!reading.tell(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn what_was_read_before_a_deletion_does_not_undo_it() {
        let alert = alert();
        let Room { mut engine, telling } = Room::judging(&alert);
        let reading = telling.reading();
        telling.forget(&mut engine, alert.id, now());
        assert!(!reading.tell(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn what_was_read_after_a_pause_is_told() {
        let alert = alert();
        let Room { mut engine, telling } = Room::judging(&alert);
        let reading = telling.reading();
        let paused = paused(&alert);
        telling.tell(&mut engine, &paused, now(), &mut Vec::new());
        let active = activated(&paused);
        assert!(reading.tell(&mut engine, &active, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), Some(active.revision));
        assert!(!reading.tell(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), Some(active.revision));
    }

    #[test]
    fn of_two_who_read_the_one_tells_the_other_what_has_ended() {
        let alert = alert();
        let Room { mut engine, telling } = Room::judging(&alert);
        let (one, other) = (telling.reading(), telling.reading());
        assert!(one.tell(&mut engine, &paused(&alert), now(), &mut Vec::new()));
        drop(one);
        assert!(!other.tell(&mut engine, &alert, now(), &mut Vec::new()));
        assert_eq!(engine.revision(alert.id), None);
    }

    #[test]
    fn nothing_is_noted_for_nobody_and_nothing_is_kept_afterwards() {
        let alert = alert();
        let mut room = Room::judging(&alert);
        room.tell(&paused(&alert));
        assert!(room.telling.ended().revisions.is_empty());
        let reading = room.telling.reading();
        room.telling.forget(&mut room.engine, alert.id, now());
        assert_eq!(room.telling.ended().revisions.len(), 1);
        drop(reading);
        assert!(room.telling.ended().revisions.is_empty());
    }
}
