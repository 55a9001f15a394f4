//! `GET /stocks/{symbol}`, `GET /stocks?search=`, `GET /stocks/{symbol}/candles`

use acceptance::clock::days_ago;
use acceptance::market::{SessionBar, bars, flat};
use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    stock_has_price_and_indicator_fields,
    stock_without_data_has_null_fields,
    fundamentals_are_included_on_request,
    symbol_is_case_insensitive,
    unknown_stock_is_404,
    invalid_symbol_or_field_is_422,
    search_matches_symbol_and_name,
    candles_are_oldest_first_with_the_current_session_last,
];

async fn stock_has_price_and_indicator_fields(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let stock = json!({"symbol": "AAPL", "name": "Apple Inc.", "type": "stock", "country": "US",
        "sector": "Technology", "industry": "Consumer Electronics", "exchange": "NASDAQ", "isin": "US0378331005"});
    env.ingest(json!({"stocks": [stock]})).await;
    let mut sessions = vec![flat(100.0); 200];
    sessions.push(SessionBar {
        close: 100.0,
        high: 120.0,
        low: 80.0,
        volume: 3000,
    });
    env.ingest(json!({"bars": bars("AAPL", &sessions)})).await;
    env.ingest(json!({"quotes": [{"symbol": "AAPL", "price": 110.5, "volume": 5000}]}))
        .await;
    let response = env.operator.get("/stocks/AAPL").await.expect_ok(200);
    for (field, expected) in [
        ("symbol", json!("AAPL")),
        ("name", json!("Apple Inc.")),
        ("last_price", json!(110.5)),
        ("previous_close", json!(100)),
        ("change", json!(10.5)),
        ("change_percent", json!(10.5)),
        ("high_52w", json!(120)),
        ("low_52w", json!(80)),
        ("rsi", json!(100)),
        ("ma_50", json!(100.21)),
        ("ma_200", json!(100.0525)),
        ("volume", json!(5000)),
        ("volume_ma_20", json!(1100)),
        ("volume_ma_100", json!(1020)),
        ("type", json!("stock")),
        ("is_active", json!(true)),
    ] {
        assert_eq!(response.data().get(field), Some(&expected), "{field}: {response}");
    }
    assert!(response.data()["updated_at"].is_string(), "{response}");
    let details = &response.data()["details"];
    for (field, expected) in [
        ("country", "US"),
        ("sector", "Technology"),
        ("industry", "Consumer Electronics"),
        ("exchange", "NASDAQ"),
        ("isin", "US0378331005"),
    ] {
        assert_eq!(details[field], expected, "{response}");
    }
    assert_eq!(response.data().get("stock_fundamentals"), None, "{response}");
}

async fn stock_without_data_has_null_fields(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["NEWCO"]).await;
    let response = env
        .operator
        .get("/stocks/NEWCO?fields=fundamentals")
        .await
        .expect_ok(200);
    assert_eq!(response.data()["name"], "NEWCO Company");
    for field in [
        "last_price",
        "previous_close",
        "change",
        "high_52w",
        "rsi",
        "ma_200",
        "volume",
        "volume_ma_20",
    ] {
        assert_eq!(response.data().get(field), Some(&Value::Null), "{field}: {response}");
    }
}

async fn fundamentals_are_included_on_request(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let ahead = |days: i64| days_ago(-days).to_string();
    env.ingest(json!({
        "fundamentals": [{"symbol": "AAPL", "as_of": days_ago(1).to_string(), "eps_ttm": 5, "eps_forward": 8,
            "market_cap": 3_000_000_000_000_i64, "dividend_yield": 0.5, "dividend_amount": 1.04, "beta": 1.2}],
        "earnings": [{"symbol": "AAPL", "date": ahead(20), "time": "after_close", "eps_estimate": 1.5}],
        "dividends": [{"symbol": "AAPL", "ex_date": ahead(10), "payment_date": ahead(15), "amount": 0.26}],
    }))
    .await;
    let response = env
        .operator
        .get("/stocks/AAPL?fields=fundamentals")
        .await
        .expect_ok(200);
    let fundamentals = &response.data()["stock_fundamentals"];
    assert_eq!(fundamentals, &response.data()["fundamentals"]);
    for (field, expected) in [
        ("eps_ttm", json!(5)),
        ("eps_forward", json!(8)),
        ("pe_ratio", json!(20)),
        ("forward_pe", json!(12.5)),
        ("market_cap", json!(3_000_000_000_000_i64)),
        ("dividend_yield", json!(0.5)),
        ("dividend_amount", json!(1.04)),
        ("ex_dividend_date", json!(ahead(10))),
        ("dividend_payment_date", json!(ahead(15))),
        ("next_earnings_date", json!(ahead(20))),
        ("beta", json!(1.2)),
    ] {
        assert_eq!(fundamentals[field], expected, "{field}: {response}");
    }
    assert!(fundamentals["updated_at"].is_string(), "{response}");
}

async fn symbol_is_case_insensitive(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("BRK.B", 100.0).await;
    let response = env.operator.get("/stocks/brk.b").await.expect_ok(200);
    assert_eq!(response.data()["symbol"], "BRK.B");
}

async fn unknown_stock_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let _ = env.operator.get("/stocks/NOSUCH").await.expect_error(404, "NOT_FOUND");
    let _ = env
        .operator
        .get("/stocks/NOSUCH/candles")
        .await
        .expect_error(404, "NOT_FOUND");
}

async fn invalid_symbol_or_field_is_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for symbol in ["ELEVENCHARS", "A%20B", "%C3%84", "A%00"] {
        let _ = env
            .operator
            .get(&format!("/stocks/{symbol}"))
            .await
            .expect_error(422, "VALIDATION_ERROR");
    }
    for fields in ["everything", "fundamentals,everything", "FUNDAMENTALS"] {
        let _ = env
            .operator
            .get(&format!("/stocks/AAPL?fields={fields}"))
            .await
            .expect_field_error("fields");
    }
    let _ = env
        .operator
        .get("/stocks/AAPL/candles?range=forever")
        .await
        .expect_field_error("range");
}

async fn search(env: &TestEnvironment, query: &str) -> Vec<String> {
    let response = env
        .operator
        .get(&format!("/stocks?search={query}"))
        .await
        .expect_ok(200);
    let symbols = response
        .items()
        .iter()
        .map(|stock| stock["symbol"].as_str().unwrap().to_owned());
    symbols.collect()
}

async fn search_matches_symbol_and_name(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.ingest(json!({"stocks": [
        {"symbol": "AAPL", "name": "Apple Inc."},
        {"symbol": "APLE", "name": "Apple Hospitality REIT"},
        {"symbol": "MSFT", "name": "Microsoft Corporation"},
    ]}))
    .await;
    assert_eq!(search(&env, "msft").await, ["MSFT"]);
    assert_eq!(search(&env, "corporation").await, ["MSFT"]);
    let mut apples = search(&env, "apple").await;
    apples.sort();
    assert_eq!(apples, ["AAPL", "APLE"]);
    assert_eq!(search(&env, "%25").await, Vec::<String>::new());
    assert_eq!(search(&env, "zzz").await, Vec::<String>::new());
}

async fn candles_are_oldest_first_with_the_current_session_last(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    let sessions = [SessionBar {
        close: 100.5,
        high: 102.0,
        low: 99.0,
        volume: 1234,
    }; 40];
    env.ingest(json!({"bars": bars("AAPL", &sessions)})).await;
    env.ingest(json!({"quotes": [{"symbol": "AAPL", "price": 101, "volume": 10}]}))
        .await;
    env.ingest(json!({"quotes": [{"symbol": "AAPL", "price": 103.25, "volume": 20}]}))
        .await;
    let response = env.operator.get("/stocks/AAPL/candles?range=max").await.expect_ok(200);
    let candles = response.items();
    assert_eq!(candles.len(), 41, "{response}");
    let dates: Vec<_> = candles.iter().map(|candle| candle["date"].as_str().unwrap()).collect();
    assert!(dates.is_sorted(), "{response}");
    let first = json!({"date": days_ago(40).to_string(), "open": 100.5, "high": 102, "low": 99, "close": 100.5,
        "volume": 1234});
    let last = json!({"date": days_ago(0).to_string(), "open": 101, "high": 103.25, "low": 101, "close": 103.25,
        "volume": 20});
    assert_eq!((&candles[0], &candles[40]), (&first, &last));
    let month = env.operator.get("/stocks/AAPL/candles?range=1m").await.expect_ok(200);
    assert!((28..=32).contains(&month.items().len()), "{month}");
}
