//! The market overview: indices, movers, sentiment.

use serde_json::{Value, json};
use testkit::Database;

use crate::http::identity::{on_each_database, start_server, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    indices_are_the_benchmark_indices_and_known_index_funds
    movers_are_companies_of_the_latest_session
    movers_limit_is_applied
    sentiment_counts_companies_of_the_latest_session
    sentiment_label_requires_twenty_companies
    sentiment_matches_a_direct_calculation
    overview_without_data_is_empty
    overview_has_both_prefixes_and_requires_the_stocks_scope
}

fn bar(symbol: &str, date: &str, close: f64) -> Value {
    json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 10})
}

fn quote(symbol: &str, price: f64, volume: i64) -> Value {
    json!({"symbol": symbol, "price": price, "volume": volume})
}

async fn ingest(server: &TestServer, body: Value) {
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

async fn data(server: &TestServer, path: &str) -> Value {
    server.get(&format!("/v1/market/{path}")).await.ok(200).body["data"].clone()
}

fn symbols(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|item| item["symbol"].as_str().unwrap()).collect()
}

/// Ingests Thursday's closes and Friday's prices of companies and other instruments.
async fn two_days(server: &TestServer) {
    ingest(
        server,
        json!({
            "stocks": [
                {"symbol": "UPA", "name": "Up & Co"}, {"symbol": "UPB", "name": "Upper", "type": "adr"},
                {"symbol": "DOWN", "name": "Down"}, {"symbol": "FLAT", "name": "Flat"},
                {"symbol": "FUND", "name": "A fund", "type": "etf"}, {"symbol": "SPY", "name": "The market"},
                {"symbol": "GONE", "name": "Gone", "is_active": false}, {"symbol": "OLD", "name": "Not seen today"},
                {"symbol": "NEW", "name": "First seen today"},
            ],
            "bars": [
                bar("UPA", "2024-03-07", 100.0), bar("UPB", "2024-03-07", 50.0), bar("DOWN", "2024-03-07", 80.0),
                bar("FLAT", "2024-03-07", 10.0), bar("FUND", "2024-03-07", 10.0), bar("SPY", "2024-03-07", 500.0),
                bar("GONE", "2024-03-07", 10.0), bar("OLD", "2024-03-06", 10.0), bar("OLD", "2024-03-07", 20.0),
            ],
            "quotes": [
                quote("UPA", 110.0, 5), quote("UPB", 55.0, 5), quote("DOWN", 60.0, 9), quote("FLAT", 10.0, 7),
                quote("FUND", 30.0, 99), quote("SPY", 505.0, 99), quote("GONE", 30.0, 99), quote("NEW", 1.0, 99),
            ],
        }),
    )
    .await;
}

async fn indices_are_the_benchmark_indices_and_known_index_funds(server: TestServer) {
    let stock = |symbol: &str, kind: Option<&str>| json!({"symbol": symbol, "name": symbol, "type": kind});
    let gone = json!({"symbol": "DIA", "name": "DIA", "is_active": false});
    ingest(
        &server,
        json!({
            "stocks": [stock("SPY", Some("etf")), stock("QQQ", None), stock("ACME", Some("index")), stock("XLE", Some("etf")),
                stock("AAPL", Some("stock")), gone],
            "bars": [bar("SPY", "2024-03-07", 500.0)], "quotes": [quote("SPY", 505.0, 7)],
        }),
    )
    .await;
    let indices = data(&server, "indices").await;
    assert_eq!(symbols(&indices), ["SPY", "ACME", "QQQ"]);
    let expected = json!({
        "symbol": "SPY", "name": "SPY", "type": "etf", "is_benchmark": true, "price": 505, "previous_close": 500, "change": 5,
        "change_percent": 1, "volume": 7, "time": "2024-03-08T15:00:00.000Z",
    });
    assert_eq!(indices[0], expected);
    let unseen = &indices[2];
    assert_eq!(
        (&unseen["is_benchmark"], &unseen["type"]),
        (&json!(false), &Value::Null)
    );
    for field in ["price", "previous_close", "change", "change_percent", "volume", "time"] {
        assert_eq!(unseen.get(field), Some(&Value::Null), "{field}");
    }
    // A configured benchmark comes first, whatever its type.
    let server = TestServer::with_database(Database::sqlite(), unlimited(), |settings| {
        settings.evaluation.benchmark = "ACME".parse().unwrap();
    })
    .await;
    ingest(
        &server,
        json!({"stocks": [stock("ACME", Some("stock")), stock("AAPL", None), stock("SPY", None)]}),
    )
    .await;
    let indices = data(&server, "indices").await;
    assert_eq!(symbols(&indices), ["ACME", "SPY"]);
    assert_eq!(indices[0]["is_benchmark"], true);
}

async fn movers_are_companies_of_the_latest_session(server: TestServer) {
    two_days(&server).await;
    let movers = data(&server, "top-movers").await;
    assert_eq!(movers["date"], "2024-03-08");
    assert_eq!(
        movers["coverage"],
        json!({"stocks": 4, "of": 6}),
        "NEW has no close before, OLD no price today"
    );
    assert_eq!(symbols(&movers["gainers"]), ["UPA", "UPB"], "equals by symbol");
    assert_eq!(symbols(&movers["losers"]), ["DOWN"]);
    assert_eq!(symbols(&movers["most_active"]), ["DOWN", "FLAT", "UPA", "UPB"]);
    let expected = json!({
        "symbol": "DOWN", "name": "Down", "price": 60, "previous_close": 80, "change": -20, "change_percent": -25, "volume": 9,
        "time": "2024-03-08T15:00:00.000Z",
    });
    assert_eq!(movers["losers"][0], expected);
}

async fn movers_limit_is_applied(server: TestServer) {
    two_days(&server).await;
    let movers = data(&server, "top-movers?limit=1").await;
    let lengths = ["gainers", "losers", "most_active"].map(|list| movers[list].as_array().unwrap().len());
    assert_eq!(lengths, [1, 1, 1]);
    let many: Vec<_> = (0..60).map(|n| format!("M{n}")).collect();
    let bars: Vec<_> = many.iter().map(|symbol| bar(symbol, "2024-03-07", 1.0)).collect();
    let quotes: Vec<_> = many.iter().map(|symbol| quote(symbol, 2.0, 1)).collect();
    ingest(&server, json!({"bars": bars, "quotes": quotes})).await;
    for (query, expected) in [
        ("", 10),
        ("?limit=50", 50),
        ("?limit=51", 50),
        ("?limit=99999999999999", 50),
    ] {
        let movers = data(&server, &format!("top-movers{query}")).await;
        assert_eq!(movers["gainers"].as_array().unwrap().len(), expected, "{query}");
    }
    for query in ["limit=0", "limit=-1", "limit=ten", "limit="] {
        let refused = server.get(&format!("/v1/market/top-movers?{query}")).await;
        let refused = refused.refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"]["limit"].is_array(),
            "{query}"
        );
    }
}

async fn sentiment_counts_companies_of_the_latest_session(server: TestServer) {
    two_days(&server).await;
    // UPA and UPB rose, DOWN fell, FLAT is unchanged. Each is at or beyond the range of its only earlier session.
    let expected = json!({
        "date": "2024-03-08", "stocks": 4, "coverage": {"stocks": 4, "of": 6}, "advancers": 2, "decliners": 1, "unchanged": 1, "advance_decline_ratio": 2,
        "above_ma_50_pct": null, "above_ma_200_pct": null, "new_highs_52w": 2, "new_lows_52w": 1,
        // (66.666667 + (50 + 12.5)) ÷ 2
        "score": 64.6, "label": null,
    });
    assert_eq!(data(&server, "sentiment").await, expected);
}

async fn sentiment_label_requires_twenty_companies(server: TestServer) {
    let company = |n: usize| format!("C{n}");
    let bars: Vec<_> = (0..20).map(|n| bar(&company(n), "2024-03-07", 100.0)).collect();
    let quotes: Vec<_> = (0..19).map(|n| quote(&company(n), 110.0, 1)).collect();
    ingest(&server, json!({"bars": bars, "quotes": quotes})).await;
    let nineteen = data(&server, "sentiment").await;
    assert_eq!(nineteen["coverage"], json!({"stocks": 19, "of": 20}));
    assert_eq!((&nineteen["score"], &nineteen["label"]), (&json!(100), &Value::Null));
    ingest(&server, json!({"quotes": [quote(&company(19), 110.0, 1)]})).await;
    let twenty = data(&server, "sentiment").await;
    assert_eq!(twenty["coverage"], json!({"stocks": 20, "of": 20}));
    assert_eq!(twenty["label"], "very_bullish");
}

/// Returns a deterministic number from 0 to `below`.
fn drawn(stock: usize, day: usize, below: u64) -> f64 {
    let place = u64::try_from(stock * 1009 + day).unwrap();
    let mixed = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33;
    f64::from(u32::try_from(mixed % below).unwrap())
}

async fn sentiment_matches_a_direct_calculation(server: TestServer) {
    const STOCKS: usize = 9;
    let calendar = market::Calendar::nyse();
    let (from, to) = ("2023-02-01".parse().unwrap(), "2024-03-07".parse().unwrap());
    let days: Vec<_> = calendar.sessions(from, to).map(|session| session.date).collect();
    let mut closes: Vec<Vec<f64>> = Vec::new();
    for stock in 0..STOCKS {
        // Later stocks have too few sessions for one or both averages.
        let age = [days.len(), 199, 198, 49, 48][stock % 5];
        let young = days.len() - age;
        let walk = (young..days.len()).scan(1000.0, |price, day| {
            *price += drawn(stock, day, 21) - 10.0;
            Some(*price)
        });
        let closes_of: Vec<f64> = walk.collect();
        let bars: Vec<_> = days[young..]
            .iter()
            .zip(&closes_of)
            .map(|(day, close)| {
                json!({"symbol": format!("S{stock}"), "date": day.to_string(), "open": close, "high": close + 1.0,
                    "low": close - 1.0, "close": close, "volume": 1})
            })
            .collect();
        ingest(&server, json!({"bars": bars})).await;
        closes.push(closes_of);
    }
    for round in 0..4 {
        let prices: Vec<f64> = closes
            .iter()
            .enumerate()
            .map(|(stock, closes)| closes[closes.len() - 1] + (drawn(stock, 7000 + round, 41) - 20.0) * 4.0)
            .collect();
        let quotes: Vec<_> = prices
            .iter()
            .enumerate()
            .map(|(stock, price)| quote(&format!("S{stock}"), *price, 1))
            .collect();
        ingest(&server, json!({"quotes": quotes})).await;
        let first = days
            .iter()
            .position(|day| day.to_string().as_str() >= "2023-03-10")
            .unwrap();
        let count = |test: &dyn Fn(&[f64], f64) -> bool| {
            closes
                .iter()
                .zip(&prices)
                .filter(|(closes, price)| test(closes, **price))
                .count()
        };
        let mean_with = |closes: &[f64], price: f64, period: usize| {
            let past = closes.len().checked_sub(period - 1)?;
            Some((closes[past..].iter().sum::<f64>() + price) / f64::from(u32::try_from(period).unwrap()))
        };
        let share = |period: usize| {
            let with = count(&|closes, price| mean_with(closes, price, period).is_some());
            let above = count(&|closes, price| mean_with(closes, price, period).is_some_and(|mean| price > mean));
            100.0 * f64::from(u32::try_from(above).unwrap()) / f64::from(u32::try_from(with).unwrap())
        };
        let year = |closes: &[f64]| closes[closes.len().saturating_sub(days.len() - first)..].to_vec();
        let sentiment = data(&server, "sentiment").await;
        for (field, expected) in [
            ("stocks", STOCKS),
            ("advancers", count(&|closes, price| price > closes[closes.len() - 1])),
            ("decliners", count(&|closes, price| price < closes[closes.len() - 1])),
            (
                "unchanged",
                count(&|closes, price| price.total_cmp(&closes[closes.len() - 1]).is_eq()),
            ),
        ] {
            assert_eq!(
                sentiment[field],
                json!(expected),
                "{field} in round {round}: {sentiment}"
            );
        }
        for (field, expected) in [("above_ma_50_pct", share(50)), ("above_ma_200_pct", share(200))] {
            let found = sentiment[field].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-6,
                "{field} in round {round}: {sentiment}, not {expected}"
            );
        }
        // The day's high and low cover all rounds so far. The first round has only its own price.
        if round == 0 {
            let highs = count(&|closes, price| year(closes).iter().all(|close| price > close + 1.0));
            let lows = count(&|closes, price| year(closes).iter().all(|close| price < close - 1.0));
            assert_eq!(
                (&sentiment["new_highs_52w"], &sentiment["new_lows_52w"]),
                (&json!(highs), &json!(lows))
            );
            assert!(highs > 0 && lows > 0, "the draw has both: {sentiment}");
        }
    }
}

async fn overview_without_data_is_empty(server: TestServer) {
    assert_eq!(data(&server, "indices").await, json!([]));
    let coverage = json!({"stocks": 0, "of": 0});
    let movers = json!({"date": null, "coverage": coverage, "gainers": [], "losers": [], "most_active": []});
    assert_eq!(data(&server, "top-movers").await, movers);
    let sentiment = json!({
        "date": null, "stocks": 0, "coverage": coverage, "advancers": 0, "decliners": 0, "unchanged": 0, "advance_decline_ratio": null,
        "above_ma_50_pct": null, "above_ma_200_pct": null, "new_highs_52w": 0, "new_lows_52w": 0, "score": null, "label": null,
    });
    assert_eq!(data(&server, "sentiment").await, sentiment);
}

async fn overview_has_both_prefixes_and_requires_the_stocks_scope(server: TestServer) {
    let alerts_only = server
        .another_key("operator@example.com", &[foundation::Scope::AlertsRead])
        .await;
    for path in [
        "indices",
        "top-movers",
        "sentiment",
        "dividend-dates",
        "earnings",
        "performance?symbols=SPY",
    ] {
        for prefix in ["/v1", "/api/v1"] {
            let _: TestResponse = server.get(&format!("{prefix}/market/{path}")).await.ok(200);
        }
        let path = format!("/v1/market/{path}");
        let _ = server.anonymous("GET", &path).send().await.refused(401, "UNAUTHORIZED");
        let request = server.anonymous("GET", &path).header("x-api-key", &alerts_only);
        let refused = request.send().await.refused(403, "FORBIDDEN");
        assert_eq!(refused.body["error"]["details"]["required"], "stocks:read", "{path}");
    }
}
