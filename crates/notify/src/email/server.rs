//! Parses the URL of an SMTP server.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use url::Url;

/// An error in an SMTP URL.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SmtpUrlError {
    /// The URL cannot be parsed.
    #[error("cannot be parsed; use smtp://user:password@host:587, with `:/?#[]@%` in user or password percent-encoded")]
    Unreadable,
    /// The scheme is not supported.
    #[error("must begin with smtp:// or smtps://")]
    Scheme,
    /// The host is missing.
    #[error("must name a host")]
    NoHost,
    /// The host of a server with TLS cannot be the name of a certificate.
    #[error("must name a host by a DNS name or an IP address")]
    BadHost,
    /// The URL has a path or a fragment.
    #[error("must end after the port, or after ?tls=")]
    Path,
    /// There is a user without a password, or a password without a user.
    #[error("must have both a user and a password, or neither")]
    HalfCredentials,
    /// An option is unknown.
    #[error("supports only the options ?tls=starttls and ?tls=none, and with smtps:// none")]
    Option,
}

/// The TLS mode of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TlsMode {
    None,
    StartTls,
    Implicit,
}

/// The settings in an SMTP URL.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SmtpServer {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls_mode: TlsMode,
    pub(super) credentials: Option<(String, String)>,
}

impl SmtpServer {
    pub(super) fn from_url(url: &str) -> Result<Self, SmtpUrlError> {
        let url = Url::parse(url).map_err(|_| SmtpUrlError::Unreadable)?;
        let is_smtps = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(SmtpUrlError::Scheme),
        };
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(SmtpUrlError::Path);
        }
        let host = url.host_str().ok_or(SmtpUrlError::NoHost)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err(SmtpUrlError::NoHost);
        }
        let mut tls = None;
        for (name, value) in url.query_pairs() {
            tls = Some(match (&*name, &*value, is_smtps) {
                ("tls", "none", false) => TlsMode::None,
                ("tls", "starttls", false) => TlsMode::StartTls,
                _ => return Err(SmtpUrlError::Option),
            });
        }
        let tls_mode = tls.unwrap_or(match (is_smtps, is_loopback(&host)) {
            (true, _) => TlsMode::Implicit,
            (false, true) => TlsMode::None,
            (false, false) => TlsMode::StartTls,
        });
        Ok(Self {
            port: url.port().unwrap_or(match tls_mode {
                TlsMode::None => 25,
                TlsMode::StartTls => 587,
                TlsMode::Implicit => 465,
            }),
            credentials: credentials(&url)?,
            host,
            tls_mode,
        })
    }
}

fn credentials(url: &Url) -> Result<Option<(String, String)>, SmtpUrlError> {
    let decoded = |text| match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => Err(SmtpUrlError::Unreadable),
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        ("", Some(_)) | (_, None) => Err(SmtpUrlError::HalfCredentials),
        (user, Some(password)) => Ok(Some((decoded(user)?, decoded(password)?))),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> (String, u16, TlsMode, Option<(String, String)>) {
        let server = SmtpServer::from_url(url).unwrap();
        (server.host, server.port, server.tls_mode, server.credentials)
    }

    #[test]
    fn url_gives_host_port_tls_mode_and_credentials() {
        let credentials = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        for (url, host, port, tls_mode, expected) in [
            (
                "smtp://Mail.example.com",
                "mail.example.com",
                587,
                TlsMode::StartTls,
                None,
            ),
            (
                "smtp://mail.example.com:25/",
                "mail.example.com",
                25,
                TlsMode::StartTls,
                None,
            ),
            (
                "smtp://mail.example.com?tls=none",
                "mail.example.com",
                25,
                TlsMode::None,
                None,
            ),
            (
                "smtps://mail.example.com",
                "mail.example.com",
                465,
                TlsMode::Implicit,
                None,
            ),
            ("smtp://localhost", "localhost", 25, TlsMode::None, None),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, TlsMode::None, None),
            ("smtp://[::1]", "::1", 25, TlsMode::None, None),
            ("smtp://[::1]?tls=starttls", "::1", 587, TlsMode::StartTls, None),
            ("smtp://[2001:db8::1]", "2001:db8::1", 587, TlsMode::StartTls, None),
            ("smtp://u:p@h", "h", 587, TlsMode::StartTls, credentials("u", "p")),
            (
                "smtps://me%40example.com:a%2F%3A%C3%A9+@h",
                "h",
                465,
                TlsMode::Implicit,
                credentials("me@example.com", "a/:é+"),
            ),
        ] {
            assert_eq!(read(url), (host.to_owned(), port, tls_mode, expected), "{url}");
        }
    }

    #[test]
    fn rejects_invalid_urls() {
        for (url, error) in [
            ("mail.example.com", SmtpUrlError::Unreadable),
            ("mail.example.com:25", SmtpUrlError::Scheme),
            ("http://mail.example.com", SmtpUrlError::Scheme),
            ("smtp:///", SmtpUrlError::NoHost),
            ("smtp://host/path", SmtpUrlError::Path),
            ("smtp://host#pass", SmtpUrlError::Path),
            ("smtp://user@host", SmtpUrlError::HalfCredentials),
            ("smtp://:password@host", SmtpUrlError::HalfCredentials),
            ("smtp://u:%FF@host", SmtpUrlError::Unreadable),
            ("smtp://host?tls=maybe", SmtpUrlError::Option),
            ("smtps://host?tls=none", SmtpUrlError::Option),
            ("smtp://host?timeout=5", SmtpUrlError::Option),
        ] {
            assert_eq!(SmtpServer::from_url(url).err(), Some(error), "{url}");
        }
    }
}
