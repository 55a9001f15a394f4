//! Trade conditions: trades that are eligible to update the last price.
//!
//! Odd lots, average-price trades and late reports are not eligible. Alpaca passes on the condition codes of the trade's tape. The
//! tapes' tables (CTA and UTP, "update last: no") define which codes exclude a trade. Where a table says "it depends", the trade is
//! skipped, because the next one follows soon. Trades of extended hours (`T`) do not set the tape's last price either, but are the
//! prices of these hours; their times are outside the session, so they are never prices of the session.

/// Condition codes that exclude a trade on every tape.
const EXCLUDED_CONDITIONS: &[u8] = b"CHIMNPQRUVWZ47";

/// Returns whether a trade with these conditions updates the last price. `tape` is `A` or `B` (CTA) or `C` (UTP).
pub(super) fn updates_last_price(conditions: impl IntoIterator<Item = u8>, tape: &[u8]) -> bool {
    // `B` is an average-price trade on CTA and an ordinary bunched trade on UTP.
    let is_excluded = |condition| EXCLUDED_CONDITIONS.contains(&condition) || (condition == b'B' && tape != b"C");
    !conditions.into_iter().any(is_excluded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_trades_update_the_last_price_and_odd_lots_do_not() {
        let makes = |conditions: &str, tape: &str| updates_last_price(conditions.bytes(), tape.as_bytes());
        assert!(makes("@", "C") && makes(" F", "A") && makes("", "B") && makes("@6", "C"));
        assert!(makes("@T", "C") && !makes("@TI", "C"), "extended hours");
        for condition in "CHIMNPQRUVWZ47".chars() {
            assert!(!makes(&format!("@{condition}"), "C"), "{condition}");
        }
    }

    #[test]
    fn condition_b_depends_on_the_tape() {
        assert!(updates_last_price(*b"B", b"C") && !updates_last_price(*b"B", b"A"));
    }
}
