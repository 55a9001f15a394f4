//! The settings of a node of a cluster.

use foundation::{Role, Roles};
use jiff::SignedDuration;
use toml::Value;

use super::choice::choice_setting;
use super::layers::Layers;
use super::secret::{MASK, secret_text};
use super::text::{formatted_text, text_if};
use super::{ClusterConfig, Setting, Settings};

/// The bounds of `cluster.lease_ttl`. A node renews its lease twice a second.
const MIN_LEASE_TTL: SignedDuration = SignedDuration::from_secs(1);
const MAX_LEASE_TTL: SignedDuration = SignedDuration::from_mins(1);
/// The minimum of `cluster.standby_delay`. With less, both nodes would commit everything.
const MIN_STANDBY_DELAY: SignedDuration = SignedDuration::from_millis(100);

/// The maximum length of a node's id.
const MAX_NODE_ID_CHARS: usize = 64;

choice_setting!(Role {
    Api = "api",
    Evaluator = "evaluator",
    Dispatcher = "dispatcher",
    Feed = "feed",
    Jobs = "jobs",
});

/// A list of at least one role.
impl Setting for Roles {
    fn allowed() -> String {
        Vec::<Role>::allowed()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        Vec::from_toml(value).and_then(Self::new)
    }

    fn to_toml(&self) -> Value {
        self.iter().collect::<Vec<_>>().to_toml()
    }
}

secret_text!(
    /// The URL of a NATS server, whose password or token is masked.
    NatsUrl,
    "a URL like nats://HOST:4222 or tls://USER:PASSWORD@HOST:4222, without a path",
    |text| bus::check_server_url(text).is_ok(),
    mask_credentials
);

/// Masks the password or the token before the host.
fn mask_credentials(url: &str) -> String {
    let masked = || {
        let (scheme, rest) = url.split_once("://")?;
        let (user_info, host) = rest.rsplit_once('@')?;
        let shown = user_info
            .split_once(':')
            .map_or(MASK.to_owned(), |(user, _)| format!("{user}:{MASK}"));
        Some(format!("{scheme}://{shown}@{host}"))
    };
    masked().unwrap_or_else(|| url.to_owned())
}

formatted_text!(
    /// The name of a node.
    NodeId,
    "1 to 64 letters, digits, `.`, `-` and `_`",
    |text| {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || ['.', '-', '_'].contains(&letter);
        text_if((1..=MAX_NODE_ID_CHARS).contains(&text.len()) && text.chars().all(is_allowed), text)
    }
);

/// The reasons why this process cannot be a node of a cluster.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClusterError {
    /// Settings that each node needs are missing: one text for each, with the setting and the fix.
    #[error("with cluster.nats_urls, {}", .0.join(", and "))]
    MissingSettings(Vec<&'static str>),
    /// There is no `cluster.node_id`, and the host name cannot be one.
    #[error("the host name {host_name:?} cannot be the name of this node; set cluster.node_id")]
    InvalidHostName {
        /// The host name.
        host_name: String,
    },
}

impl ClusterConfig {
    /// Returns whether this process is a node of a cluster.
    #[must_use]
    pub fn is_node(&self) -> bool {
        !self.nats_urls.is_empty()
    }

    /// Returns the URLs of the NATS servers with their passwords. Callers must not print them.
    #[must_use]
    pub fn exposed_nats_urls(&self) -> Vec<String> {
        self.nats_urls.iter().map(|url| url.expose().to_owned()).collect()
    }

    /// Returns the name of this node: `cluster.node_id`, or the host name.
    ///
    /// # Errors
    /// [`ClusterError::InvalidHostName`] without `cluster.node_id`.
    pub fn node_name(&self) -> Result<String, ClusterError> {
        match &self.node_id {
            Some(id) => Ok(id.to_string()),
            None => node_name_of_host(&hostname::get().unwrap_or_default().to_string_lossy()),
        }
    }

    pub(super) fn check(&self, layers: &mut Layers) {
        if self.is_node()
            && let Err(error) = bus::check_server_urls(&self.exposed_nats_urls())
        {
            layers.refuse("cluster.nats_urls", &error.to_string());
        }
        layers.require(
            self.is_node() || self.roles == Roles::ALL,
            "cluster.roles",
            "must be all roles unless cluster.nats_urls is set: a single process runs everything",
        );
        layers.require(
            (MIN_LEASE_TTL..=MAX_LEASE_TTL).contains(&self.lease_ttl),
            "cluster.lease_ttl",
            "must be from 1s to 1m",
        );
        layers.require(
            self.standby_delay >= MIN_STANDBY_DELAY && self.standby_delay < self.lease_ttl,
            "cluster.standby_delay",
            "must be at least 100ms and less than cluster.lease_ttl",
        );
    }
}

fn node_name_of_host(host_name: &str) -> Result<String, ClusterError> {
    let id = NodeId::from_text(host_name).map(|id| id.to_string());
    id.ok_or_else(|| ClusterError::InvalidHostName {
        host_name: host_name.to_owned(),
    })
}

impl Settings {
    /// Checks the settings that `serve` needs for a node of a cluster. Other commands do without them.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn check_node(&self) -> Result<(), ClusterError> {
        if !self.cluster.is_node() {
            return Ok(());
        }
        let is_postgres = self.database.url.expose().starts_with("postgres");
        let missing: Vec<_> = [
            (
                self.auth.secret_key.is_none(),
                "auth.secret_key must be set to the same secret on all nodes (openssl rand -base64 32)",
            ),
            (
                self.server.public_url.is_none(),
                "server.public_url must be set to the URL that users open, like https://alerts.example.com",
            ),
            (
                !is_postgres,
                "database.url must be set to the cluster's database, postgres://USER:PASSWORD@HOST/NAME",
            ),
        ]
        .into_iter()
        .filter_map(|(is_missing, fix)| is_missing.then_some(fix))
        .collect();
        if !missing.is_empty() {
            return Err(ClusterError::MissingSettings(missing));
        }
        self.cluster.node_name().map(|_| ())
    }
}

#[cfg(test)]
mod tests;
