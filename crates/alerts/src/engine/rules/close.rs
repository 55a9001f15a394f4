//! Rules that are judged at the closes of sessions only (`trigger: close`).
//!
//! Such a rule is judged once for each close, with the last prices before it and as of that instant: at the first
//! [`Event::Clock`](crate::engine::Event::Clock) after the close, or when a bar completes the session of one of its stocks,
//! whichever comes first. The 52-week extremes are those before its session.

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;

use super::judge::Cause;
use super::rule::ArmedRule;
use super::values::SeenAt;
use crate::engine::Engine;
use crate::engine::decision::Decision;
use crate::engine::event::StockIndex;
use crate::engine::group::Band;
use crate::engine::hot_line::NO_DAY;
use crate::engine::level_index::Slot;

/// The time after a close from which its last observations are processed.
const AFTER_CLOSE: SignedDuration = SignedDuration::from_nanos(1);

impl Engine {
    /// Lets a new rule wait for its next close: the first one after its arming and its last firing that the engine's clock has not
    /// passed. After a restart that can be one which was missed.
    pub(super) fn await_close(&self, armed: &mut ArmedRule, now: Timestamp) {
        if !armed.is_judged_at_close() {
            return;
        }
        let processed = if self.clock == Timestamp::MIN { now } else { self.clock };
        let state = &armed.rule.lifecycle;
        let judged = state.armed_at.max(state.last_fired_at.unwrap_or(Timestamp::MIN));
        let is_processed = |close: Timestamp| close < processed || close <= judged;
        let mut closes = self
            .calendar
            .sessions(new_york_date(processed), Date::MAX)
            .map(|session| session.close);
        armed.next_close = closes.find(|&close| !is_processed(close));
        for at in &mut armed.stocks {
            at.band = Band::WIDE;
        }
    }

    /// Returns the observation before the first judgement of a rule, to which a `crosses` compares.
    pub(super) fn seen_at_arming(&self, armed: &ArmedRule) -> SeenAt {
        let Some(next) = armed.next_close else {
            return SeenAt::Observation;
        };
        let has_closed = |stock: StockIndex| {
            let session = self.stocks[stock.0 as usize].session;
            session.is_some_and(|session| self.calendar.session(session.date).is_some_and(|at| at.close < next))
        };
        if armed.stock_indices().any(has_closed) {
            SeenAt::Observation
        } else {
            SeenAt::LastClose
        }
    }

    /// Judges a rule because of an observation or a fact, unless it ignores observations.
    pub(super) fn judge_between_closes(
        &mut self,
        slot: Slot,
        now: Timestamp,
        cause: Cause<'_>,
        out: &mut Vec<Decision>,
    ) {
        if !self.rules.get(slot).is_some_and(ArmedRule::ignores_observations) {
            self.judge_and_place(slot, now, cause, out);
        }
    }

    /// Judges the rules of a stock whose close has come, before a bar completes the session.
    pub(in crate::engine) fn judge_closes_of(&mut self, symbol: Symbol, now: Timestamp, out: &mut Vec<Decision>) {
        let Some(stock) = self.indices.get(&symbol) else {
            return;
        };
        if self.hot.get(stock.0 as usize).day == NO_DAY {
            return;
        }
        for slot in self.stocks[stock.0 as usize].rules.slots() {
            let next = self.rules.get(slot).and_then(|armed| armed.next_close);
            if next.is_some_and(|close| close <= now) {
                self.judge_close(slot, now, out);
            }
        }
    }

    /// Judges a rule as of its next close, which is not after `now`. It is not judged if the close came too long after the last
    /// observation of one of its stocks, or if one was observed since.
    pub(super) fn judge_close(&mut self, slot: Slot, now: Timestamp, out: &mut Vec<Decision>) {
        let next_close = self.calendar.next_close(now);
        let Some(armed) = self.rules.get_mut(slot) else {
            return;
        };
        let Some(close) = std::mem::replace(&mut armed.next_close, next_close) else {
            return;
        };
        let observed: BTreeSet<StockIndex> = armed.stock_indices().collect();
        let stale_after = self.config.stale_after;
        let is_current = |at: &StockIndex| {
            let age = close.duration_since(self.hot.get(at.0 as usize).last_at());
            SignedDuration::ZERO <= age && age <= stale_after
        };
        if observed.iter().all(is_current) {
            let cause = Cause {
                observed: &observed,
                is_new: true,
            };
            self.judge_and_place(slot, close, cause, out);
        } else {
            self.skip_close(slot, now);
        }
    }

    /// Returns the instant at which [`Event::Clock`](crate::engine::Event::Clock) judges a rule, or lets it be judged. A close is judged
    /// after its instant, at which there may still be observations.
    pub(super) fn scheduled_check(&self, armed: &ArmedRule, now: Timestamp) -> Option<Timestamp> {
        let check = self.next_check_of(armed, now)?;
        if armed.next_close == Some(check) {
            check.checked_add(AFTER_CLOSE).ok()
        } else {
            Some(check)
        }
    }

    /// Lets a rule wait for its next close.
    fn skip_close(&mut self, slot: Slot, now: Timestamp) {
        let Some(mut armed) = self.rules.take(slot) else {
            return;
        };
        let next = self.scheduled_check(&armed, now);
        self.rules.schedule(slot, armed.next_check, next);
        armed.next_check = next;
        self.rules.put_back(slot, armed);
    }
}
