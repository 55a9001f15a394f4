//! `GET /stocks/{symbol}`, `GET /stocks?search=`, `GET /stocks/{symbol}/candles`

use acceptance::clock::days_ago;
use acceptance::market::{Session, bars, flat};
use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_stock_shows_its_figures,
    a_stock_of_which_little_is_known_shows_nulls,
    fundamentals_come_when_they_are_asked_for,
    a_symbol_is_taken_in_any_case,
    a_stock_that_nobody_knows_is_not_found,
    a_wrong_symbol_or_field_is_refused,
    stocks_are_found_by_symbol_and_name,
    candles_come_oldest_first_with_the_running_session_last,
];

async fn a_stock_shows_its_figures(setup: Setup) {
    let world = setup.world().await;
    let stock = json!({"symbol": "AAPL", "name": "Apple Inc.", "type": "stock", "country": "US",
        "sector": "Technology", "industry": "Consumer Electronics", "exchange": "NASDAQ", "isin": "US0378331005"});
    world.ingest(json!({"stocks": [stock]})).await;
    let mut sessions = vec![flat(100.0); 200];
    sessions.push(Session {
        close: 100.0,
        high: 120.0,
        low: 80.0,
        volume: 3000,
    });
    world.ingest(json!({"bars": bars("AAPL", &sessions)})).await;
    world
        .ingest(json!({"quotes": [{"symbol": "AAPL", "price": 110.5, "volume": 5000}]}))
        .await;
    let answer = world.me.get("/stocks/AAPL").await.ok(200);
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
        assert_eq!(answer.data().get(field), Some(&expected), "{field}: {answer}");
    }
    assert!(answer.data()["updated_at"].is_string(), "{answer}");
    let details = &answer.data()["details"];
    for (field, expected) in [
        ("country", "US"),
        ("sector", "Technology"),
        ("industry", "Consumer Electronics"),
        ("exchange", "NASDAQ"),
        ("isin", "US0378331005"),
    ] {
        assert_eq!(details[field], expected, "{answer}");
    }
    assert_eq!(answer.data().get("stock_fundamentals"), None, "{answer}");
}

async fn a_stock_of_which_little_is_known_shows_nulls(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["NEWCO"]).await;
    let answer = world.me.get("/stocks/NEWCO?fields=fundamentals").await.ok(200);
    assert_eq!(answer.data()["name"], "NEWCO Company");
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
        assert_eq!(answer.data().get(field), Some(&Value::Null), "{field}: {answer}");
    }
}

async fn fundamentals_come_when_they_are_asked_for(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let ahead = |days: i64| days_ago(-days).to_string();
    world
        .ingest(json!({
            "fundamentals": [{"symbol": "AAPL", "as_of": days_ago(1).to_string(), "eps_ttm": 5, "eps_forward": 8,
                "market_cap": 3_000_000_000_000_i64, "dividend_yield": 0.5, "dividend_amount": 1.04, "beta": 1.2}],
            "earnings": [{"symbol": "AAPL", "date": ahead(20), "time": "after_close", "eps_estimate": 1.5}],
            "dividends": [{"symbol": "AAPL", "ex_date": ahead(10), "payment_date": ahead(15), "amount": 0.26}],
        }))
        .await;
    let answer = world.me.get("/stocks/AAPL?fields=fundamentals").await.ok(200);
    let fundamentals = &answer.data()["stock_fundamentals"];
    assert_eq!(fundamentals, &answer.data()["fundamentals"]);
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
        assert_eq!(fundamentals[field], expected, "{field}: {answer}");
    }
    assert!(fundamentals["updated_at"].is_string(), "{answer}");
}

async fn a_symbol_is_taken_in_any_case(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("BRK.B", 100.0).await;
    let answer = world.me.get("/stocks/brk.b").await.ok(200);
    assert_eq!(answer.data()["symbol"], "BRK.B");
}

async fn a_stock_that_nobody_knows_is_not_found(setup: Setup) {
    let world = setup.world().await;
    let _ = world.me.get("/stocks/NOSUCH").await.refused(404, "NOT_FOUND");
    let _ = world.me.get("/stocks/NOSUCH/candles").await.refused(404, "NOT_FOUND");
}

async fn a_wrong_symbol_or_field_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for symbol in ["ELEVENCHARS", "A%20B", "%C3%84", "A%00"] {
        let _ = world
            .me
            .get(&format!("/stocks/{symbol}"))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
    for fields in ["everything", "fundamentals,everything", "FUNDAMENTALS"] {
        let _ = world
            .me
            .get(&format!("/stocks/AAPL?fields={fields}"))
            .await
            .wrong_field("fields");
    }
    let _ = world
        .me
        .get("/stocks/AAPL/candles?range=forever")
        .await
        .wrong_field("range");
}

async fn found(world: &World, query: &str) -> Vec<String> {
    let answer = world.me.get(&format!("/stocks?search={query}")).await.ok(200);
    let symbols = answer
        .items()
        .iter()
        .map(|stock| stock["symbol"].as_str().unwrap().to_owned());
    symbols.collect()
}

async fn stocks_are_found_by_symbol_and_name(setup: Setup) {
    let world = setup.world().await;
    world
        .ingest(json!({"stocks": [
            {"symbol": "AAPL", "name": "Apple Inc."},
            {"symbol": "APLE", "name": "Apple Hospitality REIT"},
            {"symbol": "MSFT", "name": "Microsoft Corporation"},
        ]}))
        .await;
    assert_eq!(found(&world, "msft").await, ["MSFT"]);
    assert_eq!(found(&world, "corporation").await, ["MSFT"]);
    let mut apples = found(&world, "apple").await;
    apples.sort();
    assert_eq!(apples, ["AAPL", "APLE"]);
    assert_eq!(found(&world, "%25").await, Vec::<String>::new());
    assert_eq!(found(&world, "zzz").await, Vec::<String>::new());
}

async fn candles_come_oldest_first_with_the_running_session_last(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    let sessions = [Session {
        close: 100.5,
        high: 102.0,
        low: 99.0,
        volume: 1234,
    }; 40];
    world.ingest(json!({"bars": bars("AAPL", &sessions)})).await;
    world
        .ingest(json!({"quotes": [{"symbol": "AAPL", "price": 101, "volume": 10}]}))
        .await;
    world
        .ingest(json!({"quotes": [{"symbol": "AAPL", "price": 103.25, "volume": 20}]}))
        .await;
    let answer = world.me.get("/stocks/AAPL/candles?range=max").await.ok(200);
    let candles = answer.items();
    assert_eq!(candles.len(), 41, "{answer}");
    let dates: Vec<_> = candles.iter().map(|candle| candle["date"].as_str().unwrap()).collect();
    assert!(dates.is_sorted(), "{answer}");
    let first = json!({"date": days_ago(40).to_string(), "open": 100.5, "high": 102, "low": 99, "close": 100.5,
        "volume": 1234});
    let last = json!({"date": days_ago(0).to_string(), "open": 101, "high": 103.25, "low": 101, "close": 103.25,
        "volume": 20});
    assert_eq!((&candles[0], &candles[40]), (&first, &last));
    let month = world.me.get("/stocks/AAPL/candles?range=1m").await.ok(200);
    assert!((28..=32).contains(&month.items().len()), "{month}");
}
