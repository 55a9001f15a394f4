//! The session cookie and the CSRF cookie.
//!
//! If the public URL is https, cookie names start with `__Host-`. Browsers then accept the cookie only from this exact host,
//! with `Secure`, without `Domain` and with `Path=/`.

use accounts::identity::SessionTokens;
use http::{HeaderMap, HeaderValue, header};
use service::Service;

use crate::error::ApiError;

/// Name and attributes of the session cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionCookie {
    /// Whether the public URL is https.
    pub is_secure: bool,
}

impl SessionCookie {
    /// Returns the settings for a service's public URL.
    #[must_use]
    pub fn of(service: &Service) -> Self {
        Self {
            is_secure: service.identity.public_url().starts_with("https://"),
        }
    }

    /// Returns the cookie's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        if self.is_secure {
            "__Host-bellwether_session"
        } else {
            "bellwether_session"
        }
    }

    /// Returns the cookie's value in a request.
    ///
    /// # Errors
    /// 401 if the request has two cookies with different values: a third party may have set one of them.
    pub(crate) fn read(self, headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
        let mut values = cookie_values(headers, self.name());
        let first = values.next();
        if first.is_some() && values.any(|value| Some(value) != first) {
            return Err(ApiError::unauthorized(
                "the request has two different session cookies; delete this site's cookies and sign in again",
            ));
        }
        Ok(first)
    }

    /// Sets the cookie of a new session, if it has one.
    pub(crate) fn set(self, signed_in: &SessionTokens, headers: &mut HeaderMap) {
        let value = signed_in.cookie.as_deref();
        let cookie = value.and_then(|value| self.header(value, SessionTokens::cookie_max_age_s()));
        headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    }

    /// Deletes the cookie.
    pub(crate) fn clear(self, headers: &mut HeaderMap) {
        headers.extend(self.header("", 0).map(|cookie| (header::SET_COOKIE, cookie)));
    }

    fn header(self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let name = self.name();
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        let mut header = HeaderValue::try_from(text).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// The CSRF cookie. Browsers do not send it with forms of other sites (`SameSite=Strict`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CsrfCookie {
    is_secure: bool,
}

impl CsrfCookie {
    /// Returns the settings for a service's public URL.
    #[must_use]
    pub fn of(service: &Service) -> Self {
        Self {
            is_secure: SessionCookie::of(service).is_secure,
        }
    }

    const fn name(self) -> &'static str {
        if self.is_secure {
            "__Host-bellwether_form"
        } else {
            "bellwether_form"
        }
    }

    /// Returns the cookie's value in a request.
    #[must_use]
    pub fn read(self, headers: &HeaderMap) -> Option<&str> {
        cookie_values(headers, self.name()).find(|value| is_csrf_token(value))
    }

    /// Returns whether a request has the cookie with this value.
    #[must_use]
    pub fn matches(self, headers: &HeaderMap, token: &str) -> bool {
        // A constant-time comparison is not needed: a client that can try values can also read its cookie.
        is_csrf_token(token) && cookie_values(headers, self.name()).any(|value| value == token)
    }

    /// Returns the `Set-Cookie` value that sets the cookie.
    #[must_use]
    pub fn set(self, token: &str) -> Option<HeaderValue> {
        let name = self.name();
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={token}; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).ok()
    }
}

/// Returns whether a text has the form of a CSRF token: 32 hexadecimal digits.
fn is_csrf_token(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the non-empty values of all cookies with a name.
pub(crate) fn cookie_values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(found, value)| *found == name && !value.is_empty())
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: SessionCookie = SessionCookie { is_secure: false };
    const SECURE: SessionCookie = SessionCookie { is_secure: true };

    fn read(cookie: SessionCookie, lines: &[&str]) -> Result<Option<String>, ApiError> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, line.parse().unwrap());
        }
        cookie.read(&headers).map(|value| value.map(str::to_owned))
    }

    #[test]
    fn session_cookie_is_found_by_its_exact_name() {
        let line = "theme=dark; bellwether_session=abc;x=y";
        assert_eq!(read(PLAIN, &[line]), Ok(Some("abc".to_owned())));
        assert_eq!(read(PLAIN, &["a=b", line]), Ok(Some("abc".to_owned())));
        assert_eq!(read(SECURE, &[line]), Ok(None), "a name without __Host- is ignored");
        assert_eq!(
            read(PLAIN, &["my_bellwether_session=abc; bellwether_session="]),
            Ok(None)
        );
        assert_eq!(read(PLAIN, &[]), Ok(None));
    }

    #[test]
    fn different_duplicate_cookies_are_refused() {
        assert!(read(PLAIN, &["bellwether_session=a; bellwether_session=b"]).is_err());
        assert!(read(PLAIN, &["bellwether_session=a", "bellwether_session=b"]).is_err());
        assert!(read(PLAIN, &["bellwether_session=a; bellwether_session=a"]).is_ok());
    }

    #[test]
    fn session_cookie_is_http_only_and_secure_over_https() {
        let set = |cookie: SessionCookie| {
            cookie
                .header("abc", SessionTokens::cookie_max_age_s())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            set(PLAIN),
            "bellwether_session=abc; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax"
        );
        assert_eq!(
            set(SECURE),
            "__Host-bellwether_session=abc; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure"
        );
        let cleared = SECURE.header("", 0).unwrap();
        assert!(
            cleared
                .to_str()
                .unwrap()
                .starts_with("__Host-bellwether_session=; Path=/; Max-Age=0;")
        );
    }
}
