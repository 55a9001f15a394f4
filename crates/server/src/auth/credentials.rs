//! Credentials of a request: at most one in the headers `X-API-Key` and `Authorization`, and a session cookie.

use http::{HeaderMap, HeaderName, header};

use super::cookie::SessionCookie;
use crate::error::ApiError;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The headers that can have credentials.
pub(crate) const CREDENTIAL_HEADERS: [HeaderName; 3] = [X_API_KEY, header::AUTHORIZATION, header::COOKIE];

/// Longer credentials are refused without a lookup.
const MAX_CREDENTIAL_BYTES: usize = 4096;

/// A credential from a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Credential<'a> {
    /// An API key.
    ApiKey(&'a str),
    /// A bearer token that is not an API key.
    BearerToken(&'a str),
}

/// All credentials of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Credentials<'a> {
    /// The credential from `X-API-Key` or `Authorization`.
    pub header: Option<Credential<'a>>,
    /// The value of the session cookie, which browsers send automatically.
    pub cookie: Option<&'a str>,
}

impl<'a> Credentials<'a> {
    /// Reads the credentials of a request.
    ///
    /// # Errors
    /// 401 if headers are repeated, contradict each other or use an unsupported scheme.
    pub fn from_headers(headers: &'a HeaderMap, cookie: SessionCookie) -> Result<Self, ApiError> {
        Ok(Self {
            header: header_credential(headers)?,
            cookie: cookie.read(headers)?,
        })
    }

    /// Returns the secret in a header, whether API key or bearer token.
    #[must_use]
    pub const fn header_secret(&self) -> Option<&'a str> {
        match self.header {
            Some(Credential::ApiKey(text) | Credential::BearerToken(text)) => Some(text),
            None => None,
        }
    }

    /// Returns the credential that requires a database lookup even if it is made up. A bearer token is looked up only if its
    /// signature is valid, so it is not returned.
    #[must_use]
    pub fn lookup_key(&self) -> Option<&'a str> {
        match self.header {
            Some(Credential::ApiKey(key)) => Some(key),
            Some(Credential::BearerToken(_)) => None,
            None => self.cookie,
        }
    }
}

/// Reads the credential from `X-API-Key` and `Authorization`.
///
/// # Errors
/// 401 if headers are repeated, contradict each other or use an unsupported scheme.
pub(crate) fn header_credential(headers: &HeaderMap) -> Result<Option<Credential<'_>>, ApiError> {
    let from_x_api_key = single(headers, &X_API_KEY)?.map(Credential::ApiKey);
    let authorization = single(headers, &header::AUTHORIZATION)?;
    let from_authorization = authorization.map(parse_authorization).transpose()?;
    match (from_x_api_key, from_authorization) {
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
            "{name} is sent more than once; send it once"
        )));
    }
    match value.to_str().map(str::trim) {
        Ok(text) if !text.is_empty() && text.len() <= MAX_CREDENTIAL_BYTES => Ok(Some(text)),
        _ => Err(ApiError::unauthorized(format!(
            "{name} is empty, too long or not text; send a valid credential"
        ))),
    }
}

fn parse_authorization(value: &str) -> Result<Credential<'_>, ApiError> {
    let (scheme, credential) = value.split_once(' ').unwrap_or((value, ""));
    let credential = credential.trim();
    let is_api_key = scheme.eq_ignore_ascii_case("ApiKey");
    let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
    match credential {
        "" => {}
        key if is_api_key || (is_bearer && key.starts_with("sk_")) => return Ok(Credential::ApiKey(key)),
        token if is_bearer => return Ok(Credential::BearerToken(token)),
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

    fn credential_of(pairs: &[(&'static str, &str)]) -> Option<Credential<'static>> {
        let headers = headers(pairs);
        let credentials =
            Credentials::from_headers(&headers, COOKIE).unwrap_or_else(|error| panic!("{pairs:?}: {error:?}"));
        // Leaking is fine: the texts of these tests are short and few.
        let owned = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        credentials.header.map(|credential| match credential {
            Credential::ApiKey(key) => Credential::ApiKey(owned(key)),
            Credential::BearerToken(token) => Credential::BearerToken(owned(token)),
        })
    }

    #[test]
    fn api_key_is_accepted_in_all_three_forms() {
        for pairs in [
            [("x-api-key", "sk_1")],
            [("authorization", "ApiKey sk_1")],
            [("authorization", "Bearer sk_1")],
            [("authorization", "bearer  sk_1 ")],
        ] {
            assert_eq!(credential_of(&pairs), Some(Credential::ApiKey("sk_1")), "{pairs:?}");
        }
        assert_eq!(credential_of(&[]), None);
        let twice_the_same = [("x-api-key", "sk_1"), ("authorization", "Bearer sk_1")];
        assert_eq!(credential_of(&twice_the_same), Some(Credential::ApiKey("sk_1")));
    }

    #[test]
    fn bearer_without_key_prefix_is_a_token() {
        let credential = credential_of(&[("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")]);
        assert_eq!(credential, Some(Credential::BearerToken("eyJhbGciOiJub25lIn0.e30.")));
    }

    #[test]
    fn ambiguous_or_malformed_headers_are_refused() {
        let long = "k".repeat(MAX_CREDENTIAL_BYTES + 1);
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
            assert!(Credentials::from_headers(&headers(pairs), COOKIE).is_err(), "{pairs:?}");
        }
    }

    #[test]
    fn error_does_not_echo_the_credential() {
        let headers = headers(&[("authorization", "Basic c2VjcmV0")]);
        let refusal = Credentials::from_headers(&headers, COOKIE).unwrap_err();
        assert!(!format!("{refusal:?}").contains("c2VjcmV0"));
    }
}
