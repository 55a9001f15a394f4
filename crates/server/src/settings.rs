//! What can be set about the server. The defaults are the program's (decisions 1.8, 9.2).

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// What can be set about the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How much one may ask.
    pub limits: Limits,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Whose word about the client's address counts (`X-Forwarded-For`).
    pub trusted_proxies: Vec<TrustedProxy>,
    /// The largest body of a request.
    pub max_body_bytes: usize,
    /// The largest body of market data that is pushed.
    pub max_ingest_bytes: usize,
    /// So many connections at once; others wait to be accepted.
    pub max_connections: usize,
    /// So many of them from one address; trusted proxies have no such limit.
    pub max_connections_per_address: usize,
    /// From where agents may come.
    pub mcp: McpPlaces,
    /// What jobs are started with from outside; `None`: nobody can.
    pub cron_secret: Option<service::cron::Secret>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            trusted_proxies: Vec::new(),
            max_body_bytes: 1 << 20,
            max_ingest_bytes: 32 << 20,
            max_connections: 10_000,
            max_connections_per_address: 256,
            mcp: McpPlaces::default(),
            cron_secret: None,
        }
    }
}

/// From where agents may come, beside the service's own address.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct McpPlaces {
    /// Names under which the service is reached (`Host`), with the port if it is not the scheme's own.
    pub allowed_hosts: Vec<String>,
    /// Pages that may call it from a browser (`Origin`), such as `https://agents.example.org`.
    pub allowed_origins: Vec<String>,
}

/// How much one may ask: requests in a window, for each group of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// An hour, on the basic plan; also for a client address that has shown no account.
    pub basic_per_hour: u32,
    /// An hour, on the premium and early-bird plans.
    pub premium_per_hour: u32,
    /// Webhook tests a minute.
    pub webhook_test_per_minute: u32,
    /// Logins a minute from one address.
    pub login_per_minute: u32,
    /// Registrations an hour from one address.
    pub register_per_hour: u32,
    /// Alerts of guests an hour from one address.
    pub guest_alerts_per_hour: u32,
    /// So many principals and groups are counted one by one; beyond that, strangers share counters.
    pub max_tracked: usize,
}

impl Default for Limits {
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

/// How long things may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// From the first byte of a request to the end of its headers.
    pub headers: Duration,
    /// A connection on which nothing is asked.
    pub idle: Duration,
    /// A body, from its beginning to its end.
    pub body: Duration,
    /// A whole request, from the end of its headers to the beginning of its answer.
    pub request: Duration,
    /// A client that takes no more of its answer.
    pub write: Duration,
    /// What is being answered when the server is told to stop.
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

/// Addresses whose word about the client's address counts: one (`10.0.0.7`, `::1`) or a range (`10.0.0.0/8`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrustedProxy {
    network: IpAddr,
    prefix_bits: u32,
}

/// Why a text names no addresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is neither an address such as 10.0.0.7 nor a range such as 10.0.0.0/8")]
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
        let most = if network.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.trim().parse().map_err(|_| error())?,
            None => most,
        };
        (prefix_bits <= most)
            .then_some(Self { network, prefix_bits })
            .ok_or_else(error)
    }
}

impl TrustedProxy {
    /// Whether `address` is one of them.
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
    fn a_range_of_proxies_holds_its_addresses_and_no_others() {
        for (range, address, is_in) in [
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
            assert_eq!(proxy.contains(address.parse().unwrap()), is_in, "{range} {address}");
        }
    }

    #[test]
    fn what_is_no_range_says_what_one_looks_like() {
        for text in ["", "proxy", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/x"] {
            let error = text.parse::<TrustedProxy>().unwrap_err();
            assert!(error.to_string().contains("10.0.0.0/8"), "{error}");
        }
    }
}
