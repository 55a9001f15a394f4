//! # Settings: what an operator can choose
//!
//! Every setting has a default, and all defaults stand in one file, `bellwether.example.toml`, which says of each what
//! it is for. That file is compiled in and read first; then come the file of `--config` and the variables of the
//! environment, the later one winning ([`layers`]). So the documentation cannot be wrong about a default.
//!
//! What is not known or not allowed stops the program before it does anything, with every problem at once
//! ([`SettingsError`]): which setting, where it was found, what is allowed. A typing error must not run for a year as
//! a default.
//!
//! * [`sections`]: the settings themselves, a struct for each section.
//! * [`providers`]: those of providers of market data. [`mail`]: a mail server and a sender.
//! * [`value`]: what a setting can be: an address, a time, a choice, ... [`secret`]: what is not to be shown.

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

pub use error::{Problem, SettingsError};
pub use headers::Prefix;
pub use mail::{Sender, SmtpUrl};
pub use net::{BaseUrl, HostName, Network, PublicUrl};
pub use providers::{ProviderName, Sources};
pub use secret::{ApiKey, DatabaseUrl, Secret};
pub use sections::{
    Analyst, Auth, Database, Email, Limits, Log, Market, Mcp, Operator, Server, Settings, Sms, Telemetry, Webhooks,
};
pub use text::Filter;
pub use value::{
    AnalystKind, EmailTransport, LogFormat, Setting, SmsProvider, SourceKind, TimestampFormat, TokenLimitName,
};

use layers::Layers;

/// The settings that hold unless others are given, with what each is for.
pub const DEFAULTS: &str = include_str!("../../../../bellwether.example.toml");

impl Settings {
    /// Reads the settings: the defaults, then `file`, then those `variables` that begin with `BELLWETHER_`.
    ///
    /// # Errors
    /// [`SettingsError`] with everything that is wrong.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::new();
        layers.add_toml(error::Origin::Default, DEFAULTS);
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
            layers.add_toml(error::Origin::File(path.to_owned()), &text);
        }
        layers.add_variables(variables);
        let settings = Self::read(&mut layers);
        layers.finish(settings)
    }

    /// The effective settings as a file that [`load`](Self::load) would read; secrets are masked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.show().to_string()
    }
}
