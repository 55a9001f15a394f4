//! Email addresses of recipients.
//!
//! RFC 5321 permits more than is used in practice: quoted mailboxes with spaces and angle brackets, comments, IP addresses. Only plain
//! addresses are accepted here, so that no server can interpret parts of an address differently.

use std::str::FromStr;

use lettre::Address;
use url::Host;

use crate::templates::is_visible;

/// Maximum length of an address that every server must accept (RFC 5321).
const MAX_ADDRESS_LENGTH: usize = 254;

/// An error in the address of a recipient.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EmailAddressError {
    /// The address is invalid.
    #[error("the recipient's address is invalid")]
    Invalid,
    /// The address is too long.
    #[error("the recipient's address has more than {MAX_ADDRESS_LENGTH} characters")]
    TooLong,
}

/// Parses an address. Internationalised domain names are converted to Punycode.
pub(super) fn read(text: &str) -> Result<Address, EmailAddressError> {
    if text.len() > MAX_ADDRESS_LENGTH {
        return Err(EmailAddressError::TooLong);
    }
    let is_forbidden =
        |c: char| c.is_whitespace() || c.is_control() || !is_visible(c) || "()<>[]:;@\\,\"%!".contains(c);
    let (mailbox, domain) = text.rsplit_once('@').ok_or(EmailAddressError::Invalid)?;
    if mailbox.contains(is_forbidden) || domain.contains(is_forbidden) {
        return Err(EmailAddressError::Invalid);
    }
    let Ok(Host::Domain(domain)) = Host::parse(domain) else {
        return Err(EmailAddressError::Invalid);
    };
    if !domain.contains('.') && domain != "localhost" {
        return Err(EmailAddressError::Invalid);
    }
    Address::from_str(&format!("{mailbox}@{domain}")).map_err(|_| EmailAddressError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_mailboxes_at_hosts() {
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
    fn rejects_ambiguous_addresses() {
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
            assert_eq!(read(text).err(), Some(EmailAddressError::Invalid), "{text:?}");
        }
        let long = format!("{}@example.com", "a".repeat(250));
        assert_eq!(read(&long).err(), Some(EmailAddressError::TooLong));
    }
}
