//! The life cycle of a rule, after the table of its specification.

use alerts::options::{AlertOptions, Repeat, TriggerPrice};
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::calendar::{new_york, new_york_date};

use super::past::RecordedPrice;
use super::truth::{Crossing, Truths};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Armed,
    Cooling { until: Timestamp, was_left: bool },
    WaitingToRearm,
}

/// The state of a rule.
pub(super) struct Life {
    phase: Phase,
    armed_at: Timestamp,
    true_since: Option<Timestamp>,
    /// Whether the condition was true at the last observation since arming.
    was_true: bool,
    firings: u16,
    /// Whether the last judgement re-armed the rule.
    pub(super) has_rearmed: bool,
    pub(super) crossings: Vec<Crossing>,
    /// The judged prices since arming.
    pub(super) prices: Vec<RecordedPrice>,
}

/// One judgement.
pub(super) struct JudgedEvent {
    pub(super) at: Timestamp,
    pub(super) truths: Truths,
    /// Whether a price was observed.
    pub(super) is_observation: bool,
    pub(super) is_rearm_level_reached: bool,
    pub(super) price: Option<RecordedPrice>,
}

impl Life {
    pub(super) fn new(armed_at: Timestamp, crossings: Vec<Crossing>, price: Option<RecordedPrice>) -> Self {
        Self {
            phase: Phase::Armed,
            armed_at,
            true_since: None,
            was_true: false,
            firings: 0,
            has_rearmed: false,
            crossings,
            prices: price.into_iter().collect(),
        }
    }

    /// Returns the end of a snooze that no judgement has followed.
    pub(super) fn snoozed_until(&self, options: &AlertOptions) -> Option<Timestamp> {
        options.snoozed_until.filter(|until| self.armed_at < *until)
    }

    /// Ends a snooze: everything since arming is forgotten.
    pub(super) fn end_snooze(&mut self, at: Timestamp, price: Option<RecordedPrice>) {
        (self.phase, self.armed_at) = (Phase::Armed, at);
        self.rearm(price);
    }

    fn rearm(&mut self, price: Option<RecordedPrice>) {
        (self.true_since, self.was_true) = (None, false);
        self.prices = price.into_iter().collect();
        for crossing in &mut self.crossings {
            crossing.until = None;
        }
    }

    /// Judges the rule. Returns whether it fires, and if so whether for the last time.
    pub(super) fn judge(&mut self, options: &AlertOptions, judged: &JudgedEvent) -> Option<bool> {
        let at = judged.at;
        let [truth, after] = judged.truths;
        let is_confirmed = options.trigger != TriggerPrice::TwoLasts
            || self.true_since.is_some()
            || self.was_true && judged.is_observation;
        let since = self.true_since.unwrap_or(at);
        self.true_since = (truth == Some(true) && is_confirmed).then_some(since);
        if judged.is_observation {
            self.was_true = truth == Some(true);
        }
        if let Phase::Cooling { until, was_left } = self.phase
            && until <= at
        {
            self.phase = if was_left { Phase::Armed } else { Phase::WaitingToRearm };
        }
        let may_fire = match self.phase {
            Phase::Armed => true,
            Phase::Cooling { .. } => false,
            Phase::WaitingToRearm => options.cooldown_refire && cooldown_end(options, at).is_some(),
        };
        let has_held = self.true_since.is_some_and(|since| {
            let hold = options.hold.map_or(SignedDuration::ZERO, |hold| hold.session_time());
            session_time(since, at) >= hold
        });
        let fires = may_fire && has_held;
        if fires {
            self.firings += 1;
            self.phase = cooldown_end(options, at)
                .map_or(Phase::WaitingToRearm, |until| Phase::Cooling { until, was_left: false });
        }
        if after != Some(true) {
            self.true_since = None;
        }
        let is_left = if options.rearm.is_some() {
            judged.is_rearm_level_reached && after != Some(true)
        } else {
            truth == Some(false) || after == Some(false)
        };
        let left = match self.phase {
            Phase::WaitingToRearm => Some(Phase::Armed),
            Phase::Cooling { until, was_left: false } => Some(Phase::Cooling { until, was_left: true }),
            _ => None,
        };
        self.has_rearmed = is_left && left.is_some();
        if let Some(left) = left.filter(|_| is_left) {
            self.phase = left;
            self.rearm(judged.price);
        }
        let last = match options.repeat {
            Repeat::Once => Some(1),
            _ => options.max_firings,
        };
        fires.then(|| last == Some(self.firings))
    }
}

fn cooldown_end(options: &AlertOptions, fired_at: Timestamp) -> Option<Timestamp> {
    let cooldown = options.cooldown.map(|cooldown| fired_at + cooldown.duration());
    let midnight = new_york(new_york_date(fired_at).tomorrow().unwrap(), 0, 0);
    match options.repeat {
        Repeat::Once => None,
        Repeat::EachTime if options.rearm.is_none() => {
            Some(cooldown.unwrap_or(fired_at + SignedDuration::from_mins(1)))
        }
        Repeat::EachTime => cooldown,
        Repeat::OncePerDay => cooldown.max(Some(midnight)),
    }
}

/// Returns the time of sessions between two instants.
fn session_time(from: Timestamp, to: Timestamp) -> SignedDuration {
    let mut time = SignedDuration::ZERO;
    for session in Calendar::nyse().sessions(new_york_date(from), new_york_date(to)) {
        let (open, close) = (session.open.max(from), session.close.min(to));
        if open < close {
            time += close.duration_since(open);
        }
    }
    time
}
