//! Tests of the `bellwether replay` command.

use crate::support;

use support::ReplayCase;

const ABOVE_11: &str = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 11}]"#;

#[test]
fn daily_bar_makes_four_observations() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_below", "threshold": 10},
        {"symbol": "AAA", "condition": "price_below", "threshold": 9},
        {"symbol": "AAA", "condition": "price_above", "threshold": 12},
        {"symbol": "AAA", "condition": "price_above", "threshold": 10.5}
    ]"#;
    let output = ReplayCase::new(alerts)
        .bars("AAA,2024-07-05,10,12,9,10.5,1000")
        .run()
        .succeeded();
    let expected = [
        "0@2024-07-05T13:30:00.000Z",
        "1@2024-07-05T15:40:00.000Z",
        "2@2024-07-05T17:50:00.000Z",
        "3@2024-07-05T17:50:00.000Z",
    ];
    assert_eq!(output.fired(), expected);
}

#[test]
fn firing_line_has_time_alert_price_metric_and_reason() {
    let output = ReplayCase::new(ABOVE_11)
        .bars("AAA,2024-07-05,10,12.5,9.9,10,1000")
        .run()
        .succeeded();
    let expected = serde_json::json!({
        "time": "2024-07-05T17:50:00.000Z", "alert_index": 0, "symbol": "AAA", "condition": "price_above",
        "threshold": 11, "price": 12.5, "metric": 12.5, "reason": "price 12.50 is at or above 11.00",
    });
    assert_eq!(output.firings, [expected]);
}

#[test]
fn summary_has_all_counts() {
    let rows = "AAA,2024-07-05,10,12,9,10,1000\nAAA,2024-07-08,10,12,-9,10,1000\nAAA,2024-07-09,10,12,9,10,1000";
    let output = ReplayCase::new(ABOVE_11).bars(rows).run().succeeded();
    assert!(
        output
            .stderr
            .contains("2 sessions, 8 observations, 1 alerts, 1 firings, 1 rejected rows"),
        "{}",
        output.stderr
    );
}

#[test]
fn alert_is_evaluated_from_its_creation() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_above", "threshold": 11, "created_at": "2024-07-05T17:50:00Z"},
        {"symbol": "AAA", "condition": "price_above", "threshold": 11, "created_at": "2024-07-05T17:50:01Z"}
    ]"#;
    let output = ReplayCase::new(alerts)
        .bars("AAA,2024-07-05,10,12,9,10,1000")
        .run()
        .succeeded();
    assert_eq!(output.fired(), ["0@2024-07-05T17:50:00.000Z"]);
}

#[test]
fn percent_change_counts_from_the_observation_before_creation_or_the_first_after() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_change_up", "threshold": 20},
        {"symbol": "AAA", "condition": "price_change_up", "threshold": 20, "created_at": "2024-07-05T16:00:00Z"}
    ]"#;
    // Alert 0 counts from the open, 10. Alert 1 counts from the low, 9, the last observation before its creation.
    let rows = "AAA,2024-07-05,10,11,9,10,1000\nAAA,2024-07-08,12,12,12,12,1000";
    let output = ReplayCase::new(alerts).bars(rows).run().succeeded();
    assert_eq!(
        output.fired(),
        ["1@2024-07-05T17:50:00.000Z", "0@2024-07-08T13:30:00.000Z"]
    );
}

#[test]
fn bars_before_the_period_warm_up_indicators_and_fire_nothing() {
    let rows: Vec<_> = (1..=31)
        .filter(|day| ![4, 6, 7, 13, 14, 20, 21, 27, 28].contains(day))
        .map(|day| format!("AAA,2024-07-{day:02},{0},{0},{0},{0},1000", 100 + day))
        .collect();
    let alerts = r#"[
        {"symbol": "AAA", "condition": "rsi_limit", "threshold": 90, "parameters": {"direction": "above"}},
        {"symbol": "AAA", "condition": "price_above", "threshold": 101}
    ]"#;
    let output = ReplayCase::new(alerts)
        .bars(&rows.join("\n"))
        .args(&["--from", "2024-07-30", "--to", "2024-07-30"])
        .run();
    let expected = ["0@2024-07-30T13:30:00.000Z", "1@2024-07-30T13:30:00.000Z"];
    assert_eq!(output.succeeded().fired(), expected);
}

#[test]
fn split_adjusts_thresholds_and_initial_prices() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_below", "threshold": 80},
        {"symbol": "AAA", "condition": "price_change_down", "threshold": 20},
        {"symbol": "AAA", "condition": "price_above", "threshold": 104}
    ]"#;
    let rows = "AAA,2024-07-05,100,100,100,100,1000\nAAA,2024-07-08,25,26,25,26,4000";
    let case = ReplayCase::new(alerts)
        .bars(rows)
        .file("splits.csv", "symbol,date,ratio\nAAA,2024-07-08,4\n");
    let output = case.run().succeeded();
    assert_eq!(output.fired(), ["2@2024-07-08T17:50:00.000Z"]);
    assert_eq!(output.firings[0]["threshold"], 26);
}

#[test]
fn alert_over_many_stocks_fires_once_for_each() {
    let alerts = r#"[
        {"scope": {"symbols": ["BBB", "AAA", "aaa", "CCC"]}, "condition": "price_change_up", "threshold": 10},
        {"scope": {"symbols": ["AAA", "BBB"]}, "condition": "expression", "parameters": {"when": "price >= 22 or AAA.price >= 12"}}
    ]"#;
    // AAA rises by 20 % on the second day, BBB by 5 % and then by 10 %.
    let rows = "AAA,2024-07-05,10,10,10,10,1000\nAAA,2024-07-08,12,12,12,12,1000\nAAA,2024-07-09,13,13,13,13,1000\n\
                BBB,2024-07-05,20,20,20,20,1000\nBBB,2024-07-08,21,21,21,21,1000\nBBB,2024-07-09,22,22,22,22,1000";
    let output = ReplayCase::new(alerts).bars(rows).run().succeeded();
    let fired: Vec<_> = output
        .firings
        .iter()
        .zip(output.fired())
        .map(|(firing, at)| format!("{at} {} {}", firing["symbol"].as_str().unwrap(), firing["price"]))
        .collect();
    let expected = [
        "0@2024-07-08T13:30:00.000Z AAA 12",
        "1@2024-07-08T13:30:00.000Z AAA 12",
        "1@2024-07-08T13:30:00.000Z BBB 21",
        "0@2024-07-09T13:30:00.000Z BBB 22",
    ];
    assert_eq!(fired, expected);
    assert!(
        output.stderr.contains("1 alerts are on symbols without any bars."),
        "{}",
        output.stderr
    );
}

#[test]
fn scope_that_cannot_be_replayed_is_an_error() {
    for (scope, fix) in [
        (
            r#""scope": {"watchlist": "all"}"#,
            "alert 0: scope.watchlist: must be omitted, because a replay has no watchlist; list the stocks in scope.symbols",
        ),
        (
            r#""scope": {"symbols": ["AAA"]}, "symbol": "AAA""#,
            "alert 0: symbol: must be omitted with scope; put it into scope.symbols",
        ),
        (r#""scope": {"symbols": []}"#, "alert 0: scope.symbols: must be a list"),
    ] {
        let alerts = format!(r#"[{{{scope}, "condition": "price_above", "threshold": 11}}]"#);
        let output = ReplayCase::new(&alerts).bars("AAA,2024-07-05,10,12,9,10,1000").run();
        assert_eq!(output.code, Some(1));
        assert!(output.stderr.contains(fix), "{}", output.stderr);
    }
}

#[test]
fn equivalent_alerts_are_not_merged() {
    let alerts = format!("[{0}, {0}]", &ABOVE_11[1..ABOVE_11.len() - 1]);
    let output = ReplayCase::new(&alerts)
        .bars("AAA,2024-07-05,11,11,11,11,1000")
        .run()
        .succeeded();
    assert_eq!(output.firings.len(), 2);
}

#[test]
fn facts_are_known_from_their_day() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "pe_ratio_below", "threshold": 10},
        {"symbol": "AAA", "condition": "insider_transactions", "threshold": 1000},
        {"symbol": "AAA", "condition": "earnings_announcement", "threshold": 2},
        {"symbol": "AAA", "condition": "dividend_ex_date"},
        {"symbol": "AAA", "condition": "dividend_payment", "parameters": {"shares": 10}},
        {"symbol": "AAA", "condition": "daily_reminder", "parameters": {"deliveryTime": "after_market_close"}},
        {"symbol": "AAA", "condition": "reminder", "parameters": {"date": "2024-07-04"}}
    ]"#;
    let rows: Vec<_> = [1, 2, 3, 5]
        .iter()
        .map(|day| format!("AAA,2024-07-{day:02},10,10,10,10,1000"))
        .collect();
    let output = ReplayCase::new(alerts)
        .bars(&rows.join("\n"))
        .file("fundamentals.csv", "symbol,as_of,eps_ttm\nAAA,2024-07-03,1\n")
        .file(
            "insiders.csv",
            "symbol,filed_on,traded_on,insider,code,side,shares,price\nAAA,2024-07-04,2024-07-01,X,P,buy,100,10\n",
        )
        .file(
            "earnings.csv",
            "symbol,date,time,eps_estimate\nAAA,2024-07-05,after_close,1\n",
        )
        .file(
            "dividends.csv",
            "symbol,ex_date,payment_date,amount\nAAA,2024-07-03,2024-07-04,0.5\n",
        )
        .run()
        .succeeded();
    let expected = [
        "5@2024-07-01T20:15:00.000Z",
        "3@2024-07-02T13:30:00.000Z",
        "5@2024-07-02T20:15:00.000Z",
        "0@2024-07-03T13:30:00.000Z",
        "2@2024-07-03T13:30:00.000Z",
        "5@2024-07-03T17:15:00.000Z",
        "1@2024-07-04T13:30:00.000Z",
        "4@2024-07-04T13:30:00.000Z",
        "6@2024-07-04T13:30:00.000Z",
        "5@2024-07-05T20:15:00.000Z",
    ];
    assert_eq!(output.fired(), expected);
    assert_eq!(
        output.firings[7]["reason"],
        "a dividend is paid today, 0.50 USD a share, 5.00 USD for your shares"
    );
}

#[test]
fn same_replay_gives_the_same_lines() {
    let case = ReplayCase::new(ABOVE_11).bars("AAA,2024-07-05,10,12,9,10,1000");
    assert_eq!(case.run().firings, case.run().firings);
}

#[test]
fn older_alert_is_evaluated_from_the_start_after_splits() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_above", "threshold": 120, "created_at": "2024-06-03T14:00:00Z"},
        {"symbol": "AAA", "condition": "daily_reminder", "created_at": "2020-01-10T00:00:00Z"},
        {"symbol": "AAA", "condition": "reminder", "parameters": {"date": "2023-02-01"}, "created_at": "2023-01-01T00:00:00Z"},
        {"symbol": "AAA", "condition": "earnings_announcement", "threshold": 5, "created_at": "2023-01-01T00:00:00Z"},
        {"symbol": "AAA", "condition": "price_above", "threshold": 1, "created_at": "2030-01-01T00:00:00Z"}
    ]"#;
    let rows = "AAA,2024-07-01,100,100,100,100,1000\nAAA,2024-07-02,25,25,25,25,4000\nAAA,2024-07-03,30,30,30,30,4000";
    let output = ReplayCase::new(alerts)
        .bars(rows)
        .file("splits.csv", "symbol,date,ratio\nAAA,2024-07-02,4\n")
        .file("earnings.csv", "symbol,date\nAAA,2024-07-05\n")
        .args(&["--from", "2024-07-03"])
        .run()
        .succeeded();
    let expected = [
        "0@2024-07-03T13:30:00.000Z",
        "1@2024-07-03T13:30:00.000Z",
        "3@2024-07-03T13:30:00.000Z",
    ];
    assert_eq!(output.fired(), expected);
    assert!(
        output.stderr.contains("1 alerts were created after the last day"),
        "{}",
        output.stderr
    );
}

#[test]
fn intraday_bars_have_a_volume_weighted_average_price() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "expression", "parameters": {"when": "vwap >= 11"}},
        {"symbol": "AAA", "condition": "expression", "parameters": {"when": "vwap > 11"}},
        {"symbol": "BBB", "condition": "expression", "parameters": {"when": "vwap > 0"}}
    ]"#;
    // The averages are (10 × 100) ÷ 100 and (10 × 100 + 12 × 100) ÷ 200.
    let bars = "symbol,time,open,high,low,close,volume\n\
                AAA,2024-07-05T13:30:00Z,10,11,9,10,100\nAAA,2024-07-05T13:31:00Z,12,13,11,12,100\n";
    let output = ReplayCase::new(alerts)
        .bars("BBB,2024-07-05,10,11,9,10,100")
        .file("bars/minutes.csv", bars)
        .run()
        .succeeded();
    assert_eq!(output.fired(), ["0@2024-07-05T13:32:00.000Z"]);
}
