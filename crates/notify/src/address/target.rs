//! A parsed webhook URL.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

use super::UrlPolicyError;

/// Maximum length of a URL in bytes.
pub(super) const MAX_URL_LENGTH: usize = 2_048;

/// Ports of other protocols, such as mail, file transfer, terminals, DNS and chat. A server could read an HTTP request as commands.
/// The list has the blocked ports of the Fetch standard below 1024, and those of chat.
const BLOCKED_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 6000, 6665, 6666, 6667, 6668, 6669, 6697,
];

/// The hosts of Slack incoming webhooks.
const SLACK_HOSTS: &[&str] = &["hooks.slack.com", "hooks.slack-gov.com"];

/// The host of a URL.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Host {
    /// An IP address.
    Address(IpAddr),
    /// This machine: `localhost` and names below it, which are never looked up in DNS (RFC 6761).
    Localhost,
    /// A DNS name.
    Name(String),
}

impl Host {
    /// The IP addresses of `localhost`.
    pub(crate) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
}

/// A valid URL that [`UrlPolicy`](super::UrlPolicy) has checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetUrl {
    url: Url,
    host: Host,
    port: u16,
}

impl TargetUrl {
    pub(super) fn parse(text: &str) -> Result<Self, UrlPolicyError> {
        if text.len() > MAX_URL_LENGTH {
            return Err(UrlPolicyError::TooLong);
        }
        // URL parsers remove white space. The stored URL should be the one that the user has written.
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(UrlPolicyError::NotAUrl);
        }
        if text.contains('\\') {
            return Err(UrlPolicyError::Backslash);
        }
        let url = Url::parse(text).map_err(|_| UrlPolicyError::NotAUrl)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(UrlPolicyError::NotHttps);
        }
        let written = authority(text).ok_or(UrlPolicyError::NotAUrl)?;
        // `https://@example.com` has an empty user name, which the parser drops.
        if written.contains('@') || !url.username().is_empty() || url.password().is_some() {
            return Err(UrlPolicyError::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(UrlPolicyError::Fragment);
        }
        let port = url.port_or_known_default().ok_or(UrlPolicyError::NotAUrl)?;
        if BLOCKED_PORTS.contains(&port) {
            return Err(UrlPolicyError::Port(port));
        }
        let host = match url.host().ok_or(UrlPolicyError::NotAUrl)? {
            url::Host::Ipv4(address) => Host::Address(address.into()),
            url::Host::Ipv6(address) => Host::Address(address.into()),
            url::Host::Domain(name) if name.ends_with('.') => return Err(UrlPolicyError::TrailingDot),
            url::Host::Domain(name) if name.len() > 253 => return Err(UrlPolicyError::NotAUrl),
            url::Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => Host::Localhost,
            url::Host::Domain(name) => Host::Name(name.to_owned()),
        };
        // The parser accepts an IP address with a trailing dot, but there is no good reason to write one.
        if without_port(written).ends_with(['.', '。', '．', '｡']) {
            return Err(UrlPolicyError::TrailingDot);
        }
        let target = Self { url, host, port };
        // The HTTP library must accept the URL, too.
        let is_valid = target.path_and_query().parse::<http::uri::PathAndQuery>().is_ok();
        if is_valid {
            Ok(target)
        } else {
            Err(UrlPolicyError::NotAUrl)
        }
    }

    /// Rejects a host that is not in the normal form of the URL standard, because other programs may read another host. Upper case,
    /// labels in other scripts, and any notation of zeros in IPv6 addresses are permitted, because all programs read them alike.
    pub(super) fn check_host_spelling(&self, text: &str) -> Result<(), UrlPolicyError> {
        let written = authority(text).map_or("", without_port);
        let is_normal = match &self.host {
            Host::Address(IpAddr::V6(address)) => {
                let inner = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                inner.and_then(|inner| inner.parse().ok()) == Some(*address)
            }
            Host::Address(IpAddr::V4(_)) => written == self.host_text(),
            Host::Localhost | Host::Name(_) => is_same_name(written, self.host_text()),
        };
        if is_normal {
            Ok(())
        } else {
            Err(UrlPolicyError::AmbiguousHost(self.host_text().to_owned()))
        }
    }

    /// Returns the URL in its normal form, which is stored.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the host as written in a URL: a name, `192.0.2.1` or `[2001:db8::1]`. Attempts at one receiver are counted by it.
    #[must_use]
    pub fn host_text(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns whether the scheme is https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns whether this is a Slack incoming webhook. Those get the Slack format and no signature.
    #[must_use]
    pub fn is_slack(&self) -> bool {
        self.is_https() && matches!(&self.host, Host::Name(name) if SLACK_HOSTS.contains(&name.as_str()))
    }

    /// Returns the value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host_text()),
            None => self.host_text().to_owned(),
        }
    }

    /// Returns path and query.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

/// Returns the part of a URL between `https://` and the path.
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

/// Compares a name with its normal form, label by label, except for upper case and other scripts.
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
            // A label whose normal form is plain ASCII contained look-alike characters, as in `ⓔxample`.
            (Some(_), Some(normal)) if normal.starts_with("xn--") => {}
            _ => return false,
        }
    }
}
