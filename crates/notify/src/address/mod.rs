//! Which URLs a user may give, and which addresses are dialled for them.
//!
//! A service that fetches what strangers name is a door into the network that it stands in: what answers on `127.0.0.1`,
//! on a private network or where a cloud keeps a machine's keys was never meant for strangers. So an address has to be the
//! public's, unless the operator opens its range (`webhooks.allow_private_cidrs`).
//!
//! It is judged twice. *On save* ([`UrlRules::check`], [`UrlRules::check_resolved`]) for the user's sake: a URL that will never work is refused
//! with a message that says how to mend it. *On dial* ([`UrlRules::dialable`]) for safety: what a name resolves to may have
//! changed since, so the client looks it up once, judges the addresses it got, and connects to those and no others.
//!
//! URLs are parsed by the URL standard, as in a browser. Other programs parse some of them differently: `2130706433`, `0x7f.1`
//! and `①②⑦.0.0.1` are IP addresses, and the host of `https://192.0.2.1\@127.0.0.1/` depends on the parser. So a URL is refused
//! if its host is not written as the standard normalises it, and the normal form is stored and called.

mod cidr;
mod lookup;
mod range;
mod resolve;
mod target;

use std::net::IpAddr;
use std::time::Duration;

pub use cidr::{Cidr, NoCidr};
pub use lookup::{LookupOwner, MAX_LOOKUPS_PER_ACCOUNT, NameLookups};
pub use range::{Range, special};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use target::{Host, Target};
use thiserror::Error;

use crate::time::Time;

/// How long a name may take to be looked up on save. Afterwards it counts as one that does not resolve yet.
const LOOK_UP: Duration = Duration::from_secs(3);

/// Which addresses are open beside the public's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UrlRules {
    allow_private: Vec<Cidr>,
}

/// Why a URL is refused, and how to mend it. Its text is for the user.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AddressError {
    /// It is longer than anybody needs.
    #[error("must be at most {} characters", target::MAX_LENGTH)]
    TooLong,
    /// It is no URL.
    #[error("must be a URL like https://example.com/hooks/bellwether")]
    NotAUrl,
    /// Its scheme is neither https nor http.
    #[error("must begin with https://")]
    NotHttps,
    /// It is http, to where http is not allowed.
    #[error("must begin with https://; http is only for private addresses that the operator has opened")]
    Http,
    /// It has a user's name or password.
    #[error("must not have a user name or a password before the host")]
    UserInfo,
    /// It has a fragment, which is never sent.
    #[error("must not have a fragment: leave out the # and what follows it")]
    Fragment,
    /// Its port is none, or belongs to a protocol that HTTP must not talk to.
    #[error("must not have the port {0}: give one on which a web server listens, or none")]
    Port(u16),
    /// It has a backslash, which some programs read as a slash and others do not.
    #[error("must not have a backslash: write / in a path, %5C anywhere else")]
    Backslash,
    /// Its host is written so that other programs read another host.
    #[error("must have its host written as {0}")]
    AmbiguousHost(String),
    /// Its host ends with a dot.
    #[error("must have a host without a dot at its end")]
    TrailingDot,
    /// Its host is an address that is not the public's.
    #[error("must have a public address as its host; this one is {0}")]
    NotPublic(Range),
    /// Its host resolves to an address that is not the public's. What it resolves to is not told.
    #[error("must have a host that resolves to public addresses only")]
    ResolvesToNotPublic,
}

impl UrlRules {
    /// Rules that open these ranges beside the public's addresses, and nothing else.
    #[must_use]
    pub fn new(allow_private: Vec<Cidr>) -> Self {
        Self { allow_private }
    }

    /// Judges all of a new URL that can be judged without looking a name up.
    ///
    /// # Errors
    /// [`AddressError`], if the URL is refused.
    pub fn check(&self, text: &str) -> Result<Target, AddressError> {
        let target = self.target(text)?;
        target.check_host_spelling(text)?;
        Ok(target)
    }

    /// Judges a stored URL as [`check`](Self::check) does, except for the spelling of its host: an earlier version may have
    /// stored it as it was written, and what is called is its normal form.
    ///
    /// # Errors
    /// [`AddressError`], if the URL is refused.
    pub fn target(&self, text: &str) -> Result<Target, AddressError> {
        let target = Target::parse(text)?;
        self.check_address(&target)?;
        Ok(target)
    }

    /// Judges a host as far as its addresses are known without looking a name up.
    fn check_address(&self, target: &Target) -> Result<(), AddressError> {
        let addresses = match target.host() {
            Host::Address(address) => vec![*address],
            Host::Localhost => Host::LOCALHOST.to_vec(),
            // Whether the addresses of a name are open shows when they are known. With nothing opened, none is.
            Host::Name(_) if target.is_https() || !self.allow_private.is_empty() => return Ok(()),
            Host::Name(_) => return Err(AddressError::Http),
        };
        if addresses.iter().any(|address| self.opens(*address, target.is_https())) {
            return Ok(());
        }
        match addresses.iter().find_map(|address| special(*address)) {
            Some(range) => Err(AddressError::NotPublic(range)),
            None => Err(AddressError::Http),
        }
    }

    /// Judges a URL when it is saved: what [`check`](Self::check) judges, and what its host resolves to. One refused
    /// address among the answers refuses the URL. A name that does not resolve (yet) is taken.
    ///
    /// # Errors
    /// [`AddressError`], if the URL is refused.
    pub async fn check_resolved(
        &self,
        text: &str,
        lookups: &NameLookups,
        owner: LookupOwner,
        time: &dyn Time,
    ) -> Result<Target, AddressError> {
        let target = self.check(text)?;
        let Host::Name(name) = target.host() else {
            return Ok(target);
        };
        let found = tokio::select! {
            biased;
            found = lookups.resolve(name, owner) => found.unwrap_or_default(),
            () = time.sleep(LOOK_UP) => Vec::new(),
        };
        if found.iter().any(|address| !self.opens(*address, target.is_https())) {
            let public = found.iter().all(|address| special(*address).is_none());
            return Err(if public {
                AddressError::Http
            } else {
                AddressError::ResolvesToNotPublic
            });
        }
        Ok(target)
    }

    /// Of the addresses that a host turned out to have, those that may be dialled for it. The judgement that counts:
    /// the client dials nothing else.
    #[must_use]
    pub fn dialable(&self, target: &Target, addresses: &[IpAddr]) -> Vec<IpAddr> {
        let open = addresses
            .iter()
            .filter(|address| self.opens(**address, target.is_https()));
        open.copied().collect()
    }

    /// Whether an address may be spoken to: by https, if it is the public's or was opened; by http only if it was opened.
    fn opens(&self, address: IpAddr, https: bool) -> bool {
        self.allow_private.iter().any(|range| range.contains(address)) || (https && special(address).is_none())
    }
}
