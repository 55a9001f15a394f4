//! The worked example of docs/paper-trades.md: every computed figure must be on that page.

use paper::{Direction, FiredAlertRecord, PerformanceRange, PriceHistory, performance, scorecard};

use crate::small::week::{
    FRIDAY, MONDAY, THURSDAY, TUESDAY, WEDNESDAY, actions, at, closed, day, dividend, follow, long, price, short,
    split, symbol,
};

const PAGE: &str = include_str!("../../../../../docs/paper-trades.md");
const WEEK: [(i8, &str); 5] = [
    (MONDAY, "Monday"),
    (TUESDAY, "Tuesday"),
    (WEDNESDAY, "Wednesday"),
    (THURSDAY, "Thursday"),
    (FRIDAY, "Friday"),
];
const SPY: [(i8, &str); 5] = [
    (MONDAY, "500"),
    (TUESDAY, "505"),
    (WEDNESDAY, "503"),
    (THURSDAY, "508"),
    (FRIDAY, "510"),
];

#[track_caller]
fn assert_on_page(line: &str) {
    assert!(
        PAGE.lines().any(|row| row.contains(line)),
        "the page should have: {line}"
    );
}

#[test]
fn performance_example_matches_the_page() {
    let actions = actions(&[split("ACME", WEDNESDAY, "4")], &[dividend("ACME", THURSDAY, "0.25")]);
    let closes = [
        (MONDAY, "ACME", "51"),
        (TUESDAY, "ACME", "52"),
        (WEDNESDAY, "ACME", "12.75"),
        (THURSDAY, "ACME", "12.5"),
        (FRIDAY, "ACME", "13"),
        (TUESDAY, "BOLT", "198"),
        (THURSDAY, "BOLT", "190"),
        (FRIDAY, "BOLT", "196"),
    ];
    let mut trades = [
        long(1, "ACME", MONDAY, (12, 0), "50"),
        closed(short(2, "BOLT", TUESDAY, (11, 0), "200"), FRIDAY, (10, 30), "195"),
        long(3, "BOLT", FRIDAY, (10, 30), "195"),
    ];
    let returns = follow(&WEEK.map(|(on, _)| on), &trades, &closes, &actions);
    let spy = SPY.iter().map(|(on, close)| (day(*on), price(close))).collect();
    let benchmark = PriceHistory {
        symbol: symbol("SPY"),
        closes: &spy,
        actions: &actions,
    };
    let found = performance(PerformanceRange::Max, day(FRIDAY), &returns, benchmark);
    let points = found.watchlist.iter().zip(&found.benchmark);
    for (((_, name), day), (ours, theirs)) in WEEK.iter().zip(&returns).zip(points) {
        let percent = day.value * 100.0;
        assert_on_page(&format!("| {percent:.6} % | {:.6} | {:.6} |", ours.value, theirs.value));
        assert!(PAGE.contains(&format!("| {name} ")), "{name}");
    }
    let summary = found.summary;
    assert_on_page(&format!(
        "{:.6} %, the benchmark {:.6} %, alpha {:.6}",
        summary.watchlist_return_pct,
        summary.benchmark_return_pct.unwrap(),
        summary.alpha_pct.unwrap()
    ));

    let close = [price("13"), price("195"), price("196")];
    for (trade, close) in trades.iter_mut().zip(close) {
        trade.apply_actions(&actions, at(FRIDAY, (16, 0)));
        let way = if trade.direction == Direction::Long {
            "long"
        } else {
            "short"
        };
        assert_on_page(&format!(
            "| {} {way} | {} | {} | {} | {} |",
            trade.symbol,
            trade.quantity(),
            trade.entry_price(),
            trade.adjustments.dividends,
            trade.profit_at(close)
        ));
    }
}

#[test]
fn scorecard_example_matches_the_page() {
    let actions = actions(&[split("ACME", WEDNESDAY, "4")], &[]);
    let closes = [(MONDAY, "51"), (TUESDAY, "52"), (WEDNESDAY, "12.75")];
    let acme = closes.iter().map(|(on, close)| (day(*on), price(close))).collect();
    let spy = SPY.iter().map(|(on, close)| (day(*on), price(close))).collect();
    let record = |name, closes| PriceHistory {
        symbol: symbol(name),
        closes,
        actions: &actions,
    };
    let firing = FiredAlertRecord {
        at: at(MONDAY, (12, 0)),
        price: Some(price("50")),
    };
    let calendar = market::Calendar::nyse();
    let card = scorecard(
        &calendar,
        firing,
        record("ACME", &acme),
        record("SPY", &spy),
        day(FRIDAY),
    );
    let one = card.horizons[0].reached.unwrap();
    assert_on_page(&format!(
        "{:.6} % from the close, {:.6} % from the firing, the benchmark {:.6} %, excess {:.6}",
        one.move_pct,
        one.since_firing_pct.unwrap(),
        one.benchmark_pct.unwrap(),
        one.excess_pct.unwrap()
    ));
    assert_eq!(card.horizons[1].reached, None);
}
