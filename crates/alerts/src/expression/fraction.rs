//! Exact fractions.

use std::cmp::Ordering;

use market::{Decimal, MICROS_PER_UNIT};
use num_rational::{BigRational, Ratio};

/// An exact fraction.
///
/// Nearly all fit in 128 bits; larger ones, such as products of several prices, continue in integers of any size.
#[derive(Clone, Debug)]
pub struct Fraction(Representation);

#[derive(Clone, Debug)]
enum Representation {
    /// The denominator is above 0. The fraction need not be in lowest terms.
    Small {
        numerator: i128,
        denominator: i128,
    },
    Large(Box<BigRational>),
}

/// All smaller integers are exact as floats.
const EXACT_INTEGERS: u128 = 1 << f64::MANTISSA_DIGITS;

impl Fraction {
    /// Zero.
    pub const ZERO: Self = Self::small(0, 1);

    const fn small(numerator: i128, denominator: i128) -> Self {
        Self(Representation::Small { numerator, denominator })
    }

    fn large(number: BigRational) -> Self {
        Self(Representation::Large(Box::new(number)))
    }

    /// Returns `numerator ÷ denominator`, or `None` if the denominator is 0.
    #[must_use]
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        match denominator {
            0 => None,
            1.. => Some(Self::small(numerator, denominator)),
            _ => match (numerator.checked_neg(), denominator.checked_neg()) {
                (Some(numerator), Some(denominator)) => Some(Self::small(numerator, denominator)),
                _ => Some(Self::large(BigRational::new(numerator.into(), denominator.into()))),
            },
        }
    }

    /// Returns a number of millionths.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self::small(micros.into(), MICROS_PER_UNIT.into())
    }

    /// Returns a whole number.
    #[must_use]
    pub fn from_whole(number: i64) -> Self {
        Self::small(number.into(), 1)
    }

    fn big(&self) -> BigRational {
        match &self.0 {
            Representation::Small { numerator, denominator } => {
                BigRational::new((*numerator).into(), (*denominator).into())
            }
            Representation::Large(number) => (**number).clone(),
        }
    }

    /// Computes in 128 bits if the parts and the result fit, and without limit otherwise.
    fn compute(
        &self,
        other: &Self,
        small: impl Fn((i128, i128), (i128, i128)) -> Option<(i128, i128)>,
        big: impl Fn(BigRational, BigRational) -> BigRational,
    ) -> Self {
        if let (
            &Representation::Small { numerator, denominator },
            &Representation::Small {
                numerator: other_numerator,
                denominator: other_denominator,
            },
        ) = (&self.0, &other.0)
            && let Some((numerator, denominator)) =
                small((numerator, denominator), (other_numerator, other_denominator))
        {
            return Self::small(numerator, denominator);
        }
        let result = big(self.big(), other.big());
        match (i128::try_from(result.numer()), i128::try_from(result.denom())) {
            (Ok(numerator), Ok(denominator)) => Self::small(numerator, denominator),
            _ => Self::large(result),
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let small = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            if b == d {
                return Some((a.checked_add(c)?, b));
            }
            Some((a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?))
        };
        self.compute(other, small, |a, b| a + b)
    }

    /// Returns the difference.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        self.add(&other.negate())
    }

    /// Returns the product.
    #[must_use]
    pub fn multiply(&self, other: &Self) -> Self {
        let small = |(a, b): (i128, i128), (c, d): (i128, i128)| Some((a.checked_mul(c)?, b.checked_mul(d)?));
        self.compute(other, small, |a, b| a * b)
    }

    /// Returns the quotient, or `None` if `other` is 0.
    #[must_use]
    pub fn divide(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let small = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            let sign = c.signum();
            Some((a.checked_mul(d)?.checked_mul(sign)?, b.checked_mul(c.checked_abs()?)?))
        };
        Some(self.compute(other, small, |a, b| a / b))
    }

    /// Returns the number with the other sign.
    #[must_use]
    pub fn negate(&self) -> Self {
        if let Representation::Small { numerator, denominator } = self.0
            && let Some(numerator) = numerator.checked_neg()
        {
            return Self::small(numerator, denominator);
        }
        Self::large(-self.big())
    }

    /// Returns whether it is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Representation::Small { numerator, .. } => *numerator == 0,
            Representation::Large(number) => number.numer() == &0.into(),
        }
    }

    /// Returns the nearest float, within two units of the last place.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            // Both parts are exact as floats.
            Representation::Small { numerator, denominator }
                if numerator.unsigned_abs() < EXACT_INTEGERS && denominator.unsigned_abs() < EXACT_INTEGERS =>
            {
                *numerator as f64 / *denominator as f64
            }
            Representation::Small { numerator, denominator } => {
                let lowest = Ratio::new(*numerator, *denominator);
                *lowest.numer() as f64 / *lowest.denom() as f64
            }
            Representation::Large(number) => to_f64(number),
        }
    }

    /// Returns the number rounded down to millionths, or `None` beyond the range of [`Decimal`].
    #[must_use]
    pub fn floor_to_micros(&self) -> Option<Decimal> {
        let scaled = self.multiply(&Self::from_whole(MICROS_PER_UNIT));
        let whole = match scaled.0 {
            Representation::Small { numerator, denominator } => numerator.div_euclid(denominator),
            Representation::Large(number) => i128::try_from(number.floor().numer()).ok()?,
        };
        i64::try_from(whole).ok().map(Decimal::from_micros)
    }
}

/// Returns the nearest float. The parts may exceed the range of floats although their quotient does not.
fn to_f64(number: &BigRational) -> f64 {
    let bits = number.numer().bits().max(number.denom().bits());
    let excess = bits.saturating_sub(1_000);
    let float = |digits: String| digits.parse().unwrap_or(f64::NAN);
    float((number.numer() >> excess).to_string()) / float((number.denom() >> excess).to_string())
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (
            &Representation::Small { numerator, denominator },
            &Representation::Small {
                numerator: other_numerator,
                denominator: other_denominator,
            },
        ) = (&self.0, &other.0)
        {
            if denominator == other_denominator {
                return numerator.cmp(&other_numerator);
            }
            if let (Some(left), Some(right)) = (
                numerator.checked_mul(other_denominator),
                other_numerator.checked_mul(denominator),
            ) {
                return left.cmp(&right);
            }
        }
        self.big().cmp(&other.big())
    }
}

impl From<Decimal> for Fraction {
    fn from(number: Decimal) -> Self {
        Self::from_micros(number.micros())
    }
}
