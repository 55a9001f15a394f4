//! Exact decimal numbers in integer millionths.

use std::fmt;
use std::str::FromStr;

/// The number of millionths in one.
pub const MICROS_PER_UNIT: i64 = 1_000_000;

/// A signed decimal number, exact to six decimals: a threshold, a percentage, earnings per share, an amount of
/// dollars.
///
/// It is an integer number of millionths, so numbers have one order, no NaN and no drift. Digits beyond the sixth are
/// rounded half away from zero. It prints like a JavaScript number: `200`, `198.66`, `0.000001`.
///
/// ```
/// use market::Decimal;
/// let threshold: Decimal = "198.66".parse().unwrap();
/// assert_eq!(threshold.micros(), 198_660_000);
/// assert_eq!(threshold.to_string(), "198.66");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal(i64);

/// The reason why a text is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// It is not a decimal number (NaN and infinity are not).
    #[error("is not a number; write it like 198.66")]
    NotANumber,
    /// It is beyond ±9.2 × 10¹².
    #[error("is too large; the limit is 9000000000000")]
    TooLarge,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Returns the number of `micros` millionths.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the whole number `units`, or `None` beyond the range.
    #[must_use]
    pub fn from_units(units: i64) -> Option<Self> {
        units.checked_mul(MICROS_PER_UNIT).map(Self)
    }

    /// The number in millionths.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the whole number, or `None` if it has decimals.
    #[must_use]
    pub const fn as_whole(self) -> Option<i64> {
        if self.0 % MICROS_PER_UNIT == 0 {
            Some(self.0 / MICROS_PER_UNIT)
        } else {
            None
        }
    }

    /// The nearest float, for display and statistics; never for evaluating conditions.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is asked for")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the decimal nearest to `value`.
    ///
    /// # Errors
    /// [`DecimalError`] for NaN, infinity and numbers out of range.
    pub fn from_f64(value: f64) -> Result<Self, DecimalError> {
        if !value.is_finite() {
            return Err(DecimalError::NotANumber);
        }
        // The shortest text that reads back as `value` is what its author meant: 189.2 instead of
        // 189.19999999999998863.
        value.to_string().parse()
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Parses `[+-]digits[.digits][e[+-]digits]`, with at least one digit before the exponent.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (negative, unsigned) = match mantissa.as_bytes().first() {
            Some(b'-') => (true, &mantissa[1..]),
            Some(b'+') => (false, &mantissa[1..]),
            _ => (false, mantissa),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(DecimalError::NotANumber);
        }
        let magnitude = scaled(whole, fraction, exponent)?;
        let micros = i64::try_from(magnitude).map_err(|_| DecimalError::TooLarge)?;
        Ok(Self(if negative { -micros } else { micros }))
    }
}

fn parse_exponent(text: &str) -> Result<i64, DecimalError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::NotANumber);
    }
    // Far beyond any number that fits; the cap keeps the arithmetic in range.
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000);
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Returns the millionths of `whole.fraction × 10^exponent`, rounded half up.
fn scaled(whole: &str, fraction: &str, exponent: i64) -> Result<i128, DecimalError> {
    const LIMIT: i128 = i64::MAX as i128;
    let point = i64::try_from(whole.len()).map_err(|_| DecimalError::TooLarge)? + exponent + 6;
    let mut value: i128 = 0;
    let mut place = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return Err(DecimalError::NotANumber);
        }
        if place < point && value <= LIMIT {
            value = value * 10 + i128::from(byte - b'0');
        } else if place == point && byte >= b'5' {
            value += 1;
        }
        place += 1;
    }
    while place < point && value != 0 {
        if value > LIMIT {
            return Err(DecimalError::TooLarge);
        }
        value *= 10;
        place += 1;
    }
    if value > LIMIT {
        Err(DecimalError::TooLarge)
    } else {
        Ok(value)
    }
}

/// Returns `numerator ÷ denominator` (> 0) as the nearest integer, halves away from zero, saturating.
#[must_use]
pub fn div_round(numerator: i128, denominator: i128) -> i64 {
    let half = denominator / 2;
    let nearest = (numerator + if numerator < 0 { -half } else { half }) / denominator;
    i64::try_from(nearest).unwrap_or(if nearest > 0 { i64::MAX } else { i64::MIN })
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (units, micros) = (magnitude / 1_000_000, magnitude % 1_000_000);
        let sign = if self.0 < 0 { "-" } else { "" };
        if micros == 0 {
            return write!(f, "{sign}{units}");
        }
        let digits = format!("{micros:06}");
        write!(f, "{sign}{units}.{}", digits.trim_end_matches('0'))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(text: &str) -> Result<i64, DecimalError> {
        text.parse::<Decimal>().map(Decimal::micros)
    }

    #[test]
    fn decimals_are_parsed_exactly() {
        for (text, expected) in [
            ("198.66", 198_660_000),
            ("200", 200_000_000),
            ("-0.000001", -1),
            ("+.5", 500_000),
            ("5.", 5_000_000),
            ("1e-6", 1),
            ("1.5E3", 1_500_000_000),
            ("12345e-2", 123_450_000),
            ("0e999999999999999999999", 0),
        ] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn digits_beyond_the_sixth_are_rounded_half_away_from_zero() {
        for (text, expected) in [
            ("0.0000005", 1),
            ("0.0000004999", 0),
            ("-0.0000005", -1),
            ("1e-7", 0),
            ("5e-7", 1),
            ("9.9999995", 10_000_000),
        ] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn rejects_text_that_is_not_a_number() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "NaN", "inf", "1,5", "0x10", "1 ", "--1", "1.2.3", "١",
        ] {
            assert_eq!(micros(text), Err(DecimalError::NotANumber), "{text}");
        }
    }

    #[test]
    fn rejects_numbers_that_are_too_large() {
        for text in [
            "1e13",
            "9223372036854.775808",
            "1e999999999999999",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(micros(text), Err(DecimalError::TooLarge), "{text}");
        }
        assert_eq!(micros("9223372036854.775807"), Ok(i64::MAX));
    }

    #[test]
    fn prints_like_javascript() {
        for text in ["200", "198.66", "0.000001", "-3.5", "0", "123456789.123456"] {
            assert_eq!(text.parse::<Decimal>().unwrap().to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_round_trips(micros in -i64::MAX..=i64::MAX) {
            let decimal = Decimal::from_micros(micros);
            prop_assert_eq!(decimal.to_string().parse(), Ok(decimal));
        }

        #[test]
        fn any_text_parses_or_fails_without_panic(text in "[-+0-9.eE]{0,40}|.{0,20}") {
            let _ = text.parse::<Decimal>();
        }

        #[test]
        fn float_with_six_decimals_round_trips(micros in -1_000_000_000_000_i64..1_000_000_000_000) {
            let decimal = Decimal::from_micros(micros);
            prop_assert_eq!(Decimal::from_f64(decimal.as_f64()), Ok(decimal));
        }
    }
}
