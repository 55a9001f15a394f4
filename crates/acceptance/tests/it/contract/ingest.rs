//! `POST /market/ingest`

use acceptance::clock::{days_ago, now};
use acceptance::market::{bar, flat, mentions};
use acceptance::{ServiceSetup, on_both_databases};
use jiff::SignedDuration;
use serde_json::json;

on_both_databases![
    every_kind_is_accepted_in_one_request,
    invalid_elements_are_rejected_and_others_accepted,
    firing_is_in_history_before_the_response,
    every_quote_of_a_request_is_evaluated,
    empty_request_is_accepted,
    kind_that_is_not_a_list_is_422,
    quote_of_unknown_stock_is_accepted_or_rejected_with_reason,
    bar_of_the_current_session_is_rejected,
    ingested_data_survives_a_crash,
];

async fn every_kind_is_accepted_in_one_request(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let yesterday = days_ago(1).to_string();
    env.ingest(json!({
        "stocks": [{"symbol": "AAPL", "name": "Apple Inc."}],
        "quotes": [{"symbol": "AAPL", "price": 100, "volume": 5, "bid": 99.9, "ask": 100.1, "vwap": 99.95}],
        "bars": [bar("AAPL", 1, flat(99.0)), bar("AAPL", 2, flat(98.0))],
        "fundamentals": [{"symbol": "AAPL", "as_of": yesterday, "eps_ttm": 5.5}],
        "earnings": [{"symbol": "AAPL", "date": days_ago(-5).to_string(), "time": "before_open"}],
        "dividends": [{"symbol": "AAPL", "ex_date": days_ago(-5).to_string(), "amount": 0.25}],
        "splits": [{"symbol": "AAPL", "date": "2020-08-31", "ratio": 4}],
        "insider_transactions": [{"symbol": "AAPL", "filed_on": yesterday, "traded_on": yesterday,
            "insider": "A. Director", "code": "P", "side": "buy", "shares": 100, "price": 99}],
        "mentions": [mentions("AAPL", 1, 3)],
    }))
    .await;
}

async fn invalid_elements_are_rejected_and_others_accepted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    let body = json!({
        "quotes": [
            {"symbol": "AAPL", "price": -1},
            {"symbol": "AAPL", "price": 101},
            {"symbol": "AAPL"},
            "nonsense",
            {"symbol": "A B", "price": 5},
            {"symbol": "AAPL", "price": 102, "volume": -3},
        ],
        "bars": [{"symbol": "AAPL", "date": "2024-02-30", "open": 1, "high": 1, "low": 1, "close": 1, "volume": 1}],
    });
    let response = env
        .operator
        .post("/market/ingest", &body)
        .await
        .expect_ok_without_limit(200);
    assert_eq!(response.data()["accepted"]["quotes"], 1, "{response}");
    let rejected: Vec<_> = response.data()["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert!(row["reason"].as_str().unwrap().len() > 5, "{row}");
            (row["kind"].as_str().unwrap(), row["index"].as_u64().unwrap())
        })
        .collect();
    let mut sorted = rejected.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            ("bars", 0),
            ("quotes", 0),
            ("quotes", 2),
            ("quotes", 3),
            ("quotes", 4),
            ("quotes", 5)
        ]
    );
    assert_eq!(
        env.operator.get("/stocks/AAPL").await.expect_ok(200).data()["last_price"],
        101
    );
}

async fn firing_is_in_history_before_the_response(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for step in 1..=10 {
        let level = 100 + step;
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": level});
        let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
        env.quote("AAPL", f64::from(level)).await;
        let firings = env.firings_of(&id).await;
        assert_eq!(firings.len(), 1, "at {level}");
        assert_eq!(firings[0]["trigger_price"], level);
    }
}

async fn every_quote_of_a_request_is_evaluated(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let quotes: Vec<_> = [105, 112, 103]
        .map(|price| json!({"symbol": "AAPL", "price": price}))
        .into();
    env.ingest(json!({ "quotes": quotes })).await;
    let firings = env.firings_of(&id).await;
    assert_eq!(firings.len(), 1);
    assert_eq!(firings[0]["trigger_price"], 112);
    assert_eq!(
        env.operator.get("/stocks/AAPL").await.expect_ok(200).data()["last_price"],
        103
    );
}

async fn empty_request_is_accepted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for body in [json!({}), json!({"quotes": []}), json!({"unheard_of": [1, 2]})] {
        let response = env
            .operator
            .post("/market/ingest", &body)
            .await
            .expect_ok_without_limit(200);
        assert_eq!(response.data()["rejected"], json!([]), "{response}");
    }
}

async fn kind_that_is_not_a_list_is_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let response = env
        .operator
        .post("/market/ingest", &json!({"quotes": {"symbol": "AAPL"}}))
        .await;
    let _ = response.expect_field_error("quotes");
}

async fn quote_of_unknown_stock_is_accepted_or_rejected_with_reason(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = json!({"quotes": [{"symbol": "NEWCO", "price": 5}]});
    let response = env
        .operator
        .post("/market/ingest", &body)
        .await
        .expect_ok_without_limit(200);
    // The service adds the stock to the catalog or rejects the quote with a reason.
    let known = env.operator.get("/stocks/NEWCO").await.status == 200;
    let rejected = response.data()["rejected"].as_array().unwrap().len();
    assert_eq!(rejected, usize::from(!known), "{response}");
}

async fn bar_of_the_current_session_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    let body = json!({"bars": [bar("AAPL", 0, flat(100.0)), bar("AAPL", 1, flat(100.0))]});
    let response = env
        .operator
        .post("/market/ingest", &body)
        .await
        .expect_ok_without_limit(200);
    assert_eq!(response.data()["accepted"]["bars"], 1, "{response}");
    assert_eq!(response.data()["rejected"][0]["index"], 0, "{response}");
}

async fn ingested_data_survives_a_crash(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    env.ingest(json!({"bars": [bar("AAPL", 1, flat(90.0))]})).await;
    env.quote("AAPL", 99.5).await;
    let alert = json!({"symbol": "AAPL", "condition": "reminder",
        "parameters": {"date": (now() + SignedDuration::from_hours(1)).to_string()}});
    let id = env.operator.post("/alerts", &alert).await.expect_ok(201).id();
    let before = env.operator.get("/stocks/AAPL").await.expect_ok(200);
    let env = env.restart().await;
    let after = env.operator.get("/stocks/AAPL").await.expect_ok(200);
    assert_eq!(after.data(), before.data());
    assert_eq!(env.status_of(&id).await, "active");
}
