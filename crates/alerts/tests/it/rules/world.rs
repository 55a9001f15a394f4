//! Invented markets of two stocks, with one rule.

use alerts::engine::{AlertAction, Decision, Engine, EngineConfig, Event, Quote, QuoteDetails};
use alerts::expression::Expression;
use alerts::expression::shape::metric_level;
use alerts::lifecycle::Lifecycle;
use alerts::options::{AlertOptions, Cooldown, Hold, Repeat, SessionScope, TriggerPrice};
use alerts::{Alert, Condition};
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york;
use market::{Bar, Calendar, Price, Symbol};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::extended_hours::{SECOND, after_close, before_open, extended_quotes};

/// The number of completed sessions before the first observation.
pub(crate) const KNOWN_SESSIONS: usize = 24;

/// The time between the last observation of most sessions and the close.
const LAST_BEFORE_CLOSE: SignedDuration = SignedDuration::from_mins(10);

/// An invented market with one rule.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) alert: Alert,
    pub(crate) days: Vec<TradedDay>,
}

/// The observations of one session, and those in extended hours before and after it.
#[derive(Clone, Debug)]
pub(crate) struct TradedDay {
    pub(crate) date: Date,
    pub(crate) close: Timestamp,
    pub(crate) snapshots: Vec<(Timestamp, Vec<Observed>)>,
}

impl TradedDay {
    /// Returns whether an instant is in the session.
    pub(crate) fn has(&self, at: Timestamp) -> bool {
        new_york(self.date, 9, 30) <= at && at <= self.close
    }
}

/// A price and the session's volume so far of one stock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// 0 is the alert's own stock.
    pub(crate) stock: usize,
    pub(crate) price: i64,
    pub(crate) volume: i64,
    /// Bid and ask, which some quotes do not have.
    pub(crate) book: Option<(i64, i64)>,
    /// The volume-weighted average price, which some quotes do not have.
    pub(crate) vwap: Option<i64>,
}

/// A firing: its instant, and whether it was the last one.
pub(crate) type Firing = (Timestamp, bool);

pub(crate) fn symbols() -> [Symbol; 2] {
    ["AAA", "BBB"].map(|symbol| symbol.parse().unwrap())
}

pub(crate) fn sessions() -> Vec<market::calendar::Session> {
    Calendar::nyse()
        .sessions(date(2024, 1, 29), date(2024, 4, 30))
        .collect()
}

/// Returns the completed sessions of a stock before the first observation.
pub(crate) fn known_bars(stock: usize) -> Vec<Bar> {
    let price = |micros: i64| Price::from_micros(micros).unwrap();
    let bar = |(place, session): (usize, &market::calendar::Session)| {
        let close = 100 + i64::try_from((place * (3 + stock)) % 9).unwrap() - 4;
        Bar {
            date: session.date,
            open: price(close * 1_000_000),
            high: price((close + 2) * 1_000_000),
            low: price((close - 2) * 1_000_000),
            close: price(close * 1_000_000),
            volume: 1_000 + 10 * close,
        }
    };
    sessions()[..KNOWN_SESSIONS].iter().enumerate().map(bar).collect()
}

fn comparisons() -> impl Strategy<Value = String> {
    let number = || 92..108_i64;
    prop_oneof![
        (select(vec!["<", "<=", ">", ">="]), number())
            .prop_map(|(relation, level)| format!("price {relation} {level}")),
        (select(vec!["<", "<=", ">", ">="]), number())
            .prop_map(|(relation, level)| format!("BBB.price {relation} {level}")),
        (select(vec!["above", "below", ""]), number())
            .prop_map(|(side, level)| format!("price crosses {side} {level}")),
        (select(vec!["above", "below", ""]), 2..20_u8).prop_map(|(side, n)| format!("price crosses {side} sma({n})")),
        (number(), number()).prop_map(|(one, other)| format!(
            "price between {} and {}",
            one.min(other),
            one.max(other)
        )),
        (2..20_u8, 2..20_u8).prop_map(|(fast, slow)| format!("sma({fast}) > sma({slow})")),
        (2..20_u8).prop_map(|n| format!("price > 1.01 * high({n})")),
        (2..20_u8, 1..8_u8).prop_map(|(n, percent)| format!("drawdown({n}) >= {percent}")),
        (select(vec!["prev_close", "open", "creation", "3"]), -5..5_i8)
            .prop_map(|(base, percent)| format!("change_pct({base}) <= {percent}")),
        (35..65_u8).prop_map(|level| format!("rsi(14) < {level}")),
        (1..30_u8).prop_map(|level| format!("rvol(10) > 0.{level:02}")),
        (100..900_u16).prop_map(|level| format!("volume >= {level}")),
        (1..8_u8).prop_map(|percent| format!("price <= 0.{} * high_since_armed", 100 - percent)),
        (1..8_u8).prop_map(|percent| format!("price >= 1.0{percent} * low_since_armed")),
        select(vec![
            "price > high_52w",
            "price < low_52w",
            "BBB.price > BBB.high_52w",
            "price > BBB.price",
            "price crosses BBB.price",
            "price >= high",
            "low < prev_close",
            "price * price > 10000",
            "price > bb_upper(10, 1)",
            "macd(3, 6, 2) > macd_signal(3, 6, 2)",
            "price > ema(5)",
            "gap_pct > 0",
            "100 / (price - 100) > 50",
            "atr(5) > 3",
            "stdev(5) < 2",
            "mentions > 3",
            "bid > 100",
            "ask - bid > 1",
            "bid crosses above 99",
            "BBB.ask <= 98",
            "price > vwap",
            "vwap crosses above 100",
        ])
        .prop_map(str::to_owned),
    ]
}

fn expressions() -> impl Strategy<Value = Expression> {
    let tree = comparisons().prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} and {right})")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} or {right})")),
            inner.prop_map(|inner| format!("not ({inner})")),
        ]
    });
    tree.prop_filter_map("within the limits", |text| text.parse().ok())
}

fn options() -> impl Strategy<Value = AlertOptions> {
    let repeat = select(vec![
        Repeat::Once,
        Repeat::EachTime,
        Repeat::EachTime,
        Repeat::OncePerDay,
    ]);
    let cooldown = proptest::option::weighted(0.4, select(vec!["1m", "7m", "2h", "3d"]));
    let hold = proptest::option::weighted(0.3, select(vec!["1m", "15m", "2h", "1d"]));
    let trigger = select(vec![
        TriggerPrice::Last,
        TriggerPrice::Last,
        TriggerPrice::Last,
        TriggerPrice::TwoLasts,
        TriggerPrice::Bid,
        TriggerPrice::Ask,
        TriggerPrice::Mid,
        TriggerPrice::Close,
    ]);
    (
        repeat,
        cooldown,
        hold,
        trigger,
        any::<bool>(),
        proptest::option::weighted(0.2, 2..4_u16),
        select(vec![SessionScope::Regular, SessionScope::Extended]),
    )
        .prop_map(
            |(repeat, cooldown, hold, trigger, cooldown_refire, max_firings, session)| AlertOptions {
                repeat,
                cooldown: cooldown.map(|text| Cooldown::new(text.parse().unwrap()).unwrap()),
                cooldown_refire,
                hold: hold.map(|text| Hold::new(text.parse().unwrap()).unwrap()),
                trigger,
                session,
                max_firings: max_firings.filter(|_| repeat != Repeat::Once),
                ..AlertOptions::default()
            },
        )
}

fn days() -> impl Strategy<Value = Vec<TradedDay>> {
    let moves = vec((0..2_usize, -3..=3_i64, 0..60_i64, 0..4_i64), 1..=2);
    let last_moves = vec((-3..=3_i64, 0..60_i64, 0..4_i64), 2);
    let last_moves = last_moves.prop_map(|moves| {
        let both = moves.into_iter().enumerate();
        both.map(|(stock, (change, traded, spread))| (stock, change, traded, spread))
            .collect::<Vec<_>>()
    });
    // Without observations shortly before it, a close is not judged.
    let last = proptest::option::weighted(0.8, last_moves);
    let extended = || vec((1..100_i64, moves.clone()), 0..4);
    let (before, after) = (extended(), extended());
    vec((before, vec((1..40_i64, moves), 0..14), last, after), 1..5).prop_map(|days| {
        let mut prices = [100, 99];
        let sessions = sessions();
        let traded =
            days.into_iter()
                .zip(&sessions[KNOWN_SESSIONS..])
                .map(|((before, steps, last, after), session)| {
                    let (mut at, mut volumes) = (session.open, [0, 0]);
                    let steps = steps.into_iter().map(|(minutes, moves)| {
                        at += SignedDuration::from_mins(minutes);
                        (at, moves)
                    });
                    let steps = steps.filter(|(at, _)| *at < session.close - LAST_BEFORE_CLOSE);
                    let last = last.map(|moves| (session.close - LAST_BEFORE_CLOSE, moves));
                    let steps = before_open(session, before).into_iter().chain(steps).chain(last);
                    let steps: Vec<_> = steps.chain(after_close(session, after)).collect();
                    let snapshots = steps.into_iter().map(|(at, moves)| {
                        let mut seen = Vec::<Observed>::new();
                        for (stock, change, traded, spread) in moves {
                            if seen.iter().any(|observed| observed.stock == stock) {
                                continue;
                            }
                            prices[stock] = (prices[stock] + change).clamp(90, 110);
                            volumes[stock] += traded;
                            let price = prices[stock] * 1_000_000;
                            seen.push(Observed {
                                stock,
                                price,
                                vwap: (traded % 3 > 0).then_some(price - 900_000 + 30_000 * traded),
                                book: (spread > 0).then_some((price - 300_001 * spread, price + 700_000 * spread)),
                                // Some quotes have no volume.
                                volume: if traded == 0 { -1 } else { volumes[stock] },
                            });
                        }
                        (at, seen)
                    });
                    TradedDay {
                        date: session.date,
                        close: session.close,
                        snapshots: snapshots.collect(),
                    }
                });
        traded.collect()
    })
}

/// Returns the expression of a rule.
pub(crate) fn expression_of(alert: &Alert) -> &Expression {
    match &alert.condition {
        Condition::Expression(condition) => &condition.expression,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let within = proptest::option::weighted(0.3, select(vec!["5m", "90m", "session"]));
    (expressions(), options(), within, days()).prop_map(|(expression, options, within, days)| {
        let armed_at = sessions()[KNOWN_SESSIONS].open;
        let within = within.map(|text| text.parse().unwrap());
        // A valid rule has `rearm` only if its condition is one metric against a number.
        let rearm = options.rearm.filter(|_| metric_level(&expression).is_some());
        let options = AlertOptions { rearm, ..options };
        World {
            alert: Alert {
                options,
                initial_price: Price::from_micros(100_000_000).ok(),
                lifecycle: Some(Box::new(Lifecycle::new(armed_at, None, within))),
                ..crate::common::alert(1, symbols()[0], Condition::expression(expression, within), armed_at)
            },
            days,
        }
    })
}

impl World {
    /// Returns the firings of the engine.
    pub(crate) fn firings_of_engine(&self) -> Vec<Firing> {
        self.run(false)
    }

    /// Returns the firings if the engine is replaced before every snapshot, and the rule armed with its stored state.
    pub(crate) fn firings_of_restarted_engines(&self) -> Vec<Firing> {
        self.run(true)
    }

    fn run(&self, restarts: bool) -> Vec<Firing> {
        let opening = sessions()[KNOWN_SESSIONS].open;
        let mut alert = self.alert.clone();
        let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        for (stock, symbol) in symbols().into_iter().enumerate() {
            for bar in known_bars(stock) {
                process(&mut engine, Event::Bar { symbol, bar }, opening);
            }
        }
        for decision in process(&mut engine, Event::Armed(&alert.clone()), opening) {
            match decision.action {
                AlertAction::SetLifecycle { state } => alert.lifecycle = Some(state),
                other => panic!("{other:?}"),
            }
        }
        let mut firings = Vec::new();
        let mut clock = opening;
        for day in &self.days {
            let after_close = (day.close + SECOND, Vec::new());
            let mut steps: Vec<_> = day.snapshots.iter().chain([&after_close]).collect();
            steps.sort_by_key(|(at, _)| *at);
            for (now, seen) in steps {
                if restarts {
                    engine = restarted(&engine, &alert, clock, *now);
                }
                clock = *now;
                for decision in observe(&mut engine, seen, *now) {
                    match decision.action {
                        AlertAction::FireRule { is_last, state, .. } => {
                            firings.push((decision.at, is_last));
                            if is_last {
                                return firings;
                            }
                            let stored = Lifecycle::from_stored(&state.to_stored().unwrap()).unwrap();
                            alert.lifecycle = Some(Box::new(stored));
                            alert.revision = decision.revision.next();
                        }
                        AlertAction::SetLifecycle { state } => alert.lifecycle = Some(state),
                        _ => {}
                    }
                }
            }
        }
        firings
    }
}

/// Processes the clock, and then the observations, if there are any.
fn observe(engine: &mut Engine, seen: &[Observed], now: Timestamp) -> Vec<Decision> {
    let mut decisions = process(engine, Event::Clock, now);
    if seen.is_empty() {
        return decisions;
    }
    let price = |micros: i64| Price::from_micros(micros).unwrap();
    if Calendar::nyse().session_at(now).is_none() {
        let quotes = extended_quotes(engine, seen);
        decisions.extend(process(engine, Event::ExtendedSnapshot(&quotes), now));
        return decisions;
    }
    let (mut quotes, mut details) = (Vec::new(), Vec::new());
    for observed in seen {
        let stock = engine.stock(symbols()[observed.stock]);
        quotes.push(Quote::new(stock, price(observed.price)).with_volume(observed.volume));
        let (bid, ask) = observed.book.unzip();
        details.push(QuoteDetails {
            stock,
            bid: bid.map(price),
            ask: ask.map(price),
            vwap: observed.vwap.map(price),
        });
    }
    decisions.extend(process(engine, Event::QuoteDetails(&details), now));
    decisions.extend(process(engine, Event::Snapshot(&quotes), now));
    decisions
}

fn process(engine: &mut Engine, event: Event<'_>, now: Timestamp) -> Vec<Decision> {
    let mut decisions = Vec::new();
    engine.process(event, now, &mut decisions).unwrap();
    decisions
}

/// Returns a new engine that continues where another one stopped.
fn restarted(engine: &Engine, alert: &Alert, clock: Timestamp, now: Timestamp) -> Engine {
    let mut next = Engine::new(Calendar::nyse(), EngineConfig::default());
    for symbol in symbols() {
        if let Some(history) = engine.history(symbol) {
            next.replace_history(symbol, history.clone());
        }
        if let Some(session) = engine.observed_session(symbol) {
            process(&mut next, Event::Resume { symbol, session }, now);
        }
        if let Some(newest) = engine.extended_price(symbol) {
            process(&mut next, Event::ResumeExtended { symbol, newest }, now);
        }
    }
    process(&mut next, Event::Clock, clock);
    process(&mut next, Event::Armed(alert), now);
    next
}
