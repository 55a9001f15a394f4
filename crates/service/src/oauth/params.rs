//! What a program sends: names and values, each at most once.

use super::OAuthError;

/// The parameters of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'a>(pub(super) &'a [(String, String)]);

impl<'a> Params<'a> {
    /// The value of a parameter. One without a value counts as not sent (RFC 6749, 3.1).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`](super::ErrorCode) if it comes more than once.
    pub(super) fn one(self, name: &'static str) -> Result<Option<&'a str>, OAuthError> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(OAuthError::request(format!(
                "{name} comes more than once; send it once"
            )));
        }
        Ok(first)
    }

    /// The value of a parameter that has to be there.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`](super::ErrorCode) if it is missing or comes more than once.
    pub(super) fn required(self, name: &'static str) -> Result<&'a str, OAuthError> {
        self.one(name)?
            .ok_or_else(|| OAuthError::request(format!("{name} is required")))
    }

    /// The values of a parameter that may come several times.
    pub(super) fn all(self, name: &'static str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_counts_once_and_without_a_value_not_at_all() {
        let pairs = [("a", "1"), ("b", ""), ("c", "1"), ("c", "1"), ("d", ""), ("d", "2")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let params = Params(&pairs);
        assert_eq!(params.one("a").unwrap(), Some("1"));
        assert_eq!(params.one("b").unwrap(), None);
        assert!(params.one("c").is_err(), "also if it is the same twice");
        assert_eq!(params.one("d").unwrap(), Some("2"));
        assert!(params.required("e").is_err());
    }
}
