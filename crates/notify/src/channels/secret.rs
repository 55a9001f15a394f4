//! Secrets of channels: URLs that contain a key, tokens and user keys.

use std::fmt;

use url::Url;

/// Minimum length of a part of a secret URL that is masked on its own, in bytes. Shorter parts, such as `api`, are no secrets.
const MIN_MASKED_LENGTH: usize = 8;
/// Minimum length of a token or key that is masked, in bytes. A shorter one is no secret, and would be part of many words.
const MIN_TOKEN_LENGTH: usize = 4;

/// A secret of a channel. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelSecret(String);

impl ChannelSecret {
    /// Wraps a secret. The configuration of a channel checks its form.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ChannelSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"***\"")
    }
}

/// Replaces secrets in a response text. Some servers repeat the requested path in their error pages, and some services repeat the
/// URL of a button.
pub(super) fn mask(text: &str, secrets: &[&str]) -> String {
    let mut parts: Vec<String> = secrets.iter().flat_map(|secret| parts_of(secret)).collect();
    // A part of a secret must not be masked before the whole.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts
        .iter()
        .filter(|part| part.len() >= MIN_TOKEN_LENGTH)
        .fold(text.to_owned(), |text, part| text.replace(part.as_str(), "***"))
}

/// Returns a secret, and if it is a URL, those of its parts that are secret.
fn parts_of(secret: &str) -> Vec<String> {
    let mut parts = vec![secret.to_owned()];
    let Ok(url) = Url::parse(secret) else { return parts };
    if !url.has_host() {
        return parts;
    }
    parts.push(url[url::Position::BeforePath..].to_owned());
    let segments = url.path_segments().into_iter().flatten().map(str::to_owned);
    let values = url.query_pairs().map(|(_, value)| value.into_owned());
    parts.extend(segments.chain(values));
    parts.retain(|part| part.len() >= MIN_MASKED_LENGTH);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_the_parts_of_secret_urls_are_masked() {
        let url = "https://hooks.example/services/T00000000/B00000000/XXXXXXXXXXXX?sig=abcdefghij";
        for (text, expected) in [
            (url, "***"),
            (
                "Cannot POST /services/T00000000/B00000000/XXXXXXXXXXXX",
                "Cannot POST /***/***/***/***",
            ),
            ("no hook XXXXXXXXXXXX", "no hook ***"),
            ("bad sig abcdefghij", "bad sig ***"),
            ("token 123:ABC is wrong", "token *** is wrong"),
            ("invalid_payload", "invalid_payload"),
        ] {
            assert_eq!(mask(text, &[url, "123:ABC", "", "pay"]), expected);
        }
    }

    #[test]
    fn debug_output_has_no_secret() {
        assert_eq!(format!("{:?}", ChannelSecret::new("123:ABC")), "\"***\"");
    }
}
