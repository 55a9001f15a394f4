//! Display formats for money and percentages.
//!
//! Numbers on the wire keep all their digits ([`Decimal`]'s `Display`); sentences and messages use these forms.

use std::fmt;

use crate::Decimal;
use crate::decimal::MICROS_PER_UNIT;

/// An amount of US dollars with two decimals; below one dollar with up to four: `201.50`, `0.1234`.
///
/// An amount too small for four decimals keeps its digits, so that no price reads as zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usd(pub Decimal);

/// A percentage with two decimals: `-13.02`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percent(pub Decimal);

/// The smallest amount that four decimals can show, in millionths.
const MIN_FOUR_DECIMALS_MICROS: u64 = 50;

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.micros().unsigned_abs();
        sign(self.0.micros(), f)?;
        if magnitude >= MICROS_PER_UNIT.unsigned_abs() || magnitude == 0 {
            return f.write_str(&fixed(magnitude, 2));
        }
        let text = fixed(magnitude, if magnitude < MIN_FOUR_DECIMALS_MICROS { 6 } else { 4 });
        let cents = text.len().min("0.00".len());
        let (cents, rest) = text.split_at(cents);
        write!(f, "{cents}{}", rest.trim_end_matches('0'))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sign(self.0.micros(), f)?;
        f.write_str(&fixed(self.0.micros().unsigned_abs(), 2))
    }
}

fn sign(micros: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if micros < 0 {
        f.write_str("-")
    } else if micros > 0 && f.sign_plus() {
        f.write_str("+")
    } else {
        Ok(())
    }
}

/// Formats a number of millionths with `decimals` decimals (at most six), rounded half away from zero.
fn fixed(micros: u64, decimals: usize) -> String {
    let places = u32::try_from(decimals.min(6)).unwrap_or(6);
    let step = 10_u64.pow(6 - places);
    let rounded = micros.saturating_add(step / 2) / step;
    let one = 10_u64.pow(places);
    format!("{}.{:0decimals$}", rounded / one, rounded % one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn dollars_have_two_decimals_and_up_to_four_below_one_dollar() {
        for (amount, text) in [
            ("201.5", "201.50"),
            ("1", "1.00"),
            ("-13.018266", "-13.02"),
            ("1.005", "1.01"),
            ("1.004999", "1.00"),
            ("0.999999", "1.00"),
            ("0.99994", "0.9999"),
            ("0.5", "0.50"),
            ("0.245", "0.245"),
            ("0.12345", "0.1235"),
            ("0.00005", "0.0001"),
            ("0.000049", "0.000049"),
            ("0", "0.00"),
        ] {
            assert_eq!(Usd(decimal(amount)).to_string(), text, "{amount}");
        }
    }

    #[test]
    fn percentages_have_two_decimals_and_an_optional_sign() {
        assert_eq!(Percent(decimal("-13.018266")).to_string(), "-13.02");
        assert_eq!(Percent(decimal("5")).to_string(), "5.00");
        assert_eq!(format!("{:+}", Percent(decimal("1.645"))), "+1.65");
        assert_eq!(format!("{:+}", Percent(Decimal::ZERO)), "0.00");
        assert_eq!(format!("{:+}", Usd(decimal("3.2"))), "+3.20");
    }
}
