//! Everything but prices.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::date;
use market::records::{BarRow, SplitRow, StockRow};
use market::{Bar, Decimal};
use sources::live::Matter;
use sources::provider::{Answer, Ask, BarsAre, Capability};

use crate::world::{Beginning, Known, World, at, friday, silent, symbol};

fn all() -> Vec<Capability> {
    Capability::ALL
        .into_iter()
        .filter(|&capability| capability != Capability::Stream)
        .collect()
}

fn about(asked: &[Ask]) -> Vec<&'static str> {
    asked.iter().map(|ask| ask.capability().name()).collect()
}

#[tokio::test]
async fn of_whoever_is_watched_for_the_first_time_everything_is_asked_splits_before_bars() {
    let beginning = Beginning {
        capabilities: all(),
        ..Beginning::at(friday("12:00:00"), &[])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    let _ = world.asked();
    world.watched.send_replace(Arc::new(vec![symbol("AAPL")]));
    world.settle().await;
    let asked: Vec<Ask> = world
        .asked()
        .into_iter()
        .filter(|ask| !matches!(ask, Ask::Quotes(_)))
        .collect();
    let facts = ["fundamentals", "earnings", "dividends", "insider_trades", "mentions"];
    assert_eq!(about(&asked), [["splits", "daily_bars"].as_slice(), &facts].concat());
    let Ask::DailyBars(symbols, days) = &asked[1] else {
        panic!()
    };
    assert_eq!(
        (symbols.as_slice(), days.from, days.to),
        ([symbol("AAPL")].as_slice(), date(2019, 3, 5), date(2024, 3, 7))
    );
}

#[tokio::test]
async fn of_whoever_is_known_the_bars_since_the_last_one_are_asked() {
    let beginning = Beginning {
        capabilities: vec![Capability::DailyBars],
        known: Known {
            bars: [(symbol("AAPL"), date(2024, 3, 1))].into(),
            ..Known::default()
        },
        ..Beginning::at(friday("12:00:00"), &["AAPL"])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    let asked = world.asked();
    let of_apple = asked.iter().find(|ask| ask.symbols() == [symbol("AAPL")]).unwrap();
    let Ask::DailyBars(_, days) = of_apple else {
        panic!("{of_apple:?}")
    };
    assert_eq!((days.from, days.to), (date(2024, 2, 23), date(2024, 3, 7)));
}

#[tokio::test]
async fn each_night_the_day_is_asked_for_and_each_morning_its_splits() {
    let beginning = Beginning {
        capabilities: all(),
        ..Beginning::at(at("2024-03-07T12:00:00Z"), &["AAPL"])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    let not_prices = |asked: Vec<Ask>| -> Vec<Ask> {
        let is_price = |ask: &Ask| matches!(ask, Ask::Quotes(_) | Ask::MinuteBars(..));
        asked.into_iter().filter(|ask| !is_price(ask)).collect()
    };
    // A quarter to nine and half past ten in the evening, in New York.
    world.clock.set(at("2024-03-07T13:44:59Z"));
    world.settle().await;
    let _ = world.asked();
    world.clock.set(at("2024-03-07T13:45:00Z"));
    world.settle().await;
    assert_eq!(about(&not_prices(world.asked())), ["splits", "dividends", "earnings"]);
    world.clock.set(friday("03:29:59"));
    world.settle().await;
    let _ = world.asked();
    world.clock.set(friday("03:30:00"));
    world.settle().await;
    let asked = not_prices(world.asked());
    assert_eq!(
        about(&asked),
        [
            "catalog",
            "splits",
            "daily_bars",
            "benchmark",
            "fundamentals",
            "earnings",
            "dividends",
            "insider_trades"
        ]
    );
    let Ask::DailyBars(_, days) = &asked[2] else { panic!() };
    assert_eq!(days.to, date(2024, 3, 7), "the session that is over");
}

#[tokio::test]
async fn what_somebody_wants_is_asked_for_at_once() {
    let beginning = Beginning {
        capabilities: all(),
        ..Beginning::at(friday("12:00:00"), &["AAPL"])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    let _ = world.asked();
    for (matter, asked) in [
        (Matter::Catalog, ["catalog"].as_slice()),
        (Matter::Bars, &["splits", "daily_bars", "benchmark"]),
        (Matter::Fundamentals, &["fundamentals"]),
        (Matter::Events, &["splits", "dividends", "earnings"]),
    ] {
        let _ = world.wanted.send(matter).unwrap();
        world.settle().await;
        assert_eq!(about(&world.asked()), asked);
    }
}

#[tokio::test]
async fn what_nobody_answers_is_asked_again_a_minute_later() {
    let failures = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&failures);
    let beginning = Beginning {
        capabilities: vec![Capability::Catalog],
        ..Beginning::at(friday("12:00:00"), &[])
    };
    let mut world = World::begin(beginning, move |_| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(silent());
        }
        let mut answer = Answer::default();
        answer.batch.stocks.push(StockRow::named(symbol("AAPL"), "Apple"));
        Ok(answer)
    })
    .await;
    world.until(friday("12:00:59")).await;
    assert!(world.deliveries().is_empty());
    world.until(friday("12:01:00")).await;
    let deliveries = world.deliveries();
    assert_eq!(deliveries[0].batch.stocks[0].name, "Apple");
    assert_eq!(
        (failures.load(Ordering::Relaxed), world.health.state().unanswered),
        (2, 1)
    );
}

#[tokio::test]
async fn bars_in_todays_shares_are_delivered_as_they_were_traded() {
    let split = SplitRow {
        symbol: symbol("AAPL"),
        date: date(2024, 3, 6),
        ratio: "4".parse::<Decimal>().unwrap().try_into().unwrap(),
    };
    let beginning = Beginning {
        capabilities: vec![Capability::DailyBars, Capability::Splits],
        ..Beginning::at(friday("12:00:00"), &["AAPL"])
    };
    let mut world = World::begin(beginning, move |ask| {
        let mut answer = Answer::default();
        match ask {
            Ask::DailyBars(symbols, _) if symbols == &[symbol("AAPL")] => {
                answer.bars = BarsAre::AdjustedForSplits;
                let price = "100".parse().unwrap();
                answer.batch.bars.push(BarRow {
                    symbol: symbol("AAPL"),
                    bar: Bar {
                        date: date(2024, 3, 5),
                        open: price,
                        high: price,
                        low: price,
                        close: price,
                        volume: 400,
                    },
                });
            }
            Ask::Splits(symbols, _) if symbols == &[symbol("AAPL")] => answer.batch.splits.push(split),
            _ => {}
        }
        Ok(answer)
    })
    .await;
    let bars: Vec<BarRow> = world
        .deliveries()
        .into_iter()
        .flat_map(|delivery| delivery.batch.bars)
        .collect();
    assert_eq!(
        (bars[0].bar.close.to_string(), bars[0].bar.volume),
        ("400".to_owned(), 100)
    );
}

#[tokio::test]
async fn splits_alone_are_asked_for_of_stocks_whose_alerts_are_paused() {
    let beginning = Beginning {
        capabilities: all(),
        ..Beginning::at(friday("12:00:00"), &["AAPL"])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    let _ = world.asked();
    let paused = [symbol("AAPL"), symbol("KO")];
    world.splits_only.send_replace(Arc::new(paused.into()));
    world.settle().await;
    let about_ko = |asked: Vec<Ask>| -> Vec<Ask> {
        let mut asked = asked;
        asked.retain(|ask| format!("{ask:?}").contains("KO"));
        asked
    };
    // AAPL is watched, so its splits have been asked for.
    let asked = about_ko(world.asked());
    let [Ask::Splits(symbols, days)] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (symbols.as_slice(), days.from),
        ([symbol("KO")].as_slice(), date(2019, 3, 5))
    );
    // The next morning.
    world.until(friday("13:45:01")).await;
    let asked = about_ko(world.asked());
    let [Ask::Splits(symbols, days)] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (symbols.as_slice(), days.from),
        ([symbol("KO")].as_slice(), date(2024, 3, 1))
    );
}
