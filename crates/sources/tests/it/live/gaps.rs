//! Gaps in the prices.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use market::ObservedPrice;
use sources::live::{GapCause, GapState};
use sources::provider::{Capability, DataRequest, DataResponse, ProviderError, TimeRange};

use crate::live::fixture::{
    Fixture, FixtureConfig, KnownState, friday, minute, minutes, no_answer, quote, quotes, symbol,
};

/// Switches a provider between answering and failing.
#[derive(Clone)]
struct ProviderSwitch(Arc<Mutex<bool>>);

impl ProviderSwitch {
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

/// The minute bars around 15:15, in which the price rose to 205 and came back.
fn spike(times: &TimeRange) -> DataResponse {
    let all = [
        minute("AAPL", friday("15:14:00"), ["190"; 4]),
        minute("AAPL", friday("15:15:00"), ["190", "205", "189", "190"]),
    ];
    minutes(
        all.into_iter()
            .filter(|minute| times.contains(minute.bar.time))
            .collect(),
    )
}

fn answer(request: &DataRequest, is_open: bool, now: &str) -> Result<DataResponse, ProviderError> {
    match request {
        _ if !is_open => Err(no_answer()),
        DataRequest::Quotes(_) => Ok(quotes(vec![quote("AAPL", now, friday("15:25:30"))])),
        DataRequest::MinuteBars(_, times) => Ok(spike(times)),
        _ => Ok(DataResponse::default()),
    }
}

#[tokio::test]
async fn gap_is_filled_before_the_next_price() {
    let switch = ProviderSwitch::open();
    let provider = switch.clone();
    let mut first = true;
    let mut fixture = Fixture::begin(
        FixtureConfig::at(friday("15:05:00"), &["AAPL"]),
        move |request| match request {
            DataRequest::Quotes(_) if std::mem::take(&mut first) => {
                Ok(quotes(vec![quote("AAPL", "190", friday("15:04:59"))]))
            }
            request => answer(request, provider.is_open(), "190.5"),
        },
    )
    .await;
    assert_eq!(fixture.delivered(), ["AAPL 190 15:04:59"]);
    switch.set(false);
    fixture.until(friday("15:25:25")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    switch.set(true);
    // A provider that failed backs off.
    fixture.until(friday("15:40:00")).await;
    let delivered = fixture.delivered();
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
    assert_eq!(fixture.health.snapshot().gaps_open, 0);
    let gaps = fixture.health.gaps();
    assert!(!gaps.is_empty());
    for gap in gaps {
        assert_eq!((gap.symbols, gap.cause), (vec![symbol("AAPL")], GapCause::PollsFailed));
        assert!(matches!(gap.state, GapState::Filled(_)), "{:?}", gap.state);
    }
}

#[tokio::test]
async fn failed_gap_is_reported_until_it_is_filled() {
    let seen = ObservedPrice {
        price: "190".parse().unwrap(),
        at: friday("15:10:20"),
    };
    let config = || FixtureConfig {
        known: KnownState {
            seen: [(symbol("AAPL"), seen)].into(),
            ..KnownState::default()
        },
        ..FixtureConfig::at(friday("15:20:00"), &["AAPL"])
    };
    let fixture = Fixture::begin(config(), |request| match request {
        DataRequest::MinuteBars(..) => Err(no_answer()),
        request => answer(request, true, "190"),
    })
    .await;
    let gaps = fixture.health.gaps();
    let times = TimeRange {
        from: friday("15:10:00"),
        to: friday("15:20:00"),
    };
    let [gap] = gaps.as_slice() else { panic!("{gaps:?}") };
    assert_eq!((gap.times, gap.cause), (times, GapCause::NotRunning));
    assert!(
        matches!(gap.state, GapState::Open { failures: 1, next_request_at } if next_request_at > friday("15:20:00")),
        "{:?}",
        gap.state
    );

    let config = FixtureConfig {
        capabilities: vec![Capability::Quotes],
        ..config()
    };
    let fixture = Fixture::begin(config, |request| answer(request, true, "190")).await;
    let states: Vec<_> = fixture.health.gaps().iter().map(|gap| gap.state).collect();
    assert_eq!(states, [GapState::NoProvider]);
}

#[tokio::test]
async fn gap_of_a_delayed_plan_is_shifted_by_its_delay() {
    let switch = ProviderSwitch::open();
    let provider = switch.clone();
    let config = FixtureConfig {
        delay: Duration::from_secs(15 * 60),
        ..FixtureConfig::at(friday("15:20:00"), &["AAPL"])
    };
    let fixture = Fixture::begin(config, move |_| {
        let answer = provider.is_open().then(DataResponse::default);
        answer.ok_or_else(no_answer)
    })
    .await;
    switch.set(false);
    fixture.until(friday("15:40:00")).await;
    switch.set(true);
    let _ = fixture.sent_requests();
    fixture.until(friday("16:10:00")).await;
    let requests = fixture.sent_requests();
    let minutes = requests.iter().find_map(|request| match request {
        DataRequest::MinuteBars(_, times) => Some(*times),
        _ => None,
    });
    let times = minutes.unwrap();
    assert_eq!(times.from, friday("15:05:00"));
    // A provider that failed backs off; later prices were received.
    assert!(
        times.to >= friday("15:25:00") && times.to < friday("15:40:00"),
        "{times:?}"
    );
}

#[tokio::test]
async fn gap_since_the_last_run_is_requested_at_the_start() {
    let seen = ObservedPrice {
        price: "190".parse().unwrap(),
        at: friday("15:10:20"),
    };
    let config = FixtureConfig {
        known: KnownState {
            seen: [(symbol("AAPL"), seen)].into(),
            ..KnownState::default()
        },
        ..FixtureConfig::at(friday("15:20:00"), &["AAPL", "MSFT"])
    };
    let mut fixture = Fixture::begin(config, |request| answer(request, true, "190")).await;
    let times = TimeRange {
        from: friday("15:10:00"),
        to: friday("15:20:00"),
    };
    let is_requested = |request: &DataRequest| *request == DataRequest::MinuteBars(vec![symbol("AAPL")], times);
    assert!(
        fixture.sent_requests().iter().any(is_requested),
        "a stock without a last quote has no gap"
    );
    assert!(fixture.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
}

#[tokio::test]
async fn current_minute_is_requested_when_it_is_over() {
    let seen = ObservedPrice {
        price: "190".parse().unwrap(),
        at: friday("15:14:20"),
    };
    let config = FixtureConfig {
        known: KnownState {
            seen: [(symbol("AAPL"), seen)].into(),
            ..KnownState::default()
        },
        ..FixtureConfig::at(friday("15:15:42"), &["AAPL"])
    };
    let mut fixture = Fixture::begin(config, |request| answer(request, true, "190")).await;
    assert!(!fixture.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
    fixture.until(friday("15:16:05")).await;
    assert!(fixture.delivered().contains(&"AAPL 205 15:15:40 late".to_owned()));
}

#[tokio::test]
async fn minutes_between_the_last_round_and_the_close_are_requested() {
    let fixture = Fixture::begin(FixtureConfig::at(friday("20:59:20"), &["AAPL"]), |_| {
        Ok(DataResponse::default())
    })
    .await;
    fixture.until(friday("21:01:10")).await;
    let requests = fixture.sent_requests();
    let minutes: Vec<_> = requests
        .iter()
        .filter(|request| matches!(request, DataRequest::MinuteBars(..)))
        .collect();
    let times = TimeRange {
        from: friday("20:59:00"),
        to: friday("21:00:00"),
    };
    assert_eq!(
        minutes,
        [&DataRequest::MinuteBars(vec![symbol("AAPL")], times)],
        "{requests:?}"
    );
}

#[tokio::test]
async fn gap_of_more_stocks_than_one_request_is_delivered_as_a_whole() {
    let names = ('A'..='K').flat_map(|first| ('A'..='K').map(move |second| format!("{first}{second}")));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let seen = ObservedPrice {
        price: "190".parse().unwrap(),
        at: friday("15:10:20"),
    };
    let config = FixtureConfig {
        known: KnownState {
            seen: names.iter().map(|name| (symbol(name), seen)).collect(),
            ..KnownState::default()
        },
        ..FixtureConfig::at(friday("15:20:00"), &names)
    };
    let mut fixture = Fixture::begin(config, |request| match request {
        DataRequest::MinuteBars(symbols, _) => {
            let bars = symbols
                .iter()
                .map(|symbol| minute(symbol.as_str(), friday("15:15:00"), ["190"; 4]));
            Ok(minutes(bars.collect()))
        }
        _ => Ok(DataResponse::default()),
    })
    .await;
    fixture.until(friday("15:20:10")).await;
    assert_eq!(fixture.missed_periods(), [(121, 484)]);
}
