//! Embedded files: styles, scripts, the icon and the web app manifest.
//!
//! An address contains a digest of all files, so that browsers can keep a file forever and scripts can import each other by relative
//! paths.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

/// Number of bytes of the digest in an address.
const DIGEST_BYTES: usize = 8;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// An embedded file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddedFile {
    /// The contents.
    pub bytes: Cow<'static, [u8]>,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
}

static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<_> = Files::iter().collect();
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        hash.update(name.as_bytes());
        hash.update(
            Files::get(&name)
                .map(|file| file.metadata.sha256_hash())
                .unwrap_or_default(),
        );
    }
    hash.finalize()
        .iter()
        .take(DIGEST_BYTES)
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
});

/// Returns the digest of all files, a part of their addresses.
#[must_use]
pub fn digest() -> &'static str {
    &DIGEST
}

/// Returns a file by its path below `assets/`; `None` for an unknown path.
#[must_use]
pub fn file(path: &str) -> Option<EmbeddedFile> {
    let content_type = content_type(path)?;
    let bytes = Files::get(path)?.data;
    Some(EmbeddedFile { bytes, content_type })
}

/// Returns the media type by the file extension; `None` for files that are not served.
fn content_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_styles_are_served_with_their_types() {
        assert_eq!(file("app.css").unwrap().content_type, "text/css; charset=utf-8");
        assert_eq!(file("app.js").unwrap().content_type, "text/javascript; charset=utf-8");
    }

    #[test]
    fn unknown_files_and_files_without_a_type_are_not_served() {
        assert_eq!(file("../Cargo.toml"), None);
        assert_eq!(file("missing.css"), None);
        assert_eq!(file("vendor/VERSIONS"), None);
    }

    #[test]
    fn digest_has_sixteen_hexadecimal_digits() {
        assert_eq!(digest().len(), 16);
        assert!(digest().bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
