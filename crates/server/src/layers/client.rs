//! The client's address: the peer's address, or `X-Forwarded-For` if the peer is a trusted proxy.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Extensions, HeaderMap};

use crate::settings::TrustedProxy;
use crate::state::App;

/// The socket address of the connection's peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer(pub SocketAddr);

/// The client's address, as an extractor for handlers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientAddress(pub IpAddr);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self(address_of(&parts.extensions, &parts.headers, app)))
    }
}

/// Returns the client's address of a request with these extensions and headers.
pub(crate) fn address_of(extensions: &Extensions, headers: &HeaderMap, app: &App) -> IpAddr {
    let peer = extensions.get::<Peer>().copied();
    address(peer, headers, &app.settings().trusted_proxies)
}

/// Returns the network of an address that one client owns: an IPv4 address itself, or the /64 network of an IPv6 address.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    const HOST_BITS: u32 = 64;
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> HOST_BITS << HOST_BITS).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Returns the client's address. Behind trusted proxies it is the last address of `X-Forwarded-For` that is not a trusted
/// proxy. Earlier addresses may be forged by the client.
fn address(peer: Option<Peer>, headers: &HeaderMap, trusted: &[TrustedProxy]) -> IpAddr {
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

/// Parses an address with an optional port, which some proxies append.
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
    fn forwarded_address_is_used_only_from_a_trusted_proxy() {
        assert_eq!(client("203.0.113.9", &["192.0.2.1"], &[]), "203.0.113.9");
        assert_eq!(client("203.0.113.9", &["192.0.2.1"], &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(client("10.0.0.7", &["192.0.2.1"], &["10.0.0.0/8"]), "192.0.2.1");
        assert_eq!(client("10.0.0.7", &[], &["10.0.0.0/8"]), "10.0.0.7");
    }

    #[test]
    fn addresses_forged_by_the_client_are_ignored() {
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
