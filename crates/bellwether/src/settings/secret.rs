//! Secret settings. They are masked wherever they are printed.

use std::fmt;

use toml::Value;

use super::value::Setting;

/// The text that replaces a secret.
pub(super) const MASK: &str = "********";

/// A secret text.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    /// Returns the secret. Callers must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl SecretString {
    /// The minimum length. Shorter secrets can be guessed.
    const MIN_CHARS: usize = 16;
}

impl Setting for SecretString {
    fn allowed() -> String {
        format!("a secret text of at least {} characters", Self::MIN_CHARS)
    }

    fn from_text(text: &str) -> Option<Self> {
        (text.chars().count() >= Self::MIN_CHARS).then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        MASK.into()
    }
}

/// An API key of another service, which may have any length. It is sent in a header.
#[derive(Clone, PartialEq, Eq)]
pub struct AnalystApiKey(String);

impl AnalystApiKey {
    /// Returns the key. Callers must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AnalystApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Setting for AnalystApiKey {
    fn allowed() -> String {
        "a key of visible ASCII characters without spaces".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        watchlist::analyst::ModelKey::new(text).map(|_| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        MASK.into()
    }
}

/// The URL of the database. Its password is masked when it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Returns the URL with its password. Callers must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the URL with the password masked, in the authority and in the query.
    #[must_use]
    pub fn masked(&self) -> String {
        let (base, query) = match self.0.split_once('?') {
            Some((base, query)) => (base, Some(query)),
            None => (self.0.as_str(), None),
        };
        let mut masked = mask_user_info(base);
        if let Some(query) = query {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}={MASK}"),
                _ => pair.to_owned(),
            });
            masked.push('?');
            masked.push_str(&pairs.collect::<Vec<_>>().join("&"));
        }
        masked
    }
}

/// Masks the password before the host of a URL.
pub(super) fn mask_user_info(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else {
        return base.to_owned();
    };
    // The last `@` of the authority, so that no part of a password with an `@` is shown.
    match rest.rsplit_once('@') {
        Some((user_info, host)) => match user_info.split_once(':') {
            Some((user, _)) => format!("{scheme}://{user}:{MASK}@{host}"),
            None => base.to_owned(),
        },
        None => base.to_owned(),
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl Setting for DatabaseUrl {
    fn allowed() -> String {
        "sqlite://FILE or postgres://USER:PASSWORD@HOST/NAME".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let known = ["sqlite", "postgres", "postgresql"].contains(&scheme);
        (known && !rest.is_empty()).then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.masked().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(url: &str) -> String {
        DatabaseUrl::from_text(url).unwrap().masked()
    }

    #[test]
    fn secret_is_masked() {
        let secret = SecretString::from_text("correct horse battery staple").unwrap();
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            format!("{MASK} {MASK} Some({MASK})")
        );
        assert_eq!(secret.expose(), "correct horse battery staple");
    }

    #[test]
    fn api_key_may_be_short_and_is_masked() {
        let key = AnalystApiKey::from_text("sk-1").unwrap();
        assert_eq!((format!("{key:?}").as_str(), key.to_toml()), (MASK, MASK.into()));
        for wrong in ["", "two words", "line\n"] {
            assert_eq!(AnalystApiKey::from_text(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn rejects_short_secrets() {
        assert_eq!(SecretString::from_text("fifteen chars.."), None);
        assert!(SecretString::from_text("sixteen chars...").is_some());
    }

    #[test]
    fn database_password_is_masked() {
        assert_eq!(masked("sqlite://bellwether.db"), "sqlite://bellwether.db");
        assert_eq!(masked("postgres://bw@db/bw"), "postgres://bw@db/bw");
        assert_eq!(
            masked("postgres://bw:p%20w@db:5432/bw"),
            format!("postgres://bw:{MASK}@db:5432/bw")
        );
        assert_eq!(
            masked("postgres://bw:p@ss:w@db/bw"),
            format!("postgres://bw:{MASK}@db/bw")
        );
        assert_eq!(
            masked("postgres:///bw?host=/run/postgresql&user=bw&password=open"),
            format!("postgres:///bw?host=/run/postgresql&user=bw&password={MASK}")
        );
        assert!(!format!("{:?}", DatabaseUrl::from_text("postgres://a:open@b/c").unwrap()).contains("open"));
    }

    #[test]
    fn rejects_other_database_urls() {
        for wrong in ["mysql://a/b", "bellwether.db", "sqlite://", "sqlite:x"] {
            assert!(DatabaseUrl::from_text(wrong).is_none(), "{wrong}");
        }
    }
}
