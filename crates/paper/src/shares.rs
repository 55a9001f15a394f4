//! Exact numbers of shares.
//!
//! A thousand dollars buy 5.285412262… shares at 189.20, an infinite decimal. A rounded number would no longer be
//! worth a thousand dollars, and each split would round it again. Therefore shares are a fraction, and only displayed
//! numbers are rounded.

use std::fmt;
use std::str::FromStr;

use market::decimal::div_round;
use market::price::MAX_PRICE_MICROS;
use market::{Decimal, MICROS_PER_UNIT, Price, SplitRatio};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of shares above zero: a fraction in lowest terms.
///
/// It is exact as long as both terms fit in 63 bits, which only a long series of uneven splits exceeds; then it is
/// the nearest fraction that fits.
///
/// ```
/// use paper::Shares;
/// let shares = Shares::for_dollars("1000".parse().unwrap(), "189.20".parse().unwrap()).unwrap();
/// assert_eq!(shares.to_string(), "2500/473");
/// assert_eq!(shares.rounded().to_string(), "5.285412");
/// assert_eq!(shares.value("189.20".parse().unwrap()).to_string(), "1000");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shares {
    numerator: i64,
    denominator: i64,
}

/// The reason why a value is not a number of shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SharesError {
    /// It is zero or less.
    #[error("is not above zero; a trade has some shares")]
    NotPositive,
    /// It is not written as a fraction.
    #[error("is not a number of shares; write it as a fraction like 2500/473")]
    NotAFraction,
}

impl Shares {
    /// Returns the number of shares that `dollars` buy at `price`.
    ///
    /// # Errors
    /// [`SharesError::NotPositive`] for no dollars.
    pub fn for_dollars(dollars: Decimal, price: Price) -> Result<Self, SharesError> {
        Self::new(dollars.micros(), price.micros())
    }

    fn new(numerator: i64, denominator: i64) -> Result<Self, SharesError> {
        if numerator <= 0 || denominator <= 0 {
            return Err(SharesError::NotPositive);
        }
        Ok(Self::fitting(i128::from(numerator), i128::from(denominator)))
    }

    /// Reduces the fraction of two numbers above zero to lowest terms, or to the nearest one that fits.
    fn fitting(numerator: i128, denominator: i128) -> Self {
        let common = greatest_common_divisor(numerator, denominator);
        let (mut numerator, mut denominator) = (numerator / common, denominator / common);
        while i64::try_from(numerator.max(denominator)).is_err() {
            (numerator, denominator) = ((numerator / 2).max(1), (denominator / 2).max(1));
        }
        // Both fit because of the loop.
        let fit = |term: i128| i64::try_from(term).unwrap_or(i64::MAX);
        Self {
            numerator: fit(numerator),
            denominator: fit(denominator),
        }
    }

    /// The number of shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self::fitting(
            i128::from(self.numerator) * i128::from(ratio.micros()),
            i128::from(self.denominator) * i128::from(MICROS_PER_UNIT),
        )
    }

    /// The value of the shares at a price, to a millionth of a dollar.
    #[must_use]
    pub fn value(self, price: Price) -> Decimal {
        self.times(price.decimal())
    }

    /// The total of an amount per share, to a millionth, halves away from zero.
    #[must_use]
    pub fn times(self, per_share: Decimal) -> Decimal {
        Decimal::from_micros(div_round(
            i128::from(per_share.micros()) * i128::from(self.numerator),
            i128::from(self.denominator),
        ))
    }

    /// The price at which the shares are worth `dollars`, rounded and clamped to the range of prices.
    #[must_use]
    pub fn price_for_value(self, dollars: Decimal) -> Price {
        let micros = div_round(
            i128::from(dollars.micros()) * i128::from(self.denominator),
            i128::from(self.numerator),
        );
        let within = micros.clamp(1, MAX_PRICE_MICROS);
        Price::from_micros(within).unwrap_or_else(|_| unreachable!("clamped to the range of prices"))
    }

    /// The number of shares to a millionth, for display.
    #[must_use]
    pub fn rounded(self) -> Decimal {
        self.times(Decimal::from_micros(MICROS_PER_UNIT))
    }

    /// The value of the shares at a price in dollars, unrounded, for ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is asked for")]
    pub fn value_f64(self, price: Price) -> f64 {
        self.numerator as f64 * price.as_f64() / self.denominator as f64
    }

    /// The total of an amount per share in dollars, unrounded, for ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is asked for")]
    pub fn times_f64(self, per_share: Decimal) -> f64 {
        self.numerator as f64 * per_share.as_f64() / self.denominator as f64
    }
}

/// Euclid's algorithm for two numbers above zero.
fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Shares {
    type Err = SharesError;

    fn from_str(text: &str) -> Result<Self, SharesError> {
        let (numerator, denominator) = text.split_once('/').ok_or(SharesError::NotAFraction)?;
        let term = |text: &str| text.parse().map_err(|_| SharesError::NotAFraction);
        Self::new(term(numerator)?, term(denominator)?)
    }
}

impl Serialize for Shares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shares {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(text: &str) -> Shares {
        text.parse().unwrap()
    }

    #[test]
    fn inverse_split_restores_the_shares() {
        let before = Shares::for_dollars("1000".parse().unwrap(), "189.20".parse().unwrap()).unwrap();
        let after = before.after_split("8".parse().unwrap());
        assert_eq!(after, shares("20000/473"));
        assert_eq!(after.after_split("0.125".parse().unwrap()), before);
    }

    #[test]
    fn consecutive_uneven_splits_are_exact() {
        let mut held = shares("1000/87");
        for ratio in ["1.04", "0.125", "1.281", "1.253"] {
            held = held.after_split(ratio.parse().unwrap());
        }
        // 26/25 × 1/8 × 1281/1000 × 1253/1000 × 1000/87
        assert_eq!(held, shares("6955403/2900000"));
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(shares("1/2").times(Decimal::from_micros(3)).micros(), 2);
        assert_eq!(shares("1/2").times(Decimal::from_micros(-3)).micros(), -2);
        assert_eq!(shares("1/3").rounded().to_string(), "0.333333");
    }

    #[test]
    fn rejects_text_that_is_not_a_positive_fraction() {
        for text in ["", "5", "1/", "/2", "a/b", "1/2/3"] {
            assert_eq!(text.parse::<Shares>(), Err(SharesError::NotAFraction), "{text}");
        }
        for text in ["0/1", "-1/2", "1/0"] {
            assert_eq!(text.parse::<Shares>(), Err(SharesError::NotPositive), "{text}");
        }
        assert_eq!(
            Shares::for_dollars(Decimal::ZERO, "1".parse().unwrap()),
            Err(SharesError::NotPositive)
        );
    }

    proptest! {
        #[test]
        fn shares_are_worth_the_amount_paid(micros in 1..=MAX_PRICE_MICROS) {
            let (paid, price) = (Decimal::from_units(1000).unwrap(), Price::from_micros(micros).unwrap());
            let shares = Shares::for_dollars(paid, price).unwrap();
            prop_assert_eq!(shares.value(price), paid);
            prop_assert_eq!(shares.price_for_value(paid), price);
            prop_assert_eq!(shares.to_string().parse(), Ok(shares));
        }

        #[test]
        fn any_series_of_splits_keeps_the_value_to_a_billionth(
            ratios in prop::collection::vec(10_000_i64..100_000_000, 0..12),
        ) {
            let mut held = Shares::for_dollars("1000".parse().unwrap(), "87.31".parse().unwrap()).unwrap();
            let mut expected = 1000.0 / 87.31;
            for micros in ratios {
                let ratio = SplitRatio::try_from(Decimal::from_micros(micros)).unwrap();
                held = held.after_split(ratio);
                expected *= ratio.as_f64();
                // Beyond this range no fraction of two 63-bit terms is near.
                prop_assume!((1e-8..1e8).contains(&expected));
                let got = held.times_f64(Decimal::from_micros(MICROS_PER_UNIT));
                prop_assert!((got / expected - 1.0).abs() < 1e-9, "{} for {}", got, expected);
            }
        }
    }
}
