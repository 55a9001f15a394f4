//! Previews in intraday bars over HTTP.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::preview::{below, ingest, market, preview};
use crate::http::test_server::TestServer;

on_each_database! {
    session_with_all_its_intraday_bars_is_played_in_them
    session_that_lacks_an_intraday_bar_is_played_as_a_daily_bar
    session_is_played_in_intraday_bars_only_if_all_stocks_have_them
    alert_on_vwap_is_played_in_sessions_with_intraday_bars
    intraday_bars_that_no_preview_can_use_are_rejected
}

/// Returns a daily bar of AAPL on 7 March from 100 over 112 and 88 to 100, and its intraday bars in three-minute steps.
fn session_in_three_bars() -> (Value, Vec<Value>) {
    let bar = |prices: [i64; 4], volume: i64| {
        let [open, high, low, close] = prices;
        json!({"symbol": "AAPL", "open": open, "high": high, "low": low, "close": close, "volume": volume})
    };
    let mut day = bar([100, 112, 88, 100], 30);
    day["date"] = json!("2024-03-07");
    let intraday = [
        ("14:30", [100, 101, 99, 100]),
        ("14:33", [100, 112, 99, 100]),
        ("14:36", [100, 101, 88, 100]),
    ];
    let intraday = intraday.into_iter().map(|(time, prices)| {
        let mut bar = bar(prices, 10);
        bar["time"] = json!(format!("2024-03-07T{time}:00Z"));
        bar
    });
    (day, intraday.collect())
}

fn last_firing(found: &Value) -> &Value {
    &found["firings"].as_array().unwrap().last().unwrap()["time"]
}

async fn session_with_all_its_intraday_bars_is_played_in_them(server: TestServer) {
    market(&server).await;
    let (day, intraday) = session_in_three_bars();
    ingest(&server, json!({"bars": [day], "intraday_bars": intraday})).await;
    let found = preview(&server, json!({"alert": below(88)})).await;
    // The low of the bar that begins at 14:36 comes after two thirds of its three minutes, because its high is nearer to its open.
    assert_eq!(last_firing(&found), "2024-03-07T14:38:00.000Z");
    assert_eq!(
        (&found["resolution"], &found["coverage"]["intraday"]),
        (
            &json!("mixed"),
            &json!({"from": "2024-03-07", "to": "2024-03-07", "sessions": 1})
        )
    );
    let day = json!({"alert": below(88), "from": "2024-03-07"});
    assert_eq!(preview(&server, day).await["resolution"], "intraday");
}

async fn session_that_lacks_an_intraday_bar_is_played_as_a_daily_bar(server: TestServer) {
    market(&server).await;
    let (day, mut intraday) = session_in_three_bars();
    intraday.remove(1);
    ingest(&server, json!({"bars": [day], "intraday_bars": intraday})).await;
    let found = preview(&server, json!({"alert": below(88)})).await;
    // The low of the day comes after one third of its six and a half hours, because it is as near to the open as the high.
    assert_eq!(last_firing(&found), "2024-03-07T16:40:00.000Z");
    assert_eq!(
        (&found["resolution"], &found["coverage"]["intraday"]),
        (&json!("1d"), &Value::Null)
    );
}

async fn session_is_played_in_intraday_bars_only_if_all_stocks_have_them(server: TestServer) {
    market(&server).await;
    let (day, intraday) = session_in_three_bars();
    ingest(&server, json!({"bars": [day], "intraday_bars": intraday})).await;
    let both =
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price <= 88 and SPY.price > 1"}});
    let found = preview(&server, json!({"alert": both})).await;
    assert_eq!(last_firing(&found), "2024-03-07T16:40:00.000Z");
    assert_eq!(found["resolution"], "1d");
    let each = json!({"scope": {"symbols": ["AAPL", "SPY"]}, "condition": "price_below", "threshold": 88});
    let found = preview(&server, json!({"alert": each})).await;
    assert_eq!(last_firing(&found), "2024-03-07T14:38:00.000Z");
    assert_eq!(
        (&found["resolution"], &found["coverage"]["intraday"]["sessions"]),
        (&json!("mixed"), &json!(1))
    );
}

async fn alert_on_vwap_is_played_in_sessions_with_intraday_bars(server: TestServer) {
    market(&server).await;
    let (day, intraday) = session_in_three_bars();
    let alert = json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 0.95 * vwap"}});
    let before = preview(&server, json!({"alert": alert})).await;
    assert_eq!(
        (&before["coverage"]["from"], &before["unknown"]["metrics"]),
        (&json!("2024-02-26"), &json!(["vwap"]))
    );
    ingest(&server, json!({"bars": [day], "intraday_bars": intraday})).await;
    let found = preview(&server, json!({"alert": alert})).await;
    assert_eq!(
        (&found["coverage"]["from"], &found["unknown"]),
        (&json!("2024-03-07"), &Value::Null)
    );
    assert_eq!(last_firing(&found), "2024-03-07T14:38:00.000Z");
}

async fn intraday_bars_that_no_preview_can_use_are_rejected(server: TestServer) {
    let bar =
        |time: &str| json!({"symbol": "AAPL", "time": time, "open": 1, "high": 1, "low": 1, "close": 1, "volume": 1});
    let times = [
        "2024-02-07T14:30:00Z",
        "2024-02-06T20:59:00Z",
        "2024-03-07T14:29:59Z",
        "2024-03-07T21:00:00Z",
        "2024-03-08T14:30:00Z",
    ];
    let bars: Vec<_> = times.into_iter().map(bar).collect();
    let answer = server.post("/v1/market/ingest", json!({"intraday_bars": bars}));
    let answer = answer.await.ok(200).body["data"].clone();
    assert_eq!(answer["accepted"]["intraday_bars"], 1);
    let rejected = answer["rejected"].as_array().unwrap().iter();
    let rejected: Vec<_> = rejected
        .map(|row| (row["index"].as_i64().unwrap(), row["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rejected,
        [
            (1, "time is more than 30 days ago; omit the bar"),
            (2, "time is outside of the sessions; omit the bar"),
            (3, "time is outside of the sessions; omit the bar"),
            (
                4,
                "its session has not ended; send its prices as quotes, and the bar after the session"
            ),
        ]
    );
}
