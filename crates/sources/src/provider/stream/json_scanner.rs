//! Single-pass scanner for stream messages.
//!
//! A stream repeats the same few fields thousands of times a second, in small flat objects. A JSON tree, or even a struct with owned
//! strings, costs more than the evaluation of the message. The scanner instead iterates over the members, returns each value as a
//! slice of the message, and skips the rest. Prices and timestamps in the usual notation are converted directly from their digits;
//! other notations go through the general parsers, so that both give the same result.

use jiff::Timestamp;
use jiff::civil::Date;
use market::day::day_number;
use market::{Decimal, Price, Symbol};

/// The message is not valid JSON, as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MalformedJson;

/// An unparsed value of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScannedValue<'a> {
    /// A string without its quotes. Escapes are not decoded.
    Text(&'a [u8]),
    /// A number, `true`, `false` or `null`.
    Bare(&'a [u8]),
    /// An array or an object with its brackets.
    Nested(&'a [u8]),
}

/// Scans a message.
#[derive(Debug, Clone)]
pub(crate) struct JsonScanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> JsonScanner<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn peek(&mut self) -> Result<u8, MalformedJson> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(&byte) => return Ok(byte),
                None => return Err(MalformedJson),
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), MalformedJson> {
        if self.peek()? == byte {
            self.at += 1;
            Ok(())
        } else {
            Err(MalformedJson)
        }
    }

    /// Enters the next object of an array; false at the array's end. Clears `is_first`.
    pub(crate) fn next_object(&mut self, is_first: &mut bool) -> Result<bool, MalformedJson> {
        if std::mem::take(is_first) {
            self.expect(b'[')?;
            if self.peek()? == b']' {
                self.at += 1;
                return Ok(false);
            }
        } else {
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(false);
                }
                _ => return Err(MalformedJson),
            }
        }
        self.open_object()?;
        Ok(true)
    }

    /// Enters an object.
    pub(crate) fn open_object(&mut self) -> Result<(), MalformedJson> {
        self.expect(b'{')
    }

    /// Returns the next member of the object; `None` at its end. Clears `is_first`.
    pub(crate) fn next_member(
        &mut self,
        is_first: &mut bool,
    ) -> Result<Option<(&'a [u8], ScannedValue<'a>)>, MalformedJson> {
        let byte = self.peek()?;
        if byte == b'}' {
            self.at += 1;
            return Ok(None);
        }
        if !std::mem::take(is_first) {
            self.expect(b',')?;
        }
        self.expect(b'"')?;
        let name = self.text()?;
        self.expect(b':')?;
        Ok(Some((name, self.value()?)))
    }

    fn value(&mut self) -> Result<ScannedValue<'a>, MalformedJson> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.text().map(ScannedValue::Text)
            }
            b'[' | b'{' => self.nested().map(ScannedValue::Nested),
            _ => self.bare().map(ScannedValue::Bare),
        }
    }

    /// Reads a string whose opening quote has been read.
    fn text(&mut self) -> Result<&'a [u8], MalformedJson> {
        let start = self.at;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.bytes[start..self.at - 1]);
                }
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(MalformedJson),
            }
        }
    }

    fn bare(&mut self) -> Result<&'a [u8], MalformedJson> {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'E') {
                break;
            }
            self.at += 1;
        }
        let bare = &self.bytes[start..self.at];
        (!bare.is_empty()).then_some(bare).ok_or(MalformedJson)
    }

    /// Reads an array or an object up to its closing bracket.
    fn nested(&mut self) -> Result<&'a [u8], MalformedJson> {
        let (start, mut depth) = (self.at, 0_usize);
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => {
                    self.text()?;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(&self.bytes[start..self.at]);
                    }
                }
                _ => {}
            }
        }
        Err(MalformedJson)
    }
}

impl<'a> ScannedValue<'a> {
    /// Returns the text of the string or number.
    pub(crate) const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Text(bytes) | Self::Bare(bytes) | Self::Nested(bytes) => bytes,
        }
    }

    fn as_str(self) -> Option<&'a str> {
        match self {
            Self::Text(bytes) | Self::Bare(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Nested(_) => None,
        }
    }

    /// Parses a decimal number.
    pub(crate) fn decimal(self) -> Option<Decimal> {
        if let Self::Bare(bytes) = self
            && let Some(micros) = plain_micros(bytes)
        {
            return Some(Decimal::from_micros(micros));
        }
        self.as_str()?.parse().ok()
    }

    /// Parses a price: greater than zero and within the supported range.
    pub(crate) fn price(self) -> Option<Price> {
        Price::try_from(self.decimal()?).ok()
    }

    /// Parses a number of shares. Fractional shares are truncated.
    pub(crate) fn shares(self) -> Option<i64> {
        let micros = self.decimal()?.micros();
        (0..=market::price::MAX_VOLUME)
            .contains(&(micros / 1_000_000))
            .then_some(micros / 1_000_000)
    }

    /// Parses an integer.
    pub(crate) fn integer(self) -> Option<i64> {
        self.as_str()?.parse().ok()
    }

    /// Parses a ticker. Some providers mark preferred shares with a lower-case letter; such tickers are not supported.
    pub(crate) fn symbol(self) -> Option<Symbol> {
        let text = self.as_str()?;
        (!text.bytes().any(|byte| byte.is_ascii_lowercase())).then(|| text.parse().ok())?
    }

    /// Parses a Unix timestamp in milliseconds.
    pub(crate) fn epoch_millis(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.integer()?).ok()
    }

    /// Parses an RFC 3339 timestamp.
    pub(crate) fn time(self) -> Option<Timestamp> {
        plain_time(self.bytes()).or_else(|| self.as_str()?.parse().ok())
    }
}

/// Parses a number in plain notation, up to 12 digits and six decimals, into millionths.
fn plain_micros(bytes: &[u8]) -> Option<i64> {
    let (mut value, mut decimals, mut has_point) = (0_i64, 0_u32, false);
    if bytes.len() > 18 {
        return None;
    }
    for &byte in bytes {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + i64::from(byte - b'0');
                decimals += u32::from(has_point);
            }
            b'.' if !has_point => has_point = true,
            _ => return None,
        }
    }
    let whole_digits = bytes.len() - usize::try_from(decimals).ok()? - usize::from(has_point);
    if decimals > 6 || whole_digits > 12 || whole_digits == 0 || bytes.ends_with(b".") {
        return None;
    }
    Some(value * 10_i64.pow(6 - decimals))
}

/// Parses a UTC timestamp in plain notation: `2024-03-08T14:30:00[.1 to 9 digits]Z`.
fn plain_time(bytes: &[u8]) -> Option<Timestamp> {
    let two = |at: usize| -> Option<i64> {
        let [tens, ones] = [bytes.get(at)?.wrapping_sub(b'0'), bytes.get(at + 1)?.wrapping_sub(b'0')];
        (tens < 10 && ones < 10).then(|| i64::from(tens) * 10 + i64::from(ones))
    };
    let (&b'Z', rest) = bytes.split_last()? else {
        return None;
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|&(at, mark)| bytes.get(at) != Some(&mark)) {
        return None;
    }
    let year = two(0)? * 100 + two(2)?;
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(two(5)?).ok()?,
        i8::try_from(two(8)?).ok()?,
    )
    .ok()?;
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanosecond = match rest.get(19..)? {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            let mut value = 0_i32;
            for &digit in digits {
                if !digit.is_ascii_digit() {
                    return None;
                }
                value = value * 10 + i32::from(digit - b'0');
            }
            value * 10_i32.pow(9 - u32::try_from(digits.len()).ok()?)
        }
        _ => return None,
    };
    let seconds = i64::from(day_number(date)) * 86_400 + hour * 3_600 + minute * 60 + second;
    Timestamp::new(seconds, nanosecond).ok()
}

#[cfg(test)]
#[path = "json_scanner_tests.rs"]
mod tests;
