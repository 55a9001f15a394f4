//! Ranges of addresses, as an operator writes them.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or a single one, `192.168.1.7`.
///
/// A range of one family has no addresses of the other: `127.0.0.0/8` does not have `::ffff:127.0.0.1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cidr {
    address: IpAddr,
    prefix_bits: u8,
}

/// What a text is that is no range of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be an address or a range of addresses, like 192.168.1.7, 10.0.0.0/8 or fd00::/8")]
pub struct NoCidr;

impl Cidr {
    /// The range of the addresses that share their first so many bits with `address`; `None`, if it has fewer bits.
    #[must_use]
    pub fn new(address: IpAddr, prefix_bits: u8) -> Option<Self> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (prefix_bits <= most).then_some(Self { address, prefix_bits })
    }

    /// Whether an address lies in the range.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(range), IpAddr::V4(address)) => {
                let bits = u128::from(range.to_bits() ^ address.to_bits());
                bits.checked_shr(32 - u32::from(self.prefix_bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(range), IpAddr::V6(address)) => {
                let bits = range.to_bits() ^ address.to_bits();
                bits.checked_shr(128 - u32::from(self.prefix_bits)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = NoCidr;

    fn from_str(text: &str) -> Result<Self, NoCidr> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NoCidr)?;
        let bits = match bits {
            // `+8` is a number to Rust and a slip of the pen to everybody else.
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().map_err(|_| NoCidr)?,
            Some(_) => return Err(NoCidr),
            None => {
                if address.is_ipv4() {
                    32
                } else {
                    128
                }
            }
        };
        Self::new(address, bits).ok_or(NoCidr)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_first_and_its_last_address_and_not_their_neighbours() {
        for (range, within, without) in [
            (
                "10.0.0.0/8",
                ["10.0.0.0", "10.255.255.255"],
                ["9.255.255.255", "11.0.0.0"],
            ),
            (
                "192.168.1.7",
                ["192.168.1.7", "192.168.1.7"],
                ["192.168.1.6", "192.168.1.8"],
            ),
            ("10.1.2.3/31", ["10.1.2.2", "10.1.2.3"], ["10.1.2.1", "10.1.2.4"]),
            ("fd00::/8", ["fd00::", "fdff::1"], ["fc00::", "fe00::"]),
            ("::1/128", ["::1", "::1"], ["::", "::2"]),
        ] {
            let range: Cidr = range.parse().unwrap();
            for address in within {
                assert!(range.contains(address.parse().unwrap()), "{range} has {address}");
            }
            for address in without {
                assert!(!range.contains(address.parse().unwrap()), "{range} has not {address}");
            }
        }
    }

    #[test]
    fn a_range_of_everything_has_everything_of_its_family_and_nothing_of_the_other() {
        let (four, six): (Cidr, Cidr) = ("0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap());
        for address in ["0.0.0.0", "255.255.255.255"] {
            assert!(four.contains(address.parse().unwrap()) && !six.contains(address.parse().unwrap()));
        }
        for address in ["::", "::ffff:127.0.0.1", "ffff::"] {
            assert!(six.contains(address.parse().unwrap()) && !four.contains(address.parse().unwrap()));
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0/8",
            "host/8",
            "10.0.0.0/8/8",
            " 10.0.0.0/8",
        ] {
            assert_eq!(text.parse::<Cidr>(), Err(NoCidr), "{text}");
        }
    }
}
