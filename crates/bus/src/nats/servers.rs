//! The NATS servers: their addresses and credentials, and which one is tried next.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::{ReconnectToServer, Server, ServerAddr};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::BusError;

/// The delay before each attempt of the first round over all servers.
const FIRST_DELAY: Duration = Duration::from_millis(10);
/// The maximum time between two attempts to reach the same server, without the time that the attempts take.
const MAX_DELAY: Duration = Duration::from_millis(250);

/// The credentials of all servers. The client ignores those in URLs.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    Token(String),
    Password { user: String, password: String },
}

/// The servers that the settings name.
pub(super) struct Servers {
    /// The addresses without credentials, because the client logs them.
    pub(super) addresses: Vec<ServerAddr>,
    pub(super) credentials: Option<Credentials>,
}

impl Servers {
    pub(super) fn parse(urls: &[String]) -> Result<Self, BusError> {
        let mut addresses = Vec::new();
        let mut found: Vec<Option<Credentials>> = Vec::new();
        for url in urls {
            let (address, credentials) = parse(url)?;
            addresses.push(address);
            found.push(credentials);
        }
        let credentials = found.first().ok_or(BusError::NoServers)?.clone();
        if found.iter().any(|other| *other != credentials) {
            return Err(BusError::DifferentCredentials);
        }
        Ok(Self { addresses, credentials })
    }
}

/// Checks that a client can use all of these URLs.
///
/// # Errors
/// As [`Bus::connect_nats`](crate::Bus::connect_nats).
pub fn check_server_urls(urls: &[String]) -> Result<(), BusError> {
    Servers::parse(urls).map(|_| ())
}

/// Checks the URL of a NATS server: `nats://` or, with TLS, `tls://`, optionally with user and password or a token.
///
/// # Errors
/// [`BusError::InvalidServerUrl`].
pub fn check_server_url(url: &str) -> Result<(), BusError> {
    parse(url).map(|_| ())
}

fn parse(url: &str) -> Result<(ServerAddr, Option<Credentials>), BusError> {
    let mut url: Url = url.parse().map_err(|_| BusError::InvalidServerUrl)?;
    let has_host = url.host_str().is_some_and(|host| !host.is_empty());
    let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "nats" | "tls") || !has_host || !is_bare {
        return Err(BusError::InvalidServerUrl);
    }
    let credentials = match (decoded(url.username())?, url.password()) {
        (user, Some(password)) => {
            let password = decoded(password)?;
            Some(Credentials::Password { user, password })
        }
        (token, None) => Some(token).filter(|token| !token.is_empty()).map(Credentials::Token),
    };
    let removed = url.set_username("").and_then(|()| url.set_password(None));
    removed.map_err(|()| BusError::InvalidServerUrl)?;
    let address = ServerAddr::from_url(url).map_err(|_| BusError::InvalidServerUrl)?;
    Ok((address, credentials))
}

fn decoded(text: &str) -> Result<String, BusError> {
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| BusError::InvalidServerUrl)?.into_owned())
}

/// Tries the servers in turn, so that a lost server is tried after all others.
#[derive(Debug)]
pub(super) struct ServerRotation {
    next: AtomicUsize,
    /// The number of attempts since the last connection.
    attempts: AtomicUsize,
}

impl ServerRotation {
    /// Starts at a server that depends on the node's name, so that the nodes of a cluster use different ones.
    pub(super) fn new(name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        // The rotation begins anywhere, so it does not matter which bits are used.
        let start = u32::try_from(hasher.finish() >> 40).unwrap_or_default();
        Self {
            next: AtomicUsize::new(start.try_into().unwrap_or_default()),
            attempts: AtomicUsize::new(0),
        }
    }

    /// Returns the server for the next attempt, and the delay before it.
    pub(super) fn next(&self, servers: &[Server]) -> Option<ReconnectToServer> {
        let attempts = self.attempts.fetch_add(1, Ordering::Relaxed);
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let server = servers.get(next.checked_rem(servers.len())?)?;
        Some(ReconnectToServer {
            addr: server.addr.clone(),
            delay: Some(delay(attempts, servers.len())),
        })
    }

    /// Begins the next search without delay.
    pub(super) fn found(&self) {
        self.attempts.store(0, Ordering::Relaxed);
    }
}

/// Returns the delay before an attempt: short in the first round over the servers, then doubled with each round.
fn delay(attempts: usize, servers: usize) -> Duration {
    let Some(round) = attempts.checked_div(servers).filter(|round| *round > 0) else {
        return FIRST_DELAY;
    };
    let doublings = u32::try_from(round).unwrap_or(u32::MAX).min(10);
    let between_rounds = FIRST_DELAY.saturating_mul(1 << doublings).min(MAX_DELAY);
    let servers = u32::try_from(servers).unwrap_or(u32::MAX);
    between_rounds.checked_div(servers).unwrap_or(between_rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(urls: &[&str]) -> Result<Servers, BusError> {
        Servers::parse(&urls.iter().map(|&url| url.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn credentials_are_taken_out_of_the_addresses() {
        let servers = parsed(&["nats://bw:o%70en%40@a:4222", "tls://bw:open%40@[::1]"]).unwrap();
        let addresses: Vec<_> = servers.addresses.iter().map(ServerAddr::as_url_str).collect();
        assert_eq!(addresses, ["nats://a:4222", "tls://[::1]"]);
        let (user, password) = ("bw".to_owned(), "open@".to_owned());
        assert!(servers.credentials == Some(Credentials::Password { user, password }));
        let servers = parsed(&["nats://t0ken@a"]).unwrap();
        assert!(servers.credentials == Some(Credentials::Token("t0ken".to_owned())));
        assert!(parsed(&["nats://a"]).unwrap().credentials.is_none());
    }

    #[test]
    fn all_servers_have_the_same_credentials() {
        let error = |urls| parsed(urls).err();
        assert_eq!(error(&["nats://u:p@a", "nats://u:p@b"]), None);
        assert_eq!(
            error(&["nats://u:p@a", "nats://u:q@b"]),
            Some(BusError::DifferentCredentials)
        );
        assert_eq!(
            error(&["nats://u:p@a", "nats://b"]),
            Some(BusError::DifferentCredentials)
        );
        assert_eq!(error(&[]), Some(BusError::NoServers));
    }

    #[test]
    fn url_has_a_known_scheme_and_a_host_and_no_path() {
        for url in [
            "nats://a",
            "nats://10.0.0.7:4222",
            "tls://u:p@nats.example/",
            "nats://[::1]:4222",
        ] {
            assert_eq!(check_server_url(url), Ok(()), "{url}");
        }
        for url in [
            "",
            "a:4222",
            "a",
            "http://a",
            "ws://a",
            "nats://",
            "nats://a/path",
            "nats://a?x=1",
            "nats://%FF@a",
            "nats://a:x",
        ] {
            assert_eq!(check_server_url(url), Err(BusError::InvalidServerUrl), "{url}");
        }
    }

    #[test]
    fn delays_grow_with_each_round_and_are_capped() {
        let millis = |attempts, servers| delay(attempts, servers).as_millis();
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 1000].map(|attempts| millis(attempts, 1)),
            [10, 20, 40, 80, 160, 250, 250, 250]
        );
        assert_eq!(
            [0, 1, 2, 3, 4, 20].map(|attempts| millis(attempts, 2)),
            [10, 10, 10, 10, 20, 125]
        );
        assert_eq!(millis(usize::MAX, 3), 83);
    }
}
