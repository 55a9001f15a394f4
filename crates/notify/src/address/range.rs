//! Which addresses are the public's.
//!
//! The lists are those of IANA's registries of special-purpose addresses (RFC 6890 and what updates it), and the
//! addresses under which clouds keep what a machine may know about itself. In IPv6 it is the other way round: only what
//! was given out for global unicast is the public's, and of that not what has another address inside.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not the public's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Range {
    /// No address: `0.0.0.0/8`, `::`.
    Unspecified,
    /// The machine itself.
    Loopback,
    /// A private network (RFC 1918).
    Private,
    /// Unique local addresses, the private networks of IPv6.
    UniqueLocal,
    /// The link that the machine is on.
    LinkLocal,
    /// A site's own addresses, as they once were.
    SiteLocal,
    /// Between a provider and its customers (CGNAT).
    Shared,
    /// Where a cloud tells a machine about itself.
    Metadata,
    /// Many at once.
    Multicast,
    /// Everybody on the link.
    Broadcast,
    /// For examples in documents.
    Documentation,
    /// For benchmarks of networks.
    Benchmarking,
    /// An address of IPv4 within one of IPv6, or a tunnel.
    Embedded,
    /// Kept for protocols, or for a future.
    Reserved,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::UniqueLocal => "unique local",
            Self::LinkLocal => "link-local",
            Self::SiteLocal => "site-local",
            Self::Shared => "shared (CGNAT)",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Embedded => "embedded IPv4 or tunnel",
            Self::Reserved => "reserved",
        })
    }
}

/// Why an address is not the public's; `None`, if it is.
#[must_use]
pub fn special(address: IpAddr) -> Option<Range> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Range> {
    Some(match address.octets() {
        // 100.100.100.200 and 192.0.0.192 are metadata, too; they lie in ranges that are refused as a whole.
        [169, 254, 169, 254] | [169, 254, 170, 2] | [168, 63, 129, 16] | [100, 100, 100, 200] => Range::Metadata,
        [0, ..] => Range::Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Range::Private,
        [100, 64..=127, ..] => Range::Shared,
        [127, ..] => Range::Loopback,
        [169, 254, ..] => Range::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Range::Documentation,
        [198, 18..=19, ..] => Range::Benchmarking,
        [192, 0, 0, _] | [192, 88, 99, _] => Range::Reserved,
        [224..=239, ..] => Range::Multicast,
        [255, 255, 255, 255] => Range::Broadcast,
        [240..=255, ..] => Range::Reserved,
        _ => return None,
    })
}

fn special_v6(address: Ipv6Addr) -> Option<Range> {
    let segments = address.segments();
    Some(match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Range::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Range::Loopback,
        // fd00:ec2::254 and fd20:ce::254.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => Range::Metadata,
        // NAT64 (RFC 6052): on a network that speaks IPv6 alone, every name of IPv4 resolves to these, so here the
        // address inside counts.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return special_v4(joined(high, low)),
        [0xff00..=0xffff, ..] => Range::Multicast,
        [0xfe80..=0xfebf, ..] => Range::LinkLocal,
        [0xfec0..=0xfeff, ..] => Range::SiteLocal,
        [0xfc00..=0xfdff, ..] => Range::UniqueLocal,
        // Compatible, mapped, translated; a network's own NAT64; Teredo; 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => Range::Embedded,
        [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2002, ..] => Range::Embedded,
        [0x2001, 0x2, 0, ..] => Range::Benchmarking,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Range::Documentation,
        [0x2001, 0..=0x1ff, ..] => Range::Reserved,
        // ISATAP: any prefix, then an address of IPv4.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => Range::Embedded,
        [0x2000..=0x3fff, ..] => return None,
        _ => Range::Reserved,
    })
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_ends_where_it_ends() {
        use Range::*;
        for (address, expected) in [
            ("0.0.0.0", Some(Unspecified)),
            ("0.255.255.255", Some(Unspecified)),
            ("1.0.0.0", None),
            ("9.255.255.255", None),
            ("10.0.0.0", Some(Private)),
            ("10.255.255.255", Some(Private)),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.64.0.0", Some(Shared)),
            ("100.127.255.255", Some(Shared)),
            ("100.128.0.0", None),
            ("100.100.100.200", Some(Metadata)),
            ("126.255.255.255", None),
            ("127.0.0.1", Some(Loopback)),
            ("127.255.255.255", Some(Loopback)),
            ("128.0.0.0", None),
            ("168.63.129.15", None),
            ("168.63.129.16", Some(Metadata)),
            ("169.253.255.255", None),
            ("169.254.0.0", Some(LinkLocal)),
            ("169.254.169.254", Some(Metadata)),
            ("169.254.255.255", Some(LinkLocal)),
            ("169.255.0.0", None),
            ("172.15.255.255", None),
            ("172.16.0.0", Some(Private)),
            ("172.31.255.255", Some(Private)),
            ("172.32.0.0", None),
            ("191.255.255.255", None),
            ("192.0.0.0", Some(Reserved)),
            ("192.0.0.192", Some(Reserved)),
            ("192.0.1.0", None),
            ("192.0.2.255", Some(Documentation)),
            ("192.0.3.0", None),
            ("192.88.99.1", Some(Reserved)),
            ("192.167.255.255", None),
            ("192.168.0.0", Some(Private)),
            ("192.169.0.0", None),
            ("198.17.255.255", None),
            ("198.18.0.0", Some(Benchmarking)),
            ("198.19.255.255", Some(Benchmarking)),
            ("198.20.0.0", None),
            ("198.51.100.1", Some(Documentation)),
            ("203.0.113.1", Some(Documentation)),
            ("223.255.255.255", None),
            ("224.0.0.0", Some(Multicast)),
            ("239.255.255.255", Some(Multicast)),
            ("240.0.0.0", Some(Reserved)),
            ("255.255.255.254", Some(Reserved)),
            ("255.255.255.255", Some(Broadcast)),
            ("8.8.8.8", None),
            ("::", Some(Unspecified)),
            ("::1", Some(Loopback)),
            ("::2", Some(Embedded)),
            ("::127.0.0.1", Some(Embedded)),
            ("::ffff:127.0.0.1", Some(Embedded)),
            ("::ffff:8.8.8.8", Some(Embedded)),
            ("::ffff:0:8.8.8.8", Some(Embedded)),
            ("64:ff9b::7f00:1", Some(Loopback)),
            ("64:ff9b::a9fe:a9fe", Some(Metadata)),
            ("64:ff9b::808:808", None),
            ("64:ff9b:1::808:808", Some(Embedded)),
            ("64:ff9b::1:808:808", Some(Embedded)),
            ("100::1", Some(Reserved)),
            ("1fff::1", Some(Reserved)),
            ("2000::1", None),
            ("2001::1", Some(Embedded)),
            ("2001:2::1", Some(Benchmarking)),
            ("2001:10::1", Some(Reserved)),
            ("2001:1ff::1", Some(Reserved)),
            ("2001:200::1", None),
            ("2001:db8::1", Some(Documentation)),
            ("2001:4860:4860::8888", None),
            ("2002:7f00:1::", Some(Embedded)),
            ("2002:808:808::1", Some(Embedded)),
            ("2003::1", None),
            ("2003::5efe:10.0.0.1", Some(Embedded)),
            ("2003::200:5efe:10.0.0.1", Some(Embedded)),
            ("3fff::1", Some(Documentation)),
            ("3fff:1000::1", None),
            ("4000::1", Some(Reserved)),
            ("5f00::1", Some(Reserved)),
            ("fbff::1", Some(Reserved)),
            ("fc00::1", Some(UniqueLocal)),
            ("fd00:ec2::254", Some(Metadata)),
            ("fdff::1", Some(UniqueLocal)),
            ("fe80::1", Some(LinkLocal)),
            ("febf::1", Some(LinkLocal)),
            ("fec0::1", Some(SiteLocal)),
            ("feff::1", Some(SiteLocal)),
            ("ff02::1", Some(Multicast)),
        ] {
            assert_eq!(special(address.parse().unwrap()), expected, "{address}");
        }
    }
}
