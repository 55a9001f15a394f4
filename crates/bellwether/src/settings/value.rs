//! The trait of the types of settings, and numbers, durations and lists.

use std::num::NonZeroU32;
use std::str::FromStr;

use jiff::SignedDuration;
use market::Decimal;
use toml::Value;

/// A type that a setting can have.
pub trait Setting: Sized {
    /// Describes the allowed values, as a continuation of "must be".
    fn allowed() -> String;

    /// Parses the text of a variable, or a string in a file.
    fn from_text(text: &str) -> Option<Self>;

    /// Parses a value in a file.
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_str().and_then(Self::from_text)
    }

    /// Returns the value as in a file. A secret is masked.
    fn to_toml(&self) -> Value;
}

/// An empty text is `None`.
impl<T: Setting> Setting for Option<T> {
    fn allowed() -> String {
        format!("{}, or \"\" for none", T::allowed())
    }

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "" => Some(None),
            text => T::from_text(text).map(Some),
        }
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some("") => Some(None),
            _ => T::from_toml(value).map(Some),
        }
    }

    fn to_toml(&self) -> Value {
        self.as_ref().map_or_else(|| "".into(), T::to_toml)
    }
}

/// An array in a file, or a comma-separated list in a variable.
impl<T: Setting> Setting for Vec<T> {
    fn allowed() -> String {
        let item = T::allowed();
        format!("a list (in a file [\"...\", \"...\"], in a variable separated by commas), each {item}")
    }

    fn from_text(text: &str) -> Option<Self> {
        text.split(',').map(|item| T::from_text(item.trim())).collect()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::from_toml).collect()
    }

    fn to_toml(&self) -> Value {
        Value::Array(self.iter().map(T::to_toml).collect())
    }
}

/// Implements [`Setting`] for a type that is no string in a file: the allowed values and the conversions from text,
/// from TOML and to TOML.
macro_rules! value_setting {
    ($kind:ty, $allowed:literal, $from_text:expr, $from_toml:expr, $to_toml:expr) => {
        impl $crate::settings::value::Setting for $kind {
            fn allowed() -> String {
                $allowed.to_owned()
            }

            fn from_text(text: &str) -> Option<Self> {
                let parse: fn(&str) -> Option<Self> = $from_text;
                parse(text)
            }

            fn from_toml(value: &Value) -> Option<Self> {
                let parse: fn(&Value) -> Option<Self> = $from_toml;
                parse(value)
            }

            fn to_toml(&self) -> Value {
                let show: fn(&Self) -> Value = $to_toml;
                show(self)
            }
        }
    };
}

/// Implements [`Setting`] for a type that is a string in a file: the allowed values, the parser and the shown text.
macro_rules! text_setting {
    ($kind:ty, $allowed:expr, $parse:expr, $show:expr) => {
        impl $crate::settings::value::Setting for $kind {
            fn allowed() -> String {
                $allowed.into()
            }

            fn from_text(text: &str) -> Option<Self> {
                let parse: fn(&str) -> Option<Self> = $parse;
                parse(text)
            }

            fn to_toml(&self) -> toml::Value {
                let show: fn(&Self) -> String = $show;
                show(self).into()
            }
        }
    };
}

pub(super) use {text_setting, value_setting};

/// Parses a text with the type's own parser.
pub(super) fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn number<T: TryFrom<i64>>(text: &str) -> Option<T> {
    parsed::<i64>(text)?.try_into().ok()
}

fn toml_number<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    value.as_integer()?.try_into().ok()
}

value_setting!(bool, "true or false", parsed, Value::as_bool, |is| (*is).into());
value_setting!(
    u32,
    "a whole number from 0 to 4294967295",
    number,
    toml_number,
    |number| (*number).into()
);
value_setting!(
    u64,
    "a whole number from 0 to 9223372036854775807",
    number,
    toml_number,
    |number| i64::try_from(*number).unwrap_or(i64::MAX).into()
);
value_setting!(
    NonZeroU32,
    "a whole number from 1 to 4294967295",
    |text| number(text).and_then(Self::new),
    |value| toml_number(value).and_then(Self::new),
    |number| number.get().into()
);
value_setting!(
    Decimal,
    "a number above 0",
    |text| parsed(text).filter(|&number| number > Self::ZERO),
    |value| match value {
        Value::Integer(number) => Self::from_text(&number.to_string()),
        Value::Float(number) => Self::from_text(&number.to_string()),
        _ => None,
    },
    |number| number.as_f64().into()
);
text_setting!(
    SignedDuration,
    "a duration above zero with its unit, like 500ms, 10s, 5m or 1h",
    |text| parsed(text).filter(Self::is_positive),
    |duration| format!("{duration:#}")
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::assert_format;

    #[test]
    fn duration_has_a_unit_and_is_positive() {
        assert_format::<SignedDuration>(
            &["500ms", "10s", "90s", "5m", "1h", "26h 1ms"],
            &["10", "0s", "-5s", "soon", ""],
        );
        let shown = SignedDuration::from_secs(90).to_toml();
        assert_eq!(shown, "1m 30s".into());
    }

    #[test]
    fn list_is_an_array_or_comma_separated() {
        let expected = Some(vec![1_u32, 2, 3]);
        assert_eq!(Vec::from_text("1, 2,3"), expected);
        assert_eq!(Vec::from_toml(&vec![1, 2, 3].into()), expected);
        assert_eq!(Vec::<u32>::from_toml(&1.into()), None);
        assert_eq!(Vec::<u32>::from_text("1,,3"), None);
    }

    #[test]
    fn rejects_numbers_out_of_range() {
        assert_format::<u32>(&["0", "4294967295"], &["-1", "4294967296"]);
        assert_format::<NonZeroU32>(&["1"], &["0"]);
        assert_eq!(u32::from_toml(&1.0.into()), None);
        assert_eq!(Decimal::from_toml(&0.5.into()), Decimal::from_f64(0.5).ok());
        assert_eq!(Decimal::from_toml(&0.into()), None);
    }
}
