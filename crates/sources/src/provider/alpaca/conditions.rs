//! Which trades make a last price.
//!
//! Odd lots, averages, trades told late or out of hours do not. A trade's conditions are those of its tape, which Alpaca passes on;
//! the tapes' own tables ("update last: no" at CTA and UTP) say which exclude it. Where a table says "it depends", the trade is
//! left out: the next one is not far.

/// The conditions that exclude a trade on any tape.
const NO_LAST_PRICE: &[u8] = b"CHIMNPQRTUVWZ47";

/// Whether a trade with these conditions makes a last price; `tape` is `A` or `B` (CTA) or `C` (UTP).
pub(super) fn makes_last_price(conditions: impl IntoIterator<Item = u8>, tape: &[u8]) -> bool {
    // B is an average price on one tape and an ordinary bunched trade on the other.
    let is_excluded = |condition| NO_LAST_PRICE.contains(&condition) || (condition == b'B' && tape != b"C");
    !conditions.into_iter().any(is_excluded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_trades_make_a_last_price_and_odd_lots_do_not() {
        let makes = |conditions: &str, tape: &str| makes_last_price(conditions.bytes(), tape.as_bytes());
        assert!(makes("@", "C") && makes(" F", "A") && makes("", "B") && makes("@6", "C"));
        for condition in "CHIMNPQRTUVWZ47".chars() {
            assert!(!makes(&format!("@{condition}"), "C"), "{condition}");
        }
    }

    #[test]
    fn a_bunched_trade_is_one_thing_on_one_tape_and_another_on_the_other() {
        assert!(makes_last_price(*b"B", b"C") && !makes_last_price(*b"B", b"A"));
    }
}
