//! Holds across closes, nights and extended hours.

use alerts::expression::Truth::True;
use alerts::lifecycle::{Judgement, Lifecycle, Observation, Outcome, step};
use alerts::options::{AlertOptions, Hold, SessionScope};
use jiff::Timestamp;
use market::Calendar;

/// Returns whether an alert whose condition is true at two instants fires at the second.
fn fires(hold: &str, session: SessionScope, since: &str, at: &str) -> bool {
    let options = AlertOptions {
        hold: Hold::new(hold.parse().unwrap()),
        session,
        ..AlertOptions::default()
    };
    let mut state = Lifecycle::new(since.parse().unwrap(), None, None);
    let mut fired = false;
    for text in [since, at] {
        let at: Timestamp = text.parse().unwrap();
        let judgement = Judgement {
            observation: Observation {
                at,
                is_new: true,
                price: None,
                previous_price: None,
            },
            truth: True,
            truth_after: True,
            is_rearm_level_reached: false,
        };
        let step = step(&options, &Calendar::nyse(), &state, &judgement);
        fired = matches!(step.outcome, Outcome::Fire { .. });
        state = step.next;
    }
    fired
}

#[test]
fn nights_do_not_count() {
    let half_past_three = "2024-07-01T19:30:00Z";
    for (hold, at, expected) in [
        ("30m", "2024-07-01T19:59:59Z", false),
        ("30m", "2024-07-01T20:00:00Z", true),
        ("31m", "2024-07-02T13:30:59Z", false),
        ("31m", "2024-07-02T13:31:00Z", true),
        ("1d", "2024-07-02T19:29:59Z", false),
        ("1d", "2024-07-02T19:30:00Z", true),
    ] {
        let fired = fires(hold, SessionScope::Regular, half_past_three, at);
        assert_eq!(fired, expected, "{hold} {at}");
    }
}

#[test]
fn extended_hours_count_with_session_extended() {
    // 19:50 in New York; the extended session ends at 20:00 and begins at 04:00.
    let since = "2024-07-01T23:50:00Z";
    for (hold, at, expected) in [
        ("10m", "2024-07-01T23:59:59Z", false),
        ("10m", "2024-07-02T00:00:00Z", true),
        ("11m", "2024-07-02T08:00:59Z", false),
        ("11m", "2024-07-02T08:01:00Z", true),
        ("1d", "2024-07-02T14:19:59Z", false),
        ("1d", "2024-07-02T14:20:00Z", true),
    ] {
        let fired = fires(hold, SessionScope::Extended, since, at);
        assert_eq!(fired, expected, "{hold} {at}");
    }
    assert!(!fires("1m", SessionScope::Regular, since, "2024-07-02T13:30:00Z"));
}
