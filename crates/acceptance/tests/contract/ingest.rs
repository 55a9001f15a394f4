//! `POST /market/ingest`

use acceptance::clock::{days_ago, now};
use acceptance::market::{bar, flat, mentions};
use acceptance::{Setup, on_both_databases};
use jiff::SignedDuration;
use serde_json::json;

on_both_databases![
    every_kind_is_taken_in_one_request,
    each_bad_element_is_rejected_and_the_others_are_taken,
    what_a_quote_fires_is_in_history_when_the_answer_comes,
    of_several_quotes_in_one_request_each_is_judged,
    an_empty_request_is_fine,
    a_kind_that_is_no_list_is_refused,
    a_quote_without_a_stock_in_the_catalog_is_told,
    a_bar_of_today_is_not_over_yet,
    what_was_taken_survives_a_crash,
];

async fn every_kind_is_taken_in_one_request(setup: Setup) {
    let world = setup.world().await;
    let yesterday = days_ago(1).to_string();
    world
        .ingest(json!({
            "stocks": [{"symbol": "AAPL", "name": "Apple Inc."}],
            "quotes": [{"symbol": "AAPL", "price": 100, "volume": 5, "bid": 99.9, "ask": 100.1}],
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

async fn each_bad_element_is_rejected_and_the_others_are_taken(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
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
    let answer = world.me.post("/market/ingest", &body).await.ok_unlimited(200);
    assert_eq!(answer.data()["accepted"]["quotes"], 1, "{answer}");
    let rejected: Vec<_> = answer.data()["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            assert!(one["reason"].as_str().unwrap().len() > 5, "{one}");
            (one["kind"].as_str().unwrap(), one["index"].as_u64().unwrap())
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
    assert_eq!(world.me.get("/stocks/AAPL").await.ok(200).data()["last_price"], 101);
}

async fn what_a_quote_fires_is_in_history_when_the_answer_comes(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for step in 1..=10 {
        let level = 100 + step;
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": level});
        let id = world.me.post("/alerts", &body).await.ok(201).id();
        world.quote("AAPL", f64::from(level)).await;
        let firings = world.firings_of(&id).await;
        assert_eq!(firings.len(), 1, "at {level}");
        assert_eq!(firings[0]["trigger_price"], level);
    }
}

async fn of_several_quotes_in_one_request_each_is_judged(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let quotes: Vec<_> = [105, 112, 103]
        .map(|price| json!({"symbol": "AAPL", "price": price}))
        .into();
    world.ingest(json!({ "quotes": quotes })).await;
    let firings = world.firings_of(&id).await;
    assert_eq!(firings.len(), 1);
    assert_eq!(firings[0]["trigger_price"], 112);
    assert_eq!(world.me.get("/stocks/AAPL").await.ok(200).data()["last_price"], 103);
}

async fn an_empty_request_is_fine(setup: Setup) {
    let world = setup.world().await;
    for body in [json!({}), json!({"quotes": []}), json!({"unheard_of": [1, 2]})] {
        let answer = world.me.post("/market/ingest", &body).await.ok_unlimited(200);
        assert_eq!(answer.data()["rejected"], json!([]), "{answer}");
    }
}

async fn a_kind_that_is_no_list_is_refused(setup: Setup) {
    let world = setup.world().await;
    let answer = world
        .me
        .post("/market/ingest", &json!({"quotes": {"symbol": "AAPL"}}))
        .await;
    let _ = answer.wrong_field("quotes");
}

async fn a_quote_without_a_stock_in_the_catalog_is_told(setup: Setup) {
    let world = setup.world().await;
    let body = json!({"quotes": [{"symbol": "NEWCO", "price": 5}]});
    let answer = world.me.post("/market/ingest", &body).await.ok_unlimited(200);
    // Either it makes the stock known or it is rejected with a reason: it must not vanish.
    let known = world.me.get("/stocks/NEWCO").await.status == 200;
    let rejected = answer.data()["rejected"].as_array().unwrap().len();
    assert_eq!(rejected, usize::from(!known), "{answer}");
}

async fn a_bar_of_today_is_not_over_yet(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    let body = json!({"bars": [bar("AAPL", 0, flat(100.0)), bar("AAPL", 1, flat(100.0))]});
    let answer = world.me.post("/market/ingest", &body).await.ok_unlimited(200);
    assert_eq!(answer.data()["accepted"]["bars"], 1, "{answer}");
    assert_eq!(answer.data()["rejected"][0]["index"], 0, "{answer}");
}

async fn what_was_taken_survives_a_crash(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    world.ingest(json!({"bars": [bar("AAPL", 1, flat(90.0))]})).await;
    world.quote("AAPL", 99.5).await;
    let alert = json!({"symbol": "AAPL", "condition": "reminder",
        "parameters": {"date": (now() + SignedDuration::from_hours(1)).to_string()}});
    let id = world.me.post("/alerts", &alert).await.ok(201).id();
    let before = world.me.get("/stocks/AAPL").await.ok(200);
    let world = world.restart().await;
    let after = world.me.get("/stocks/AAPL").await.ok(200);
    assert_eq!(after.data(), before.data());
    assert_eq!(world.status_of(&id).await, "active");
}
