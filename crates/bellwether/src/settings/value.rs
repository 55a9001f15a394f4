//! The types of settings.

use std::num::NonZeroU32;

use delivery::phone_number::CallingCode;
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
        format!(
            "a list (in a file [\"...\", \"...\"], in a variable separated by commas), each {}",
            T::allowed()
        )
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

impl Setting for CallingCode {
    fn allowed() -> String {
        "a country calling code of 1 to 3 digits, like 1 or 44".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_toml(&self) -> Value {
        self.to_string().into()
    }
}

impl Setting for bool {
    fn allowed() -> String {
        "true or false".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_toml(&self) -> Value {
        (*self).into()
    }
}

macro_rules! whole_numbers {
    ($($kind:ty: $from:literal to $to:literal;)*) => {$(
        impl Setting for $kind {
            fn allowed() -> String {
                concat!("a whole number from ", $from, " to ", $to).to_owned()
            }

            fn from_text(text: &str) -> Option<Self> {
                let number: i64 = text.parse().ok()?;
                Self::try_from(number).ok()
            }

            fn from_toml(value: &Value) -> Option<Self> {
                Self::try_from(value.as_integer()?).ok()
            }

            fn to_toml(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

whole_numbers! {
    u32: "0" to "4294967295";
    u64: "0" to "9223372036854775807";
}

impl Setting for NonZeroU32 {
    fn allowed() -> String {
        "a whole number from 1 to 4294967295".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        u32::from_text(text).and_then(Self::new)
    }

    fn from_toml(value: &Value) -> Option<Self> {
        u32::from_toml(value).and_then(Self::new)
    }

    fn to_toml(&self) -> Value {
        self.get().into()
    }
}

/// A number greater than zero.
impl Setting for Decimal {
    fn allowed() -> String {
        "a number above 0".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&number| number > Self::default())
    }

    fn from_toml(value: &Value) -> Option<Self> {
        let text = match value {
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => return None,
        };
        Self::from_text(&text)
    }

    fn to_toml(&self) -> Value {
        Value::Float(self.as_f64())
    }
}

/// A duration greater than zero.
impl Setting for SignedDuration {
    fn allowed() -> String {
        "a duration above zero with its unit, like 500ms, 10s, 5m or 1h".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().filter(SignedDuration::is_positive)
    }

    fn to_toml(&self) -> Value {
        format!("{self:#}").into()
    }
}

/// Declares a setting that is one of several names.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal, )* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $( $(#[$doc])* $variant, )*
        }

        impl Setting for $name {
            fn allowed() -> String {
                let names = [$( concat!("\"", $word, "\"") ),*];
                format!("one of {}", names.join(", "))
            }

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }

            fn to_toml(&self) -> Value {
                self.as_str().into()
            }
        }

        impl $name {
            /// Returns the name as in a settings file.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }
    };
}

pub(super) use choice;

choice! {
    /// The source of market data.
    SourceKind {
        /// A simulated market.
        Simulated = "simulated",
        /// A data folder that is checked for changes.
        File = "file",
        /// Only data pushed to `POST /market/ingest`.
        Push = "push",
        /// Market data providers.
        Providers = "providers",
    }
}

choice! {
    /// The format of a delivery's timestamp header.
    TimestampFormat {
        /// `2024-03-08T14:30:00.000Z`, as in the body.
        Iso = "iso",
        /// Milliseconds since 1970-01-01.
        EpochMs = "epoch_ms",
    }
}

choice! {
    /// The transport of mail.
    EmailTransport {
        /// Mail is not sent, and the operator can read it in the outbox.
        Outbox = "outbox",
        /// A mail server.
        Smtp = "smtp",
    }
}

choice! {
    /// The provider of text messages.
    SmsProvider {
        /// Text messages are not sent, and the operator can read them in the outbox.
        Outbox = "outbox",
        /// Twilio, or a service with the same API.
        Twilio = "twilio",
    }
}

choice! {
    /// The kind of analyst.
    AnalystKind {
        /// Rules that need no network.
        Rules = "rules",
        /// A language model behind an OpenAI-compatible API.
        Openai = "openai",
    }
}

choice! {
    /// The API's parameter name for the limit on tokens.
    TokenLimitName {
        /// The name in OpenAI's current API.
        MaxCompletionTokens = "max_completion_tokens",
        /// The former name in OpenAI's API, which other services still use.
        MaxTokens = "max_tokens",
    }
}

choice! {
    /// The log format.
    LogFormat {
        /// Text on a terminal, JSON otherwise.
        Auto = "auto",
        /// Text for people.
        Text = "text",
        /// One JSON object per line, for programs.
        Json = "json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_has_a_unit_and_is_positive() {
        let shown = |text: &str| SignedDuration::from_text(text).map(|time| time.to_toml().to_string());
        assert_eq!(shown("500ms").as_deref(), Some("\"500ms\""));
        assert_eq!(shown("90s").as_deref(), Some("\"1m 30s\""));
        for wrong in ["10", "0s", "-5s", "soon", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shown_duration_can_be_parsed() {
        for text in ["500ms", "10s", "90s", "5m", "1h", "26h 1ms"] {
            let time = SignedDuration::from_text(text).unwrap();
            assert_eq!(SignedDuration::from_toml(&time.to_toml()), Some(time), "{text}");
        }
    }

    #[test]
    fn list_is_an_array_or_comma_separated() {
        let expected = Some(vec![1_u32, 2, 3]);
        assert_eq!(Vec::from_text("1, 2,3"), expected);
        assert_eq!(
            Vec::from_toml(&Value::Array(vec![1.into(), 2.into(), 3.into()])),
            expected
        );
        assert_eq!(Vec::<u32>::from_toml(&1.into()), None);
        assert_eq!(Vec::<u32>::from_text("1,,3"), None);
    }

    #[test]
    fn rejects_numbers_out_of_range() {
        assert_eq!(u32::from_text("-1"), None);
        assert_eq!(u32::from_text("4294967296"), None);
        assert_eq!(NonZeroU32::from_text("0"), None);
        assert_eq!(u32::from_toml(&Value::Float(1.0)), None);
        assert_eq!(Decimal::from_toml(&Value::Float(0.5)), Decimal::from_f64(0.5).ok());
        assert_eq!(Decimal::from_toml(&Value::Integer(0)), None);
    }
}
