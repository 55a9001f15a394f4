//! Fractions at the limits of 128 bits.

use alerts::expression::Fraction;
use market::Decimal;

fn fraction(numerator: i128, denominator: i128) -> Fraction {
    Fraction::new(numerator, denominator).unwrap()
}

#[test]
fn sign_belongs_to_the_numerator() {
    assert_eq!(fraction(1, -2), fraction(-1, 2));
    assert_eq!(fraction(-1, -2), fraction(1, 2));
    assert!(fraction(1, -2) < Fraction::ZERO);
    assert_eq!(fraction(1, 2).divide(&fraction(-1, 4)), Some(fraction(-2, 1)));
    assert_eq!(Fraction::new(1, 0), None);
    assert_eq!(fraction(1, 2).divide(&Fraction::ZERO), None);
}

#[test]
fn arithmetic_continues_beyond_128_bits_and_returns() {
    let largest = fraction(i128::MAX, 1);
    let smallest = fraction(i128::MIN, 1);
    assert!(largest.add(&fraction(1, 1)) > largest);
    assert_eq!(largest.add(&fraction(1, 1)).subtract(&fraction(1, 1)), largest);
    assert_eq!(smallest.negate(), largest.add(&fraction(1, 1)));
    assert_eq!(fraction(i128::MIN, i128::MIN), fraction(1, 1));
    assert_eq!(fraction(1, i128::MIN).multiply(&smallest), fraction(1, 1));
    assert_eq!(largest.multiply(&largest).divide(&largest), Some(largest.clone()));
    assert_eq!(smallest.as_f64(), -(2_f64.powi(127)));
    assert_eq!(largest.multiply(&largest).as_f64(), 2_f64.powi(254));
}

#[test]
fn floor_is_the_next_lower_millionth() {
    for (numerator, denominator, micros) in [(1, 3, 333_333), (-1, 3, -333_334), (1, 2, 500_000), (0, 7, 0)] {
        let floor = fraction(numerator, denominator).floor_to_micros();
        assert_eq!(floor, Some(Decimal::from_micros(micros)));
    }
    assert_eq!(fraction(i128::MAX, 1).floor_to_micros(), None);
    assert_eq!(
        fraction(i64::MAX.into(), 1_000_000).floor_to_micros(),
        Some(Decimal::from_micros(i64::MAX))
    );
}
