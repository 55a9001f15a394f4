//! The configuration of the HTTP server. The defaults are those of the program.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// The configuration of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Rate limits.
    pub limits: RateLimits,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Proxies whose `X-Forwarded-For` header is trusted for the client's address.
    pub trusted_proxies: Vec<TrustedProxy>,
    /// The maximum size of a request body, in bytes.
    pub max_body_bytes: usize,
    /// The maximum size of a request body with pushed market data, in bytes.
    pub max_ingest_bytes: usize,
    /// The maximum number of concurrent connections. Further connections wait to be accepted.
    pub max_connections: usize,
    /// The maximum number of concurrent connections from one address. Trusted proxies are exempt.
    pub max_connections_per_address: usize,
    /// Hosts and origins that the MCP endpoint accepts.
    pub mcp: McpConfig,
    /// The secret for starting jobs over HTTP. `None` disables those routes.
    pub cron_secret: Option<service::cron::CronSecret>,
    /// The email address of the account that `/demo` signs in to. `None` outside the demo.
    pub demo_account: Option<String>,
    /// The settings in effect with masked secrets, as operators see them.
    pub effective_settings: String,
    /// Whether the API, MCP and the pages are served. Health and metrics always are.
    pub serves_api: bool,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            limits: RateLimits::default(),
            timeouts: Timeouts::default(),
            trusted_proxies: Vec::new(),
            max_body_bytes: 1 << 20,
            max_ingest_bytes: 32 << 20,
            max_connections: 10_000,
            max_connections_per_address: 256,
            mcp: McpConfig::default(),
            cron_secret: None,
            demo_account: None,
            effective_settings: String::new(),
            serves_api: true,
        }
    }
}

/// Hosts and origins that the MCP endpoint accepts in addition to the service's public URL.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct McpConfig {
    /// Allowed values of `Host`, with the port if it is not the scheme's default.
    pub allowed_hosts: Vec<String>,
    /// Allowed values of `Origin`, such as `https://agents.example.org`.
    pub allowed_origins: Vec<String>,
}

/// Rate limits: requests per window, for each group of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimits {
    /// Requests per hour on the basic plan, and per client address for unauthenticated requests.
    pub basic_per_hour: u32,
    /// Requests per hour on the premium and early-bird plans.
    pub premium_per_hour: u32,
    /// Webhook tests per minute.
    pub webhook_test_per_minute: u32,
    /// Logins per minute from one address.
    pub login_per_minute: u32,
    /// Registrations per hour from one address.
    pub register_per_hour: u32,
    /// Guest alerts per hour from one address.
    pub guest_alerts_per_hour: u32,
    /// The maximum number of counters, one for each principal and group. Beyond it, new principals share counters.
    pub max_tracked: usize,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            basic_per_hour: 100,
            premium_per_hour: 10_000,
            webhook_test_per_minute: 5,
            login_per_minute: 10,
            register_per_hour: 5,
            guest_alerts_per_hour: 5,
            max_tracked: 100_000,
        }
    }
}

/// Time limits of connections and requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// From the first byte of a request to the end of its headers.
    pub headers: Duration,
    /// The maximum time without a request on an open connection.
    pub idle: Duration,
    /// From the start of a body to its end.
    pub body: Duration,
    /// From the end of a request's headers to the start of its response.
    pub request: Duration,
    /// The maximum time without progress while a response is written.
    pub write: Duration,
    /// The time for requests in progress at shutdown. Then they are aborted.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            headers: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(20),
            request: Duration::from_secs(30),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(20),
        }
    }
}

/// A trusted proxy: an address (`10.0.0.7`, `::1`) or a range in CIDR notation (`10.0.0.0/8`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrustedProxy {
    network: IpAddr,
    prefix_bits: u32,
}

/// The error for text that is neither an address nor a range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not an address such as 10.0.0.7 or a range such as 10.0.0.0/8")]
pub struct TrustedProxyError(String);

impl FromStr for TrustedProxy {
    type Err = TrustedProxyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || TrustedProxyError(text.to_owned());
        let (network, bits) = match text.split_once('/') {
            Some((network, bits)) => (network, Some(bits)),
            None => (text, None),
        };
        let network: IpAddr = network.trim().parse().map_err(|_| error())?;
        let max_bits = if network.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.trim().parse().map_err(|_| error())?,
            None => max_bits,
        };
        (prefix_bits <= max_bits)
            .then_some(Self { network, prefix_bits })
            .ok_or_else(error)
    }
}

impl TrustedProxy {
    /// Returns `true` if the proxy's range contains `address`.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.network, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let shift = 32 - self.prefix_bits;
                let same = |bits: u32| bits.checked_shr(shift).unwrap_or(0);
                same(network.to_bits()) == same(address.to_bits())
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - self.prefix_bits;
                let same = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
                same(network.to_bits()) == same(address.to_bits())
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_contains_only_its_addresses() {
        for (range, address, is_contained) in [
            ("10.0.0.0/8", "10.200.3.4", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:1::9", true),
            ("2001:db8::/32", "2001:db9::9", false),
        ] {
            let proxy: TrustedProxy = range.parse().unwrap();
            assert_eq!(
                proxy.contains(address.parse().unwrap()),
                is_contained,
                "{range} {address}"
            );
        }
    }

    #[test]
    fn invalid_range_error_shows_an_example() {
        for text in ["", "proxy", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/x"] {
            let error = text.parse::<TrustedProxy>().unwrap_err();
            assert!(error.to_string().contains("10.0.0.0/8"), "{error}");
        }
    }
}
