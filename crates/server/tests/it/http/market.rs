//! Stocks and the market over HTTP.

use serde_json::{Value, json};

use crate::http::test_server::TestServer;

#[tokio::test]
async fn stock_has_nulls_for_unknown_fields_and_optional_fundamentals() {
    let server = TestServer::new().await;
    let stock = json!({"symbol": "NEWCO", "name": "New & Co", "type": "etf", "sector": "Energy"});
    let _ = server
        .post("/v1/market/ingest", json!({"stocks": [stock]}))
        .await
        .ok(200);
    let plain = server.get("/v1/stocks/newco").await.ok(200).body["data"].clone();
    assert_eq!(
        (&plain["symbol"], &plain["name"], &plain["type"]),
        (&json!("NEWCO"), &json!("New & Co"), &json!("etf"))
    );
    assert_eq!(plain["details"]["sector"], "Energy");
    for field in [
        "last_price",
        "previous_close",
        "change",
        "change_percent",
        "rsi",
        "ma_50",
        "volume",
        "updated_at",
    ] {
        assert_eq!(plain.get(field), Some(&Value::Null), "{field}");
    }
    assert_eq!(plain.get("stock_fundamentals"), None);
    let whole = server.get("/v1/stocks/NEWCO?fields=fundamentals").await.ok(200).body["data"].clone();
    assert_eq!(whole["stock_fundamentals"]["eps_ttm"], Value::Null);
    assert_eq!(whole["stock_fundamentals"], whole["fundamentals"]);
    assert_eq!(server.get("/v1/stocks/NEWCO?fields=").await.ok(200).body["data"], plain);
}

#[tokio::test]
async fn malformed_symbol_is_422_and_unknown_symbol_is_404() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    for path in ["ELEVENCHARS", "A%20B", "%C3%84", "A%00", "%FF"] {
        let _ = server
            .get(&format!("/v1/stocks/{path}"))
            .await
            .refused(422, "VALIDATION_ERROR");
        let _ = server
            .get(&format!("/v1/stocks/{path}/candles"))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
    let _ = server.get("/v1/stocks/NOSUCH").await.refused(404, "NOT_FOUND");
    for (query, field) in [
        ("AAPL?fields=everything", "fields"),
        ("AAPL/candles?range=ever", "range"),
    ] {
        let refused = server
            .get(&format!("/v1/stocks/{query}"))
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{query}");
    }
}

#[tokio::test]
async fn search_finds_symbol_and_name() {
    let server = TestServer::new().await;
    for symbol in ["AAPL", "AAP", "MSFT"] {
        server.set_price(symbol, 100.0).await;
    }
    let found = async |query: &str| {
        let response = server.get(&format!("/v1/stocks?{query}")).await.ok(200);
        let stocks = response.body["data"].as_array().unwrap().clone();
        stocks
            .iter()
            .map(|stock| stock["symbol"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("search=aap").await, ["AAP", "AAPL"]);
    assert_eq!(found("search=msft%20company").await, ["MSFT"]);
    assert_eq!(found("search=zzz").await, Vec::<String>::new());
    assert_eq!(found("limit=1").await.len(), 1);
}

#[tokio::test]
async fn quotes_and_candles_include_the_current_session() {
    let server = TestServer::new().await;
    let bar = json!({"symbol": "AAPL", "date": "2024-03-07", "open": 1, "high": 3, "low": 1, "close": 2, "volume": 7});
    let body = json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}], "bars": [bar],
        "quotes": [{"symbol": "AAPL", "price": 2.5, "volume": 9}]});
    assert_eq!(
        server.post("/v1/market/ingest", body).await.ok(200).body["data"]["accepted"]["bars"],
        1
    );
    let candles = server.get("/v1/stocks/AAPL/candles?range=1m").await.ok(200);
    let expected = json!([
        {"date": "2024-03-07", "open": 1, "high": 3, "low": 1, "close": 2, "volume": 7},
        {"date": "2024-03-08", "open": 2.5, "high": 2.5, "low": 2.5, "close": 2.5, "volume": 9},
    ]);
    assert_eq!(candles.body["data"], expected);
    let quotes = server.get("/v1/quotes?symbols=aapl,NOSUCH").await.ok(200);
    let expected = json!([{"symbol": "AAPL", "price": 2.5, "previous_close": 2, "change": 0.5, "change_percent": 25,
        "volume": 9, "time": "2024-03-08T15:00:00.000Z"}]);
    assert_eq!(quotes.body["data"], expected);
    for query in ["", "?symbols=", "?symbols=A%20B"] {
        let refused = server
            .get(&format!("/v1/quotes{query}"))
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"]["symbols"].is_array(),
            "{query}"
        );
    }
}

#[tokio::test]
async fn market_status_reports_open_and_closed() {
    let server = TestServer::new().await;
    let status = server.get("/v1/market/status").await.ok(200);
    let expected = json!({"is_open": true, "open": true, "next_open": "2024-03-11T13:30:00.000Z",
        "next_close": "2024-03-08T21:00:00.000Z", "now": "2024-03-08T15:00:00.000Z"});
    assert_eq!(status.body["data"], expected);
}

#[tokio::test]
async fn pushed_elements_are_validated_separately() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let body = json!({"quotes": [{"symbol": "AAPL", "price": 0}, {"symbol": "AAPL", "price": 101}], "bars": []});
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["accepted"]["quotes"], 1);
    let rejected = &response.body["data"]["rejected"];
    assert_eq!(
        (&rejected[0]["kind"], &rejected[0]["index"]),
        (&json!("quotes"), &json!(0)),
        "{response:?}"
    );
    let refused = server
        .post("/v1/market/ingest", json!({"quotes": 5}))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["quotes"].is_array());
}
