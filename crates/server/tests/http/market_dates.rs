//! What the calendar has of companies, and how far their prices moved.

use serde_json::{Value, json};

use crate::signing::{on_each_database, world};
use crate::world::World;

on_each_database! {
    a_dividend_is_listed_in_the_months_of_its_two_dates
    what_is_no_month_is_refused
    earnings_are_listed_from_today_for_seven_days
    earnings_are_listed_for_a_month_at_most
    what_is_no_span_of_days_is_refused
    performance_begins_with_the_last_close_there_was
    performance_is_what_candles_show
    performance_leaves_out_what_is_unknown_and_refuses_what_is_wrong
}

async fn deliver(world: &World, body: Value) {
    let answer = world.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(answer.body["data"]["rejected"], json!([]));
}

async fn data(world: &World, path: &str) -> Value {
    world.get(&format!("/v1/market/{path}")).await.ok(200).body["data"].clone()
}

/// The fields at fault.
async fn faults(world: &World, path: &str) -> Vec<String> {
    let refused = world
        .get(&format!("/v1/market/{path}"))
        .await
        .refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap().clone();
    fields.into_iter().map(|(name, _)| name).collect()
}

async fn a_dividend_is_listed_in_the_months_of_its_two_dates(world: World) {
    let dividend = |symbol: &str, ex: &str, paid: Option<&str>| json!({"symbol": symbol, "ex_date": ex, "payment_date": paid, "amount": 0.25});
    deliver(
        &world,
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
        let dividends = data(&world, &format!("dividend-dates{query}")).await;
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
    assert_eq!(data(&world, "dividend-dates?month=2024-04").await, expected);
    // The last hours of a month in New York are the next one elsewhere.
    world.clock.set("2024-04-01T03:59:59Z".parse().unwrap());
    assert_eq!(listed("").await.len(), 4);
    world.clock.set("2024-04-01T04:00:00Z".parse().unwrap());
    assert_eq!(listed("").await, ["LATE"]);
}

async fn what_is_no_month_is_refused(world: World) {
    for month in ["", "2024", "2024-13", "2024-00", "2024-3", "2024-03-01", "March", "%00"] {
        assert_eq!(
            faults(&world, &format!("dividend-dates?month={month}")).await,
            ["month"],
            "{month}"
        );
    }
}

async fn reports(world: &World) {
    let earnings =
        |symbol: &str, date: &str| json!({"symbol": symbol, "date": date, "time": "after_close", "eps_estimate": -1.5});
    deliver(
        world,
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

async fn earnings_of(world: &World, query: &str) -> Vec<String> {
    let earnings = data(world, &format!("earnings{query}")).await;
    let symbols = earnings
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["symbol"].as_str().unwrap().to_owned());
    symbols.collect()
}

async fn earnings_are_listed_from_today_for_seven_days(world: World) {
    reports(&world).await;
    assert_eq!(earnings_of(&world, "").await, ["ATODAY", "TODAY", "WEEK"]);
    assert_eq!(earnings_of(&world, "?from=2024-03-09").await, ["WEEK", "LATER"]);
    assert_eq!(earnings_of(&world, "?to=2024-03-08").await, ["ATODAY", "TODAY"]);
    let expected = json!({
        "symbol": "TODAY", "name": "Today Inc.", "date": "2024-03-08", "time": "after_close", "eps_estimate": -1.5,
    });
    assert_eq!(data(&world, "earnings").await[1], expected);
    let expected = json!([{"symbol": "TODAY", "name": "Today Inc.", "date": "2024-06-07", "time": "unknown", "eps_estimate": null}]);
    assert_eq!(data(&world, "earnings?from=2024-06-01").await, expected);
}

async fn earnings_are_listed_for_a_month_at_most(world: World) {
    reports(&world).await;
    let month = earnings_of(&world, "?from=2024-03-08&to=2024-04-07").await;
    assert_eq!(month, ["ATODAY", "TODAY", "WEEK", "LATER", "MONTH"]);
    assert_eq!(faults(&world, "earnings?from=2024-03-08&to=2024-04-08").await, ["to"]);
    assert_eq!(faults(&world, "earnings?to=2024-04-08").await, ["to"], "from today on");
    assert_eq!(earnings_of(&world, "?from=2024-03-07&to=2024-03-07").await, ["PAST"]);
}

async fn what_is_no_span_of_days_is_refused(world: World) {
    assert_eq!(faults(&world, "earnings?from=2024-03-08&to=2024-03-07").await, ["to"]);
    assert_eq!(
        faults(&world, "earnings?to=2024-03-07").await,
        ["to"],
        "today is the first day"
    );
    assert_eq!(
        faults(&world, "earnings?from=yesterday&to=2024-02-30").await,
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
            faults(&world, &format!("earnings?from={date}")).await,
            ["from"],
            "{date}"
        );
    }
    assert_eq!(data(&world, "earnings?from=9999-12-31").await, json!([]));
}

fn bar(symbol: &str, date: &str, close: f64) -> Value {
    json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 10})
}

async fn performance_begins_with_the_last_close_there_was(world: World) {
    deliver(
        &world,
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
    let moved = data(&world, "performance?symbols=SPLIT,GAP,YOUNG,ONCE,QUOTED").await;
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
    let max = data(&world, "performance?symbols=split&period=max").await;
    assert_eq!(
        (&max[0]["first_date"], &max[0]["first_price"]),
        (&json!("2023-03-07"), &json!(249.75))
    );
}

async fn performance_is_what_candles_show(world: World) {
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
    deliver(
        &world,
        json!({"bars": bars, "splits": splits, "quotes": [{"symbol": "ACME", "price": 123.45}]}),
    )
    .await;
    let all = world.get("/v1/stocks/ACME/candles?range=max").await.ok(200).body["data"].clone();
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
        let moved = data(&world, &format!("performance?symbols=ACME&period={period}")).await[0].clone();
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

async fn performance_leaves_out_what_is_unknown_and_refuses_what_is_wrong(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let found = data(&world, "performance?symbols=NOSUCH,aapl").await;
    assert_eq!(
        (found.as_array().unwrap().len(), &found[0]["symbol"]),
        (1, &json!("AAPL"))
    );
    assert_eq!(data(&world, "performance?symbols=NOSUCH").await, json!([]));
    for query in ["", "?symbols=", "?symbols=A%20B", "?symbols=ELEVENCHARS"] {
        assert_eq!(
            faults(&world, &format!("performance{query}")).await,
            ["symbols"],
            "{query}"
        );
    }
    let symbols = |count: usize| vec!["AAPL"; count].join(",");
    assert_eq!(
        data(&world, &format!("performance?symbols={}", symbols(100)))
            .await
            .as_array()
            .unwrap()
            .len(),
        100
    );
    assert_eq!(
        faults(&world, &format!("performance?symbols={}", symbols(101))).await,
        ["symbols"]
    );
    for period in ["2y", "", "1Y"] {
        assert_eq!(
            faults(&world, &format!("performance?symbols=AAPL&period={period}")).await,
            ["period"],
            "{period}"
        );
    }
}
