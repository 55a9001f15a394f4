//! Validation and comparison of redirect URIs.
//!
//! Redirect URIs are the main target of attacks: an attacker who receives the code is one step away from the account.
//! So URIs are compared as text, character by character, without normalization. Only the port of an app on the user's
//! own device may differ, because it uses a free port (RFC 8252, 7.3).
//!
//! Text comparison requires a canonical form. So a URI that a browser would write differently (`..` in the path,
//! capitals in the host) is rejected at registration.

use url::{Url, form_urlencoded};

/// Maximum length, in bytes.
const MAX_REDIRECT_URI_BYTES: usize = 2_000;
/// Prefixes of loopback addresses.
const LOOPBACK_PREFIXES: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// Returns an error message if a redirect URI is invalid.
pub(super) fn violation(text: &str) -> Option<&'static str> {
    if text.is_empty() || text.len() > MAX_REDIRECT_URI_BYTES {
        return Some("must have 1 to 2000 characters");
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic())
        || text.contains(['\\', '<', '>', '"', '`', '{', '}', '|', '^'])
    {
        return Some("must have no spaces, and no other characters than URLs have");
    }
    if text.contains('#') {
        return Some("must not have a fragment: leave out the # and what follows it");
    }
    if text.contains('*') {
        return Some("must not have a wildcard: each one is compared as it is");
    }
    let Ok(url) = Url::parse(text) else {
        return Some("must be a whole URL, such as https://app.example.com/callback");
    };
    if !url.username().is_empty() || url.password().is_some() || authority(text).contains('@') {
        return Some("must not have a user name or a password");
    }
    if loopback(text).is_some() {
        return check_canonical_form(&url, text);
    }
    match url.scheme() {
        "https" if url.has_host() => check_canonical_form(&url, text),
        "http" => {
            Some("must begin with https://; http is only for http://127.0.0.1, http://[::1] and http://localhost")
        }
        scheme if scheme.contains('.') => check_canonical_form(&url, text),
        _ => Some("must begin with https://, or have a scheme of your own with a dot in it, such as com.example.app:/"),
    }
}

/// Returns the authority: the text between `://` and the path.
fn authority(text: &str) -> &str {
    let after = text.split_once("://").map_or("", |(_, after)| after);
    after.split(['/', '?']).next().unwrap_or_default()
}

/// Returns an error message if a browser would write the URI differently. The added slash of an empty path and an
/// omitted default port are allowed.
fn check_canonical_form(url: &Url, text: &str) -> Option<&'static str> {
    let read = url.as_str();
    let without_port = loopback(text).map(|(host, rest)| format!("{host}{rest}"));
    let is_same = |written: &str| read == written || read.strip_suffix('/') == Some(written);
    if is_same(text) || without_port.is_some_and(|text| is_same(&text)) {
        return None;
    }
    Some("must be in the form that browsers use: scheme and host in lower case, without . or .. in its path")
}

/// Splits a loopback URI into the part before the port and the part after it.
fn loopback(text: &str) -> Option<(&str, &str)> {
    let host = LOOPBACK_PREFIXES.into_iter().find(|host| text.starts_with(host))?;
    let (host, rest) = text.split_at(host.len());
    let rest = match rest.strip_prefix(':') {
        Some(port) => {
            let digits = port.bytes().take_while(u8::is_ascii_digit).count();
            let (port, rest) = port.split_at(digits);
            port.parse::<u16>().ok().filter(|port| *port != 0)?;
            rest
        }
        None => rest,
    };
    // Any other text makes it another host: http://localhost.evil.com, http://127.0.0.1@evil.com.
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((host, rest))
}

/// Returns whether a requested URI matches a registered one.
pub(super) fn is_registered(registered: &str, requested: &str) -> bool {
    registered == requested || loopback(registered).is_some_and(|uri| Some(uri) == loopback(requested))
}

/// Returns the host or the custom scheme, to show to users.
pub(super) fn destination(text: &str) -> String {
    let authority = authority(text);
    if authority.is_empty() || !(text.starts_with("https://") || text.starts_with("http://")) {
        return text.split(':').next().unwrap_or_default().to_owned();
    }
    authority.to_owned()
}

/// Returns whether the URI leads to an app on the user's own device.
pub(super) fn is_local(text: &str) -> bool {
    !text.starts_with("https://")
}

/// Appends parameters to the query. The existing query stays unchanged.
pub(super) fn with_query(text: &str, pairs: &[(&str, &str)]) -> String {
    let added = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    let joint = match text.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{text}{joint}{added}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_loopback_and_custom_schemes_are_valid() {
        for text in [
            "https://app.example.com/callback",
            "https://app.example.com",
            "https://app.example.com:8443/callback?a=1",
            "https://xn--bcher-kva.example/",
            "http://127.0.0.1/callback",
            "http://127.0.0.1:33418",
            "http://127.0.0.1:80/callback",
            "http://[::1]:3000/callback",
            "http://localhost/callback",
            "http://localhost:6274/oauth/callback",
            "com.example.app:/callback",
            "com.example.app://callback",
        ] {
            assert_eq!(violation(text), None, "{text}");
        }
    }

    #[test]
    fn ambiguous_or_unsafe_redirect_uris_are_rejected() {
        let long = format!("https://app.example.com/{}", "a".repeat(2_000));
        for text in [
            "",
            "callback",
            "/callback",
            "//app.example.com/callback",
            "http://app.example.com/callback",
            "http://10.0.0.1/callback",
            "http://127.0.0.2/callback",
            "http://127.0.0.1.evil.com/callback",
            "http://localhost.evil.com/callback",
            "http://127.0.0.1@evil.com/callback",
            "http://127.0.0.1:80@evil.com/callback",
            "http://localhost:0/callback",
            "http://localhost:99999/callback",
            "https://ann@app.example.com/callback",
            "https://@app.example.com/callback",
            "https://ann:secret@app.example.com/callback",
            "https://app.example.com/callback#x",
            "https://app.example.com/callback#",
            "https://*.example.com/callback",
            "https://app.example.com/*",
            "https://app.example.com/a/../callback",
            "https://app.example.com/a/%2e%2e/callback",
            "https://app.example.com/./callback",
            "https://APP.example.com/callback",
            "HTTPS://app.example.com/callback",
            "https:/app.example.com/callback",
            "https:app.example.com",
            "https://app.example.com\\@evil.com/",
            "https://app.example.com /callback",
            "https://app.example.com/call\nback",
            "https://b\u{fc}cher.example/",
            "https://",
            "javascript:alert(1)",
            "javascript://app.example.com/%0aalert(1)",
            "data:text/html,hello",
            "file:///etc/passwd",
            "vbscript:x",
            "blob:https://app.example.com/1",
            "about:blank",
            "myapp:/callback",
            "ftp://app.example.com/",
            long.as_str(),
        ] {
            assert!(violation(text).is_some(), "{text}");
        }
    }

    #[test]
    fn redirect_uris_are_compared_exactly() {
        let registered = "https://app.example.com/callback";
        assert!(is_registered(registered, registered));
        for requested in [
            "https://app.example.com/callback/",
            "https://app.example.com/callback?",
            "https://app.example.com/callback?x=1",
            "https://app.example.com/callback#",
            "https://app.example.com/callbackx",
            "https://app.example.com/callbac",
            "https://app.example.com/Callback",
            "https://app.example.com/x/../callback",
            "https://app.example.com/%63allback",
            "https://app.example.com/callback%00",
            "https://app.example.com//callback",
            "https://app.example.com:443/callback",
            "https://app.example.com:8443/callback",
            "https://app.example.com./callback",
            "https://APP.example.com/callback",
            "HTTPS://app.example.com/callback",
            "http://app.example.com/callback",
            "https://app.example.com@evil.com/callback",
            "https://evil.com/https://app.example.com/callback",
            "https://app.example.com.evil.com/callback",
            "https://sub.app.example.com/callback",
            "https://app.example.com\\callback",
            " https://app.example.com/callback",
            "https://app.example.com/callback ",
            "",
        ] {
            assert!(!is_registered(registered, requested), "{requested}");
        }
    }

    #[test]
    fn loopback_redirect_uris_may_differ_only_in_port() {
        for (registered, requested, expected) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", true),
            ("http://127.0.0.1:3000/cb", "http://127.0.0.1:51004/cb", true),
            ("http://127.0.0.1:3000/cb", "http://127.0.0.1/cb", true),
            ("http://[::1]:3000/cb", "http://[::1]:1/cb", true),
            ("http://localhost:3000", "http://localhost:65535", true),
            ("http://localhost:3000/cb?a=1", "http://localhost:1/cb?a=1", true),
            ("http://localhost:3000/cb", "http://127.0.0.1:3000/cb", false),
            ("http://127.0.0.1/cb", "http://[::1]/cb", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb/", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb?x=1", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/x/../cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.com/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.com/cb", false),
            ("http://localhost/", "http://localhost", false),
            ("https://localhost/cb", "https://localhost:444/cb", false),
            ("com.example.app:/cb", "com.example.app:1/cb", false),
        ] {
            assert_eq!(
                is_registered(registered, requested),
                expected,
                "{registered} {requested}"
            );
        }
    }

    #[test]
    fn existing_query_is_kept() {
        let pairs = [("code", "a&b"), ("iss", "https://h")];
        let added = "code=a%26b&iss=https%3A%2F%2Fh";
        for (text, joint) in [
            ("https://a.example/cb", "?"),
            ("https://a.example/cb?x=%20", "&"),
            ("https://a.example/cb?", ""),
            ("com.example.app:/cb", "?"),
        ] {
            assert_eq!(with_query(text, &pairs), format!("{text}{joint}{added}"));
        }
    }

    #[test]
    fn destination_is_host_or_scheme() {
        assert_eq!(destination("https://app.example.com:8443/cb?x"), "app.example.com:8443");
        assert_eq!(destination("http://[::1]:3000/cb"), "[::1]:3000");
        assert_eq!(destination("com.example.app://callback/x"), "com.example.app");
        assert!(is_local("http://127.0.0.1/cb") && is_local("com.example.app:/cb"));
        assert!(!is_local("https://app.example.com/"));
    }
}
