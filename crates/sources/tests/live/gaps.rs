//! Stretches that were missed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sources::live::Seen;
use sources::provider::{Answer, Ask, ProviderError, Times};

use crate::world::{Beginning, Known, World, friday, minute, minutes, quote, quotes, silent, symbol};

/// A provider that answers, or is silent.
#[derive(Clone)]
struct Line(Arc<Mutex<bool>>);

impl Line {
    fn open() -> Self {
        Self(Arc::new(Mutex::new(true)))
    }

    fn is_open(&self) -> bool {
        *self.0.lock().unwrap()
    }

    fn set(&self, is_open: bool) {
        *self.0.lock().unwrap() = is_open;
    }
}

/// The minute of a quarter past, in which the price went up to 205 and came back.
fn spike(times: &Times) -> Answer {
    let all = [
        minute("AAPL", friday("15:14:00"), ["190"; 4]),
        minute("AAPL", friday("15:15:00"), ["190", "205", "189", "190"]),
    ];
    minutes(all.into_iter().filter(|minute| times.has(minute.bar.time)).collect())
}

fn answer(ask: &Ask, is_open: bool, now: &str) -> Result<Answer, ProviderError> {
    match ask {
        _ if !is_open => Err(silent()),
        Ask::Quotes(_) => Ok(quotes(vec![quote("AAPL", now, friday("15:25:30"))])),
        Ask::MinuteBars(_, times) => Ok(spike(times)),
        _ => Ok(Answer::default()),
    }
}

#[tokio::test]
async fn what_happened_while_nobody_answered_is_told_before_the_next_price() {
    let line = Line::open();
    let asked = line.clone();
    let mut first = true;
    let mut world = World::begin(Beginning::at(friday("15:05:00"), &["AAPL"]), move |ask| match ask {
        Ask::Quotes(_) if std::mem::take(&mut first) => Ok(quotes(vec![quote("AAPL", "190", friday("15:04:59"))])),
        ask => answer(ask, asked.is_open(), "190.5"),
    })
    .await;
    assert_eq!(world.delivered(), ["AAPL 190 15:04:59"]);
    line.set(false);
    world.until(friday("15:25:25")).await;
    assert_eq!(world.delivered(), [""; 0]);
    line.set(true);
    // Who was silent is left alone for a while.
    world.until(friday("15:40:00")).await;
    let delivered = world.delivered();
    assert_eq!(
        delivered[..9],
        [
            "AAPL 190 15:14:00 late",
            "AAPL 190 15:14:20 late",
            "AAPL 190 15:14:40 late",
            "AAPL 190 15:15:00 late",
            "AAPL 190 15:15:00 late",
            "AAPL 189 15:15:20 late",
            "AAPL 205 15:15:40 late",
            "AAPL 190 15:16:00 late",
            "AAPL 190.5 15:25:30 late",
        ]
        .map(str::to_owned)[..9]
    );
    assert_eq!(world.health.state().gaps_open, 0);
}

#[tokio::test]
async fn of_a_plan_that_tells_late_those_minutes_are_missed_that_it_would_have_told() {
    let line = Line::open();
    let asked = line.clone();
    let beginning = Beginning {
        delay: Duration::from_secs(15 * 60),
        ..Beginning::at(friday("15:20:00"), &["AAPL"])
    };
    let world = World::begin(beginning, move |_| {
        let answer = asked.is_open().then(Answer::default);
        answer.ok_or_else(silent)
    })
    .await;
    line.set(false);
    world.until(friday("15:40:00")).await;
    line.set(true);
    let _ = world.asked();
    world.until(friday("16:10:00")).await;
    let asked = world.asked();
    let minutes = asked.iter().find_map(|ask| match ask {
        Ask::MinuteBars(_, times) => Some(*times),
        _ => None,
    });
    let times = minutes.unwrap();
    assert_eq!(times.from, friday("15:05:00"));
    // Who was silent is left alone for a while; what came after it was told.
    assert!(
        times.to >= friday("15:25:00") && times.to < friday("15:40:00"),
        "{times:?}"
    );
}

#[tokio::test]
async fn what_happened_since_the_last_run_is_asked_for_at_the_start() {
    let seen = Seen {
        price: "190".parse().unwrap(),
        at: friday("15:10:20"),
    };
    let beginning = Beginning {
        known: Known {
            seen: [(symbol("AAPL"), seen)].into(),
            ..Known::default()
        },
        ..Beginning::at(friday("15:20:00"), &["AAPL", "MSFT"])
    };
    let mut world = World::begin(beginning, |ask| answer(ask, true, "190")).await;
    let times = Times {
        from: friday("15:10:00"),
        to: friday("15:20:00"),
    };
    let is_asked = |ask: &Ask| *ask == Ask::MinuteBars(vec![symbol("AAPL")], times);
    assert!(
        world.asked().iter().any(is_asked),
        "whoever was never seen has missed nothing"
    );
    assert!(world.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
}

#[tokio::test]
async fn a_minute_that_is_not_over_is_asked_for_when_it_is() {
    let seen = Seen {
        price: "190".parse().unwrap(),
        at: friday("15:14:20"),
    };
    let beginning = Beginning {
        known: Known {
            seen: [(symbol("AAPL"), seen)].into(),
            ..Known::default()
        },
        ..Beginning::at(friday("15:15:42"), &["AAPL"])
    };
    let mut world = World::begin(beginning, |ask| answer(ask, true, "190")).await;
    assert!(!world.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
    world.until(friday("15:16:05")).await;
    assert!(world.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
}

#[tokio::test]
async fn the_end_of_a_session_that_fell_between_two_rounds_is_asked_for() {
    let world = World::begin(Beginning::at(friday("20:59:20"), &["AAPL"]), |_| Ok(Answer::default())).await;
    world.until(friday("21:01:10")).await;
    let asked = world.asked();
    let minutes: Vec<_> = asked.iter().filter(|ask| matches!(ask, Ask::MinuteBars(..))).collect();
    let times = Times {
        from: friday("20:59:00"),
        to: friday("21:00:00"),
    };
    assert_eq!(minutes, [&Ask::MinuteBars(vec![symbol("AAPL")], times)], "{asked:?}");
}
