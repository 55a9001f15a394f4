//! IP address ranges in CIDR notation.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An IP address range: `10.0.0.0/8`, `fd00::/8`, or a single address, `192.168.1.7`.
///
/// A range contains only addresses of its own family: `127.0.0.0/8` does not contain `::ffff:127.0.0.1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cidr {
    address: IpAddr,
    prefix_bits: u8,
}

/// The text is not an IP address range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be an address or a range of addresses, like 192.168.1.7, 10.0.0.0/8 or fd00::/8")]
pub struct CidrError;

impl Cidr {
    /// Creates the range of all addresses with the same first `prefix_bits` bits as `address`; `None` if the address has fewer bits.
    #[must_use]
    pub fn new(address: IpAddr, prefix_bits: u8) -> Option<Self> {
        (prefix_bits <= bits(address)).then_some(Self { address, prefix_bits })
    }

    /// Returns whether the range contains an address.
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

const fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix_bits) = match text.split_once('/') {
            Some((address, prefix_bits)) => (address, Some(prefix_bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| CidrError)?;
        let prefix_bits = match prefix_bits {
            // Rust would also parse `+8`.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| CidrError)?
            }
            Some(_) => return Err(CidrError),
            None => bits(address),
        };
        Self::new(address, prefix_bits).ok_or(CidrError)
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
    fn range_contains_first_and_last_address_but_not_the_neighbours() {
        for (range, inside, outside) in [
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
            for address in inside {
                assert!(range.contains(address.parse().unwrap()), "{range} contains {address}");
            }
            for address in outside {
                assert!(
                    !range.contains(address.parse().unwrap()),
                    "{range} does not contain {address}"
                );
            }
        }
    }

    #[test]
    fn full_range_contains_its_family_only() {
        let (four, six): (Cidr, Cidr) = ("0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap());
        for address in ["0.0.0.0", "255.255.255.255"] {
            assert!(four.contains(address.parse().unwrap()) && !six.contains(address.parse().unwrap()));
        }
        for address in ["::", "::ffff:127.0.0.1", "ffff::"] {
            assert!(six.contains(address.parse().unwrap()) && !four.contains(address.parse().unwrap()));
        }
    }

    #[test]
    fn rejects_invalid_ranges() {
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
            assert_eq!(text.parse::<Cidr>(), Err(CidrError), "{text}");
        }
    }
}
