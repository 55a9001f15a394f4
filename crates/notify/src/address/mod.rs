//! Checks of webhook URLs and IP addresses, against server-side request forgery (SSRF).
//!
//! Users choose the URLs that this service calls. Without checks, they could reach `127.0.0.1`, private networks, or the metadata
//! service of a cloud. So an IP address must be public, unless the operator permits its range (`webhooks.allow_private_cidrs`).
//!
//! URLs are checked twice:
//!
//! * *On save* ([`UrlPolicy::check`], [`UrlPolicy::check_resolved`]), for usability: a URL that cannot work is rejected with a message
//!   that names the fix.
//! * *On connect* ([`UrlPolicy::permitted_addresses`]), for security: DNS records may have changed since. The client resolves the name
//!   once, checks the IP addresses, and connects only to those.
//!
//! URLs are parsed by the URL standard, as in a browser. Other programs parse some of them differently: `2130706433`, `0x7f.1`
//! and `①②⑦.0.0.1` are IP addresses, and the host of `https://192.0.2.1\@127.0.0.1/` depends on the parser. So a URL is rejected if
//! its host is not written in the normal form of the standard. The normal form is stored and used.

mod cidr;
mod dial;
mod lookup;
mod range;
mod resolve;
mod target;

use std::net::IpAddr;
use std::time::Duration;

pub use cidr::{Cidr, CidrError};
pub use dial::{ByteStream, DialFuture, Dialer, TcpDialer};
pub use lookup::{LookupOwner, MAX_LOOKUPS_PER_ACCOUNT, NameLookups};
pub use range::{SpecialRange, special_range};
pub use resolve::{ResolveFuture, Resolver, SystemResolver};
pub use target::{Host, TargetUrl};
use thiserror::Error;

use clock::Clock;

/// Timeout of a DNS lookup on save. After it, the name counts as not resolved yet.
const MAX_LOOKUP_DURATION: Duration = Duration::from_secs(3);

/// The rules for webhook URLs: public addresses, and additional ranges that the operator permits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UrlPolicy {
    allow_private: Vec<Cidr>,
}

/// The reason why a URL is rejected. The message is for the user and names the fix.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum UrlPolicyError {
    /// The URL is too long.
    #[error("must be at most {} characters", target::MAX_URL_LENGTH)]
    TooLong,
    /// The text is not a URL.
    #[error("must be a URL like https://example.com/hooks/bellwether")]
    NotAUrl,
    /// The scheme is neither https nor http.
    #[error("must begin with https://")]
    NotHttps,
    /// The scheme is http, which is not permitted for this host.
    #[error("must begin with https://; http is only permitted for private addresses that the operator allows")]
    Http,
    /// The URL contains a user name or a password.
    #[error("must not have a user name or a password before the host")]
    UserInfo,
    /// The URL has a fragment, which is never sent.
    #[error("must not have a fragment: remove the # and everything after it")]
    Fragment,
    /// The port is 0, or is blocked because another protocol uses it.
    #[error("must not have the port {0}: use the port of a web server, or none")]
    Port(u16),
    /// The URL has a backslash, which some programs read as a slash.
    #[error("must not have a backslash: write / in a path, %5C anywhere else")]
    Backslash,
    /// The host is written in a way that other programs may read differently.
    #[error("must have its host written as {0}")]
    AmbiguousHost(String),
    /// The host ends with a dot.
    #[error("must have a host without a trailing dot")]
    TrailingDot,
    /// The host is an IP address that is not public.
    #[error("must have a public address as its host; this one is {0}")]
    NotPublic(SpecialRange),
    /// The host resolves to an IP address that is not public. The message does not contain the address.
    #[error("must have a host that resolves to public addresses only")]
    ResolvesToNotPublic,
}

impl UrlPolicy {
    /// Creates a policy that permits public addresses and these ranges.
    #[must_use]
    pub fn new(allow_private: Vec<Cidr>) -> Self {
        Self { allow_private }
    }

    /// Checks a new URL, without a DNS lookup.
    ///
    /// # Errors
    /// [`UrlPolicyError`] if the URL is rejected.
    pub fn check(&self, text: &str) -> Result<TargetUrl, UrlPolicyError> {
        let target = self.target(text)?;
        target.check_host_spelling(text)?;
        Ok(target)
    }

    /// Checks a stored URL like [`check`](Self::check), except for the spelling of its host. Earlier versions stored URLs as they were
    /// written; requests use the normal form.
    ///
    /// # Errors
    /// [`UrlPolicyError`] if the URL is rejected.
    pub fn target(&self, text: &str) -> Result<TargetUrl, UrlPolicyError> {
        let target = TargetUrl::parse(text)?;
        self.check_address(&target)?;
        Ok(target)
    }

    /// Checks the IP addresses of a host that are known without a DNS lookup.
    fn check_address(&self, target: &TargetUrl) -> Result<(), UrlPolicyError> {
        let addresses = match target.host() {
            Host::Address(address) => vec![*address],
            Host::Localhost => Host::LOCALHOST.to_vec(),
            // The addresses of a name are checked after the lookup. Without additional ranges, http is never permitted.
            Host::Name(_) if target.is_https() || !self.allow_private.is_empty() => return Ok(()),
            Host::Name(_) => return Err(UrlPolicyError::Http),
        };
        if addresses
            .iter()
            .any(|address| self.permits(*address, target.is_https()))
        {
            return Ok(());
        }
        match addresses.iter().find_map(|address| special_range(*address)) {
            Some(range) => Err(UrlPolicyError::NotPublic(range)),
            None => Err(UrlPolicyError::Http),
        }
    }

    /// Checks a URL on save, like [`check`](Self::check) and with a DNS lookup. One forbidden IP address rejects the URL. A name that
    /// does not resolve (yet) is accepted.
    ///
    /// # Errors
    /// [`UrlPolicyError`] if the URL is rejected.
    pub async fn check_resolved(
        &self,
        text: &str,
        lookups: &NameLookups,
        owner: LookupOwner,
        time: &dyn Clock,
    ) -> Result<TargetUrl, UrlPolicyError> {
        let target = self.check(text)?;
        let Host::Name(name) = target.host() else {
            return Ok(target);
        };
        let found = tokio::select! {
            biased;
            found = lookups.resolve(name, owner) => found.unwrap_or_default(),
            () = time.sleep(MAX_LOOKUP_DURATION) => Vec::new(),
        };
        if found.iter().any(|address| !self.permits(*address, target.is_https())) {
            let public = found.iter().all(|address| special_range(*address).is_none());
            return Err(if public {
                UrlPolicyError::Http
            } else {
                UrlPolicyError::ResolvesToNotPublic
            });
        }
        Ok(target)
    }

    /// Returns those of the resolved IP addresses that the client may connect to. This is the check that matters for security: the
    /// client connects to no other address.
    #[must_use]
    pub fn permitted_addresses(&self, target: &TargetUrl, addresses: &[IpAddr]) -> Vec<IpAddr> {
        let permitted = addresses
            .iter()
            .filter(|address| self.permits(**address, target.is_https()));
        permitted.copied().collect()
    }

    /// Returns whether an IP address is permitted: with https, if it is public or in an additional range; with http, only if it is in
    /// an additional range.
    fn permits(&self, address: IpAddr, https: bool) -> bool {
        self.allow_private.iter().any(|range| range.contains(address)) || (https && special_range(address).is_none())
    }
}
