//! The engine against the oracle on years of bars, and its average crosses against a reference.

use crate::common;
use crate::oracle;
use crate::recorded;

use std::collections::BTreeMap;

use alerts::condition::{Condition, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline};
use alerts::engine::{Dividend, Engine, EngineConfig, InsiderTrade};
use alerts::{Alert, Revision};
use jiff::ToSpan;
use jiff::civil::Date;
use market::calendar::new_york;
use market::{Bar, Calendar, Decimal, Price, SplitRatio, Symbol};
use testdata::TestMarketData;

use common::comparison::EngineComparison;
use common::{alert, decimal, id, process_event};
use oracle::{OwnedEvent, TestQuote};

/// The facts about each stock besides its bars, with their dates.
type Facts = BTreeMap<Symbol, Vec<(Date, OwnedEvent)>>;

/// Returns every price, technical, volume and fundamental condition, and those with recorded facts.
fn conditions(last: Price) -> Vec<Condition> {
    let price = |percent: i64| Price::from_micros(last.micros() / 100 * percent).expect("a price");
    let mut conditions = vec![
        Condition::Price {
            side: Side::Above,
            threshold: price(110),
        },
        Condition::Price {
            side: Side::Below,
            threshold: price(90),
        },
        Condition::DividendExDate { days_ahead: 3 },
        Condition::EarningsAnnouncement { days_ahead: 5 },
        Condition::InsiderTransactions(InsiderCriteria {
            threshold_usd: decimal("1000000"),
            direction: InsiderDirection::Both,
            min_executives: 2,
            window_days: 7,
            open_market_only: true,
        }),
    ];
    for side in [Side::Above, Side::Below] {
        conditions.extend([
            Condition::PriceChange {
                side,
                percent: decimal("7.5"),
            },
            Condition::NewExtreme { side },
            Condition::MaCrossover { side },
            Condition::PeRatio {
                side,
                earnings: EpsBasis::Trailing,
                threshold: decimal(side.pick("25", "15")),
            },
        ]);
        conditions.extend([20, 50, 200, 400].map(|period| Condition::MaTouch { side, period }));
    }
    for (direction, threshold) in [
        (RsiDirection::Above, "70"),
        (RsiDirection::Below, "30"),
        (RsiDirection::Both, "50"),
    ] {
        conditions.push(Condition::Rsi {
            direction,
            threshold: decimal(threshold),
        });
    }
    for baseline in [VolumeBaseline::Ma20, VolumeBaseline::Ma50, VolumeBaseline::Ma100] {
        conditions.push(Condition::VolumeChange {
            baseline,
            percent: decimal("60"),
        });
    }
    conditions
}

/// Replays a stock's bars with both evaluators. Fired alerts are armed again before the next session.
fn run(symbol: Symbol, bars: &[Bar], facts: &[(Date, OwnedEvent)]) -> usize {
    let calendar = Calendar::nyse();
    let mut comparison = EngineComparison::new(calendar.clone());
    let (mut facts, mut revision) = (facts.iter().peekable(), 0);
    for (at, bar) in bars.iter().enumerate() {
        let Some(session) = calendar.session(bar.date) else {
            continue;
        };
        let mut events = Vec::new();
        while let Some((date, fact)) = facts.next_if(|(date, _)| *date <= bar.date) {
            events.push((new_york(*date, 0, 1), fact.clone()));
        }
        let last = if at > 0 { bars[at - 1].close } else { bar.open };
        let armed: Vec<_> = comparison.oracle.armed().map(|alert| alert.id).collect();
        let before = session.open - 1.hour();
        for (number, condition) in (0..).zip(conditions(last)) {
            let alert = alert(number, symbol, condition, before);
            if !armed.contains(&alert.id) {
                revision += 1;
                let revision = Revision(revision * 10);
                events.push((
                    before,
                    OwnedEvent::Armed(Box::new(Alert {
                        revision,
                        initial_price: Some(last),
                        ..alert
                    })),
                ));
            }
        }
        let [open, second, third, close] = recorded::observations(symbol, bar, &session);
        let evaluate = (open.0 + 1.minute(), OwnedEvent::Evaluate);
        events.extend([
            open,
            evaluate,
            second,
            third,
            close,
            (session.close, OwnedEvent::Bar(symbol, *bar)),
        ]);
        for (now, event) in events {
            comparison
                .process(&event, now)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
    comparison.firings.len()
}

#[test]
fn engine_matches_oracle_on_five_years_of_bars() {
    let data = TestMarketData::find();
    let symbols = recorded::symbols(data.pick::<&[&str]>(
        &[
            "AAPL", "AMCR", "AMD", "AMZN", "BA", "CCL", "DG", "GE", "GME", "HUBB", "INTC", "JNJ", "JPM", "KO", "LLY",
            "MA", "MRK", "MSFT", "NVDA", "PPL", "T", "TSLA", "UWMC", "WMT", "XOM",
        ],
        &["ZQAL", "ZQBO", "ZQCU", "ZQDI"],
    ));
    let mut facts = Facts::new();
    let mut put = |symbol, date, event| facts.entry(symbol).or_default().push((date, event));
    let file = |name: &str| data.text(&format!("us500/{name}"));
    let date = |text: &str| -> Date { text.parse().expect("a date") };
    for (symbol, fields) in recorded::rows(&file("fundamentals.csv.gz"), &symbols) {
        put(
            symbol,
            date(fields[0]),
            OwnedEvent::Fundamentals(symbol, [fields[1].parse().ok(), None]),
        );
    }
    for (symbol, fields) in recorded::rows(&file("insiders.csv.gz"), &symbols) {
        let amount = |at: usize| fields[at].parse::<f64>().expect("a number");
        let trade = InsiderTrade {
            filed_on: date(fields[0]),
            insider: fields[2].to_owned(),
            bought: fields[4] == "buy",
            open_market: matches!(fields[3], "P" | "S"),
            value_usd: Decimal::from_f64((amount(5) * amount(6)).round()).expect("in range"),
        };
        put(symbol, trade.filed_on, OwnedEvent::Insiders(symbol, vec![trade]));
    }
    let (mut dividends, mut earnings) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for (symbol, fields) in recorded::rows(&file("dividends.csv.gz"), &symbols) {
        let (ex_date, payment_date, amount) = (date(fields[0]), fields[1].parse().ok(), fields[2].parse().ok());
        dividends.entry(symbol).or_default().push(Dividend {
            ex_date,
            payment_date,
            amount,
        });
    }
    for (symbol, fields) in recorded::rows(&file("earnings.csv.gz"), &symbols) {
        earnings.entry(symbol).or_default().push(date(fields[0]));
    }
    dividends
        .into_iter()
        .for_each(|(symbol, all)| put(symbol, date("2019-01-01"), OwnedEvent::Dividends(symbol, all)));
    earnings
        .into_iter()
        .for_each(|(symbol, all)| put(symbol, date("2019-01-01"), OwnedEvent::Earnings(symbol, all)));

    compare(
        recorded::bars(&data.text("us500/bars/us500_2019_2024.csv.gz"), &symbols),
        facts,
        data.pick(25, 4),
    );
}

#[test]
fn engine_matches_oracle_on_bars_with_splits() {
    let data = TestMarketData::find();
    let symbols = recorded::symbols(
        data.pick::<&[&str]>(&["AAPL", "ANET", "CMG", "GE", "SMCI", "TSLA", "WRB"], &["ZQSP", "ZQTW"]),
    );
    let mut facts = Facts::new();
    for (symbol, fields) in recorded::rows(&data.text("unadjusted/splits.csv"), &symbols) {
        let ratio: SplitRatio = fields[1].parse().expect("a ratio");
        let day: Date = fields[0].parse().expect("a date");
        facts
            .entry(symbol)
            .or_default()
            .push((day, OwnedEvent::Split(symbol, ratio)));
    }
    compare(
        recorded::bars(&data.text("unadjusted/bars/unadjusted_2019_2025.csv.gz"), &symbols),
        facts,
        data.pick(7, 2),
    );
}

fn compare(bars: BTreeMap<Symbol, Vec<Bar>>, mut facts: Facts, stocks: usize) {
    assert_eq!(bars.len(), stocks);
    facts
        .values_mut()
        .for_each(|facts| facts.sort_by_key(|(date, _)| *date));
    let mut firings = 0;
    for (symbol, bars) in &bars {
        firings += run(*symbol, bars, facts.get(symbol).map_or(&[], Vec::as_slice));
    }
    println!("{firings} firings, all of them alike");
    assert!(firings > stocks * 1000, "only {firings} firings");
}

/// Returns the dates on which the averages of a stock cross at the close, with alerts armed anew each day.
fn crosses(symbol: Symbol, bars: &[Bar]) -> Vec<(String, Side)> {
    let calendar = Calendar::nyse();
    let mut engine = Engine::new(calendar.clone(), EngineConfig::default());
    let mut found = Vec::new();
    for bar in bars {
        let session = calendar.session(bar.date).expect("a session");
        for (number, side) in [(0, Side::Above), (1, Side::Below)] {
            let alert = alert(number, symbol, Condition::MaCrossover { side }, session.open);
            process_event(&mut engine, &OwnedEvent::Armed(Box::new(alert)), session.open)
                .1
                .expect("taken");
        }
        let (price, volume) = (bar.close, None);
        let seen = OwnedEvent::Snapshot(vec![TestQuote { symbol, price, volume }]);
        for decision in process_event(&mut engine, &seen, session.close).0 {
            let side = if decision.alert == id(0) {
                Side::Above
            } else {
                Side::Below
            };
            found.push((bar.date.to_string(), side));
        }
        process_event(&mut engine, &OwnedEvent::Bar(symbol, *bar), session.close)
            .1
            .expect("taken");
    }
    found
}

#[test]
fn average_crosses_of_ten_stocks_match_the_reference() {
    let data = TestMarketData::find();
    let list = data.text("reference/golden_death_crosses_10_symbols.csv");
    let mut expected: BTreeMap<Symbol, Vec<(String, Side)>> = BTreeMap::new();
    for line in list.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let side = if fields[2] == "golden_cross" {
            Side::Above
        } else {
            Side::Below
        };
        let symbol = fields[0].parse().expect("a symbol");
        expected.entry(symbol).or_default().push((fields[1].to_owned(), side));
    }
    assert_eq!(expected.values().map(Vec::len).sum::<usize>(), data.pick(51, 22));
    let symbols = expected.keys().copied().collect();
    let bars = recorded::bars(&data.text("us500/bars/us500_2019_2024.csv.gz"), &symbols);
    for (symbol, expected) in expected {
        assert_eq!(crosses(symbol, &bars[&symbol]), expected, "{symbol}");
    }
}

/// The two averages of PPL are exactly equal at the close of 2022-03-07.
#[test]
fn exactly_equal_averages_are_no_cross() {
    let Some(data) = TestMarketData::recorded() else {
        return;
    };
    let bars = recorded::bars(
        &data.text("us500/bars/us500_2019_2024.csv.gz"),
        &recorded::symbols(&["PPL"]),
    );
    for (symbol, bars) in bars {
        let mut found = crosses(symbol, &bars);
        found.retain(|(date, _)| ("2022-02-15".."2022-04-01").contains(&date.as_str()));
        assert_eq!(found, [("2022-03-08".to_owned(), Side::Below)]);
    }
}
