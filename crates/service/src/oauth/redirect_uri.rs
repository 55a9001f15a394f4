//! Where a browser may be sent back to with a code.
//!
//! This is where such services are attacked: whoever gets the code sent to an address of theirs is a step from the account. So
//! addresses are compared as texts, character by character, and nothing is read into them. Only the port of a program on the
//! person's own machine may be another each time, because it takes one that is free (RFC 8252, 7.3).
//!
//! To be compared as texts they have to be written as everybody reads them. So one that a browser would write in another way
//! (`..` in its path, a host in capitals) is refused when a client comes with it.

use url::{Url, form_urlencoded};

/// The longest one.
const MAX_CHARS: usize = 2_000;
/// How a program on the person's own machine is reached.
const LOOPBACK: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// What is wrong with a redirect URI that a client comes with.
pub(super) fn fault(text: &str) -> Option<&'static str> {
    if text.is_empty() || text.len() > MAX_CHARS {
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
        return not_as_read(&url, text);
    }
    match url.scheme() {
        "https" if url.has_host() => not_as_read(&url, text),
        "http" => {
            Some("must begin with https://; http is only for http://127.0.0.1, http://[::1] and http://localhost")
        }
        scheme if scheme.contains('.') => not_as_read(&url, text),
        _ => Some("must begin with https://, or have a scheme of your own with a dot in it, such as com.example.app:/"),
    }
}

/// What is between the slashes and the path.
fn authority(text: &str) -> &str {
    let after = text.split_once("://").map_or("", |(_, after)| after);
    after.split(['/', '?']).next().unwrap_or_default()
}

/// Whether a browser would write it in another way. That it adds the slash of an empty path, or leaves out the port that the scheme
/// has anyway, is no harm.
fn not_as_read(url: &Url, text: &str) -> Option<&'static str> {
    let read = url.as_str();
    let without_port = loopback(text).map(|(host, rest)| format!("{host}{rest}"));
    let is_same = |written: &str| read == written || read.strip_suffix('/') == Some(written);
    if is_same(text) || without_port.is_some_and(|text| is_same(&text)) {
        return None;
    }
    Some("must be written as browsers write it: scheme and host in small letters, without . or .. in its path")
}

/// Of an address on the person's own machine: what is before the port, and what is after it.
fn loopback(text: &str) -> Option<(&str, &str)> {
    let host = LOOPBACK.into_iter().find(|host| text.starts_with(host))?;
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
    // Whatever else follows makes another host of it: http://localhost.evil.com, http://127.0.0.1@evil.com.
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((host, rest))
}

/// Whether a browser may be sent there for a client that has registered this one.
pub(super) fn is_registered(registered: &str, asked: &str) -> bool {
    registered == asked || loopback(registered).is_some_and(|one| Some(one) == loopback(asked))
}

/// Whose address it is, for people: a host, or the scheme of a program's own.
pub(super) fn place(text: &str) -> String {
    let authority = authority(text);
    if authority.is_empty() || !(text.starts_with("https://") || text.starts_with("http://")) {
        return text.split(':').next().unwrap_or_default().to_owned();
    }
    authority.to_owned()
}

/// Whether it leads to a program on the person's own machine.
pub(super) fn is_local(text: &str) -> bool {
    !text.starts_with("https://")
}

/// The URI with further parameters in its query. What it has stays as it is.
pub(super) fn with(text: &str, pairs: &[(&str, &str)]) -> String {
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
    fn https_one_s_own_machine_and_schemes_of_one_s_own_are_taken() {
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
            assert_eq!(fault(text), None, "{text}");
        }
    }

    #[test]
    fn whatever_could_lead_elsewhere_is_refused() {
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
            assert!(fault(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_redirect_uri_is_compared_as_it_is() {
        let registered = "https://app.example.com/callback";
        assert!(is_registered(registered, registered));
        for asked in [
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
            assert!(!is_registered(registered, asked), "{asked}");
        }
    }

    #[test]
    fn on_one_s_own_machine_any_port_will_do_and_nothing_else() {
        for (registered, asked, expected) in [
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
            assert_eq!(is_registered(registered, asked), expected, "{registered} {asked}");
        }
    }

    #[test]
    fn a_query_keeps_what_it_has() {
        let pairs = [("code", "a&b"), ("iss", "https://h")];
        let added = "code=a%26b&iss=https%3A%2F%2Fh";
        for (text, joint) in [
            ("https://a.example/cb", "?"),
            ("https://a.example/cb?x=%20", "&"),
            ("https://a.example/cb?", ""),
            ("com.example.app:/cb", "?"),
        ] {
            assert_eq!(with(text, &pairs), format!("{text}{joint}{added}"));
        }
    }

    #[test]
    fn people_are_told_the_host_or_the_scheme() {
        assert_eq!(place("https://app.example.com:8443/cb?x"), "app.example.com:8443");
        assert_eq!(place("http://[::1]:3000/cb"), "[::1]:3000");
        assert_eq!(place("com.example.app://callback/x"), "com.example.app");
        assert!(is_local("http://127.0.0.1/cb") && is_local("com.example.app:/cb"));
        assert!(!is_local("https://app.example.com/"));
    }
}
