//! # Settings
//!
//! All defaults are in one file, `bellwether.example.toml`, which also explains each setting. The file is compiled in
//! and read first. The file of `--config` and the environment variables override it, in this order ([`layers`]). So
//! the documentation of the defaults is always right.
//!
//! An unknown or invalid setting stops the program before it does anything. The error ([`SettingsError`]) lists all
//! problems: the setting, its origin and the allowed values. A typing error must not silently run as a default.
//!
//! * [`sections`]: the settings, one struct per section.
//! * [`providers`]: the settings of market data providers. [`mail`]: the mail server and the sender.
//! * [`value`]: the types of settings, such as addresses, durations and choices. [`secret`]: masked values.

mod error;
mod headers;
mod layers;
mod mail;
mod net;
pub mod providers;
mod secret;
mod section;
mod sections;
#[cfg(test)]
mod tests;
mod text;
mod value;

use std::path::Path;

pub use error::{SettingProblem, SettingsError};
pub use headers::HeaderNamePrefix;
pub use mail::{EmailSender, SmtpUrl};
pub use net::{BaseUrl, HostName, IpRange, PublicUrl};
pub use providers::{ProviderName, SourcesConfig};
pub use secret::{AnalystApiKey, DatabaseUrl, SecretString};
pub use sections::{
    AnalystSection, AuthConfig, DatabaseConfig, EmailSection, LimitsConfig, LogConfig, MarketConfig, McpConfig,
    OperatorConfig, ServerConfig, Settings, SmsSection, TelemetryConfig, WebhooksSection,
};
pub use text::LogFilter;
pub use value::{
    AnalystKind, EmailTransport, LogFormat, Setting, SmsProvider, SourceKind, TimestampFormat, TokenLimitName,
};

use layers::Layers;

/// The default settings with their documentation.
pub const DEFAULTS: &str = include_str!("../../../../bellwether.example.toml");

impl Settings {
    /// Loads the settings: the defaults, then `file`, then the `variables` that begin with `BELLWETHER_`.
    ///
    /// # Errors
    /// [`SettingsError`] with all problems.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::new();
        layers.add_toml(error::SettingOrigin::Default, DEFAULTS);
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
            layers.add_toml(error::SettingOrigin::File(path.to_owned()), &text);
        }
        layers.add_variables(variables);
        let settings = Self::read(&mut layers);
        layers.finish(settings)
    }

    /// Returns the effective settings in the format that [`load`](Self::load) reads. Secrets are masked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.show().to_string()
    }
}
