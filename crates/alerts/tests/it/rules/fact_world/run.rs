//! The engine in an invented market, with and without restarts.

use alerts::condition::Side;
use alerts::engine::{AlertAction, Decision, Dividend, Engine, EngineConfig, Event, InsiderTrade, Quote};
use alerts::lifecycle::Lifecycle;
use alerts::metrics::FundamentalFigures;
use alerts::{Alert, Condition};
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Decimal, Price, SplitRatio};

use super::{FactEvent, FactWorld, MICROS, SeenPrice, Trade};
use crate::rules::world::{Firing, symbols};

/// An engine, and what is stored outside it.
struct Run<'a> {
    engine: Engine,
    alert: Option<Alert>,
    past: &'a [(Timestamp, FactEvent)],
    firings: Vec<Firing>,
}

pub(super) fn firings(world: &FactWorld, restarts: bool) -> Vec<Firing> {
    let mut run = Run {
        engine: Engine::new(Calendar::nyse(), EngineConfig::default()),
        alert: None,
        past: &[],
        firings: Vec::new(),
    };
    for (place, (now, event)) in world.record.iter().enumerate() {
        if restarts && place > 0 {
            run.restart(*now);
        }
        let decisions = run.process(world, event, *now);
        if decisions.into_iter().any(|decision| run.store(decision)) {
            break;
        }
        run.past = &world.record[..=place];
    }
    run.firings
}

fn process(engine: &mut Engine, event: Event<'_>, now: Timestamp) -> Vec<Decision> {
    let mut decisions = Vec::new();
    engine.process(event, now, &mut decisions).unwrap();
    decisions
}

fn quotes(engine: &mut Engine, seen: &[SeenPrice]) -> Vec<Quote> {
    let quote = |seen: &SeenPrice| {
        let price = Price::from_micros(seen.price).unwrap();
        Quote::new(engine.stock(symbols()[seen.stock]), price).with_volume(seen.volume)
    };
    seen.iter().map(quote).collect()
}

fn insider_trades(trades: &[Trade]) -> Vec<InsiderTrade> {
    let trade = |trade: &Trade| InsiderTrade {
        filed_on: trade.filed_on,
        insider: "A".to_owned(),
        bought: trade.bought,
        open_market: trade.open_market,
        value_usd: Decimal::from_micros(trade.usd * MICROS),
    };
    trades.iter().map(trade).collect()
}

fn figures(values: [Option<i64>; 4]) -> FundamentalFigures {
    let [trailing_eps, forward_eps, market_cap, dividend_yield] = values.map(|value| value.map(Decimal::from_micros));
    FundamentalFigures {
        trailing_eps,
        forward_eps,
        market_cap,
        dividend_yield,
    }
}

fn dividends(dates: &[(Date, Option<Date>)]) -> Vec<Dividend> {
    let dividend = |&(ex_date, payment_date): &(Date, Option<Date>)| Dividend {
        ex_date,
        payment_date,
        amount: None,
    };
    dates.iter().map(dividend).collect()
}

impl Run<'_> {
    /// Processes an event as the service does: the clock comes before observations and evaluations.
    fn process(&mut self, world: &FactWorld, event: &FactEvent, now: Timestamp) -> Vec<Decision> {
        let engine = &mut self.engine;
        let symbol = |stock: usize| symbols()[stock];
        match event {
            FactEvent::Prices(seen) => {
                let mut decisions = process(engine, Event::Clock, now);
                let quotes = quotes(engine, seen);
                decisions.extend(process(engine, Event::Snapshot(&quotes), now));
                decisions
            }
            FactEvent::Evaluate => {
                let mut decisions = process(engine, Event::Clock, now);
                decisions.extend(process(engine, Event::Evaluate, now));
                decisions
            }
            FactEvent::Clock => process(engine, Event::Clock, now),
            FactEvent::Armed => {
                self.alert = Some(world.alert.clone());
                process(engine, Event::Armed(&world.alert), now)
            }
            FactEvent::OtherArmed => {
                let condition = Condition::Price {
                    side: Side::Above,
                    threshold: Price::from_micros(1_000 * MICROS).unwrap(),
                };
                let other = crate::common::alert(2, symbol(0), condition, now);
                process(engine, Event::Armed(&other), now)
            }
            &FactEvent::Split(stock, ratio) => self.split(stock, ratio, now),
            fact => process_fact(engine, fact, now),
        }
    }

    /// Adjusts the engine and the stored alert. The service stores adjusted alerts itself, and discards these decisions.
    fn split(&mut self, stock: usize, ratio: SplitRatio, now: Timestamp) -> Vec<Decision> {
        let symbol = symbols()[stock];
        let decisions = process(&mut self.engine, Event::Split { symbol, ratio }, now);
        if stock == 0
            && let Some(alert) = &mut self.alert
        {
            alert.initial_price = alert.initial_price.map(|price| price.after_split(ratio));
            alert.lifecycle = alert.lifecycle.as_ref().map(|state| Box::new(state.after_split(ratio)));
            let adjusted = decisions.iter().any(|decision| decision.alert == alert.id);
            alert.revision = if adjusted {
                alert.revision.next()
            } else {
                alert.revision
            };
        }
        Vec::new()
    }

    /// Stores the effect of a decision. Returns whether it ends the alert.
    fn store(&mut self, decision: Decision) -> bool {
        let alert = self.alert.as_mut().expect("only an armed alert fires");
        assert_eq!(decision.alert, alert.id);
        assert_eq!(decision.revision, alert.revision);
        match decision.action {
            AlertAction::FireRule { is_last, state, .. } => {
                self.firings.push((decision.at, is_last));
                let stored = Lifecycle::from_stored(&state.to_stored().unwrap()).unwrap();
                alert.lifecycle = Some(Box::new(stored));
                alert.revision = decision.revision.next();
                is_last
            }
            AlertAction::SetLifecycle { state } => {
                alert.lifecycle = Some(state);
                false
            }
            other => panic!("{other:?}"),
        }
    }

    /// Replaces the engine by one that continues with the stored data.
    fn restart(&mut self, now: Timestamp) {
        let mut next = Engine::new(Calendar::nyse(), EngineConfig::default());
        let last = self.past.last().expect("an event came before").0;
        for (stock, symbol) in symbols().into_iter().enumerate() {
            let splits = self.past.iter().filter_map(|(at, event)| match event {
                FactEvent::Split(of, ratio) if *of == stock => Some((new_york_date(*at), *ratio)),
                _ => None,
            });
            let splits: Vec<_> = splits.collect();
            let known = Event::KnownSplits {
                symbol,
                splits: &splits,
            };
            process(&mut next, known, now);
            if let Some(history) = self.engine.history(symbol) {
                next.replace_history(symbol, history.clone());
            }
            if let Some(session) = self.engine.observed_session(symbol) {
                process(&mut next, Event::Resume { symbol, session }, now);
            }
        }
        for fact in self.stored_facts() {
            process_fact(&mut next, &fact, now);
        }
        process(&mut next, Event::Clock, last);
        if let Some(alert) = self.alert.clone() {
            for decision in process(&mut next, Event::Armed(&alert), now) {
                self.store(decision);
            }
        }
        self.engine = next;
    }

    /// Returns the newest facts, per share of now.
    fn stored_facts(&self) -> Vec<FactEvent> {
        let mut facts = Vec::new();
        for stock in [0, 1] {
            let (mut fundamentals, mut earnings, mut dividends) = (None, None, None);
            let mut trades: Option<Vec<Trade>> = None;
            for (_, event) in self.past {
                match event {
                    FactEvent::Fundamentals(of, values) if *of == stock => fundamentals = Some(*values),
                    FactEvent::Split(of, ratio) if *of == stock => {
                        if let Some([trailing, forward, ..]) = &mut fundamentals {
                            *trailing = trailing.map(|eps| ratio.divide(eps));
                            *forward = forward.map(|eps| ratio.divide(eps));
                        }
                    }
                    FactEvent::Earnings(of, _) if *of == stock => earnings = Some(event.clone()),
                    FactEvent::Dividends(of, _) if *of == stock => dividends = Some(event.clone()),
                    FactEvent::Trades(of, new) if *of == stock => trades.get_or_insert_default().extend(new),
                    FactEvent::TradesReplaced(of, all) if *of == stock => trades = Some(all.clone()),
                    FactEvent::Mentions(of, ..) if *of == stock => facts.push(event.clone()),
                    _ => {}
                }
            }
            facts.extend(fundamentals.map(|values| FactEvent::Fundamentals(stock, values)));
            facts.extend(trades.map(|trades| FactEvent::Trades(stock, trades)));
            facts.extend(earnings.into_iter().chain(dividends));
        }
        facts
    }
}

fn process_fact(engine: &mut Engine, fact: &FactEvent, now: Timestamp) -> Vec<Decision> {
    let symbol = |stock: usize| symbols()[stock];
    match fact {
        &FactEvent::Fundamentals(stock, values) => {
            let (symbol, figures) = (symbol(stock), figures(values));
            process(engine, Event::Fundamentals { symbol, figures }, now)
        }
        FactEvent::Earnings(stock, dates) => {
            let symbol = symbol(*stock);
            process(engine, Event::Earnings { symbol, dates }, now)
        }
        FactEvent::Dividends(stock, dates) => {
            let (symbol, dividends) = (symbol(*stock), &dividends(dates));
            process(engine, Event::Dividends { symbol, dividends }, now)
        }
        FactEvent::Trades(stock, trades) => {
            let (symbol, trades) = (symbol(*stock), &insider_trades(trades));
            process(engine, Event::InsiderTrades { symbol, trades }, now)
        }
        FactEvent::TradesReplaced(stock, trades) => {
            let (symbol, trades) = (symbol(*stock), &insider_trades(trades));
            process(engine, Event::InsiderTradesReplaced { symbol, trades }, now)
        }
        &FactEvent::Mentions(stock, hour, count) => {
            let symbol = symbol(stock);
            process(engine, Event::Mentions { symbol, hour, count }, now)
        }
        other => panic!("{other:?} is no fact"),
    }
}
