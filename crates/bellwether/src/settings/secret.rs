//! What is not to be shown: a secret prints as stars, wherever it is printed.

use std::fmt;

use toml::Value;

use super::value::Setting;

/// What stands for a secret.
pub(super) const MASK: &str = "********";

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text. Whoever asks for it must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Secret {
    /// Fewer characters can be guessed.
    const MIN_CHARS: usize = 16;
}

impl Setting for Secret {
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

/// A key that somebody else gave out, so that how long it is is not for us to judge. It is sent in a header.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key. Whoever asks for it must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Setting for ApiKey {
    fn allowed() -> String {
        "a key of visible ASCII characters without spaces".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        service::analyst::Key::new(text).map(|_| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        MASK.into()
    }
}

/// Where the database is. It may hold a password, which is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The address with its password. Whoever asks for it must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The address with its password masked, whether it stands before the host or among the parameters.
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

/// An address with the password before its host masked.
pub(super) fn mask_user_info(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else {
        return base.to_owned();
    };
    // The last @ of the authority: a password with an @ in it must not show its end.
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
    fn a_secret_prints_as_stars() {
        let secret = Secret::from_text("correct horse battery staple").unwrap();
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            format!("{MASK} {MASK} Some({MASK})")
        );
        assert_eq!(secret.expose(), "correct horse battery staple");
    }

    #[test]
    fn a_key_of_others_may_be_short_and_prints_as_stars() {
        let key = ApiKey::from_text("sk-1").unwrap();
        assert_eq!((format!("{key:?}").as_str(), key.to_toml()), (MASK, MASK.into()));
        for wrong in ["", "two words", "line\n"] {
            assert_eq!(ApiKey::from_text(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_short_secret_is_none() {
        assert_eq!(Secret::from_text("fifteen chars.."), None);
        assert!(Secret::from_text("sixteen chars...").is_some());
    }

    #[test]
    fn of_a_database_address_only_the_password_is_masked() {
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
    fn a_database_is_sqlite_or_postgresql() {
        for wrong in ["mysql://a/b", "bellwether.db", "sqlite://", "sqlite:x"] {
            assert!(DatabaseUrl::from_text(wrong).is_none(), "{wrong}");
        }
    }
}
