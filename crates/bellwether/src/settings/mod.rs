//! # Settings
//!
//! All defaults are in one file, `bellwether.example.toml`, which also explains each setting. The file is compiled in
//! and read first. The file of `--config` and the environment variables override it, in this order ([`layers`]). So
//! the documentation of the defaults is always right.
//!
//! An unknown or invalid setting stops the program before it does anything. The error ([`SettingsError`]) lists all
//! problems: the setting, its origin and the allowed values. A typing error must not silently run as a default.
//! `docs/decisions/own-settings.md` explains why no library reads the settings.
//!
//! * [`sections`]: the settings, one struct per section. [`providers`]: those of market data providers.
//! * [`value`]: how a type becomes the type of a setting. [`choice`], [`text`], [`net`] and [`secret`]: these types.
//! * [`cluster`]: what a node of a cluster needs. [`check`]: other values that are valid alone but not in combination.

mod check;
mod choice;
mod cluster;
mod layers;
mod net;
pub mod providers;
mod secret;
mod section;
mod sections;
#[cfg(test)]
mod tests;
mod text;
mod value;

use std::io;
use std::path::{Path, PathBuf};

pub use choice::{AnalystKind, EmailTransport, LogFormat, SmsProvider, SourceKind, TokenLimitName};
pub use cluster::{ClusterError, NatsUrl, NodeId};
pub use net::{BaseUrl, HostName, HttpUrl, PublicUrl, StreamUrl};
pub use providers::{ProviderName, SourcesConfig};
pub use secret::{AnalystApiKey, DatabaseUrl, SecretString, SmtpUrl};
pub use sections::{
    AnalystSection, AuthConfig, ClusterConfig, DatabaseConfig, EmailSection, LimitsConfig, LogConfig, MarketConfig,
    McpConfig, OperatorConfig, PushoverSection, ServerConfig, Settings, SmsSection, TelegramSection, TelemetryConfig,
    WebhooksSection,
};
pub use text::{Contact, EmailSender, HeaderNamePrefix, LogFilter};
pub use value::Setting;

use layers::{Layers, Origin};
use section::FromLayers;

/// The default settings with their documentation.
pub const DEFAULTS: &str = include_str!("../../../../bellwether.example.toml");

/// A command line option that sets a setting.
#[derive(Clone, Copy, Debug)]
pub struct CommandLineOption<'a> {
    /// The option: `--roles`.
    pub name: &'static str,
    /// The setting's key: `cluster.roles`.
    pub key: &'static str,
    /// The value, as in a variable.
    pub value: &'a str,
}

/// The reasons why settings cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings file {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Some settings are unknown or invalid: one line for each, with its origin and the fix.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
}

impl Settings {
    /// Loads the settings: the defaults, then `file`, then the `variables` that begin with `BELLWETHER_`.
    ///
    /// # Errors
    /// [`SettingsError`] with all problems.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        Self::load_with_options(file, variables, &[])
    }

    /// Loads the settings as [`load`](Self::load) does, then the command line `options` that set one, with the setting's key.
    ///
    /// # Errors
    /// [`SettingsError`] with all problems.
    pub fn load_with_options(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
        options: &[CommandLineOption<'_>],
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::default();
        layers.add_toml(&Origin::Default, DEFAULTS);
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
            layers.add_toml(&Origin::File(path.to_owned()), &text);
        }
        layers.add_variables(variables);
        layers.add_options(options);
        let settings = Self::read(&mut layers, "");
        if let Some(settings) = &settings {
            settings.check(&mut layers);
        }
        layers.finish(settings)
    }

    /// Loads the defaults with `overrides`, which are named like variables without their prefix.
    ///
    /// # Errors
    /// [`SettingsError`] with all problems.
    pub fn with_overrides<T: AsRef<str>>(overrides: &[(&str, T)]) -> Result<Self, SettingsError> {
        let variable = |(name, text): &(&str, T)| (format!("BELLWETHER_{name}"), text.as_ref().to_owned());
        Self::load(None, overrides.iter().map(variable))
    }

    /// Returns the effective settings in the format that [`load`](Self::load) reads. Secrets are masked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // A value would be shown on one line.
        self.show().as_table().map(ToString::to_string).unwrap_or_default()
    }
}
