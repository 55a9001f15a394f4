//! Parameters of OAuth requests.

use super::OAuthError;

/// The parameters of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestParams<'a>(pub(super) &'a [(String, String)]);

impl<'a> RequestParams<'a> {
    /// Returns the value of a parameter. An empty value counts as absent (RFC 6749, 3.1).
    ///
    /// # Errors
    /// [`OAuthErrorCode::InvalidRequest`](super::OAuthErrorCode) if it occurs more than once.
    pub(super) fn single(self, name: &'static str) -> Result<Option<&'a str>, OAuthError> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(OAuthError::request(format!(
                "{name} occurs more than once; send it once"
            )));
        }
        Ok(first)
    }

    /// Returns the value of a required parameter.
    ///
    /// # Errors
    /// [`OAuthErrorCode::InvalidRequest`](super::OAuthErrorCode) if it is missing or occurs more than once.
    pub(super) fn required(self, name: &'static str) -> Result<&'a str, OAuthError> {
        self.single(name)?
            .ok_or_else(|| OAuthError::request(format!("{name} is required")))
    }

    /// Returns the values of a parameter that may occur several times.
    pub(super) fn all(self, name: &'static str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_parameter_is_an_error_and_empty_one_is_absent() {
        let pairs = [("a", "1"), ("b", ""), ("c", "1"), ("c", "1"), ("d", ""), ("d", "2")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let params = RequestParams(&pairs);
        assert_eq!(params.single("a").unwrap(), Some("1"));
        assert_eq!(params.single("b").unwrap(), None);
        assert!(params.single("c").is_err(), "also if it is the same twice");
        assert_eq!(params.single("d").unwrap(), Some("2"));
        assert!(params.required("e").is_err());
    }
}
