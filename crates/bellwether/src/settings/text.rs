//! Settings that are texts of a certain form.

use std::fmt;
use std::path::PathBuf;

use jiff::civil::Date;
use market::Symbol;
use toml::Value;
use tracing_subscriber::EnvFilter;

use super::value::Setting;

/// What is worth logging: `info`, or `info,service=debug`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter(String);

impl Filter {
    /// It, in the form of the library that logs.
    #[must_use]
    pub fn to_env_filter(&self) -> EnvFilter {
        // It tells of every message that it has answered it; the request is told of anyway.
        EnvFilter::new(format!("rmcp=warn,{}", self.0))
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for Filter {
    fn allowed() -> String {
        "error, warn, info, debug or trace, or with exceptions, like info,service=debug".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        // A single word that is no level would be taken for the name of a module, and all else be silent.
        let is_level = |word: &str| ["error", "warn", "info", "debug", "trace", "off"].contains(&word);
        let sound = text
            .split(',')
            .all(|directive| directive.contains('=') || is_level(directive.trim()));
        (sound && EnvFilter::try_new(text).is_ok()).then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

impl Setting for PathBuf {
    fn allowed() -> String {
        "the path of a folder".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn to_toml(&self) -> Value {
        self.to_string_lossy().into_owned().into()
    }
}

impl Setting for String {
    fn allowed() -> String {
        "a text".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn to_toml(&self) -> Value {
        self.clone().into()
    }
}

impl Setting for Symbol {
    fn allowed() -> String {
        "a symbol: 1 to 10 of A-Z, 0-9, . and -".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_toml(&self) -> Value {
        self.as_str().into()
    }
}

impl Setting for Date {
    fn allowed() -> String {
        "a date, like 2025-01-09".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Datetime(date) => Self::from_text(&date.to_string()),
            value => value.as_str().and_then(Self::from_text),
        }
    }

    fn to_toml(&self) -> Value {
        self.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_with_or_without_exceptions() {
        for sound in ["info", "off", "warn,service=debug", "service::evaluator=trace,error"] {
            assert!(Filter::from_text(sound).is_some(), "{sound}");
        }
        for wrong in ["", "verbose", "info,loud", "service=loud"] {
            assert!(Filter::from_text(wrong).is_none(), "{wrong}");
        }
    }
}
