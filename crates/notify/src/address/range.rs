//! Special-purpose IP address ranges: all addresses that are not public.
//!
//! Sources: the IANA special-purpose address registries (RFC 6890 and its updates), and the addresses of cloud metadata services. For
//! IPv6 the check is an allow list: only global unicast addresses are public, except those that embed another address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A special-purpose address range: the reason why an address is not public.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpecialRange {
    /// Unspecified: `0.0.0.0/8`, `::`.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network (RFC 1918).
    Private,
    /// Unique local addresses, the private networks of IPv6.
    UniqueLocal,
    /// Addresses of the local link.
    LinkLocal,
    /// Site-local addresses of IPv6 (deprecated).
    SiteLocal,
    /// Shared address space of carriers (CGNAT).
    Shared,
    /// The metadata service of a cloud.
    Metadata,
    /// Multicast.
    Multicast,
    /// Broadcast.
    Broadcast,
    /// Reserved for documentation.
    Documentation,
    /// Reserved for network benchmarks.
    Benchmarking,
    /// An IPv6 address that embeds an IPv4 address, or a tunnel.
    Embedded,
    /// Reserved for protocols or for future use.
    Reserved,
}

impl fmt::Display for SpecialRange {
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

/// Returns the special-purpose range of an address; `None` if the address is public.
#[must_use]
pub fn special_range(address: IpAddr) -> Option<SpecialRange> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<SpecialRange> {
    Some(match address.octets() {
        // 100.100.100.200 and 192.0.0.192 are metadata, too; they are in ranges that are rejected as a whole.
        [169, 254, 169, 254] | [169, 254, 170, 2] | [168, 63, 129, 16] | [100, 100, 100, 200] => SpecialRange::Metadata,
        [0, ..] => SpecialRange::Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => SpecialRange::Private,
        [100, 64..=127, ..] => SpecialRange::Shared,
        [127, ..] => SpecialRange::Loopback,
        [169, 254, ..] => SpecialRange::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => SpecialRange::Documentation,
        [198, 18..=19, ..] => SpecialRange::Benchmarking,
        [192, 0, 0, _] | [192, 88, 99, _] => SpecialRange::Reserved,
        [224..=239, ..] => SpecialRange::Multicast,
        [255, 255, 255, 255] => SpecialRange::Broadcast,
        [240..=255, ..] => SpecialRange::Reserved,
        _ => return None,
    })
}

fn special_v6(address: Ipv6Addr) -> Option<SpecialRange> {
    let segments = address.segments();
    Some(match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => SpecialRange::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => SpecialRange::Loopback,
        // fd00:ec2::254 and fd20:ce::254.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => SpecialRange::Metadata,
        // NAT64 (RFC 6052): on an IPv6-only network, every IPv4 host resolves to such an address. So the embedded address
        // counts.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return special_v4(joined(high, low)),
        [0xff00..=0xffff, ..] => SpecialRange::Multicast,
        [0xfe80..=0xfebf, ..] => SpecialRange::LinkLocal,
        [0xfec0..=0xfeff, ..] => SpecialRange::SiteLocal,
        [0xfc00..=0xfdff, ..] => SpecialRange::UniqueLocal,
        // IPv4-compatible, IPv4-mapped and IPv4-translated addresses; local NAT64; Teredo; 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => SpecialRange::Embedded,
        [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2002, ..] => SpecialRange::Embedded,
        [0x2001, 0x2, 0, ..] => SpecialRange::Benchmarking,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => SpecialRange::Documentation,
        [0x2001, 0..=0x1ff, ..] => SpecialRange::Reserved,
        // ISATAP: any prefix, then an IPv4 address.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => SpecialRange::Embedded,
        [0x2000..=0x3fff, ..] => return None,
        _ => SpecialRange::Reserved,
    })
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_exact_boundaries() {
        use SpecialRange::*;
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
            assert_eq!(special_range(address.parse().unwrap()), expected, "{address}");
        }
    }
}
