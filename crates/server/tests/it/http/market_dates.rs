//! Dividend and earnings dates, and price performance.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    dividend_is_listed_in_the_months_of_both_dates
    invalid_month_is_rejected
    earnings_default_to_seven_days_from_today
    earnings_span_at_most_a_month
    invalid_date_range_is_rejected
    performance_starts_at_the_last_close_before_the_period
    performance_matches_candles
    performance_omits_unknown_stocks_and_rejects_invalid_input
}

async fn ingest(server: &TestServer, body: Value) {
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

async fn data(server: &TestServer, path: &str) -> Value {
    server.get(&format!("/v1/market/{path}")).await.ok(200).body["data"].clone()
}

/// Returns the names of invalid fields.
async fn faults(server: &TestServer, path: &str) -> Vec<String> {
    let refused = server
        .get(&format!("/v1/market/{path}"))
        .await
        .refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap().clone();
    fields.into_iter().map(|(name, _)| name).collect()
}

async fn dividend_is_listed_in_the_months_of_both_dates(server: TestServer) {
    let dividend = |symbol: &str, ex: &str, paid: Option<&str>| json!({"symbol": symbol, "ex_date": ex, "payment_date": paid, "amount": 0.25});
    ingest(
        &server,
        json!({
            "stocks": [{"symbol": "LATE", "name": "Late Payers"}],
            "dividends": [
                dividend("LATE", "2024-02-29", Some("2024-04-01")), dividend("FIRST", "2024-03-01", None),
                dividend("LAST", "2024-03-31", None), dividend("PAID", "2024-02-05", Some("2024-03-01")),
                dividend("AMID", "2024-03-15", Some("2024-03-28")),
            ],
        }),
    )
    .await;
    let listed = async |query: &str| {
        let dividends = data(&server, &format!("dividend-dates{query}")).await;
        let symbols = dividends
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["symbol"].as_str().unwrap().to_owned());
        symbols.collect::<Vec<_>>()
    };
    assert_eq!(listed("?month=2024-03").await, ["FIRST", "PAID", "AMID", "LAST"]);
    assert_eq!(listed("").await, ["FIRST", "PAID", "AMID", "LAST"], "the present month");
    assert_eq!(listed("?month=2024-02").await, ["PAID", "LATE"]);
    assert_eq!(listed("?month=2024-04").await, ["LATE"]);
    assert_eq!(listed("?month=0000-01").await, Vec::<String>::new());
    assert_eq!(listed("?month=9999-12").await, Vec::<String>::new());
    let expected = json!([{
        "symbol": "LATE", "name": "Late Payers", "ex_date": "2024-02-29", "payment_date": "2024-04-01", "amount": 0.25,
    }]);
    assert_eq!(data(&server, "dividend-dates?month=2024-04").await, expected);
    // The last hours of a month in New York belong to the next month elsewhere.
    server.clock.set("2024-04-01T03:59:59Z".parse().unwrap());
    assert_eq!(listed("").await.len(), 4);
    server.clock.set("2024-04-01T04:00:00Z".parse().unwrap());
    assert_eq!(listed("").await, ["LATE"]);
}

async fn invalid_month_is_rejected(server: TestServer) {
    for month in ["", "2024", "2024-13", "2024-00", "2024-3", "2024-03-01", "March", "%00"] {
        assert_eq!(
            faults(&server, &format!("dividend-dates?month={month}")).await,
            ["month"],
            "{month}"
        );
    }
}

async fn reports(server: &TestServer) {
    let earnings =
        |symbol: &str, date: &str| json!({"symbol": symbol, "date": date, "time": "after_close", "eps_estimate": -1.5});
    ingest(
        server,
        json!({
            "stocks": [{"symbol": "TODAY", "name": "Today Inc."}],
            "earnings": [
                earnings("PAST", "2024-03-07"), earnings("TODAY", "2024-03-08"), earnings("WEEK", "2024-03-14"),
                earnings("LATER", "2024-03-15"), earnings("MONTH", "2024-04-07"), earnings("BEYOND", "2024-04-08"),
                earnings("ATODAY", "2024-03-08"), {"symbol": "TODAY", "date": "2024-06-07"},
            ],
        }),
    )
    .await;
}

async fn earnings_of(server: &TestServer, query: &str) -> Vec<String> {
    let earnings = data(server, &format!("earnings{query}")).await;
    let symbols = earnings
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["symbol"].as_str().unwrap().to_owned());
    symbols.collect()
}

async fn earnings_default_to_seven_days_from_today(server: TestServer) {
    reports(&server).await;
    assert_eq!(earnings_of(&server, "").await, ["ATODAY", "TODAY", "WEEK"]);
    assert_eq!(earnings_of(&server, "?from=2024-03-09").await, ["WEEK", "LATER"]);
    assert_eq!(earnings_of(&server, "?to=2024-03-08").await, ["ATODAY", "TODAY"]);
    let expected = json!({
        "symbol": "TODAY", "name": "Today Inc.", "date": "2024-03-08", "time": "after_close", "eps_estimate": -1.5,
    });
    assert_eq!(data(&server, "earnings").await[1], expected);
    let expected = json!([{"symbol": "TODAY", "name": "Today Inc.", "date": "2024-06-07", "time": "unknown", "eps_estimate": null}]);
    assert_eq!(data(&server, "earnings?from=2024-06-01").await, expected);
}

async fn earnings_span_at_most_a_month(server: TestServer) {
    reports(&server).await;
    let month = earnings_of(&server, "?from=2024-03-08&to=2024-04-07").await;
    assert_eq!(month, ["ATODAY", "TODAY", "WEEK", "LATER", "MONTH"]);
    assert_eq!(faults(&server, "earnings?from=2024-03-08&to=2024-04-08").await, ["to"]);
    assert_eq!(faults(&server, "earnings?to=2024-04-08").await, ["to"], "from today on");
    assert_eq!(earnings_of(&server, "?from=2024-03-07&to=2024-03-07").await, ["PAST"]);
}

async fn invalid_date_range_is_rejected(server: TestServer) {
    assert_eq!(faults(&server, "earnings?from=2024-03-08&to=2024-03-07").await, ["to"]);
    assert_eq!(
        faults(&server, "earnings?to=2024-03-07").await,
        ["to"],
        "today is the first day"
    );
    assert_eq!(
        faults(&server, "earnings?from=yesterday&to=2024-02-30").await,
        ["from", "to"]
    );
    for date in [
        "",
        "2024-3-8",
        "20240308",
        "2024-03-08T00:00:00Z",
        "%2B2024-03-08",
        "%00",
    ] {
        assert_eq!(
            faults(&server, &format!("earnings?from={date}")).await,
            ["from"],
            "{date}"
        );
    }
    assert_eq!(data(&server, "earnings?from=9999-12-31").await, json!([]));
}

fn bar(symbol: &str, date: &str, close: f64) -> Value {
    json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 10})
}

async fn performance_starts_at_the_last_close_before_the_period(server: TestServer) {
    ingest(
        &server,
        json!({
            "stocks": [{"symbol": "SPLIT", "name": "Split & Co"}],
            "bars": [
                bar("SPLIT", "2023-03-07", 999.0), bar("SPLIT", "2023-03-08", 100.0), bar("SPLIT", "2023-03-09", 200.0),
                bar("GAP", "2023-03-07", 50.0), bar("GAP", "2023-03-09", 70.0), bar("GAP", "2024-03-07", 75.0),
                bar("YOUNG", "2024-03-01", 40.0), bar("YOUNG", "2024-03-06", 30.0), bar("ONCE", "2024-03-07", 5.0),
            ],
            "splits": [{"symbol": "SPLIT", "date": "2024-03-08", "ratio": 4}],
            "quotes": [{"symbol": "SPLIT", "price": 30}, {"symbol": "QUOTED", "price": 7}],
        }),
    )
    .await;
    let moved = data(&server, "performance?symbols=SPLIT,GAP,YOUNG,ONCE,QUOTED").await;
    let row = |symbol: &str, first: (Value, Value), last: (&str, Value), percent: Value| {
        let name = if symbol == "SPLIT" { "Split & Co" } else { symbol };
        json!({
            "symbol": symbol, "name": name, "first_date": first.0, "first_price": first.1, "last_date": last.0, "last_price": last.1,
            "return_pct": percent,
        })
    };
    let expected = json!([
        row(
            "SPLIT",
            (json!("2023-03-08"), json!(25)),
            ("2024-03-08", json!(30)),
            json!(20)
        ),
        row(
            "GAP",
            (json!("2023-03-07"), json!(50)),
            ("2024-03-07", json!(75)),
            json!(50)
        ),
        row(
            "YOUNG",
            (json!("2024-03-01"), json!(40)),
            ("2024-03-06", json!(30)),
            json!(-25)
        ),
        row(
            "ONCE",
            (json!("2024-03-07"), json!(5)),
            ("2024-03-07", json!(5)),
            Value::Null
        ),
        row(
            "QUOTED",
            (Value::Null, Value::Null),
            ("2024-03-08", json!(7)),
            Value::Null
        ),
    ]);
    assert_eq!(moved, expected);
    let max = data(&server, "performance?symbols=split&period=max").await;
    assert_eq!(
        (&max[0]["first_date"], &max[0]["first_price"]),
        (&json!("2023-03-07"), &json!(249.75))
    );
}

async fn performance_matches_candles(server: TestServer) {
    let calendar = market::Calendar::nyse();
    let days = calendar.sessions("2018-06-01".parse().unwrap(), "2024-03-07".parse().unwrap());
    let bars: Vec<_> = days
        .zip(0_u32..)
        .map(|(session, n)| bar("ACME", &session.date.to_string(), f64::from(100 + (n * 7919) % 61)))
        .collect();
    let split = |date: &str, ratio: f64| json!({"symbol": "ACME", "date": date, "ratio": ratio});
    let splits = [
        split("2019-02-04", 2.0),
        split("2023-09-05", 0.5),
        split("2024-02-20", 3.0),
    ];
    ingest(
        &server,
        json!({"bars": bars, "splits": splits, "quotes": [{"symbol": "ACME", "price": 123.45}]}),
    )
    .await;
    let all = server.get("/v1/stocks/ACME/candles?range=max").await.ok(200).body["data"].clone();
    let all = all.as_array().unwrap();
    for (period, begins) in [
        ("1m", "2024-02-08"),
        ("3m", "2023-12-08"),
        ("6m", "2023-09-08"),
        ("1y", "2023-03-08"),
        ("5y", "2019-03-08"),
        ("max", "0000-00-00"),
    ] {
        let before = all
            .iter()
            .rev()
            .find(|candle| candle["date"].as_str().unwrap() <= begins);
        let (first, last) = (before.unwrap_or(&all[0]), &all[all.len() - 1]);
        let moved = data(&server, &format!("performance?symbols=ACME&period={period}")).await[0].clone();
        assert_eq!(
            (&moved["first_date"], &moved["first_price"]),
            (&first["date"], &first["close"]),
            "{period}"
        );
        assert_eq!(
            (&moved["last_date"], &moved["last_price"]),
            (&last["date"], &last["close"]),
            "{period}"
        );
        let expected = (last["close"].as_f64().unwrap() / first["close"].as_f64().unwrap() - 1.0) * 100.0;
        let found = moved["return_pct"].as_f64().unwrap();
        assert!((found - expected).abs() < 2e-6, "{period}: {found}, not {expected}");
    }
}

async fn performance_omits_unknown_stocks_and_rejects_invalid_input(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let found = data(&server, "performance?symbols=NOSUCH,aapl").await;
    assert_eq!(
        (found.as_array().unwrap().len(), &found[0]["symbol"]),
        (1, &json!("AAPL"))
    );
    assert_eq!(data(&server, "performance?symbols=NOSUCH").await, json!([]));
    for query in ["", "?symbols=", "?symbols=A%20B", "?symbols=ELEVENCHARS"] {
        assert_eq!(
            faults(&server, &format!("performance{query}")).await,
            ["symbols"],
            "{query}"
        );
    }
    let symbols = |count: usize| vec!["AAPL"; count].join(",");
    assert_eq!(
        data(&server, &format!("performance?symbols={}", symbols(100)))
            .await
            .as_array()
            .unwrap()
            .len(),
        100
    );
    assert_eq!(
        faults(&server, &format!("performance?symbols={}", symbols(101))).await,
        ["symbols"]
    );
    for period in ["2y", "", "1Y"] {
        assert_eq!(
            faults(&server, &format!("performance?symbols=AAPL&period={period}")).await,
            ["period"],
            "{period}"
        );
    }
}
