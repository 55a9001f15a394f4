//! Addresses that mail is sent to.
//!
//! RFC 5321 takes more than anybody uses: quoted mailboxes with blanks and angle brackets in them, comments, addresses of
//! machines. What is taken here is what mailboxes look like, so that nothing in an address can mean anything else on its way.

use std::str::FromStr;

use lettre::Address;
use url::Host;

/// The longest address that a server must take.
const LONGEST: usize = 254;

/// Why there is no sending to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressFault {
    /// It is no address.
    #[error("the recipient's address is none")]
    NoAddress,
    /// It is too long.
    #[error("the recipient's address has more than {LONGEST} characters")]
    TooLong,
}

/// Reads an address. A host's name in another script is written as servers know it.
pub(super) fn read(text: &str) -> Result<Address, AddressFault> {
    if text.len() > LONGEST {
        return Err(AddressFault::TooLong);
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || !is_visible(c) || "()<>[]:;@\\,\"%!".contains(c);
    let (mailbox, domain) = text.rsplit_once('@').ok_or(AddressFault::NoAddress)?;
    if mailbox.contains(odd) || domain.contains(odd) {
        return Err(AddressFault::NoAddress);
    }
    let Ok(Host::Domain(domain)) = Host::parse(domain) else {
        return Err(AddressFault::NoAddress);
    };
    if !domain.contains('.') && domain != "localhost" {
        return Err(AddressFault::NoAddress);
    }
    Address::from_str(&format!("{mailbox}@{domain}")).map_err(|_| AddressFault::NoAddress)
}

/// Whether a character is seen, and leaves those around it where they are.
pub(crate) fn is_visible(c: char) -> bool {
    crate::letter::is_visible(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_mailbox_at_a_host() {
        for (text, expected) in [
            ("ann@example.com", "ann@example.com"),
            (
                "Ann.O'Neil+stocks_1@Mail.Example.COM",
                "Ann.O'Neil+stocks_1@mail.example.com",
            ),
            ("ann@b\u{fc}cher.example", "ann@xn--bcher-kva.example"),
            ("j\u{f6}rg@example.com", "j\u{f6}rg@example.com"),
            ("ann@localhost", "ann@localhost"),
        ] {
            assert_eq!(
                read(text).map(|address| address.to_string()),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_could_mean_anything_else_on_its_way_is_no_address() {
        for text in [
            "",
            "ann",
            "@example.com",
            "ann@",
            "ann@host",
            "ann@@example.com",
            "ann@example.com, bob@example.com",
            "ann@example.com>\r\nRCPT TO:<bob@example.com",
            "ann\r\n@example.com",
            "ann@example.com\n",
            "ann\0@example.com",
            "Ann <ann@example.com>",
            "\"ann smith\"@example.com",
            "\"><bob@example.com\"@example.com",
            "ann@[127.0.0.1]",
            "ann@127.0.0.1",
            "ann%bob@example.com",
            "host!ann@example.com",
            "ann(comment)@example.com",
            "ann\u{202e}@example.com",
            "ann\u{200b}@example.com",
            "ann\u{a0}@example.com",
            ".ann@example.com",
            "ann@exam ple.com",
            "ann@-.com/",
        ] {
            assert_eq!(read(text).err(), Some(AddressFault::NoAddress), "{text:?}");
        }
        let long = format!("{}@example.com", "a".repeat(250));
        assert_eq!(read(&long).err(), Some(AddressFault::TooLong));
    }
}
