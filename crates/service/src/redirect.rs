//! Signed redirects to other sites.
//!
//! An unsigned redirect would be an open redirect, which attackers use for phishing. So each link contains an HMAC of
//! its target, with a key derived for this purpose.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::Url;

use delivery::messages::MessageWriter;
use foundation::vault::Vault;
use foundation::{Ports, ServiceError};

/// Purpose of the key.
const KEY_PURPOSE: &str = "bellwether: signed redirects";
/// Maximum length of a target URL, in bytes.
const MAX_TARGET_BYTES: usize = 2048;

/// Use cases for signed links to other sites.
#[derive(Clone)]
pub struct Redirects {
    pub(crate) ports: Ports,
    pub(crate) writer: MessageWriter,
}

impl Redirects {
    /// Returns a signed link that redirects to `target`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if `target` is not an HTTP or HTTPS URL.
    pub fn signed_redirect(&self, target: &str) -> Result<String, ServiceError> {
        let target = normalize_target(target)?;
        let signature = mac(&self.ports.vault, &target)?.finalize().into_bytes();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(self
            .writer
            .link("api/v1/redirect", &[("u", &target), ("sig", &signature)]))
    }

    /// Returns the target of a signed link.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for an invalid signature.
    pub fn redirect_target(&self, target: &str, signature: &str) -> Result<String, ServiceError> {
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| not_ours())?;
        // Compares in constant time.
        let verified = mac(&self.ports.vault, target)?.verify_slice(&signature);
        verified.map_err(|_| not_ours())?;
        normalize_target(target)
    }
}

fn not_ours() -> ServiceError {
    let message = "this link was not created by this service, or was changed; copy it completely from its source";
    ServiceError::Malformed(message.to_owned())
}

fn mac(vault: &Vault, target: &str) -> Result<Hmac<Sha256>, ServiceError> {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&vault.derive(KEY_PURPOSE));
    let mut mac = mac.map_err(ServiceError::internal)?;
    mac.update(target.as_bytes());
    Ok(mac)
}

/// Normalizes a URL, so that it is valid in a header.
fn normalize_target(target: &str) -> Result<String, ServiceError> {
    let url = Url::parse(target).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let text = url.map(String::from).filter(|text| text.len() <= MAX_TARGET_BYTES);
    let message = "u must be an http or https URL; copy the link completely from its source";
    text.ok_or_else(|| ServiceError::Malformed(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_targets_are_valid() {
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
            assert_eq!(normalize_target(target).ok().as_deref(), expected, "{target}");
        }
        assert!(normalize_target(&format!("https://example.com/{}", "a".repeat(MAX_TARGET_BYTES))).is_err());
    }
}
