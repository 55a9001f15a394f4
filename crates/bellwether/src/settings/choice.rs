//! Settings that are one of several names.

use notify::signature::TimestampFormat;
use sources::provider::alpaca::AlpacaFeed;
use sources::provider::massive::MassivePlan;

/// Implements [`Setting`](super::Setting) for an enum by the names of its variants.
macro_rules! choice_setting {
    ($kind:ty { $( $variant:ident = $name:literal, )* }) => {
        impl $crate::settings::value::Setting for $kind {
            fn allowed() -> String {
                concat!("one of ", $( "\"", $name, "\", " ),*).trim_end_matches(", ").to_owned()
            }

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $( $name => Some(Self::$variant), )*
                    _ => None,
                }
            }

            fn to_toml(&self) -> toml::Value {
                match self {
                    $( Self::$variant => $name.into(), )*
                }
            }
        }
    };
}

/// Declares an enum that is a setting.
macro_rules! choice {
    ($(#[$about:meta])* $kind:ident { $( $(#[$doc:meta])* $variant:ident = $name:literal, )* }) => {
        alerts::named_enum! {
            $(#[$about])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub enum $kind {
                $( $(#[$doc])* $variant = $name, )*
            }
        }

        $crate::settings::choice::choice_setting!($kind { $( $variant = $name, )* });
    };
}

pub(super) use {choice, choice_setting};

choice_setting!(TimestampFormat { Iso = "iso", EpochMs = "epoch_ms", });
choice_setting!(AlpacaFeed { Iex = "iex", Sip = "sip", DelayedSip = "delayed_sip", });
choice_setting!(MassivePlan { Basic = "basic", Delayed = "starter", RealTime = "advanced", });

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
