//! Measurement of the difference between the provider's clock and the local clock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use jiff::SignedDuration;

use clock::ClockReading;

/// A clock step of at least this much invalidates an earlier measurement.
const STEP_LIMIT: SignedDuration = SignedDuration::from_secs(2);

/// The minimum difference between a provider's clock and the local clock, from the `Date` header of the last response.
///
/// The provider writes `Date` between the request and the response. A `Date` between these two instants therefore counts as no
/// skew, however long the response took. `Date` has whole seconds, so a skew of one second counts as none.
///
/// A step of the local clock invalidates the measurement until the next response.
#[derive(Debug, Default)]
pub struct ClockSkew(Mutex<Option<Measurement>>);

#[derive(Debug, Clone, Copy)]
struct Measurement {
    seconds: i64,
    /// When the response arrived.
    at: ClockReading,
}

impl ClockSkew {
    /// Records the `Date` of a response that arrived at `received` to a request sent at `sent`.
    pub fn measure(&self, date: Option<&str>, sent: ClockReading, received: ClockReading) {
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let second = date.and_then(|date| i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok());
        if let Some(second) = second {
            let first = sent.time().as_second();
            let possible = second.clamp(first, received.time().as_second().max(first));
            let measurement = Measurement {
                seconds: second - possible,
                at: received,
            };
            *self.lock() = (!is_stepped(sent, received)).then_some(measurement);
        }
    }

    /// Returns how far the provider's clock is ahead; `None` before the first response and after a step of the local clock.
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
    use clock::ManualClock;

    /// Returns a clock and its readings at the request and at the response.
    fn exchange() -> (ManualClock, ClockReading, ClockReading) {
        let clock = ManualClock::new("2024-03-08T14:29:30.2Z".parse().unwrap());
        let sent = ClockReading::of(&clock);
        clock.advance(SignedDuration::from_millis(30_700));
        let received = ClockReading::of(&clock);
        (clock, sent, received)
    }

    fn measured(date: &str) -> Option<i64> {
        let skew = ClockSkew::default();
        let (_, sent, received) = exchange();
        skew.measure(Some(date), sent, received);
        skew.get(received).map(|skew| skew.as_secs())
    }

    #[test]
    fn measures_skew_and_ignores_one_second() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:32:00 GMT"), Some(120));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:20 GMT"), Some(-10));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:01 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:02 GMT"), Some(2));
        assert_eq!(measured("yesterday"), None);
    }

    #[test]
    fn slow_response_is_not_measured_as_skew() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:30 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:45 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:00 GMT"), Some(0));
    }

    #[test]
    fn clock_step_invalidates_skew_until_next_response() {
        let date = Some("Fri, 08 Mar 2024 14:32:00 GMT");
        for (to, expected) in [
            ("2024-03-08T14:30:02.1Z", Some(120)),
            ("2024-03-08T14:31:00Z", None),
            ("2024-03-08T14:29:50Z", None),
        ] {
            let (clock, sent, received) = exchange();
            let skew = ClockSkew::default();
            skew.measure(date, sent, received);
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
    fn clock_step_during_request_measures_nothing() {
        let (clock, sent, _) = exchange();
        clock.step_to("2024-03-08T14:29:50Z".parse().unwrap());
        let skew = ClockSkew::default();
        let now = ClockReading::of(&clock);
        skew.measure(Some("Fri, 08 Mar 2024 14:29:50 GMT"), sent, now);
        assert_eq!(skew.get(now), None);
    }
}
