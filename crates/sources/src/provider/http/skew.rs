//! How far two clocks are apart.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use jiff::SignedDuration;

use crate::ClockReading;

/// A clock that was set by this much or more makes an earlier measurement worthless.
const STEP_LIMIT: SignedDuration = SignedDuration::from_secs(2);

/// By how much a provider's clock is ahead of ours at least, by the `Date` of its last answer. That was written at some time
/// between the question and the answer, so a `Date` between the two says that the clocks agree, however long it took. It is
/// told in whole seconds, so less than a second is none.
///
/// A step of our clock makes the measurement worthless: it is forgotten until the next answer.
#[derive(Debug, Default)]
pub struct Skew(Mutex<Option<Measurement>>);

#[derive(Debug, Clone, Copy)]
struct Measurement {
    seconds: i64,
    /// When the answer came.
    at: ClockReading,
}

impl Skew {
    /// Takes in the `Date` of an answer that came at `answered` to a question of `asked`.
    pub fn measure(&self, date: Option<&str>, asked: ClockReading, answered: ClockReading) {
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let second = date.and_then(|date| i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok());
        if let Some(second) = second {
            let first = asked.time().as_second();
            let possible = second.clamp(first, answered.time().as_second().max(first));
            let measurement = Measurement {
                seconds: second - possible,
                at: answered,
            };
            *self.lock() = (!is_stepped(asked, answered)).then_some(measurement);
        }
    }

    /// By how much the provider's clock is ahead; `None` before it has answered, and after our clock was stepped.
    #[must_use]
    pub fn get(&self, now: ClockReading) -> Option<SignedDuration> {
        let measurement = (*self.lock()).filter(|measurement| !is_stepped(measurement.at, now))?;
        Some(match measurement.seconds {
            -1..=1 => SignedDuration::ZERO,
            seconds => SignedDuration::from_secs(seconds),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Measurement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_stepped(earlier: ClockReading, later: ClockReading) -> bool {
    later.stepped_since(earlier).abs() >= STEP_LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    /// The clock at the question and at the answer.
    fn exchange() -> (ManualClock, ClockReading, ClockReading) {
        let clock = ManualClock::new("2024-03-08T14:29:30.2Z".parse().unwrap());
        let asked = ClockReading::of(&clock);
        clock.advance(SignedDuration::from_millis(30_700));
        let answered = ClockReading::of(&clock);
        (clock, asked, answered)
    }

    fn measured(date: &str) -> Option<i64> {
        let skew = Skew::default();
        let (_, asked, answered) = exchange();
        skew.measure(Some(date), asked, answered);
        skew.get(answered).map(|skew| skew.as_secs())
    }

    #[test]
    fn a_clock_is_ahead_or_behind_and_a_second_is_neither() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:32:00 GMT"), Some(120));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:20 GMT"), Some(-10));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:01 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:02 GMT"), Some(2));
        assert_eq!(measured("yesterday"), None);
    }

    #[test]
    fn a_slow_answer_does_not_make_a_clock_slow() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:30 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:45 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:00 GMT"), Some(0));
    }

    #[test]
    fn skew_is_forgotten_after_a_step_of_the_clock_until_it_is_measured_again() {
        let date = Some("Fri, 08 Mar 2024 14:32:00 GMT");
        for (to, expected) in [
            ("2024-03-08T14:30:02.1Z", Some(120)),
            ("2024-03-08T14:31:00Z", None),
            ("2024-03-08T14:29:50Z", None),
        ] {
            let (clock, asked, answered) = exchange();
            let skew = Skew::default();
            skew.measure(date, asked, answered);
            clock.advance(SignedDuration::from_hours(8));
            let stepped = to.parse::<jiff::Timestamp>().unwrap() + SignedDuration::from_hours(8);
            clock.step_to(stepped);
            let now = ClockReading::of(&clock);
            assert_eq!(skew.get(now).map(|skew| skew.as_secs()), expected, "{to}");
            skew.measure(Some("Fri, 08 Mar 2024 22:32:00 GMT"), now, now);
            assert!(skew.get(now).is_some());
        }
    }

    #[test]
    fn an_exchange_with_a_step_of_the_clock_measures_nothing() {
        let (clock, asked, _) = exchange();
        clock.step_to("2024-03-08T14:29:50Z".parse().unwrap());
        let skew = Skew::default();
        let now = ClockReading::of(&clock);
        skew.measure(Some("Fri, 08 Mar 2024 14:29:50 GMT"), asked, now);
        assert_eq!(skew.get(now), None);
    }
}
