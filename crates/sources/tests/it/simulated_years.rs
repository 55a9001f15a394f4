//! Years of simulated history: plausible prices and volumes, and volatility in clusters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use jiff::civil::date;
use market::Calendar;
use sources::simulated;

#[test]
fn prices_and_volumes_stay_plausible_for_years() {
    let calendar = Calendar::nyse();
    for seed in 0..5 {
        let data = simulated::generate_history(seed, &calendar, date(2015, 1, 2), date(2024, 12, 31));
        assert_eq!(data.bars.len(), 20);
        assert!(!data.splits.is_empty());
        for (symbol, bars) in &data.bars {
            assert_eq!(
                bars.daily.len(),
                calendar.sessions(date(2015, 1, 2), date(2024, 12, 31)).count()
            );
            for bar in &bars.daily {
                assert_eq!(bar.checked(), Ok(*bar));
            }
            let split = |date| data.splits.iter().any(|row| row.symbol == *symbol && row.date == date);
            for pair in bars.daily.windows(2) {
                let change = (pair[1].close.as_f64() / pair[0].close.as_f64()).ln().abs();
                assert!(
                    change < 0.8 || split(pair[1].date),
                    "{symbol} {} {change}",
                    pair[1].date
                );
            }
        }
    }
}

#[test]
fn volatility_comes_in_clusters() {
    let data = simulated::generate_history(3, &Calendar::nyse(), date(2005, 1, 3), date(2024, 12, 31));
    let fund = &data.bars[&"MRDN".parse().unwrap()].daily;
    let moves: Vec<f64> = fund
        .windows(2)
        .map(|pair| (pair[1].close.as_f64() / pair[0].close.as_f64()).ln().abs())
        .collect();
    let mean = moves.iter().sum::<f64>() / moves.len() as f64;
    let variance: f64 = moves.iter().map(|size| (size - mean).powi(2)).sum();
    let after_one: f64 = moves.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = after_one / variance;
    assert!(correlation > 0.05, "{correlation}");
}
