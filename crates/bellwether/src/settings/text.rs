//! Settings that are text in a certain format.

use std::path::PathBuf;

use delivery::phone_number::CallingCode;
use jiff::civil::{Date, Time};
use market::Symbol;
use notify::signature::HeaderPrefix;
use toml::Value;
use tracing_subscriber::EnvFilter;

use super::value::{parsed, text_setting, value_setting};

/// Declares a text with a format: the allowed values, and a parser that returns the text as it is used.
macro_rules! formatted_text {
    ($(#[$about:meta])* $name:ident, $allowed:literal, $parse:expr) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        $crate::settings::value::text_setting!(
            $name,
            $allowed,
            |text| {
                let parse: fn(&str) -> Option<String> = $parse;
                parse(text).map(Self)
            },
            Self::to_string
        );
    };
}

pub(super) use formatted_text;

/// Returns the text if it is valid.
pub(super) fn text_if(is_valid: bool, text: &str) -> Option<String> {
    is_valid.then(|| text.to_owned())
}

formatted_text!(
    /// A log filter: a level such as `info`, optionally with exceptions, such as `info,service=debug`.
    LogFilter,
    "error, warn, info, debug or trace, or with exceptions, like info,service=debug",
    |text| {
        // A single word that is not a level would be read as a module name, and everything else would be silent.
        let is_level = |word: &str| ["error", "warn", "info", "debug", "trace", "off"].contains(&word);
        let is_directive = |part: &str| part.contains('=') || is_level(part.trim());
        text_if(text.split(',').all(is_directive) && EnvFilter::try_new(text).is_ok(), text)
    }
);

impl LogFilter {
    /// Converts the filter for `tracing`.
    #[must_use]
    pub fn to_env_filter(&self) -> EnvFilter {
        // `rmcp` logs a line for each message it answers. The request is already logged, so its level is raised. `async_nats` logs a
        // line for each message that a slow subscriber loses.
        EnvFilter::new(format!("rmcp=warn,async_nats=warn,{}", self.0))
    }
}

formatted_text!(
    /// The prefix of a delivery's header names, for example `X-Service`.
    HeaderNamePrefix,
    "a prefix of header names, like X-Service",
    |text| text_if(HeaderPrefix::new(text).is_ok(), text)
);

formatted_text!(
    /// The sender of mail: an address, with a display name if there is one.
    EmailSender,
    "an address like alerts@example.com or Bellwether <alerts@example.com>",
    |text| text_if(notify::email::is_sender(text), text)
);

formatted_text!(
    /// A contact for a request header: a name and an email address.
    Contact,
    "a name and an email address in ASCII, like Example Ltd admin@example.com",
    |text| {
        let text = text.trim();
        let is_printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        text_if(text.contains('@') && is_printable, text)
    }
);

text_setting!(
    PathBuf,
    "the path of a folder",
    |text| text_if(!text.is_empty(), text).map(Self::from),
    |path| path.to_string_lossy().into_owned()
);
text_setting!(String, "a text", |text| text_if(!text.is_empty(), text), Self::clone);
text_setting!(
    Symbol,
    "a symbol: 1 to 10 of A-Z, 0-9, . and -",
    parsed,
    Self::to_string
);
text_setting!(
    CallingCode,
    "a country calling code of 1 to 3 digits, like 1 or 44",
    parsed,
    Self::to_string
);
text_setting!(
    Time,
    "a time of day, like \"22:30\"",
    |text| Self::strptime("%H:%M", text).ok(),
    |time| time.strftime("%H:%M").to_string()
);

value_setting!(
    Date,
    "a date, like 2025-01-09",
    parsed,
    |value| match value {
        Value::Datetime(date) => parsed(&date.to_string()),
        value => parsed(value.as_str()?),
    },
    |date| date.to_string().into()
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::assert_format;

    #[test]
    fn log_filter_is_a_level_with_optional_exceptions() {
        assert_format::<LogFilter>(
            &["info", "off", "warn,service=debug", "evaluation::evaluator=trace,error"],
            &["", "verbose", "info,loud", "service=loud"],
        );
    }

    #[test]
    fn prefix_must_be_valid_in_a_header_name() {
        assert_format::<HeaderNamePrefix>(&["X-Acme"], &["", "X-", "X Acme", "X-Acme:", "Ü"]);
    }

    #[test]
    fn sender_is_one_address_with_optional_name() {
        let two = "a@b.example, c@d.example";
        let header = "A <a@b.example>\r\nBcc: c@d.example";
        assert_format::<EmailSender>(
            &[
                "alerts@example.com",
                "Bellwether <alerts@example.com>",
                "\"Bell, Wether\" <a@b.example>",
            ],
            &["", "alerts", two, header],
        );
    }

    #[test]
    fn contact_has_an_email_address() {
        assert_format::<Contact>(
            &["Example Ltd admin@example.com"],
            &["", "Example Ltd", "Müller a@example.com", "a@example.com\n b"],
        );
    }

    #[test]
    fn time_of_day_has_hours_and_minutes() {
        assert_format::<Time>(&["22:30", "00:00"], &["24:00", "22:60", "22", "soon", ""]);
    }
}
