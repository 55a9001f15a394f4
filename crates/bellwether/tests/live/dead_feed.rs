//! A feed that dies in the middle of a session and comes back twenty minutes later.

use alerts::engine::State;
use alerts::{AlertId, Status};
use jiff::SignedDuration;
use jiff::Timestamp;
use serde_json::json;
use service::Clock;
use testkit::Database;

use crate::exchange::{Books, Exchange};
use crate::house::{From, Live, at};

/// `2024-03-08T{time}Z`, a Friday.
fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

fn books() -> Books {
    let midnight = |day: u8| at(&format!("2024-03-{day:02}T05:00:00Z"));
    let flat = |time, price: &str| (time, [price; 4].map(str::to_owned));
    let minute = |time: &str, prices: [&str; 4]| (friday(time), prices.map(str::to_owned));
    Books {
        names: vec!["AAPL".to_owned(), "SPY".to_owned()],
        days: [(
            "AAPL".to_owned(),
            vec![flat(midnight(6), "189"), flat(midnight(7), "190")],
        )]
        .into(),
        minutes: [(
            "AAPL".to_owned(),
            vec![
                minute("15:06:00", ["190", "190", "190", "190"]),
                minute("15:12:00", ["190", "205", "189", "191"]),
                minute("15:18:00", ["191", "191", "178", "179"]),
            ],
        )]
        .into(),
        last: [("AAPL".to_owned(), ("190".to_owned(), friday("14:29:00")))].into(),
        ..Books::default()
    }
}

async fn id(live: &Live, condition: &str, threshold: u32) -> AlertId {
    let body = json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    live.create(&body).await.stored.alert.id
}

/// Tells a trade, and waits until it has been taken in.
async fn trade(live: &Live, exchange: &Exchange, price: &str, time: &str) {
    let time = friday(time);
    assert!(live.clock.now() <= time, "the test's clock is past {time}");
    live.reach(time).await;
    exchange.trade(&[("AAPL", price, time)]);
    live.until("the trade is taken in", async |live| {
        live.observed("AAPL") == Some(time)
    })
    .await;
}

async fn every_crossing_of_the_dead_time_fires_once_and_late(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = Exchange::open(books(), begin).await;
    let live = Live::open(database, From::Alpaca(&exchange), begin).await;
    let (up, down) = (id(&live, "price_above", 200).await, id(&live, "price_below", 180).await);
    let (never, before) = (id(&live, "price_above", 300).await, id(&live, "price_above", 192).await);
    live.soon("the stock is subscribed", async |_| {
        exchange.books().subscribed.contains(&"AAPL".to_owned())
    })
    .await;
    trade(&live, &exchange, "190", "14:58:00").await;
    trade(&live, &exchange, "192.5", "15:00:00").await;
    trade(&live, &exchange, "190", "15:05:00").await;
    live.until("what was crossed live has fired", async |live| {
        live.alert(before).await.stored.alert.status == Status::Triggered
    })
    .await;

    exchange.die();
    live.reach(friday("15:21:00")).await;
    for alert in [up, down, never] {
        live.until("the alert is blind", async |live| {
            matches!(live.alert(alert).await.evaluation.unwrap().state, State::Blind(_))
        })
        .await;
    }
    live.reach(friday("15:25:00")).await;
    assert_eq!(live.fired(&[up, down, never]).await, []);

    exchange.come_back();
    live.soon("the stock is subscribed again", async |_| {
        exchange.books().subscribed.contains(&"AAPL".to_owned())
    })
    .await;
    let now = live.clock.now();
    exchange.trade(&[("AAPL", "185", now)]);
    live.soon(
        "what was missed is judged, and the price of now is known",
        async |live| live.observed("AAPL") >= Some(now),
    )
    .await;
    // Whatever else could come of it has time to come.
    let then = live.clock.now().saturating_add(SignedDuration::from_mins(3)).unwrap();
    live.reach(then).await;
    let fired = live.fired(&[up, down, never]).await;
    let told: Vec<_> = fired
        .iter()
        .map(|fired| {
            (
                fired.condition.as_str(),
                fired.price.as_deref(),
                fired.crossed_at.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("price_above", Some("205"), Some("2024-03-08T15:12:40.000Z")),
            ("price_below", Some("178"), Some("2024-03-08T15:18:40.000Z")),
        ],
        "{fired:#?}"
    );
    assert!(fired.iter().all(|fired| fired.at > friday("15:25:00")));
    assert_eq!(live.fired(&[before]).await[0].crossed_at, None);
    live.until("the alert is judged again", async |live| {
        live.alert(never).await.evaluation.unwrap().state == State::Ok
    })
    .await;
    live.house.close().await.unwrap();
}

testkit::on_both! {
    async fn a_feed_that_dies_and_comes_back_loses_no_crossing(database) {
        every_crossing_of_the_dead_time_fires_once_and_late(database).await;
    }
}
