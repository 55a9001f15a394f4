//! What a setting can be.

use std::num::NonZeroU32;

use jiff::SignedDuration;
use market::Decimal;
use service::identity::account::CallingCode;
use toml::Value;

/// A kind of value that a setting can have.
pub trait Setting: Sized {
    /// What is allowed, reading on from "it must be".
    fn allowed() -> String;

    /// The value from a text: that of a variable, or a string of a file.
    fn from_text(text: &str) -> Option<Self>;

    /// The value from a file.
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_str().and_then(Self::from_text)
    }

    /// The value as it would stand in a file; a secret is masked.
    fn to_toml(&self) -> Value;
}

/// An empty text in a file is none.
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

/// In a file an array, in a variable parted by commas.
impl<T: Setting> Setting for Vec<T> {
    fn allowed() -> String {
        format!(
            "a list (in a file [\"...\", \"...\"], in a variable parted by commas), each {}",
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

/// A number above zero.
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

/// A time above zero.
impl Setting for SignedDuration {
    fn allowed() -> String {
        "a time above zero with its unit, like 500ms, 10s, 5m or 1h".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().filter(SignedDuration::is_positive)
    }

    fn to_toml(&self) -> Value {
        format!("{self:#}").into()
    }
}

/// Declares a setting that is one of a few words.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal, )* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $( $(#[$doc])* $variant, )*
        }

        impl Setting for $name {
            fn allowed() -> String {
                let words = [$( concat!("\"", $word, "\"") ),*];
                format!("one of {}", words.join(", "))
            }

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }

            fn to_toml(&self) -> Value {
                self.word().into()
            }
        }

        impl $name {
            /// The word for it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }
    };
}

pub(super) use choice;

choice! {
    /// Where market data comes from.
    SourceKind {
        /// An invented market.
        Simulated = "simulated",
        /// A data folder that is watched.
        File = "file",
        /// Nothing but what is pushed to `POST /market/ingest`.
        Push = "push",
        /// Those who sell market data or give it away.
        Providers = "providers",
    }
}

choice! {
    /// How a delivery's timestamp is written.
    TimestampFormat {
        /// `2024-03-08T14:30:00.000Z`, as in the body.
        Iso = "iso",
        /// Milliseconds since 1970.
        EpochMs = "epoch_ms",
    }
}

choice! {
    /// Who carries mail.
    EmailTransport {
        /// Nobody: it is kept for the operator to read.
        Outbox = "outbox",
        /// A mail server.
        Smtp = "smtp",
    }
}

choice! {
    /// Who carries text messages.
    SmsProvider {
        /// Nobody: they are kept for the operator to read.
        Outbox = "outbox",
        /// Twilio, or who speaks as it does.
        Twilio = "twilio",
    }
}

choice! {
    /// Who looks at stocks.
    AnalystKind {
        /// The rules, without any network.
        Rules = "rules",
        /// A language model behind an endpoint that speaks as OpenAI's does.
        Openai = "openai",
    }
}

choice! {
    /// What an endpoint calls the limit on an answer's tokens.
    TokenLimitName {
        /// As OpenAI does.
        MaxCompletionTokens = "max_completion_tokens",
        /// As OpenAI did, and others do.
        MaxTokens = "max_tokens",
    }
}

choice! {
    /// What the log looks like.
    LogFormat {
        /// Text on a terminal, else JSON.
        Auto = "auto",
        /// Text for people.
        Text = "text",
        /// A JSON object a line, for programs.
        Json = "json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_is_above_zero() {
        let shown = |text: &str| SignedDuration::from_text(text).map(|time| time.to_toml().to_string());
        assert_eq!(shown("500ms").as_deref(), Some("\"500ms\""));
        assert_eq!(shown("90s").as_deref(), Some("\"1m 30s\""));
        for wrong in ["10", "0s", "-5s", "soon", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_shown_time_is_read_again() {
        for text in ["500ms", "10s", "90s", "5m", "1h", "26h 1ms"] {
            let time = SignedDuration::from_text(text).unwrap();
            assert_eq!(SignedDuration::from_toml(&time.to_toml()), Some(time), "{text}");
        }
    }

    #[test]
    fn a_list_is_an_array_or_parted_by_commas() {
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
    fn numbers_keep_to_their_bounds() {
        assert_eq!(u32::from_text("-1"), None);
        assert_eq!(u32::from_text("4294967296"), None);
        assert_eq!(NonZeroU32::from_text("0"), None);
        assert_eq!(u32::from_toml(&Value::Float(1.0)), None);
        assert_eq!(Decimal::from_toml(&Value::Float(0.5)), Decimal::from_f64(0.5).ok());
        assert_eq!(Decimal::from_toml(&Value::Integer(0)), None);
    }
}
