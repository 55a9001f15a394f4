//! A URL taken apart: what is asked, of whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

use super::AddressError;

/// URLs may be so long.
pub(super) const MAX_LENGTH: usize = 2_048;

/// Ports on which something listens that HTTP must not talk to: mail, files, terminals, name servers, chat. (Those of
/// the Fetch standard below 1024, and the ones of chat.) A request could be taken for a command there.
const NOT_FOR_HTTP: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 6000, 6665, 6666, 6667, 6668, 6669, 6697,
];

/// Slack's hosts for incoming webhooks.
const SLACK: &[&str] = &["hooks.slack.com", "hooks.slack-gov.com"];

/// Whom a URL is addressed to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// The machine itself: `localhost` and names below it, which are never looked up (RFC 6761).
    Localhost,
    /// A name.
    Name(String),
}

impl Host {
    /// The addresses of `localhost`.
    pub(crate) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
}

/// A URL that is sound in form and was judged by [`UrlRules`](super::UrlRules).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        if text.len() > MAX_LENGTH {
            return Err(AddressError::TooLong);
        }
        // A URL's parser leaves out white space; but what is kept and shown should be what is meant.
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(AddressError::NotAUrl);
        }
        if text.contains('\\') {
            return Err(AddressError::Backslash);
        }
        let url = Url::parse(text).map_err(|_| AddressError::NotAUrl)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(AddressError::NotHttps);
        }
        let written = authority(text).ok_or(AddressError::NotAUrl)?;
        // `https://@example.com` has an empty name, which the parser forgets.
        if written.contains('@') || !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(AddressError::Fragment);
        }
        let port = url.port_or_known_default().ok_or(AddressError::NotAUrl)?;
        if NOT_FOR_HTTP.contains(&port) {
            return Err(AddressError::Port(port));
        }
        let host = match url.host().ok_or(AddressError::NotAUrl)? {
            url::Host::Ipv4(address) => Host::Address(address.into()),
            url::Host::Ipv6(address) => Host::Address(address.into()),
            url::Host::Domain(name) if name.ends_with('.') => return Err(AddressError::TrailingDot),
            url::Host::Domain(name) if name.len() > 253 => return Err(AddressError::NotAUrl),
            url::Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => Host::Localhost,
            url::Host::Domain(name) => Host::Name(name.to_owned()),
        };
        // An address with a dot at its end is read as the address, yet nobody writes that for a good reason.
        if without_port(written).ends_with(['.', '。', '．', '｡']) {
            return Err(AddressError::TrailingDot);
        }
        let target = Self { url, host, port };
        // What a URL's parser lets pass, a request's must, too.
        let fits = target.path_and_query().parse::<http::uri::PathAndQuery>().is_ok();
        if fits { Ok(target) } else { Err(AddressError::NotAUrl) }
    }

    /// Refuses a host that is not written as the URL standard normalises it: other programs may read another one. Letters may
    /// be upper case, a label may be in another script, and zeros of an IPv6 address may be left out or not: all read these alike.
    pub(super) fn check_host_spelling(&self, text: &str) -> Result<(), AddressError> {
        let written = authority(text).map_or("", without_port);
        let is_plain = match &self.host {
            Host::Address(IpAddr::V6(address)) => {
                let inner = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                inner.and_then(|inner| inner.parse().ok()) == Some(*address)
            }
            Host::Address(IpAddr::V4(_)) => written == self.host_text(),
            Host::Localhost | Host::Name(_) => is_same_name(written, self.host_text()),
        };
        if is_plain {
            Ok(())
        } else {
            Err(AddressError::AmbiguousHost(self.host_text().to_owned()))
        }
    }

    /// The URL in its normal form, which is stored.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Whom it is addressed to.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The host as a URL has it: a name, `192.0.2.1` or `[2001:db8::1]`. What attempts at one receiver are counted by.
    #[must_use]
    pub fn host_text(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is spoken to by TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether this is one of Slack's incoming webhooks, which get Slack's own format and no signature.
    #[must_use]
    pub fn is_slack(&self) -> bool {
        self.is_https() && matches!(&self.host, Host::Name(name) if SLACK.contains(&name.as_str()))
    }

    /// The value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host_text()),
            None => self.host_text().to_owned(),
        }
    }

    /// Path and query.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

/// What a text has between `https://` and the path.
fn authority(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|part| !part.is_empty())
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Whether a name is written label by label as in its normal form, but for letters of upper case and other scripts.
fn is_same_name(written: &str, normal: &str) -> bool {
    let (mut written, mut normal) = (written.split('.'), normal.split('.'));
    loop {
        match (written.next(), normal.next()) {
            (None, None) => return true,
            (Some(written), Some(normal)) if written.is_ascii() => {
                if !written.eq_ignore_ascii_case(normal) {
                    return false;
                }
            }
            // A label that comes out as plain ASCII was a look-alike of it, as ⓔxample is of example.
            (Some(_), Some(normal)) if normal.starts_with("xn--") => {}
            _ => return false,
        }
    }
}
