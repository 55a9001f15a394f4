//! Which server the URL names, and how the connection to it becomes secure.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use url::Url;

/// What is wrong with an SMTP URL.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UrlFault {
    /// It cannot be read at all.
    #[error(
        "cannot be read; it has the form smtp://user:password@host:587, and `:/?#[]@%` in user or password are written as %3A and so on"
    )]
    Unreadable,
    /// It is of another kind.
    #[error("must begin with smtp:// or smtps://")]
    Scheme,
    /// It names no host.
    #[error("must name a host")]
    NoHost,
    /// It has a path or a fragment.
    #[error("must end after the port, or after ?tls=")]
    Path,
    /// There is a user and no password, or the other way round.
    #[error("must have both a user and a password, or neither")]
    HalfCredentials,
    /// An option is not known.
    #[error("may have no option but ?tls=starttls or ?tls=none, and for smtps:// none")]
    Option,
}

/// How a connection becomes secure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Security {
    None,
    StartTls,
    Implicit,
}

/// What a URL says.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: Security,
    pub(super) credentials: Option<(String, String)>,
}

impl Server {
    pub(super) fn of(url: &str) -> Result<Self, UrlFault> {
        let url = Url::parse(url).map_err(|_| UrlFault::Unreadable)?;
        let is_smtps = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(UrlFault::Scheme),
        };
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(UrlFault::Path);
        }
        let host = url.host_str().ok_or(UrlFault::NoHost)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err(UrlFault::NoHost);
        }
        let mut tls = None;
        for (name, value) in url.query_pairs() {
            tls = Some(match (&*name, &*value, is_smtps) {
                ("tls", "none", false) => Security::None,
                ("tls", "starttls", false) => Security::StartTls,
                _ => return Err(UrlFault::Option),
            });
        }
        let security = tls.unwrap_or(match (is_smtps, is_loopback(&host)) {
            (true, _) => Security::Implicit,
            (false, true) => Security::None,
            (false, false) => Security::StartTls,
        });
        Ok(Self {
            port: url.port().unwrap_or(match security {
                Security::None => 25,
                Security::StartTls => 587,
                Security::Implicit => 465,
            }),
            credentials: credentials(&url)?,
            host,
            security,
        })
    }
}

fn credentials(url: &Url) -> Result<Option<(String, String)>, UrlFault> {
    let decoded = |text| match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => Err(UrlFault::Unreadable),
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        ("", Some(_)) | (_, None) => Err(UrlFault::HalfCredentials),
        (user, Some(password)) => Ok(Some((decoded(user)?, decoded(password)?))),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> (String, u16, Security, Option<(String, String)>) {
        let server = Server::of(url).unwrap();
        (server.host, server.port, server.security, server.credentials)
    }

    #[test]
    fn a_url_says_where_the_server_is_and_how_the_connection_becomes_secure() {
        let credentials = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        for (url, host, port, security, expected) in [
            (
                "smtp://Mail.example.com",
                "mail.example.com",
                587,
                Security::StartTls,
                None,
            ),
            (
                "smtp://mail.example.com:25/",
                "mail.example.com",
                25,
                Security::StartTls,
                None,
            ),
            (
                "smtp://mail.example.com?tls=none",
                "mail.example.com",
                25,
                Security::None,
                None,
            ),
            (
                "smtps://mail.example.com",
                "mail.example.com",
                465,
                Security::Implicit,
                None,
            ),
            ("smtp://localhost", "localhost", 25, Security::None, None),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, Security::None, None),
            ("smtp://[::1]", "::1", 25, Security::None, None),
            ("smtp://[::1]?tls=starttls", "::1", 587, Security::StartTls, None),
            ("smtp://[2001:db8::1]", "2001:db8::1", 587, Security::StartTls, None),
            ("smtp://u:p@h", "h", 587, Security::StartTls, credentials("u", "p")),
            (
                "smtps://me%40example.com:a%2F%3A%C3%A9+@h",
                "h",
                465,
                Security::Implicit,
                credentials("me@example.com", "a/:é+"),
            ),
        ] {
            assert_eq!(read(url), (host.to_owned(), port, security, expected), "{url}");
        }
    }

    #[test]
    fn a_url_that_says_anything_else_is_refused_by_what_is_wrong_with_it() {
        for (url, fault) in [
            ("mail.example.com", UrlFault::Unreadable),
            ("mail.example.com:25", UrlFault::Scheme),
            ("http://mail.example.com", UrlFault::Scheme),
            ("smtp:///", UrlFault::NoHost),
            ("smtp://host/path", UrlFault::Path),
            ("smtp://host#pass", UrlFault::Path),
            ("smtp://user@host", UrlFault::HalfCredentials),
            ("smtp://:password@host", UrlFault::HalfCredentials),
            ("smtp://u:%FF@host", UrlFault::Unreadable),
            ("smtp://host?tls=maybe", UrlFault::Option),
            ("smtps://host?tls=none", UrlFault::Option),
            ("smtp://host?timeout=5", UrlFault::Option),
        ] {
            assert_eq!(Server::of(url).err(), Some(fault), "{url}");
        }
    }
}
