//! The session's cookie, and the one of forms.
//!
//! Where people reach the service by https its name begins with `__Host-`: browsers then take it from this very host
//! only, with `Secure`, without `Domain`, for every path.

use http::{HeaderMap, HeaderValue, header};
use service::Service;
use service::identity::SignedIn;

use crate::error::ApiError;

/// How the session's cookie is called and kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionCookie {
    /// Whether the service is reached by https.
    pub is_secure: bool,
}

impl SessionCookie {
    /// Of that service.
    #[must_use]
    pub fn of(service: &Service) -> Self {
        Self {
            is_secure: service.identity.public_url().starts_with("https://"),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        if self.is_secure {
            "__Host-bellwether_session"
        } else {
            "bellwether_session"
        }
    }

    /// What a request has of it.
    ///
    /// # Errors
    /// 401 if it comes more than once: one of them was set by somebody else.
    pub(crate) fn read(self, headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
        let mut values = values(headers, self.name());
        let first = values.next();
        if first.is_some() && values.any(|value| Some(value) != first) {
            return Err(ApiError::unauthorized(
                "the session's cookie comes twice; delete this site's cookies and sign in again",
            ));
        }
        Ok(first)
    }

    /// The header that gives it to a browser.
    #[must_use]
    pub fn set(self, value: &str) -> Option<HeaderValue> {
        self.header(value, SignedIn::cookie_life_s())
    }

    /// The header that takes it away.
    #[must_use]
    pub fn clear(self) -> Option<HeaderValue> {
        self.header("", 0)
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

/// The cookie that shows that a form comes from our own page: browsers send it with no other site's forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormCookie {
    is_secure: bool,
}

impl FormCookie {
    /// Of that service.
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

    /// What a request has of it.
    #[must_use]
    pub fn read(self, headers: &HeaderMap) -> Option<&str> {
        values(headers, self.name()).find(|value| is_nonce(value))
    }

    /// Whether a request has it with that value.
    #[must_use]
    pub fn is(self, headers: &HeaderMap, nonce: &str) -> bool {
        // Who can try values can read them, so how long a comparison takes tells nothing.
        is_nonce(nonce) && values(headers, self.name()).any(|value| value == nonce)
    }

    /// The header that gives it to a browser.
    #[must_use]
    pub fn set(self, nonce: &str) -> Option<HeaderValue> {
        let name = self.name();
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={nonce}; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).ok()
    }
}

/// 32 hexadecimal digits.
fn is_nonce(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What cookies of a name hold.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
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
    fn it_is_found_among_others_by_its_whole_name() {
        let line = "theme=dark; bellwether_session=abc;x=y";
        assert_eq!(read(PLAIN, &[line]), Ok(Some("abc".to_owned())));
        assert_eq!(read(PLAIN, &["a=b", line]), Ok(Some("abc".to_owned())));
        assert_eq!(read(SECURE, &[line]), Ok(None), "a name without __Host- is nobody's");
        assert_eq!(
            read(PLAIN, &["my_bellwether_session=abc; bellwether_session="]),
            Ok(None)
        );
        assert_eq!(read(PLAIN, &[]), Ok(None));
    }

    #[test]
    fn one_that_comes_twice_is_refused_unless_it_is_the_same() {
        assert!(read(PLAIN, &["bellwether_session=a; bellwether_session=b"]).is_err());
        assert!(read(PLAIN, &["bellwether_session=a", "bellwether_session=b"]).is_err());
        assert!(read(PLAIN, &["bellwether_session=a; bellwether_session=a"]).is_ok());
    }

    #[test]
    fn no_script_reads_it_and_by_https_no_other_host_sets_it() {
        let set = |cookie: SessionCookie| cookie.set("abc").unwrap().to_str().unwrap().to_owned();
        assert_eq!(
            set(PLAIN),
            "bellwether_session=abc; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax"
        );
        assert_eq!(
            set(SECURE),
            "__Host-bellwether_session=abc; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure"
        );
        let cleared = SECURE.clear().unwrap();
        assert!(
            cleared
                .to_str()
                .unwrap()
                .starts_with("__Host-bellwether_session=; Path=/; Max-Age=0;")
        );
    }
}
