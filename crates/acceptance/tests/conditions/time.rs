//! What waits for the clock. The program is started at the instants that matter: `libfaketime` shows it another time
//! than the machine's, which passes as fast. Between them it is killed, so each start also resumes what was left.
//!
//! The story: on Monday, 16 November 2026, after the close, alerts are made, and for each a neighbour that is one day
//! further off. On Tuesday the exchange opens at 14:30 UTC.

use std::path::{Path, PathBuf};

use acceptance::clock::wait_for;
use acceptance::{Setup, World, on_both_databases, tools};
use serde_json::{Value, json};

/// The conditions that are tested here.
pub(crate) const CONDITIONS: [&str; 5] = [
    "reminder",
    "daily_reminder",
    "earnings_announcement",
    "dividend_ex_date",
    "dividend_payment",
];

on_both_databases![
    what_waits_for_a_day_fires_at_its_open_and_not_a_day_before,
    what_waits_for_an_instant_fires_when_it_comes,
    prices_are_judged_only_while_the_exchange_is_open,
];

/// Where packages put the library.
const PLACES: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/local/lib/faketime/libfaketimeMT.so.1",
];

fn library() -> Option<PathBuf> {
    let found = PLACES.iter().map(Path::new).find(|place| place.exists());
    let install = "install the package libfaketime (apt-get install libfaketime)";
    tools::has(found.is_some(), "libfaketime", install).then(|| found.unwrap().to_owned())
}

/// The program starts at this instant of UTC.
fn starting_at(setup: Setup, library: &Path, instant: &str) -> Setup {
    setup
        .with_environment("LD_PRELOAD", library.to_str().unwrap())
        .with_environment("FAKETIME", &format!("@{instant}"))
        .with_environment("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .with_environment("DONT_FAKE_MONOTONIC", "1")
        .with_environment("TZ", "UTC")
}

/// Kills the program and starts it at this instant of UTC.
async fn at(mut world: World, library: &Path, instant: &str) -> World {
    world.setup = starting_at(world.setup, library, instant);
    world.restart().await
}

async fn make(world: &World, body: Value) -> String {
    world.me.post("/alerts", &body).await.ok(201).id()
}

/// How often each of the alerts has fired.
async fn firings<const N: usize>(world: &World, ids: &[String; N]) -> [usize; N] {
    let mut counts = [0; N];
    for (count, id) in counts.iter_mut().zip(ids) {
        *count = world.firings_of(id).await.len();
    }
    counts
}

/// Waits until the alerts have fired so often, and not more often.
async fn fire<const N: usize>(world: &World, ids: &[String; N], expected: [usize; N]) {
    let mut seen = [0; N];
    for (count, (id, expected)) in seen.iter_mut().zip(ids.iter().zip(expected)) {
        *count = wait_for(&format!("firing number {expected} of {id}"), async || {
            let count = world.firings_of(id).await.len();
            (count >= expected).then_some(count)
        })
        .await;
    }
    assert_eq!(seen, expected);
}

async fn what_waits_for_a_day_fires_at_its_open_and_not_a_day_before(setup: Setup) {
    let Some(library) = library() else { return };
    let setup = setup.set("market.always_open", "false");
    let world = starting_at(setup, &library, "2026-11-16 22:00:00").world().await;
    world.stocks(&["AAPL", "MSFT"]).await;
    world
        .ingest(json!({
            "earnings": [{"symbol": "AAPL", "date": "2026-11-20"}],
            "dividends": [
                {"symbol": "AAPL", "ex_date": "2026-11-18", "payment_date": "2026-11-17", "amount": 0.25},
                {"symbol": "MSFT", "ex_date": "2026-11-19", "payment_date": "2026-11-18", "amount": 0.25},
            ],
        }))
        .await;
    let alert = |symbol: &str, condition: &str, more: Value| {
        let mut body = more;
        body["symbol"] = json!(symbol);
        body["condition"] = json!(condition);
        make(&world, body)
    };
    let due = [
        alert("AAPL", "earnings_announcement", json!({"threshold": 3})).await,
        alert("AAPL", "dividend_ex_date", json!({})).await,
        alert("AAPL", "dividend_payment", json!({"parameters": {"shares": 10}})).await,
        alert("AAPL", "reminder", json!({"parameters": {"date": "2026-11-17"}})).await,
    ];
    let a_day_later = [
        alert("AAPL", "earnings_announcement", json!({"threshold": 2})).await,
        alert("MSFT", "dividend_ex_date", json!({})).await,
        alert("MSFT", "dividend_payment", json!({})).await,
        alert("AAPL", "reminder", json!({"parameters": {"date": "2026-11-18"}})).await,
    ];
    let daily = [
        alert("AAPL", "daily_reminder", json!({})).await,
        alert(
            "AAPL",
            "daily_reminder",
            json!({"parameters": {"deliveryTime": "after_market_close"}}),
        )
        .await,
    ];
    let holiday = [alert("AAPL", "reminder", json!({"parameters": {"date": "2026-11-26"}})).await];

    let world = at(world, &library, "2026-11-17 14:00:00").await;
    assert_eq!(firings(&world, &due).await, [0; 4], "half an hour before the open");

    let world = at(world, &library, "2026-11-17 14:29:58").await;
    fire(&world, &due, [1; 4]).await;
    fire(&world, &daily, [1, 0]).await;
    assert_eq!(firings(&world, &a_day_later).await, [0; 4]);
    for id in &due {
        assert_eq!(world.status_of(id).await, "triggered");
    }
    assert_eq!(world.status_of(&daily[0]).await, "active", "a daily reminder goes on");

    let world = at(world, &library, "2026-11-17 21:14:58").await;
    fire(&world, &daily, [1, 1]).await;

    let world = at(world, &library, "2026-11-18 14:29:58").await;
    fire(&world, &a_day_later, [1; 4]).await;
    fire(&world, &daily, [2, 1]).await;
    assert_eq!(firings(&world, &due).await, [1; 4]);

    // Thanksgiving: the exchange is closed, and dates are judged at half past nine in New York all the same. Of the
    // daily reminders that were missed in between, one is sent.
    let world = at(world, &library, "2026-11-26 14:00:00").await;
    fire(&world, &daily, [3, 2]).await;
    assert_eq!(firings(&world, &holiday).await, [0]);
    let world = at(world, &library, "2026-11-26 14:29:58").await;
    fire(&world, &holiday, [1]).await;
    assert_eq!(firings(&world, &daily).await, [3, 2], "no trading day, no reminder");
}

async fn what_waits_for_an_instant_fires_when_it_comes(setup: Setup) {
    let Some(library) = library() else { return };
    // A Sunday evening: an instant needs no session.
    let world = starting_at(setup, &library, "2026-11-15 23:00:00").world().await;
    world.stocks(&["AAPL"]).await;
    let reminder = |parameters: Value| {
        make(
            &world,
            json!({"symbol": "AAPL", "condition": "reminder", "threshold": 1, "parameters": parameters}),
        )
    };
    let due = [
        reminder(json!({"date": "2026-11-16T03:15:00Z"})).await,
        reminder(json!({"date": "2026-11-15T22:14:59.5-05:00"})).await,
    ];
    let next = [reminder(json!({"date": "2026-11-16T03:15:01.5Z"})).await];
    let far = [reminder(json!({"date": "2026-11-16T03:25:00Z"})).await];
    let world = at(world, &library, "2026-11-16 03:14:00").await;
    assert_eq!(firings(&world, &due).await, [0; 2]);
    let world = at(world, &library, "2026-11-16 03:14:58").await;
    fire(&world, &due, [1; 2]).await;
    fire(&world, &next, [1]).await;
    assert_eq!(firings(&world, &far).await, [0]);
    // What came while the program was dead is made up for.
    let world = at(world, &library, "2026-11-16 09:00:00").await;
    fire(&world, &far, [1]).await;
    assert_eq!(firings(&world, &due).await, [1; 2]);
}

async fn prices_are_judged_only_while_the_exchange_is_open(setup: Setup) {
    let Some(library) = library() else { return };
    let setup = setup.set("market.always_open", "false");
    let world = starting_at(setup, &library, "2026-11-16 15:00:00").world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let ids = [make(&world, body).await];
    // How the answer tells of an observation outside a session is not promised; that it fires nothing is.
    let observe = async |world: &World, price: i64| {
        let quotes = json!({"quotes": [{"symbol": "AAPL", "price": price}]});
        let _ = world.me.post("/market/ingest", &quotes).await.ok_unlimited(200);
    };
    let mut world = world;
    for closed in [
        "2026-11-16 21:00:10",
        "2026-11-17 14:29:00",
        "2026-11-22 16:00:00",
        "2026-11-27 18:00:10",
    ] {
        world = at(world, &library, closed).await;
        observe(&world, 120).await;
        assert_eq!(firings(&world, &ids).await, [0], "at {closed}");
    }
    let world = at(world, &library, "2026-11-30 14:30:00").await;
    observe(&world, 120).await;
    fire(&world, &ids, [1]).await;
}
