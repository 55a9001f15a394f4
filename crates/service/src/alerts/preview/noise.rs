//! Whether an alert fires too often, and what to do about it.

use alerts::options::{AlertOptions, ConditionLevel, Rearm, Repeat};
use alerts::{Condition, NewAlert};
use market::{Decimal, MICROS_PER_UNIT};

/// The number of firings per year above which an alert is noisy.
const MAX_FIRINGS_PER_YEAR: f64 = 30.0;

/// A warning: the alert fires too often.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// The number of firings per year.
    pub per_year: f64,
    /// The largest number of firings in one session.
    pub most_in_a_session: usize,
    /// A change that helps.
    pub fix: NoiseFix,
}

/// A change that makes an alert fire less often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoiseFix {
    /// A reminder for a single day instead of a daily one.
    SingleReminder,
    /// Re-arming after the value has moved away from its level by two percent.
    RearmPercent,
    /// Re-arming at a value below a level of 0.
    RearmBelowZero,
    /// Re-arming at a value above a level of 0.
    RearmAboveZero,
    /// One firing per day.
    OncePerDay,
    /// A stricter level, or a cooldown.
    StricterOrCooldown,
    /// A stricter level, or a longer cooldown.
    StricterOrLongerCooldown,
}

impl Noise {
    /// Returns how often the alert fires.
    #[must_use]
    pub fn message(&self) -> String {
        let Self {
            per_year,
            most_in_a_session,
            ..
        } = self;
        match most_in_a_session {
            0 | 1 => format!("fires about {per_year:.0} times a year"),
            _ => format!("fires about {per_year:.0} times a year, and up to {most_in_a_session} times in one session"),
        }
    }
}

impl NoiseFix {
    /// Returns the change to the request.
    #[must_use]
    pub fn suggestion(self) -> String {
        let rearm = |value: &str| {
            format!("set options.rearm to {value}, so that it fires again only after the value has moved away")
        };
        match self {
            Self::SingleReminder => {
                "a daily reminder fires on every trading day; use a reminder for a single day".to_owned()
            }
            Self::RearmPercent => rearm(r#"{"percent": 2}"#),
            Self::RearmBelowZero => rearm(r#"{"at": a value below 0}"#),
            Self::RearmAboveZero => rearm(r#"{"at": a value above 0}"#),
            Self::OncePerDay => "set options.repeat to once_per_day".to_owned(),
            Self::StricterOrCooldown => {
                "choose a stricter level, or set options.cooldown to a time such as 7d".to_owned()
            }
            Self::StricterOrLongerCooldown => "choose a stricter level, or a longer options.cooldown".to_owned(),
        }
    }
}

/// Returns the warning for an alert with more than 30 firings per year, or with more than one firing in a session.
pub(super) fn noise(alert: &NewAlert, per_year: f64, most_in_a_session: usize) -> Option<Noise> {
    let is_frequent = per_year > MAX_FIRINGS_PER_YEAR;
    if !is_frequent && most_in_a_session <= 1 {
        return None;
    }
    Some(Noise {
        per_year,
        most_in_a_session,
        fix: fix(alert, is_frequent, most_in_a_session > 1),
    })
}

fn fix(alert: &NewAlert, is_frequent: bool, repeats_in_a_session: bool) -> NoiseFix {
    let AlertOptions {
        repeat, rearm, hold, ..
    } = &alert.options;
    let level = ConditionLevel::of(&alert.condition).filter(|_| rearm.is_none());
    if matches!(alert.condition, Condition::DailyReminder(_)) {
        return NoiseFix::SingleReminder;
    }
    if let Some(level) = level {
        let two_percent = Rearm::Percent(Decimal::from_micros(2 * MICROS_PER_UNIT));
        // A percentage of 0 is no distance.
        let is_zero = level.rearm_level(two_percent) == level.rearm_level(Rearm::At(Decimal::from_micros(0)));
        return match (is_zero, level.relation().is_upward()) {
            (false, _) => NoiseFix::RearmPercent,
            (true, true) => NoiseFix::RearmBelowZero,
            (true, false) => NoiseFix::RearmAboveZero,
        };
    }
    if repeats_in_a_session && *repeat != Repeat::OncePerDay {
        NoiseFix::OncePerDay
    } else if is_frequent && hold.is_none() {
        NoiseFix::StricterOrCooldown
    } else {
        NoiseFix::StricterOrLongerCooldown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alerts::preview::run::tests::alert;

    #[test]
    fn thirty_firings_a_year_and_one_a_session_are_no_noise() {
        let alert = alert("rsi(14) < 30 and price > sma(200)");
        assert_eq!(noise(&alert, 30.0, 1), None);
        let frequent = noise(&alert, 30.1, 1).unwrap();
        assert_eq!(frequent.message(), "fires about 30 times a year");
        assert_eq!(
            frequent.fix.suggestion(),
            "choose a stricter level, or set options.cooldown to a time such as 7d"
        );
        let flapping = noise(&alert, 1.0, 2).unwrap();
        assert_eq!(
            flapping.message(),
            "fires about 1 times a year, and up to 2 times in one session"
        );
        assert_eq!(flapping.fix.suggestion(), "set options.repeat to once_per_day");
    }

    #[test]
    fn level_gets_a_rearm_level() {
        let noise = noise(&alert("price < 180"), 31.0, 2).unwrap();
        assert_eq!(noise.fix, NoiseFix::RearmPercent);
    }

    #[test]
    fn level_of_zero_gets_an_absolute_rearm_level() {
        for (when, value) in [
            ("change_pct(open) > 0", r#"{"at": a value below 0}"#),
            ("change_pct(open) <= 0", r#"{"at": a value above 0}"#),
        ] {
            let noise = noise(&alert(when), 31.0, 2).unwrap();
            let suggestion = noise.fix.suggestion();
            assert!(suggestion.contains(value), "{suggestion}");
        }
    }
}
