//! Recorded filings, if they are there. Fixtures of the provider cover the same shapes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sources::provider::sec::Filing;

/// A recorded filing; `None` without recorded data.
fn recorded(name: &str) -> Option<Filing> {
    let text = testdata::TestMarketData::recorded()?.text(&format!("form4/{name}"));
    Some(Filing::read(&text).unwrap())
}

/// The trades as `S Sell 1500 at 66.903 on 2025-01-10`.
fn trades(filing: &Filing) -> Vec<String> {
    assert_eq!(filing.invalid_rows, Vec::<String>::new());
    let line = |trade: &sources::provider::sec::Form4Transaction| {
        let on = trade.traded_on.unwrap();
        format!(
            "{} {:?} {} at {} on {on}",
            trade.code, trade.side, trade.shares, trade.price
        )
    };
    filing.trades.iter().map(line).collect()
}

#[test]
fn parses_a_sale_by_an_officer() {
    let Some(filing) = recorded("AIR_2025-01-10_form4_S.xml") else {
        return;
    };
    assert_eq!(trades(&filing), ["S Sell 1500 at 66.903 on 2025-01-10"]);
    assert_eq!((filing.symbol, filing.issuer_cik), ("AIR".parse().ok(), 1_750));
    assert_eq!(filing.owners[0].name, "Garascia Jessica A.");
    assert!(!filing.is_amendment);
}

#[test]
fn parses_a_purchase_with_zoned_dates() {
    let Some(filing) = recorded("AREC_2024-07-19_form4_P_tz_suffix_date.xml") else {
        return;
    };
    assert_eq!(trades(&filing), ["P Buy 800000 at 0.67 on 2024-07-19"]);
    assert_eq!(filing.period, "2024-07-19".parse().ok());
}

#[test]
fn parses_an_award_and_shares_withheld_for_taxes() {
    let Some(filing) = recorded("ARW_2025-02-12_form4_A_F.xml") else {
        return;
    };
    assert_eq!(
        trades(&filing),
        [
            "A Buy 2193 at 106.82 on 2025-02-12",
            "F Sell 1009 at 106.82 on 2025-02-12"
        ]
    );
}

#[test]
fn option_grant_is_not_a_trade() {
    let Some(filing) = recorded("SCWO_2025-04-30_form4_A_derivative.xml") else {
        return;
    };
    assert_eq!(trades(&filing), ["A Buy 757756 at 0 on 2025-04-30"]);
}
