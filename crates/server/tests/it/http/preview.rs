//! Previews of alerts over HTTP.

use alerts::Plan;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    preview_has_the_firings_of_the_stored_bars
    nothing_is_stored
    days_bound_the_preview
    preview_is_checked_like_a_new_alert
    every_condition_has_a_preview
    frequent_alert_has_a_warning
    split_does_not_fire
    scope_is_played_on_each_stock
    watchlist_is_played_on_its_present_stocks
    condition_that_can_never_be_true_says_so
}

/// The sessions before Friday, 8 March 2024, when the server's clock stands.
const DAYS: [&str; 9] = [
    "2024-02-26",
    "2024-02-27",
    "2024-02-28",
    "2024-02-29",
    "2024-03-01",
    "2024-03-04",
    "2024-03-05",
    "2024-03-06",
    "2024-03-07",
];

pub(super) async fn ingest(server: &TestServer, body: Value) {
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

/// Stores daily bars with one price each.
async fn bars(server: &TestServer, symbol: &str, prices: [f64; 9]) {
    let bars = DAYS.iter().zip(prices).map(|(date, price)| {
        json!({
            "symbol": symbol, "date": date, "open": price, "high": price, "low": price, "close": price, "volume": 10,
        })
    });
    let stocks = json!([{"symbol": symbol, "name": symbol}]);
    ingest(server, json!({"stocks": stocks, "bars": bars.collect::<Vec<_>>()})).await;
}

pub(super) async fn market(server: &TestServer) {
    bars(
        server,
        "AAPL",
        [100.0, 100.0, 90.0, 99.0, 100.0, 89.0, 88.0, 100.0, 110.0],
    )
    .await;
    bars(
        server,
        "SPY",
        [500.0, 500.0, 500.0, 505.0, 500.0, 500.0, 500.0, 500.0, 505.0],
    )
    .await;
}

pub(super) fn below(price: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_below", "threshold": price})
}

pub(super) async fn preview(server: &TestServer, body: Value) -> Value {
    server.post("/v1/alerts/preview", body).await.ok(200).body["data"].clone()
}

fn days_of(preview: &Value) -> Vec<&str> {
    let firings = preview["firings"].as_array().unwrap();
    firings
        .iter()
        .map(|firing| &firing["time"].as_str().unwrap()[..10])
        .collect()
}

async fn preview_has_the_firings_of_the_stored_bars(server: TestServer) {
    market(&server).await;
    let found = preview(&server, json!({"alert": below(90)})).await;
    assert_eq!(
        found["firings"][0],
        json!({
            "time": "2024-02-28T14:30:00.000Z", "symbol": "AAPL", "price": 90,
            "reason": "price <= 90: price is 90",
        })
    );
    assert_eq!(days_of(&found), ["2024-02-28", "2024-03-04"]);
    assert_eq!(
        found["coverage"],
        json!({"from": "2024-02-26", "to": "2024-03-07", "gaps": [], "intraday": null})
    );
    // Two firings in eleven days.
    assert_eq!((&found["count"], &found["per_year"]), (&json!(2), &json!(66.409_091)));
    assert_eq!((&found["resolution"], &found["unknown"]), (&json!("1d"), &Value::Null));
    assert_eq!(
        found["outcome"],
        json!({
            "sessions": [1, 5, 20],
            "mean_pct": [4.438_202, 11.111_111, null],
            "benchmark_pct": [0.5, 0, null],
            "hit_rate": [0.5, 1, null],
        })
    );
    let both =
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 100 and SPY.price > 500"}});
    assert_eq!(days_of(&preview(&server, json!({"alert": both})).await), ["2024-02-29"]);
}

async fn nothing_is_stored(server: TestServer) {
    market(&server).await;
    let _ = preview(&server, json!({"alert": below(90)})).await;
    let listed = server.get("/v1/alerts").await.ok(200);
    assert_eq!(listed.body["data"], json!([]));
}

async fn days_bound_the_preview(server: TestServer) {
    market(&server).await;
    let found = preview(
        &server,
        json!({"alert": below(90), "from": "2024-03-05", "to": "2024-03-06"}),
    )
    .await;
    assert_eq!(days_of(&found), ["2024-03-05"], "true on the first day");
    assert_eq!(
        found["coverage"],
        json!({"from": "2024-03-05", "to": "2024-03-06", "gaps": [], "intraday": null})
    );
    let before = preview(&server, json!({"alert": below(90), "to": "2024-02-01"})).await;
    assert_eq!(
        before["coverage"],
        json!({"from": null, "to": null, "gaps": [], "intraday": null})
    );
    assert_eq!((&before["count"], &before["per_year"]), (&json!(0), &Value::Null));
    assert_eq!(before["unknown"]["metrics"], json!(["price"]));
    for (body, field) in [
        (json!({"alert": below(90), "from": "2024-03-09"}), "from"),
        (
            json!({"alert": below(90), "from": "2024-03-06", "to": "2024-03-05"}),
            "from",
        ),
        (json!({"alert": below(90), "to": "soon"}), "to"),
        (json!({}), "alert"),
        (json!({"alert": 5}), "alert"),
    ] {
        let refused = server
            .post("/v1/alerts/preview", body)
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"][field].is_array(),
            "{refused:?}"
        );
    }
}

async fn preview_is_checked_like_a_new_alert(server: TestServer) {
    market(&server).await;
    let refused = |alert: Value, status, code| {
        let server = &server;
        async move {
            let body = json!({"alert": alert});
            server.post("/v1/alerts/preview", body).await.refused(status, code)
        }
    };
    let error = refused(
        json!({"symbol": "AAPL", "condition": "price_below"}),
        422,
        "VALIDATION_ERROR",
    )
    .await;
    assert!(
        error.body["error"]["details"]["fields"]["threshold"].is_array(),
        "{error:?}"
    );
    let _ = refused(
        json!({"symbol": "NONE", "condition": "price_below", "threshold": 1}),
        404,
        "NOT_FOUND",
    )
    .await;
    let unknown = json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < SPYY.price"}});
    let error = refused(unknown, 422, "VALIDATION_ERROR").await;
    let details = &error.body["error"]["details"];
    assert_eq!(
        (&details["position"], &details["suggestions"]),
        (&json!(9), &json!(["SPY"])),
        "{error:?}"
    );
    assert!(details["fields"]["parameters.when"].is_array());
    let bob = server.create_user("bob", Plan::Basic).await;
    let premium = json!({"alert": {"symbol": "AAPL", "condition": "expression", "parameters": {"when": "rsi < 30"}}});
    let _ = bob.post("/v1/alerts/preview", premium).await.refused(403, "FORBIDDEN");
    let _ = bob
        .post("/v1/alerts/preview", json!({"alert": below(90)}))
        .await
        .ok(200);
    let anonymous = server
        .anonymous("POST", "/v1/alerts/preview")
        .json(&json!({"alert": below(90)}));
    let _ = anonymous.send().await.refused(401, "UNAUTHORIZED");
}

async fn every_condition_has_a_preview(server: TestServer) {
    market(&server).await;
    for kind in alerts::ConditionKind::ALL {
        let mut alert: Value = serde_json::from_str(kind.spec().example).unwrap();
        alert["symbol"] = "AAPL".into();
        let found = preview(&server, json!({"alert": alert})).await;
        assert_eq!(found["coverage"]["from"], "2024-02-26", "{kind}");
        if kind.name() == "daily_reminder" {
            assert_eq!(found["count"], 9);
        }
    }
}

async fn frequent_alert_has_a_warning(server: TestServer) {
    market(&server).await;
    let found = preview(&server, json!({"alert": below(90)})).await;
    assert_eq!(
        found["noise"],
        json!({
            "message": "fires about 66 times a year",
            "suggestion": "set options.rearm to {\"percent\": 2}, so that it fires again only after the value has moved away",
        })
    );
    let rare = preview(&server, json!({"alert": below(10)})).await;
    assert_eq!((&rare["noise"], &rare["count"]), (&Value::Null, &json!(0)));
}

async fn split_does_not_fire(server: TestServer) {
    bars(
        &server,
        "AAPL",
        [100.0, 100.0, 100.0, 100.0, 25.0, 25.0, 25.0, 25.0, 22.0],
    )
    .await;
    ingest(
        &server,
        json!({"splits": [{"symbol": "AAPL", "date": "2024-03-01", "ratio": 4}]}),
    )
    .await;
    let fall = json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "change_pct(1) <= -10"}});
    let found = preview(&server, json!({"alert": fall, "from": "2024-02-27"})).await;
    assert_eq!(days_of(&found), ["2024-03-07"]);
}

/// Returns the day and the stock of each firing.
fn fired_on(preview: &Value) -> Vec<String> {
    let firings = preview["firings"].as_array().unwrap();
    let line = |(firing, day): (&Value, &str)| format!("{day} {}", firing["symbol"].as_str().unwrap());
    firings.iter().zip(days_of(preview)).map(line).collect()
}

async fn scope_is_played_on_each_stock(server: TestServer) {
    market(&server).await;
    ingest(
        &server,
        json!({
            "stocks": [{"symbol": "NEW", "name": "New"}, {"symbol": "NONE", "name": "None"}],
            "bars": [
                {"symbol": "NEW", "date": "2024-03-05", "open": 80, "high": 80, "low": 80, "close": 80, "volume": 10},
                {"symbol": "NEW", "date": "2024-03-06", "open": 91, "high": 91, "low": 91, "close": 91, "volume": 10},
            ],
        }),
    )
    .await;
    let stocks = json!({"symbols": ["SPY", "AAPL", "NEW", "NONE"]});
    let alert = json!({"scope": stocks, "condition": "price_below", "threshold": 90});
    let found = preview(&server, json!({"alert": alert})).await;
    assert_eq!(
        fired_on(&found),
        ["2024-02-28 AAPL", "2024-03-04 AAPL", "2024-03-05 NEW"]
    );
    assert_eq!(found["count"], 3);
    assert_eq!(
        found["coverage"],
        json!({"from": "2024-02-26", "to": "2024-03-07", "intraday": null, "gaps": [
            {"symbol": "NEW", "from": "2024-02-26", "to": "2024-03-04"},
            {"symbol": "NEW", "from": "2024-03-07", "to": "2024-03-07"},
            {"symbol": "NONE", "from": "2024-02-26", "to": "2024-03-07"},
        ]})
    );
    assert_eq!(found["unknown"]["metrics"], json!(["NONE.price"]));
    // AAPL rose by 10 % and fell by 1.1 %, NEW rose by 13.75 %.
    assert_eq!(found["outcome"]["mean_pct"][0], 7.542_135);
    assert_eq!(found["outcome"]["hit_rate"][0], 0.666_667);
    let both = json!({"scope": {"symbols": ["AAPL"]}, "symbol": "AAPL", "condition": "price_below", "threshold": 90});
    let refused = server
        .post("/v1/alerts/preview", json!({"alert": both}))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["symbol"].is_array(),
        "{refused:?}"
    );
}

async fn watchlist_is_played_on_its_present_stocks(server: TestServer) {
    market(&server).await;
    let alert = |part: &str| json!({"scope": {"watchlist": part}, "condition": "price_below", "threshold": 90});
    let empty = preview(&server, json!({"alert": alert("all")})).await;
    assert_eq!((&empty["count"], &empty["coverage"]["from"]), (&json!(0), &Value::Null));
    let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = server.post("/v1/watchlist", item).await.ok(201);
    for (part, count) in [("all", 2), ("buy", 2), ("sell", 0)] {
        let found = preview(&server, json!({"alert": alert(part)})).await;
        assert_eq!(found["count"], count, "{part}");
    }
}

async fn condition_that_can_never_be_true_says_so(server: TestServer) {
    market(&server).await;
    let alert = |when: &str| json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}});
    let found = preview(
        &server,
        json!({"alert": alert("price < 100 and (bid > 5 or rsi(5) > 100)")}),
    )
    .await;
    let reasons = [
        "bid > 5 is unknown, because bid has no value",
        "rsi(5) > 100 is impossible: rsi(5) is from 0 to 100",
    ];
    assert_eq!(
        found["never_true"],
        json!({"message": format!("can never be true: {}; {}", reasons[0], reasons[1]), "reasons": reasons})
    );
    let possible = preview(
        &server,
        json!({"alert": alert("price < 100 and (bid > 5 or rsi(5) >= 100)")}),
    )
    .await;
    assert_eq!((&possible["never_true"], &possible["count"]), (&Value::Null, &json!(0)));
}
