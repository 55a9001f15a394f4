//! Links that lead away from this service by way of it: only those that it has signed itself.
//!
//! A link that anybody could make would send people from an address they trust to wherever somebody likes. So each carries
//! an HMAC of where it leads, with a key that is made of the vault's for this purpose alone.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::Url;

use crate::messages::MessageWriter;
use crate::vault::Vault;
use crate::{Ports, ServiceError};

/// What the key is for.
const PURPOSE: &str = "bellwether: signed redirects";
/// The longest address that is signed.
const MAX_CHARACTERS: usize = 2048;

/// Signed links that lead to other sites by way of this service.
#[derive(Clone)]
pub struct Redirects {
    pub(crate) ports: Ports,
    pub(crate) writer: MessageWriter,
}

impl Redirects {
    /// A link to this service that leads on to `target`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for what is no http or https address.
    pub fn signed_redirect(&self, target: &str) -> Result<String, ServiceError> {
        let target = checked(target)?;
        let signature = mac(&self.ports.vault, &target)?.finalize().into_bytes();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(self
            .writer
            .link("api/v1/redirect", &[("u", &target), ("sig", &signature)]))
    }

    /// Where a signed link leads.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for one that this service has not signed.
    pub fn redirect_target(&self, target: &str, signature: &str) -> Result<String, ServiceError> {
        let shown = URL_SAFE_NO_PAD.decode(signature).map_err(|_| not_ours())?;
        // Compares in constant time.
        let verified = mac(&self.ports.vault, target)?.verify_slice(&shown);
        verified.map_err(|_| not_ours())?;
        checked(target)
    }
}

fn not_ours() -> ServiceError {
    let message = "this link was not made by this service, or was changed; take it whole from where you found it";
    ServiceError::Malformed(message.to_owned())
}

fn mac(vault: &Vault, target: &str) -> Result<Hmac<Sha256>, ServiceError> {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&vault.derive(PURPOSE));
    let mut mac = mac.map_err(ServiceError::internal)?;
    mac.update(target.as_bytes());
    Ok(mac)
}

/// An address as browsers write it: nothing in it that a header could not carry.
fn checked(target: &str) -> Result<String, ServiceError> {
    let url = Url::parse(target).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let text = url.map(String::from).filter(|text| text.len() <= MAX_CHARACTERS);
    let message = "u must be an http or https address; take the link whole from where you found it";
    text.ok_or_else(|| ServiceError::Malformed(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_lead_anywhere() {
        for (target, expected) in [
            ("https://example.com", Some("https://example.com/")),
            ("HTTP://Example.com/a b", Some("http://example.com/a%20b")),
            (
                "https://example.com/\r\nSet-Cookie: a=b",
                Some("https://example.com/Set-Cookie:%20a=b"),
            ),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("//example.com", None),
            ("/local", None),
            ("", None),
        ] {
            assert_eq!(checked(target).ok().as_deref(), expected, "{target}");
        }
        assert!(checked(&format!("https://example.com/{}", "a".repeat(MAX_CHARACTERS))).is_err());
    }
}
