//! Conditions on dates and times. Each test starts the service at the relevant times: `libfaketime` shifts its system clock, which
//! runs at normal speed. The service is killed between these times, so each start also resumes the stored state.
//!
//! Scenario: the alerts are created on Monday, 16 November 2026, after the close, each together with an alert that is due one day
//! later. On Tuesday the exchange opens at 14:30 UTC.

use std::path::Path;

use acceptance::clock::wait_for;
use acceptance::{ServiceSetup, TestEnvironment, on_both_databases, tools};
use serde_json::{Value, json};

/// The conditions that this module tests.
pub(crate) const CONDITIONS: [&str; 5] = [
    "reminder",
    "daily_reminder",
    "earnings_announcement",
    "dividend_ex_date",
    "dividend_payment",
];

on_both_databases![
    date_conditions_fire_at_the_open_of_their_day,
    reminders_fire_at_their_time,
    prices_are_evaluated_only_while_the_exchange_is_open,
];

/// Configures the service to start at this time (UTC).
fn starting_at(setup: ServiceSetup, libfaketime: &Path, instant: &str) -> ServiceSetup {
    setup
        .with_environment("LD_PRELOAD", libfaketime.to_str().unwrap())
        .with_environment("FAKETIME", &format!("@{instant}"))
        .with_environment("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .with_environment("DONT_FAKE_MONOTONIC", "1")
        .with_environment("TZ", "UTC")
}

/// Kills the service and starts it at this time (UTC).
async fn restart_at(mut env: TestEnvironment, libfaketime: &Path, instant: &str) -> TestEnvironment {
    env.setup = starting_at(env.setup, libfaketime, instant);
    env.restart().await
}

async fn create_alert(env: &TestEnvironment, body: Value) -> String {
    env.operator.post("/alerts", &body).await.expect_ok(201).id()
}

/// Returns the number of firings of each alert.
async fn firings<const N: usize>(env: &TestEnvironment, ids: &[String; N]) -> [usize; N] {
    let mut counts = [0; N];
    for (count, id) in counts.iter_mut().zip(ids) {
        *count = env.firings_of(id).await.len();
    }
    counts
}

/// Waits until each alert has fired the expected number of times, and asserts that none has fired more often.
async fn wait_for_firings<const N: usize>(env: &TestEnvironment, ids: &[String; N], expected: [usize; N]) {
    let mut counts = [0; N];
    for (count, (id, expected)) in counts.iter_mut().zip(ids.iter().zip(expected)) {
        *count = wait_for(&format!("firing number {expected} of {id}"), async || {
            let count = env.firings_of(id).await.len();
            (count >= expected).then_some(count)
        })
        .await;
    }
    assert_eq!(counts, expected);
}

async fn date_conditions_fire_at_the_open_of_their_day(setup: ServiceSetup) {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let setup = setup.set("market.always_open", "false");
    let env = starting_at(setup, libfaketime, "2026-11-16 22:00:00")
        .start_environment()
        .await;
    env.stocks(&["AAPL", "MSFT"]).await;
    env.ingest(json!({
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
        create_alert(&env, body)
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

    let env = restart_at(env, libfaketime, "2026-11-17 14:00:00").await;
    assert_eq!(firings(&env, &due).await, [0; 4], "half an hour before the open");

    let env = restart_at(env, libfaketime, "2026-11-17 14:29:58").await;
    wait_for_firings(&env, &due, [1; 4]).await;
    wait_for_firings(&env, &daily, [1, 0]).await;
    assert_eq!(firings(&env, &a_day_later).await, [0; 4]);
    for id in &due {
        assert_eq!(env.status_of(id).await, "triggered");
    }
    assert_eq!(
        env.status_of(&daily[0]).await,
        "active",
        "a daily reminder stays active"
    );

    let env = restart_at(env, libfaketime, "2026-11-17 21:14:58").await;
    wait_for_firings(&env, &daily, [1, 1]).await;

    let env = restart_at(env, libfaketime, "2026-11-18 14:29:58").await;
    wait_for_firings(&env, &a_day_later, [1; 4]).await;
    wait_for_firings(&env, &daily, [2, 1]).await;
    assert_eq!(firings(&env, &due).await, [1; 4]);

    // Thanksgiving: the exchange is closed, but dates are evaluated at 09:30 in New York. Only one of the daily reminders missed
    // in the meantime is sent.
    let env = restart_at(env, libfaketime, "2026-11-26 14:00:00").await;
    wait_for_firings(&env, &daily, [3, 2]).await;
    assert_eq!(firings(&env, &holiday).await, [0]);
    let env = restart_at(env, libfaketime, "2026-11-26 14:29:58").await;
    wait_for_firings(&env, &holiday, [1]).await;
    assert_eq!(
        firings(&env, &daily).await,
        [3, 2],
        "daily reminders fire on trading days only"
    );
}

async fn reminders_fire_at_their_time(setup: ServiceSetup) {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    // A Sunday evening: a reminder at an exact time needs no trading session.
    let env = starting_at(setup, libfaketime, "2026-11-15 23:00:00")
        .start_environment()
        .await;
    env.stocks(&["AAPL"]).await;
    let reminder = |parameters: Value| {
        create_alert(
            &env,
            json!({"symbol": "AAPL", "condition": "reminder", "threshold": 1, "parameters": parameters}),
        )
    };
    let due = [
        reminder(json!({"date": "2026-11-16T03:15:00Z"})).await,
        reminder(json!({"date": "2026-11-15T22:14:59.5-05:00"})).await,
    ];
    let next = [reminder(json!({"date": "2026-11-16T03:15:01.5Z"})).await];
    let far = [reminder(json!({"date": "2026-11-16T03:25:00Z"})).await];
    let env = restart_at(env, libfaketime, "2026-11-16 03:14:00").await;
    assert_eq!(firings(&env, &due).await, [0; 2]);
    let env = restart_at(env, libfaketime, "2026-11-16 03:14:58").await;
    wait_for_firings(&env, &due, [1; 2]).await;
    wait_for_firings(&env, &next, [1]).await;
    assert_eq!(firings(&env, &far).await, [0]);
    // A reminder that was due while the service was down fires after the start.
    let env = restart_at(env, libfaketime, "2026-11-16 09:00:00").await;
    wait_for_firings(&env, &far, [1]).await;
    assert_eq!(firings(&env, &due).await, [1; 2]);
}

async fn prices_are_evaluated_only_while_the_exchange_is_open(setup: ServiceSetup) {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let setup = setup.set("market.always_open", "false");
    let env = starting_at(setup, libfaketime, "2026-11-16 15:00:00")
        .start_environment()
        .await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let ids = [create_alert(&env, body).await];
    // The response to a quote outside a session is unspecified, but the quote must not fire an alert.
    let observe = async |env: &TestEnvironment, price: i64| {
        let quotes = json!({"quotes": [{"symbol": "AAPL", "price": price}]});
        let _ = env
            .operator
            .post("/market/ingest", &quotes)
            .await
            .expect_ok_without_limit(200);
    };
    let mut env = env;
    for closed in [
        "2026-11-16 21:00:10",
        "2026-11-17 14:29:00",
        "2026-11-22 16:00:00",
        "2026-11-27 18:00:10",
    ] {
        env = restart_at(env, libfaketime, closed).await;
        observe(&env, 120).await;
        assert_eq!(firings(&env, &ids).await, [0], "at {closed}");
    }
    let env = restart_at(env, libfaketime, "2026-11-30 14:30:00").await;
    observe(&env, 120).await;
    wait_for_firings(&env, &ids, [1]).await;
}
