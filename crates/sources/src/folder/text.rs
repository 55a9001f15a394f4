//! Texts turned into values: of a file's field, and of a member of a JSON body.
//!
//! Each function answers the value, or the [`Problem`] with the text, whose message reads on from it.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{EarningsTime, Side};
use market::{Decimal, DecimalError, Price, SplitRatio, Symbol};

use super::rejected::Problem;

/// A ticker.
pub(crate) fn symbol(text: &str) -> Result<Symbol, Problem> {
    Ok(text.parse::<Symbol>()?)
}

/// Reads `YYYY-MM-DD` and nothing else: of the other forms of ISO 8601, some read like a number.
pub(crate) fn date(text: &str) -> Result<Date, Problem> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return Err(Problem::Date);
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i16, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i16::from(digit - b'0'))
        })
    };
    let small = |digits: &[u8]| number(digits).and_then(|number| i8::try_from(number).ok());
    number(&[y1, y2, y3, y4])
        .zip(small(&[m1, m2]))
        .zip(small(&[d1, d2]))
        .and_then(|((year, month), day)| Date::new(year, month, day).ok())
        .ok_or(Problem::Date)
}

/// An instant of RFC 3339, with `Z` or an offset.
pub(crate) fn time(text: &str) -> Result<Timestamp, Problem> {
    text.parse().map_err(|_| Problem::Time)
}

/// A price.
pub(crate) fn price(text: &str) -> Result<Price, Problem> {
    Ok(text.parse::<Price>()?)
}

/// A split ratio.
pub(crate) fn ratio(text: &str) -> Result<SplitRatio, Problem> {
    Ok(text.parse::<SplitRatio>()?)
}

/// A number of either sign.
pub(crate) fn decimal(text: &str) -> Result<Decimal, Problem> {
    Ok(text.parse::<Decimal>()?)
}

/// A number that is zero or more.
pub(crate) fn amount(text: &str) -> Result<Decimal, Problem> {
    let amount = decimal(text)?;
    if amount < Decimal::ZERO {
        return Err(Problem::Negative);
    }
    Ok(amount)
}

/// A market capitalisation in US dollars; `None` for a positive one that is too large for a [`Decimal`].
pub(crate) fn market_cap(text: &str) -> Result<Option<Decimal>, Problem> {
    match amount(text) {
        Err(Problem::Number(DecimalError::TooLarge)) if !text.starts_with('-') => Ok(None),
        read => read.map(Some),
    }
}

/// A whole number, also as `2113300.0` or `2.1133e6`.
pub(crate) fn whole(text: &str) -> Result<i64, Problem> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        _ => text,
    };
    // What is not plainly a whole number may still be one, such as 1e6; else `Decimal` knows why not.
    digits
        .parse()
        .or_else(|_| decimal(text)?.as_whole().ok_or(Problem::Fractional))
}

/// A whole number from 0 to `u32::MAX`.
pub(crate) fn count(text: &str) -> Result<u32, Problem> {
    let count = whole(text)?;
    u32::try_from(count).map_err(|_| {
        if count < 0 {
            Problem::Negative
        } else {
            Problem::TooLarge(u32::MAX.into())
        }
    })
}

/// When in its day a company reports.
pub(crate) fn earnings_time(text: &str) -> Result<EarningsTime, Problem> {
    let words = [
        ("before_open", EarningsTime::BeforeOpen),
        ("after_close", EarningsTime::AfterClose),
        ("unknown", EarningsTime::Unknown),
    ];
    word(text, &words, "before_open, after_close or unknown")
}

/// Whether shares came or went.
pub(crate) fn side(text: &str) -> Result<Side, Problem> {
    word(text, &[("buy", Side::Buy), ("sell", Side::Sell)], "buy or sell")
}

/// Yes or no, in the ways in which programs write it.
pub(crate) fn flag(text: &str) -> Result<bool, Problem> {
    let words = [("true", true), ("false", false), ("1", true), ("0", false)];
    word(text, &words, "true or false")
}

/// A transaction code: one letter, in upper case.
pub(crate) fn code(text: &str) -> Result<char, Problem> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Ok(char::from(letter.to_ascii_uppercase())),
        _ => Err(Problem::Code),
    }
}

/// What the word, in any case, stands for; `listed` names the words in a message.
fn word<T: Copy>(text: &str, words: &[(&str, T)], listed: &'static str) -> Result<T, Problem> {
    words
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(text))
        .map(|(_, meaning)| *meaning)
        .ok_or(Problem::NotOneOf(listed))
}
