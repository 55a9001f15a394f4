//! Requests of a browser on the machine that runs the service.

use http::request::Parts;
use http::{HeaderName, header};

use crate::layers::client::Peer;
use crate::state::App;

/// Headers of proxies. A request through a proxy on the same machine comes from anywhere.
const PROXY_HEADERS: [HeaderName; 4] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
];

/// Returns whether a request comes directly from this machine, and names this service as its host.
///
/// The name is checked because of DNS rebinding: the page of another site whose name resolves to this machine sends that name. A
/// service with a public URL of another machine has no local requests, because a proxy may forward them without a trace.
#[must_use]
pub fn is_local(app: &App, parts: &Parts) -> bool {
    let peer = parts.extensions.get::<Peer>();
    let is_loopback = peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback());
    let is_proxied = PROXY_HEADERS.iter().any(|name| parts.headers.contains_key(name));
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = parts.uri.authority().map(|authority| authority.as_str()).or(host);
    let is_own_host =
        host.is_some_and(|host| is_loopback_host(host) && app.own_origins().contains(&format!("http://{host}")));
    is_loopback && !is_proxied && is_own_host
}

fn is_loopback_host(host: &str) -> bool {
    let name = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| match port.ends_with(']') {
            true => host,
            false => name,
        });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_are_recognized_with_and_without_a_port() {
        for host in [
            "localhost",
            "localhost:8080",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "",
            "127.0.0.2",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
