//! The state machine: one step for each judgement.

use jiff::Timestamp;
use market::Calendar;

use super::cooldown::cooldown_end;
use super::judgement::Judgement;
use super::state::{Lifecycle, Phase};
use super::wait_reason::WaitReason;
use crate::expression::Truth;
use crate::options::{AlertOptions, TriggerPrice};

/// The result of a judgement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The state after the judgement.
    pub next: Lifecycle,
    /// The effect of the judgement.
    pub outcome: Outcome,
}

/// The effect of a judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing fires.
    Wait(WaitReason),
    /// The alert fires.
    Fire {
        /// The judgement since which the condition held without interruption.
        true_since: Timestamp,
        /// Whether this is the last firing: the alert becomes triggered.
        is_last: bool,
    },
    /// The alert has expired and becomes inactive.
    Expire {
        /// The instant of its expiry, not after the judgement.
        at: Timestamp,
    },
}

/// Judges an alert at one observation. The state is the one after the last judgement, or
/// [prepared](Lifecycle::prepared) for this one.
#[must_use]
pub fn step(options: &AlertOptions, calendar: &Calendar, state: &Lifecycle, judgement: &Judgement) -> Step {
    let at = judgement.observation.at;
    let unchanged = |outcome| Step {
        next: state.clone(),
        outcome,
    };
    if let Some(expiry) = options.expires().filter(|&expiry| at >= expiry) {
        return unchanged(Outcome::Expire { at: expiry });
    }
    if let Some(until) = state.snoozed_until(options).filter(|&end| at < end) {
        return unchanged(Outcome::Wait(WaitReason::Snoozed { until }));
    }
    let mut next = state.prepared(options, &judgement.observation);
    next.note_truth(options, judgement);
    next.end_cooldown(at);
    let outcome = match next.wait_reason(options, calendar, judgement) {
        Some(reason) => Outcome::Wait(reason),
        None => next.fire(options, at),
    };
    next.note_left(options, judgement);
    next.note_unknown(judgement.truth);
    Step { next, outcome }
}

impl Lifecycle {
    /// Records since when the condition is true.
    fn note_truth(&mut self, options: &AlertOptions, judgement: &Judgement) {
        let is_true = judgement.truth.is_true();
        // A judgement without an observation sees the same price again, so it is neither the first nor the second of two prices. The
        // engine leaves many of them out: what they find must not matter.
        let (is_confirmed, counts) = match options.trigger {
            TriggerPrice::TwoLasts => {
                let is_new = judgement.observation.is_new;
                (self.true_since.is_some() || self.was_true && is_new, is_new)
            }
            _ => (true, true),
        };
        let since = self.true_since.unwrap_or(judgement.observation.at);
        self.true_since = (is_true && is_confirmed).then_some(since);
        if counts {
            self.was_true = is_true;
        }
    }

    /// Ends a cooldown that is over.
    fn end_cooldown(&mut self, at: Timestamp) {
        if let Phase::Cooling { until, was_left } = self.phase
            && at >= until
        {
            self.phase = if was_left { Phase::Armed } else { Phase::WaitingToRearm };
        }
    }

    /// Returns why the alert does not fire now; `None` if it fires.
    fn wait_reason(&self, options: &AlertOptions, calendar: &Calendar, judgement: &Judgement) -> Option<WaitReason> {
        match judgement.truth {
            Truth::Unknown => return Some(WaitReason::NoData),
            Truth::False => return Some(WaitReason::NotTrue),
            Truth::True => {}
        }
        if let Some(reason) = self.phase_reason(options) {
            return Some(reason);
        }
        let Some(since) = self.true_since else {
            return Some(WaitReason::SecondJudgement);
        };
        let until = hold_end(options, calendar, since);
        let at = judgement.observation.at;
        if until.is_some_and(|until| at >= until) {
            return None;
        }
        let hold = options.hold?.session_time();
        let held = calendar.trading_time_between(since, at, options.session.trading_hours());
        Some(WaitReason::Holding {
            since,
            remaining: hold.saturating_sub(held),
            until,
        })
    }

    /// Returns why the alert would not fire now, even if its condition became true.
    pub(crate) fn phase_reason(&self, options: &AlertOptions) -> Option<WaitReason> {
        match self.phase {
            Phase::Cooling { until, .. } if options.has_firing_limit() => Some(WaitReason::FiringLimit { until }),
            Phase::Cooling { until, .. } => Some(WaitReason::Cooldown { until }),
            Phase::WaitingToRearm if self.waits_for_first_change() => Some(WaitReason::WaitingForChange),
            Phase::WaitingToRearm if options.refires() => None,
            Phase::WaitingToRearm if options.rearm.is_some() => Some(WaitReason::WaitingForRearmLevel),
            Phase::WaitingToRearm => Some(WaitReason::WaitingToRearm),
            Phase::Armed => None,
        }
    }

    /// Records a firing and returns it.
    fn fire(&mut self, options: &AlertOptions, at: Timestamp) -> Outcome {
        self.firings = self.firings.saturating_add(1);
        self.last_fired_at = Some(at);
        self.phase =
            cooldown_end(options, at).map_or(Phase::WaitingToRearm, |until| Phase::Cooling { until, was_left: false });
        Outcome::Fire {
            true_since: self.true_since.unwrap_or(at),
            is_last: options.last_firing().is_some_and(|last| self.firings >= last),
        }
    }

    /// Records the end of an uninterrupted truth, and that the condition was left for the first time since the firing.
    fn note_left(&mut self, options: &AlertOptions, judgement: &Judgement) {
        if !judgement.truth_after.is_true() {
            self.true_since = None;
        }
        let left = match self.phase {
            Phase::WaitingToRearm => Phase::Armed,
            Phase::Cooling { until, was_left: false } => Phase::Cooling { until, was_left: true },
            Phase::Armed | Phase::Cooling { .. } => return,
        };
        if judgement.is_left(options.rearm.is_some()) {
            self.phase = left;
            self.rearm(judgement.observation.price);
        }
    }

    /// Lets an alert that fires on changes wait to be left: after an unknown condition, a true one is no change.
    fn note_unknown(&mut self, truth: Truth) {
        if truth != Truth::Unknown || !self.fires_on_change {
            return;
        }
        match &mut self.phase {
            Phase::Armed => self.phase = Phase::WaitingToRearm,
            Phase::Cooling { was_left, .. } => *was_left = false,
            Phase::WaitingToRearm => {}
        }
    }
}

/// Returns the instant at which a condition has held for long enough; `None` beyond representable time.
pub(super) fn hold_end(options: &AlertOptions, calendar: &Calendar, since: Timestamp) -> Option<Timestamp> {
    match options.hold {
        Some(hold) => calendar.after_trading_time(since, hold.session_time(), options.session.trading_hours()),
        None => Some(since),
    }
}
