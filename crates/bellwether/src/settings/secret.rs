//! Secret settings. They are masked wherever they are printed.

use sources::provider::ProviderKey;

use super::value::text_setting;

/// The text that replaces a secret.
pub(super) const MASK: &str = "********";

/// The minimum length of a secret. Shorter secrets can be guessed.
const MIN_SECRET_CHARS: usize = 16;

/// Declares a secret text: the allowed values, whether a text is valid, and the masked text.
macro_rules! secret_text {
    ($(#[$about:meta])* $name:ident, $allowed:expr, $is_valid:expr, $mask:expr) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Returns the secret. Callers must not print it.
            #[must_use]
            pub fn expose(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mask: fn(&str) -> String = $mask;
                f.write_str(&mask(&self.0))
            }
        }

        $crate::settings::value::text_setting!(
            $name,
            $allowed,
            |text| {
                let is_valid: fn(&str) -> bool = $is_valid;
                is_valid(text).then(|| Self(text.to_owned()))
            },
            Self::to_string
        );
    };
}

pub(super) use secret_text;

secret_text!(
    /// A secret text.
    SecretString,
    format!("a secret text of at least {MIN_SECRET_CHARS} characters"),
    |text| text.chars().count() >= MIN_SECRET_CHARS,
    |_| MASK.to_owned()
);

secret_text!(
    /// An API key of another service, which may have any length. It is sent in a header.
    AnalystApiKey,
    "a key of visible ASCII characters without spaces",
    |text| watchlist::analyst::ModelKey::new(text).is_some(),
    |_| MASK.to_owned()
);

text_setting!(
    ProviderKey,
    "a key of visible ASCII characters without spaces",
    |text| Self::new(text).ok(),
    |_| MASK.to_owned()
);

secret_text!(
    /// The URL of the mail server, whose password is masked.
    SmtpUrl,
    "a URL like smtp://user:password@mail.example.com:587 or smtps://user:password@mail.example.com, with \
     `:/?#[]@%` in user or password written as %3A and so on",
    |text| notify::email::check_url(text).is_ok(),
    mask_user_info
);

secret_text!(
    /// The URL of the database, whose password is masked in the authority and in the query.
    DatabaseUrl,
    "sqlite://FILE or postgres://USER:PASSWORD@HOST/NAME",
    |text| {
        let parts = text.split_once("://");
        parts.is_some_and(|(scheme, rest)| ["sqlite", "postgres", "postgresql"].contains(&scheme) && !rest.is_empty())
    },
    mask_passwords
);

/// Masks the password before the host of a URL.
fn mask_user_info(base: &str) -> String {
    let masked = || {
        let (scheme, rest) = base.split_once("://")?;
        // The last `@` of the authority, so that no part of a password with an `@` is shown.
        let (user_info, host) = rest.rsplit_once('@')?;
        let (user, _) = user_info.split_once(':')?;
        Some(format!("{scheme}://{user}:{MASK}@{host}"))
    };
    masked().unwrap_or_else(|| base.to_owned())
}

/// Masks the passwords before the host and in the query of a URL.
fn mask_passwords(url: &str) -> String {
    let Some((base, query)) = url.split_once('?') else {
        return mask_user_info(url);
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    });
    format!("{}?{}", mask_user_info(base), pairs.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Setting;
    use crate::settings::tests::assert_format;

    /// Asserts that `text` is shown as `expected` everywhere.
    fn assert_shown<T: Setting + std::fmt::Debug>(text: &str, expected: &str) {
        let secret = T::from_text(text).unwrap();
        assert_eq!(secret.to_toml(), expected.into());
        assert!(format!("{secret:?}") == expected || expected == MASK);
        assert!(!format!("{secret:?}").contains("open"));
    }

    #[test]
    fn secrets_are_masked() {
        assert_shown::<SecretString>("open sesame and more", MASK);
        assert_shown::<AnalystApiKey>("sk-open", MASK);
        assert_shown::<ProviderKey>("open-sesame", MASK);
        let secret = SecretString::from_text("correct horse battery staple").unwrap();
        assert_eq!(format!("{secret} {:?}", Some(&secret)), format!("{MASK} Some({MASK})"));
        assert_eq!(secret.expose(), "correct horse battery staple");
    }

    #[test]
    fn secret_is_long_and_key_may_be_short() {
        assert_format::<SecretString>(&[], &["fifteen chars.."]);
        assert!(SecretString::from_text("sixteen chars...").is_some());
        assert_format::<AnalystApiKey>(&[], &["", "two words", "line\n"]);
        assert_eq!(ProviderKey::from_text("two words"), None);
    }

    #[test]
    fn smtp_password_is_masked() {
        let shown = "smtp://bw:********@mail.example.com:587";
        assert_shown::<SmtpUrl>("smtp://bw:open%40sesame@mail.example.com:587", shown);
        // The masked value can be parsed again.
        assert_shown::<SmtpUrl>(shown, shown);
    }

    #[test]
    fn rejects_invalid_smtp_urls() {
        let (scheme, query) = ("http://mail.example.com", "smtp://u:p@h?x=y");
        assert_format::<SmtpUrl>(
            &[],
            &[
                "mail.example.com",
                scheme,
                "smtp://",
                "smtp://u@h",
                "smtp://h/path",
                query,
            ],
        );
    }

    #[test]
    fn database_password_is_masked() {
        for (url, shown) in [
            ("sqlite://bellwether.db", "sqlite://bellwether.db"),
            ("postgres://bw@db/bw", "postgres://bw@db/bw"),
            ("postgres://bw:open%20w@db:5432/bw", "postgres://bw:********@db:5432/bw"),
            ("postgres://bw:op@en:w@db/bw", "postgres://bw:********@db/bw"),
            (
                "postgres:///bw?user=bw&password=open",
                "postgres:///bw?user=bw&password=********",
            ),
        ] {
            assert_shown::<DatabaseUrl>(url, shown);
        }
        assert_format::<DatabaseUrl>(&[], &["mysql://a/b", "bellwether.db", "sqlite://", "sqlite:x"]);
    }
}
