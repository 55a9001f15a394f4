//! The client's address: the peer's, unless the peer is a proxy whose word counts.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;

use crate::app::App;
use crate::settings::TrustedProxy;

/// The other end of the connection, as the accept loop saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer(pub SocketAddr);

/// The client's address, for handlers that need it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientAddress(pub IpAddr);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<Peer>().copied();
        Ok(Self(address(peer, &parts.headers, &app.settings().trusted_proxies)))
    }
}

/// The client's address. Behind trusted proxies it is the last address of `X-Forwarded-For` that is none of them:
/// what stands before it the client may have written itself.
#[must_use]
pub fn address(peer: Option<Peer>, headers: &HeaderMap, trusted: &[TrustedProxy]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|proxy| proxy.contains(address));
    let mut client = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip().to_canonical());
    let values: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    for hop in values.iter().flat_map(|value| value.split(',')).rev() {
        if !is_trusted(client) {
            break;
        }
        let Some(address) = parse(hop.trim()) else { break };
        client = address.to_canonical();
    }
    client
}

/// An address, also with a port, as some proxies write it.
fn parse(hop: &str) -> Option<IpAddr> {
    hop.parse()
        .ok()
        .or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
        .or_else(|| hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let trusted: Vec<TrustedProxy> = trusted.iter().map(|range| range.parse().unwrap()).collect();
        let peer = Peer(SocketAddr::new(peer.parse().unwrap(), 1));
        address(Some(peer), &headers, &trusted).to_string()
    }

    #[test]
    fn a_forwarded_address_counts_only_from_a_trusted_proxy() {
        assert_eq!(client("203.0.113.9", &["192.0.2.1"], &[]), "203.0.113.9");
        assert_eq!(client("203.0.113.9", &["192.0.2.1"], &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(client("10.0.0.7", &["192.0.2.1"], &["10.0.0.0/8"]), "192.0.2.1");
        assert_eq!(client("10.0.0.7", &[], &["10.0.0.0/8"]), "10.0.0.7");
    }

    #[test]
    fn what_a_client_writes_in_front_of_its_address_is_not_believed() {
        let trusted = ["10.0.0.0/8"];
        assert_eq!(client("10.0.0.7", &["1.2.3.4, 192.0.2.1"], &trusted), "192.0.2.1");
        assert_eq!(
            client("10.0.0.7", &["1.2.3.4", "192.0.2.1, 10.0.0.8"], &trusted),
            "192.0.2.1"
        );
        assert_eq!(client("10.0.0.7", &["192.0.2.1:4711"], &trusted), "192.0.2.1");
        assert_eq!(client("10.0.0.7", &["[2001:db8::1]:4711"], &trusted), "2001:db8::1");
        assert_eq!(client("10.0.0.7", &["192.0.2.1, garbage"], &trusted), "10.0.0.7");
    }
}
