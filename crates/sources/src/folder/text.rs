//! Parses texts to values: fields of files and members of JSON bodies.
//!
//! Each function returns the value or a [`FieldError`], whose message continues the text.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{EarningsTime, TransactionSide};
use market::{Decimal, DecimalError, Price, SplitRatio, Symbol};

use super::rejected::FieldError;

/// Returns any text.
pub(crate) fn string(text: &str) -> Result<String, FieldError> {
    Ok(text.to_owned())
}

/// Parses a ticker.
pub(crate) fn symbol(text: &str) -> Result<Symbol, FieldError> {
    Ok(text.parse::<Symbol>()?)
}

/// Parses `YYYY-MM-DD`. Other forms of ISO 8601 are rejected, because some look like numbers.
pub(crate) fn date(text: &str) -> Result<Date, FieldError> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return Err(FieldError::Date);
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
        .ok_or(FieldError::Date)
}

/// Parses an RFC 3339 time, with `Z` or an offset.
pub(crate) fn time(text: &str) -> Result<Timestamp, FieldError> {
    text.parse().map_err(|_| FieldError::Time)
}

/// Parses a price.
pub(crate) fn price(text: &str) -> Result<Price, FieldError> {
    Ok(text.parse::<Price>()?)
}

/// Parses a split ratio.
pub(crate) fn ratio(text: &str) -> Result<SplitRatio, FieldError> {
    Ok(text.parse::<SplitRatio>()?)
}

/// Parses a number of either sign.
pub(crate) fn decimal(text: &str) -> Result<Decimal, FieldError> {
    Ok(text.parse::<Decimal>()?)
}

/// Parses a number that is zero or more.
pub(crate) fn amount(text: &str) -> Result<Decimal, FieldError> {
    let amount = decimal(text)?;
    if amount < Decimal::ZERO {
        return Err(FieldError::Negative);
    }
    Ok(amount)
}

/// Parses a market capitalisation in US dollars. Returns `None` for a positive one that is too large for a [`Decimal`].
pub(crate) fn market_cap(text: &str) -> Result<Option<Decimal>, FieldError> {
    match amount(text) {
        Err(FieldError::Number(DecimalError::TooLarge)) if !text.starts_with('-') => Ok(None),
        read => read.map(Some),
    }
}

/// Parses a whole number, also in the forms `2113300.0` and `2.1133e6`.
pub(crate) fn integer(text: &str) -> Result<i64, FieldError> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        _ => text,
    };
    // A text such as 1e6 may be a whole number, too; otherwise `Decimal` returns the error.
    digits
        .parse()
        .or_else(|_| decimal(text)?.as_whole().ok_or(FieldError::Fractional))
}

/// Parses a whole number from 0 to `u32::MAX`.
pub(crate) fn count(text: &str) -> Result<u32, FieldError> {
    let count = integer(text)?;
    u32::try_from(count).map_err(|_| {
        if count < 0 {
            FieldError::Negative
        } else {
            FieldError::TooLarge(u32::MAX.into())
        }
    })
}

/// Parses the time of day of an earnings report.
pub(crate) fn earnings_time(text: &str) -> Result<EarningsTime, FieldError> {
    let keywords = [
        ("before_open", EarningsTime::BeforeOpen),
        ("after_close", EarningsTime::AfterClose),
        ("unknown", EarningsTime::Unknown),
    ];
    keyword(text, &keywords, "before_open, after_close or unknown")
}

/// Parses the side of a transaction.
pub(crate) fn side(text: &str) -> Result<TransactionSide, FieldError> {
    keyword(
        text,
        &[("buy", TransactionSide::Buy), ("sell", TransactionSide::Sell)],
        "buy or sell",
    )
}

/// Parses `true`, `false`, `1` or `0`.
pub(crate) fn boolean(text: &str) -> Result<bool, FieldError> {
    let keywords = [("true", true), ("false", false), ("1", true), ("0", false)];
    keyword(text, &keywords, "true or false")
}

/// Parses a transaction code: one letter, returned in upper case.
pub(crate) fn code(text: &str) -> Result<char, FieldError> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Ok(char::from(letter.to_ascii_uppercase())),
        _ => Err(FieldError::Code),
    }
}

/// Returns the value of a keyword, in any case; `listed` names the keywords in the message.
fn keyword<T: Copy>(text: &str, keywords: &[(&str, T)], listed: &'static str) -> Result<T, FieldError> {
    keywords
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(text))
        .map(|(_, meaning)| *meaning)
        .ok_or(FieldError::NotOneOf(listed))
}
