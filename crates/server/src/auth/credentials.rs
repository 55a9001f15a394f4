//! What a request shows of who asks: at most one thing in the headers meant for it, and a cookie.

use http::{HeaderMap, HeaderName, header};

use super::cookie::SessionCookie;
use crate::error::ApiError;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Longer ones are neither keys nor tokens, and not worth a look.
const MAX_LEN: usize = 4096;

/// What a header shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Credential<'a> {
    /// An API key.
    Key(&'a str),
    /// A bearer token that is no API key.
    Token(&'a str),
}

/// What a request shows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Credentials<'a> {
    /// In the headers meant for it.
    pub header: Option<Credential<'a>>,
    /// As a session's cookie, which browsers send by themselves.
    pub cookie: Option<&'a str>,
}

impl<'a> Credentials<'a> {
    /// What the headers show.
    ///
    /// # Errors
    /// 401 for headers of which no one can say which is meant, or of a kind that is not taken.
    pub fn of(headers: &'a HeaderMap, cookie: SessionCookie) -> Result<Self, ApiError> {
        Ok(Self {
            header: shown(headers)?,
            cookie: cookie.read(headers)?,
        })
    }

    /// The text that a header shows, whatever it is.
    #[must_use]
    pub const fn bearer(&self) -> Option<&'a str> {
        match self.header {
            Some(Credential::Key(text) | Credential::Token(text)) => Some(text),
            None => None,
        }
    }

    /// What has to be looked up in the database, whoever made it up. Of tokens only those are that we have signed.
    #[must_use]
    pub fn to_look_up(&self) -> Option<&'a str> {
        match self.header {
            Some(Credential::Key(key)) => Some(key),
            Some(Credential::Token(_)) => None,
            None => self.cookie,
        }
    }
}

/// What the headers meant for it show.
///
/// # Errors
/// 401 for headers of which no one can say which is meant, or of a kind that is not taken.
pub(crate) fn shown(headers: &HeaderMap) -> Result<Option<Credential<'_>>, ApiError> {
    let from_own_header = single(headers, &X_API_KEY)?.map(Credential::Key);
    let authorization = single(headers, &header::AUTHORIZATION)?;
    let from_authorization = authorization.map(of_authorization).transpose()?;
    match (from_own_header, from_authorization) {
        (Some(one), Some(other)) if one != other => Err(ApiError::unauthorized(
            "X-API-Key and Authorization contradict each other; send only one of them",
        )),
        (one, other) => Ok(one.or(other)),
    }
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(ApiError::unauthorized(format!(
            "{name} comes more than once; send it once"
        )));
    }
    match value.to_str().map(str::trim) {
        Ok(text) if !text.is_empty() && text.len() <= MAX_LEN => Ok(Some(text)),
        _ => Err(ApiError::unauthorized(format!(
            "{name} holds no API key; check what is sent"
        ))),
    }
}

fn of_authorization(value: &str) -> Result<Credential<'_>, ApiError> {
    let (scheme, shown) = value.split_once(' ').unwrap_or((value, ""));
    let shown = shown.trim();
    let is_api_key = scheme.eq_ignore_ascii_case("ApiKey");
    let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
    match shown {
        "" => {}
        key if is_api_key || (is_bearer && key.starts_with("sk_")) => return Ok(Credential::Key(key)),
        token if is_bearer => return Ok(Credential::Token(token)),
        _ => {}
    }
    Err(ApiError::unauthorized(
        "Authorization must be Bearer with an access token or an API key, or ApiKey with an API key",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOKIE: SessionCookie = SessionCookie { is_secure: false };

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn shown_by(pairs: &[(&'static str, &str)]) -> Option<Credential<'static>> {
        let headers = headers(pairs);
        let credentials = Credentials::of(&headers, COOKIE).unwrap_or_else(|error| panic!("{pairs:?}: {error:?}"));
        // The texts of these tests are short, and there are few of them.
        let owned = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        credentials.header.map(|credential| match credential {
            Credential::Key(key) => Credential::Key(owned(key)),
            Credential::Token(token) => Credential::Token(owned(token)),
        })
    }

    #[test]
    fn a_key_is_taken_from_any_of_its_three_places() {
        for pairs in [
            [("x-api-key", "sk_1")],
            [("authorization", "ApiKey sk_1")],
            [("authorization", "Bearer sk_1")],
            [("authorization", "bearer  sk_1 ")],
        ] {
            assert_eq!(shown_by(&pairs), Some(Credential::Key("sk_1")), "{pairs:?}");
        }
        assert_eq!(shown_by(&[]), None);
        let twice_the_same = [("x-api-key", "sk_1"), ("authorization", "Bearer sk_1")];
        assert_eq!(shown_by(&twice_the_same), Some(Credential::Key("sk_1")));
    }

    #[test]
    fn any_other_bearer_is_a_token() {
        let shown = shown_by(&[("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")]);
        assert_eq!(shown, Some(Credential::Token("eyJhbGciOiJub25lIn0.e30.")));
    }

    #[test]
    fn headers_of_which_nobody_can_say_what_they_mean_are_refused() {
        let long = "k".repeat(MAX_LEN + 1);
        for pairs in [
            &[("x-api-key", "sk_1"), ("x-api-key", "sk_1")][..],
            &[("authorization", "Bearer sk_1"), ("authorization", "Bearer sk_2")],
            &[("x-api-key", "sk_1"), ("authorization", "Bearer sk_2")],
            &[("x-api-key", "sk_1"), ("authorization", "Bearer eyJ.e30.")],
            &[("x-api-key", "sk_1"), ("authorization", "Basic YTpi")],
            &[("authorization", "Basic YTpi")],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer ")],
            &[("authorization", "ApiKey")],
            &[("authorization", "sk_1")],
            &[("x-api-key", "")],
            &[("x-api-key", long.as_str())],
        ] {
            assert!(Credentials::of(&headers(pairs), COOKIE).is_err(), "{pairs:?}");
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_what_was_sent() {
        let headers = headers(&[("authorization", "Basic c2VjcmV0")]);
        let refusal = Credentials::of(&headers, COOKIE).unwrap_err();
        assert!(!format!("{refusal:?}").contains("c2VjcmV0"));
    }
}
