//! Generated scenarios of missed quotes.

use ::alerts::metrics::FundamentalFigures;

use super::*;

/// A random walk of two stocks over three sessions, with alerts and a gap.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    /// The moves of the closes of the sessions before, in quarters of a dollar.
    pub(super) past: Vec<i64>,
    /// For each session: seconds since the previous quote, the stock, and its price move in quarters of a dollar.
    pub(super) quotes: [Vec<(i64, usize, i64)>; 3],
    pub(super) has_volumes: bool,
    /// For each alert the number of quotes before it; 0 for most.
    pub(super) armed_after: Vec<usize>,
    /// The missed quotes: the first one and their number.
    pub(super) gap: (usize, usize),
    /// The only stock with a gap; `None` for all.
    pub(super) gap_of: Option<usize>,
    /// Whether missed quotes have their volumes.
    pub(super) has_gap_volumes: bool,
    /// Whether the bars of missed sessions arrive before the late evaluation.
    pub(super) bars_come_first: bool,
}

pub(super) fn scenarios() -> impl Strategy<Value = Scenario> {
    let session = || prop::collection::vec((1_i64..600, 0..STOCKS.len(), -3_i64..=3), 1..25);
    let armed_after = prop_oneof![4 => Just(0), 1 => 0_usize..40];
    (
        prop::collection::vec(-2_i64..=2, 215),
        [session(), session(), session()],
        any::<bool>(),
        prop::collection::vec(armed_after, conditions().len() * STOCKS.len() + RULES.len()),
        (0_usize..40, 1_usize..50),
        prop_oneof![3 => Just(None), 1 => (0..STOCKS.len()).prop_map(Some)],
        prop::bool::weighted(0.8),
        any::<bool>(),
    )
        .prop_map(
            |(past, quotes, has_volumes, armed_after, gap, gap_of, has_gap_volumes, bars_come_first)| Scenario {
                past,
                quotes,
                has_volumes,
                armed_after,
                gap,
                gap_of,
                has_gap_volumes,
                bars_come_first,
            },
        )
}

/// Conditions of each kind around a price of 10.
pub(super) fn conditions() -> Vec<Condition> {
    let whole = |units| Decimal::from_units(units).unwrap();
    let mut conditions = Vec::new();
    for side in [Side::Above, Side::Below] {
        for quarters in [28, 36, 39, 40, 41, 44, 52] {
            let threshold = quarter(quarters);
            conditions.push(Condition::Price { side, threshold });
        }
        for percent in [5, 10, 20] {
            let percent = whole(percent);
            conditions.push(Condition::PriceChange { side, percent });
        }
        conditions.push(Condition::NewExtreme { side });
        conditions.push(Condition::MaCrossover { side });
        for period in [2, 3, 20, 200] {
            conditions.push(Condition::MaTouch { side, period });
        }
        let (earnings, threshold) = (EpsBasis::Trailing, whole(11));
        conditions.push(Condition::PeRatio {
            side,
            earnings,
            threshold,
        });
    }
    for direction in [RsiDirection::Above, RsiDirection::Below, RsiDirection::Both] {
        for threshold in [45, 55] {
            let threshold = whole(threshold);
            conditions.push(Condition::Rsi { direction, threshold });
        }
    }
    for percent in [10, 50, 100] {
        let (baseline, percent) = (VolumeBaseline::Ma20, whole(percent));
        conditions.push(Condition::VolumeChange { baseline, percent });
    }
    conditions
}

pub(super) fn quarter(quarters: i64) -> Price {
    Price::from_micros(quarters * 250_000).unwrap()
}

pub(super) fn symbol(stock: usize) -> Symbol {
    STOCKS[stock].parse().unwrap()
}

pub(super) fn session_dates() -> [Date; 3] {
    // Wednesday, Friday (Thursday has no quotes) and Monday.
    [date(2024, 3, 6), date(2024, 3, 8), date(2024, 3, 11)]
}

/// A quote with its stock.
pub(super) type StockObservation = (usize, MissedObservation);

/// The missed quotes of a stream: a range, and the only stock if it is one.
pub(super) struct Missed {
    pub(super) range: std::ops::Range<usize>,
    of: Option<usize>,
}

impl Missed {
    pub(super) const NONE: Self = Self { range: 0..0, of: None };

    pub(super) fn has(&self, place: usize, stock: usize) -> bool {
        self.range.contains(&place) && self.of.is_none_or(|of| of == stock)
    }

    pub(super) fn quotes(&self, scenario: &Scenario) -> Vec<StockObservation> {
        let stream = scenario.stream().into_iter().enumerate();
        let missed = stream.filter(|(place, (stock, _))| self.has(*place, *stock));
        let quotes = missed.map(|(_, (stock, observation))| {
            let volume = observation.volume.filter(|_| scenario.has_gap_volumes);
            (stock, MissedObservation { volume, ..observation })
        });
        quotes.collect()
    }
}

/// Returns an instant after the last session.
pub(super) fn end_of_scenario() -> Timestamp {
    Calendar::nyse().session(session_dates()[2]).unwrap().close + SignedDuration::from_hours(1)
}

impl Scenario {
    pub(super) fn stream(&self) -> Vec<StockObservation> {
        let mut prices = [40_i64; STOCKS.len()];
        let mut stream = Vec::new();
        for (date, quotes) in session_dates().into_iter().zip(&self.quotes) {
            let session = Calendar::nyse().session(date).unwrap();
            // Late enough for last quotes near the close.
            let begin = session.open + SignedDuration::from_mins(4 * 60 + 30);
            let (mut at, mut volume) = (begin, [20_i64; STOCKS.len()]);
            for &(later, stock, step) in quotes {
                at += SignedDuration::from_secs(later);
                if at > session.close {
                    break;
                }
                prices[stock] = (prices[stock] + step).clamp(28, 52);
                volume[stock] += later / 20;
                let observation = MissedObservation {
                    at,
                    session: date,
                    price: quarter(prices[stock]),
                    volume: self.has_volumes.then_some(volume[stock]),
                    // Every third quote has a bid and an ask.
                    bid: (volume[stock] % 3 == 0).then_some(quarter(prices[stock] - 1)),
                    ask: (volume[stock] % 3 == 0).then_some(quarter(prices[stock] + 1)),
                    vwap: None,
                };
                stream.push((stock, observation));
            }
        }
        stream
    }

    /// Returns the missed quotes.
    pub(super) fn missed(&self) -> Missed {
        let stream = self.stream().len();
        let from = self.gap.0 % stream;
        Missed {
            range: from..(from + self.gap.1).min(stream),
            of: self.gap_of,
        }
    }

    pub(super) fn engine(&self) -> Engine {
        let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        let now = Calendar::nyse().session(session_dates()[0]).unwrap().open;
        let calendar = Calendar::nyse();
        let before = calendar.sessions(date(2023, 4, 3), date(2024, 3, 5));
        let mut close = 40;
        for (session, step) in before.zip(&self.past) {
            close = (close + step).clamp(30, 50);
            let bar = Bar {
                date: session.date,
                open: quarter(close),
                high: quarter(close + 1),
                low: quarter(close - 1),
                close: quarter(close),
                volume: 60 + close,
            };
            for stock in 0..STOCKS.len() {
                let symbol = symbol(stock);
                engine
                    .process(Event::Bar { symbol, bar }, now, &mut Vec::new())
                    .unwrap();
            }
        }
        engine
    }

    /// Whether the missed quotes say all about an alert.
    pub(super) fn is_judgeable(&self, alert: &Alert) -> bool {
        let inputs = AlertInputs::of(alert);
        // The live engine judges closes and alerts over several stocks while one of their stocks is in the gap.
        let has_all_stocks = !inputs.is_of_several_stocks() || self.gap_of.is_none();
        let is_on_closes = alert.options.trigger == TriggerPrice::Close;
        let has_all_closes = !is_on_closes || self.gap_of.is_none() && !self.bars_come_first;
        let has_volumes = self.has_gap_volumes || inputs.stocks_with(MetricDependency::Volume).next().is_none();
        let has_books = inputs.stocks_with(MetricDependency::BidAsk).next().is_none();
        has_all_stocks && has_all_closes && has_volumes && has_books
    }

    /// Returns the alerts with the number of quotes before each.
    pub(super) fn alerts(&self, stream: &[StockObservation]) -> Vec<(usize, Alert)> {
        let start = Calendar::nyse().session(session_dates()[0]).unwrap().open;
        let simple =
            (0..STOCKS.len()).flat_map(|stock| conditions().into_iter().map(move |condition| (stock, condition)));
        let simple = simple.enumerate();
        let mut all: Vec<Alert> = simple
            .map(|(number, (stock, condition))| alert(number, stock, condition))
            .collect();
        all.extend((all.len()..).zip(RULES).map(|(number, rule)| self::rule(number, *rule)));
        all.into_iter()
            .zip(&self.armed_after)
            .map(|(alert, armed_after)| {
                // The side of an RSI alert for both directions depends on the data at its creation.
                let is_decided = matches!(
                    alert.condition,
                    Condition::Rsi { direction, .. } if direction == RsiDirection::Both
                );
                // A crossing of closes begins at the close before, which the live engine does not know in a gap.
                let is_on_closes = alert.options.trigger == TriggerPrice::Close;
                let after = if is_decided || is_on_closes {
                    0
                } else {
                    armed_after % stream.len()
                };
                let armed_at = match after.checked_sub(1) {
                    Some(before) => stream[before].1.at,
                    None => start,
                };
                // Made just after a quote.
                let armed_at = armed_at + SignedDuration::from_millis(1);
                let lifecycle = alert.lifecycle.clone().map(|mut state| {
                    state.armed_at = armed_at;
                    state
                });
                (
                    after,
                    Alert {
                        armed_at,
                        lifecycle,
                        ..alert
                    },
                )
            })
            .collect()
    }
}

/// Rules: a stock, an expression and options.
pub(super) const RULES: &[(usize, &str, &str)] = &[
    (0, "price > MSFT.price", "{}"),
    (0, "price crosses above MSFT.price", r#"{"repeat":"each_time"}"#),
    (1, "price < 10 and AAPL.price < 10", r#"{"repeat":"each_time"}"#),
    (1, "AAPL.price > 10", r#"{"repeat":"each_time","cooldown":"10m"}"#),
    (
        0,
        "MSFT.change_pct(prev_close) > 5 and price > sma(20)",
        r#"{"repeat":"each_time"}"#,
    ),
    (
        0,
        "price > 10 and MSFT.price > 10",
        r#"{"repeat":"each_time","hold":"5m"}"#,
    ),
    (1, "volume > 100", "{}"),
    (0, "rvol(20) > 0.5 and MSFT.volume > 60", r#"{"repeat":"each_time"}"#),
    (0, "pe > 10.5", r#"{"repeat":"each_time","cooldown":"10m"}"#),
    (0, "MSFT.eps > 1.5 and price > 10", r#"{"repeat":"each_time"}"#),
    (0, "price > 10", r#"{"repeat":"each_time","trigger":"close"}"#),
    (0, "price > MSFT.price", r#"{"repeat":"each_time","trigger":"close"}"#),
    (
        1,
        "price crosses above 10",
        r#"{"repeat":"each_time","trigger":"close"}"#,
    ),
    (1, "price < 9.75", r#"{"repeat":"each_time","trigger":"two_lasts"}"#),
    (1, "price > 10.25", r#"{"repeat":"each_time","hold":"10m"}"#),
    (0, "price >= 10.5", r#"{"repeat":"each_time","rearm":{"at":10}}"#),
    (0, "mentions > 144 and price > 10", r#"{"repeat":"each_time"}"#),
    (
        0,
        "insider_buys(7) > 1000 and MSFT.price > 10",
        r#"{"repeat":"each_time"}"#,
    ),
    (1, "days_to_earnings < 3 and price > 10", r#"{"repeat":"each_time"}"#),
    (0, "price <= 0.95 * high_since_armed", r#"{"repeat":"each_time"}"#),
    (0, "bid > 10 and price > 9", r#"{"repeat":"each_time"}"#),
];

/// Returns a rule that is created at the beginning.
pub(super) fn rule(number: usize, (stock, when, options): (usize, &str, &str)) -> Alert {
    let calendar = Calendar::nyse();
    let now = calendar.session(session_dates()[0]).unwrap().open;
    let context = ParseContext {
        now,
        time_zone: &TimeZone::UTC,
        calendar: &calendar,
    };
    let options: serde_json::Value = serde_json::from_str(options).unwrap();
    let body = serde_json::json!({
        "symbol": STOCKS[stock], "condition": "expression", "parameters": {"when": when}, "options": options,
    });
    let asked = parse_create(&body, &context).unwrap();
    let id = AlertId(Uuid::from_u128(number as u128));
    transition::create(asked, id, OwnerVerification::Verified, PriceAvailability::Awaited, now)
        .unwrap()
        .alert
}

/// Returns the facts with the times at which they are known.
pub(super) fn facts() -> Vec<(Timestamp, Symbol, Fact)> {
    let calendar = Calendar::nyse();
    let [first, second, third] = session_dates();
    let opened = |date| calendar.daily_evaluation_time(date);
    let mut facts = Vec::new();
    for stock in 0..STOCKS.len() {
        let eps = |units| FundamentalFigures {
            trailing_eps: Decimal::from_units(units),
            ..FundamentalFigures::default()
        };
        let symbol = symbol(stock);
        facts.push((opened(first), symbol, Fact::Fundamentals(eps(1))));
        facts.push((opened(second), symbol, Fact::Fundamentals(eps(2))));
        facts.push((opened(first), symbol, Fact::EarningsDates(vec![second, third])));
        let trade = InsiderTrade {
            filed_on: second,
            insider: "Jane Doe".to_owned(),
            bought: true,
            open_market: true,
            value_usd: Decimal::from_units(5_000).unwrap(),
        };
        facts.push((opened(second), symbol, Fact::InsiderTrade(trade)));
        let begin = opened(first) - SignedDuration::from_hours(9 * 24);
        for hour in 0..14 * 24 {
            let hour = begin + SignedDuration::from_hours(hour);
            let count = u32::try_from(hour.as_second() / 3_600 * 7 % 13).unwrap();
            facts.push((hour, symbol, Fact::Mentions { hour, count }));
        }
    }
    facts
}

pub(super) fn alert(number: usize, stock: usize, condition: Condition) -> Alert {
    Alert {
        id: AlertId(Uuid::from_u128(number as u128)),
        revision: Revision::default(),
        symbol: symbol(stock),
        condition,
        notification: Channel::default(),
        parameters: None,
        note: None,
        tags: ::alerts::Tags::default(),
        options: ::alerts::options::AlertOptions::default(),
        routing: ::alerts::Routing::default(),
        lifecycle: None,
        status: Status::Active,
        initial_price: Some(quarter(40)),
        created_at: Timestamp::UNIX_EPOCH,
        armed_at: Timestamp::UNIX_EPOCH,
        threshold_set_at: Timestamp::UNIX_EPOCH,
        initial_price_set_at: Timestamp::UNIX_EPOCH,
        rsi_side: None,
        triggered_at: None,
    }
}

/// Returns a deterministic scenario.
pub(super) fn scenario() -> Scenario {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    scenarios().new_tree(&mut runner).unwrap().current()
}
