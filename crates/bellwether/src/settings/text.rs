//! Settings that are text in a certain format.

use std::fmt;
use std::path::PathBuf;

use jiff::civil::Date;
use market::Symbol;
use toml::Value;
use tracing_subscriber::EnvFilter;

use super::value::Setting;

/// A log filter: a level such as `info`, optionally with exceptions, such as `info,service=debug`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFilter(String);

impl LogFilter {
    /// Converts the filter for `tracing`.
    #[must_use]
    pub fn to_env_filter(&self) -> EnvFilter {
        // `rmcp` logs a line for each message it answers. The request is already logged, so its level is raised.
        EnvFilter::new(format!("rmcp=warn,{}", self.0))
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for LogFilter {
    fn allowed() -> String {
        "error, warn, info, debug or trace, or with exceptions, like info,service=debug".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        // A single word that is not a level would be read as a module name, and everything else would be silent.
        let is_level = |word: &str| ["error", "warn", "info", "debug", "trace", "off"].contains(&word);
        let is_valid = text
            .split(',')
            .all(|directive| directive.contains('=') || is_level(directive.trim()));
        (is_valid && EnvFilter::try_new(text).is_ok()).then(|| Self(text.to_owned()))
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
    fn log_filter_is_a_level_with_optional_exceptions() {
        for valid in ["info", "off", "warn,service=debug", "evaluation::evaluator=trace,error"] {
            assert!(LogFilter::from_text(valid).is_some(), "{valid}");
        }
        for wrong in ["", "verbose", "info,loud", "service=loud"] {
            assert!(LogFilter::from_text(wrong).is_none(), "{wrong}");
        }
    }
}
