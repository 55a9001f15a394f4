//! URL checks on save, and IP address checks on connect.

use std::sync::Arc;

use crate::notify::common::{FakeResolver, ManualTime, policy_allowing};
use notify::address::{LookupOwner, NameLookups, ResolveFuture, Resolver, SpecialRange, UrlPolicy, UrlPolicyError};

/// Returns the result of a URL check.
fn check(rules: &UrlPolicy, text: &str) -> Result<String, UrlPolicyError> {
    rules.check(text).map(|target| target.url().to_owned())
}

#[test]
fn accepts_public_urls() {
    let rules = UrlPolicy::default();
    for (text, normal) in [
        ("https://example.com", "https://example.com/"),
        (
            "HTTPS://Example.COM/Hook?a=1&b=%20",
            "https://example.com/Hook?a=1&b=%20",
        ),
        ("https://example.com:8443/hook", "https://example.com:8443/hook"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2001:4860:4860::8888]/", "https://[2001:4860:4860::8888]/"),
        ("https://[64:ff9b::808:808]/", "https://[64:ff9b::808:808]/"),
        (
            "https://[2001:4860:4860:0:0:0:0:8888]/",
            "https://[2001:4860:4860::8888]/",
        ),
        ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:08443", "https://example.com:8443/"),
        ("https://example.com?@127.0.0.1/", "https://example.com/?@127.0.0.1/"),
        ("https://example.com/a/../b/./%2e%2e/c", "https://example.com/c"),
        ("https://example.com/@me", "https://example.com/@me"),
        (
            "https://example.com/a.?b.#".trim_end_matches('#'),
            "https://example.com/a.?b.",
        ),
        ("https://redis/", "https://redis/"),
    ] {
        assert_eq!(check(&rules, text).as_deref(), Ok(normal), "{text}");
    }
}

#[test]
fn rejects_malformed_urls_with_the_fix() {
    use UrlPolicyError::{Fragment, NotAUrl, NotHttps, Port, TooLong, TrailingDot, UserInfo};
    let long = format!("https://example.com/{}", "a".repeat(2_048));
    let long_name = format!("https://{}example.com/", "a.".repeat(130));
    for (text, error) in [
        ("", NotAUrl),
        ("example.com/hook", NotAUrl),
        ("//example.com/hook", NotAUrl),
        ("https://", NotAUrl),
        ("https:///", NotAUrl),
        ("https:example.com", NotAUrl),
        ("https:/example.com", NotAUrl),
        ("https://exa mple.com/", NotAUrl),
        (" https://example.com/", NotAUrl),
        ("https://example.com/\n", NotAUrl),
        ("https://exam\tple.com/", NotAUrl),
        ("https://[fe80::1%25eth0]/", NotAUrl),
        ("https://[fe80::1%eth0]/", NotAUrl),
        ("https://[::1/", NotAUrl),
        ("https://1.2.3.4.5/", NotAUrl),
        ("https://256.1.1.1/", NotAUrl),
        ("https://0x7g.1/", NotAUrl),
        ("https://example.com:65536/", NotAUrl),
        (&long_name, NotAUrl),
        (&long, TooLong),
        ("ftp://example.com/", NotHttps),
        ("file:///etc/passwd", NotHttps),
        ("javascript:alert(1)", NotHttps),
        ("gopher://127.0.0.1:6379/_", NotHttps),
        ("https://user@example.com/", UserInfo),
        ("https://user:secret@example.com/", UserInfo),
        ("https://@example.com/", UserInfo),
        ("https://:@example.com/", UserInfo),
        ("https://example.com@127.0.0.1/", UserInfo),
        ("https://example.com:443@127.0.0.1/", UserInfo),
        ("https://example.com/#part", Fragment),
        ("https://example.com#@127.0.0.1/", Fragment),
        ("https://example.com:0/", Port(0)),
        ("https://example.com:25/", Port(25)),
        ("https://example.com:6667/", Port(6667)),
        ("https://example.com./", TrailingDot),
        ("https://example.com.:8443/", TrailingDot),
        ("https://example.com%2e/", TrailingDot),
        ("https://example.com。/", TrailingDot),
        ("https://127.0.0.1./", TrailingDot),
        ("https://8.8.8.8.", TrailingDot),
        ("https://localhost./", TrailingDot),
    ] {
        assert_eq!(check(&UrlPolicy::default(), text), Err(error), "{text}");
    }
}

/// Hosts that are IP addresses in unusual notations, with the expected range.
const LITERALS: &[(&str, SpecialRange)] = &[
    ("127.0.0.1", SpecialRange::Loopback),
    ("127.255.255.254", SpecialRange::Loopback),
    ("2130706433", SpecialRange::Loopback),
    ("017700000001", SpecialRange::Loopback),
    ("0x7f000001", SpecialRange::Loopback),
    ("0x7f.1", SpecialRange::Loopback),
    ("0177.0.0.1", SpecialRange::Loopback),
    ("127.1", SpecialRange::Loopback),
    ("127.0.1", SpecialRange::Loopback),
    ("0x7f.0x0.0x0.0x1", SpecialRange::Loopback),
    ("①②⑦.0.0.1", SpecialRange::Loopback),
    ("１２７.０.０.１", SpecialRange::Loopback),
    ("127。0。0。1", SpecialRange::Loopback),
    ("%31%32%37.0.0.1", SpecialRange::Loopback),
    ("localhost", SpecialRange::Loopback),
    ("LOCALHOST", SpecialRange::Loopback),
    ("ⓛocalhost", SpecialRange::Loopback),
    ("hooks.localhost", SpecialRange::Loopback),
    ("0", SpecialRange::Unspecified),
    ("0.0.0.0", SpecialRange::Unspecified),
    ("0x0", SpecialRange::Unspecified),
    ("10.0.0.1", SpecialRange::Private),
    ("167772161", SpecialRange::Private),
    ("172.16.0.1", SpecialRange::Private),
    ("192.168.0.1", SpecialRange::Private),
    ("100.64.0.1", SpecialRange::Shared),
    ("169.254.1.1", SpecialRange::LinkLocal),
    ("169.254.169.254", SpecialRange::Metadata),
    ("2852039166", SpecialRange::Metadata),
    ("0xa9fea9fe", SpecialRange::Metadata),
    ("224.0.0.1", SpecialRange::Multicast),
    ("255.255.255.255", SpecialRange::Broadcast),
    ("4294967295", SpecialRange::Broadcast),
    ("192.0.2.1", SpecialRange::Documentation),
    ("198.18.0.1", SpecialRange::Benchmarking),
    ("[::]", SpecialRange::Unspecified),
    ("[::1]", SpecialRange::Loopback),
    ("[0:0:0:0:0:0:0:1]", SpecialRange::Loopback),
    ("[::ffff:127.0.0.1]", SpecialRange::Embedded),
    ("[::ffff:7f00:1]", SpecialRange::Embedded),
    ("[::ffff:8.8.8.8]", SpecialRange::Embedded),
    ("[::127.0.0.1]", SpecialRange::Embedded),
    ("[64:ff9b::7f00:1]", SpecialRange::Loopback),
    ("[64:ff9b::10.0.0.1]", SpecialRange::Private),
    ("[64:ff9b::169.254.169.254]", SpecialRange::Metadata),
    ("[64:ff9b:1::1]", SpecialRange::Embedded),
    ("[2002:7f00:1::]", SpecialRange::Embedded),
    ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", SpecialRange::Embedded),
    ("[2001:db8::1]", SpecialRange::Documentation),
    ("[fd00:ec2::254]", SpecialRange::Metadata),
    ("[fd12:3456:789a::1]", SpecialRange::UniqueLocal),
    ("[fe80::1]", SpecialRange::LinkLocal),
    ("[fec0::1]", SpecialRange::SiteLocal),
    ("[ff02::1]", SpecialRange::Multicast),
];

#[test]
fn rejects_special_addresses_in_any_notation() {
    for (host, range) in LITERALS {
        for text in [format!("https://{host}/hook"), format!("http://{host}:8080/hook")] {
            let result = check(&UrlPolicy::default(), &text);
            assert_eq!(result, Err(UrlPolicyError::NotPublic(*range)), "{text}");
        }
    }
}

#[test]
fn rejects_ambiguous_hosts_with_the_normal_form() {
    let opened = policy_allowing(&["127.0.0.0/8"]);
    for (host, plain) in [
        ("134744072", "8.8.8.8"),
        ("0x08080808", "8.8.8.8"),
        ("010.8.8.8", "8.8.8.8"),
        ("8.8.2056", "8.8.8.8"),
        ("８.8.8.8", "8.8.8.8"),
        ("8。8。8。8", "8.8.8.8"),
        ("ex%61mple.com", "example.com"),
        ("ⓔxample.com", "example.com"),
        ("example。com", "example.com"),
        ("exa\u{ad}mple.com", "example.com"),
        ("2130706433", "127.0.0.1"),
        ("ⓛocalhost", "localhost"),
    ] {
        let result = check(&opened, &format!("https://{host}:8443/hook"));
        assert_eq!(result, Err(UrlPolicyError::AmbiguousHost(plain.to_owned())), "{host}");
    }
}

#[test]
fn rejects_urls_with_a_backslash() {
    for url in [
        r"https://93.184.216.34\@127.0.0.1/",
        r"https://127.0.0.1\@93.184.216.34/",
        r"https:\\example.com\hook",
        r"https://example.com\hook",
        r"https://example.com/?a=\b",
    ] {
        let result = check(&policy_allowing(&["127.0.0.0/8"]), url);
        assert_eq!(result, Err(UrlPolicyError::Backslash), "{url}");
    }
}

#[test]
fn allow_list_permits_exactly_its_ranges() {
    let rules = policy_allowing(&["127.0.0.1/32", "10.1.0.0/16", "fd00:1::/32"]);
    for open in ["127.0.0.1", "localhost", "10.1.2.3", "[fd00:1::5]"] {
        for scheme in ["https", "http"] {
            check(&rules, &format!("{scheme}://{open}:8080/hook")).unwrap();
        }
    }
    for shut in [
        "127.0.0.2",
        "10.0.255.255",
        "10.2.0.0",
        "[fd00:2::5]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "0",
    ] {
        for scheme in ["https", "http"] {
            let result = check(&rules, &format!("{scheme}://{shut}/"));
            assert!(matches!(result, Err(UrlPolicyError::NotPublic(_))), "{scheme}://{shut}");
        }
    }
}

#[test]
fn http_requires_an_allowed_range() {
    assert_eq!(
        check(&UrlPolicy::default(), "http://example.com/"),
        Err(UrlPolicyError::Http)
    );
    assert_eq!(
        check(&UrlPolicy::default(), "http://8.8.8.8/"),
        Err(UrlPolicyError::Http)
    );
    let rules = policy_allowing(&["10.0.0.0/8"]);
    assert_eq!(check(&rules, "http://8.8.8.8/"), Err(UrlPolicyError::Http));
    // The resolved address decides.
    check(&rules, "http://hooks.corp.example/").unwrap();
}

#[tokio::test]
async fn rejects_names_with_any_forbidden_address() {
    let names = Arc::new(FakeResolver::of(&[
        ("public.example", &["8.8.8.8", "2001:4860:4860::8888"]),
        ("private.example", &["10.0.0.7"]),
        ("both.example", &["8.8.8.8", "127.0.0.1"]),
        ("mapped.example", &["::ffff:8.8.8.8"]),
        ("metadata.example", &["169.254.169.254"]),
    ]));
    let lookups = NameLookups::new(Arc::clone(&names) as Arc<dyn Resolver>);
    let time = ManualTime::new();
    let (shut, open) = (UrlPolicy::default(), policy_allowing(&["10.0.0.0/8"]));
    let refused = Err(UrlPolicyError::ResolvesToNotPublic);
    for (rules, url, expected) in [
        (&shut, "https://public.example/", Ok(())),
        (&shut, "https://not-yet.example/", Ok(())),
        (&shut, "https://8.8.8.8/", Ok(())),
        (&shut, "https://private.example/", refused.clone()),
        (&shut, "https://both.example/", refused.clone()),
        (&shut, "https://mapped.example/", refused.clone()),
        (&shut, "https://metadata.example/", refused.clone()),
        (
            &shut,
            "https://127.0.0.1/",
            Err(UrlPolicyError::NotPublic(SpecialRange::Loopback)),
        ),
        (&shut, "http://private.example/", Err(UrlPolicyError::Http)),
        (&open, "https://private.example/", Ok(())),
        (&open, "http://private.example/", Ok(())),
        (&open, "http://public.example/", Err(UrlPolicyError::Http)),
        (&open, "https://both.example/", refused),
        (&open, "https://public.example/", Ok(())),
        (&open, "http://not-yet.example/", Ok(())),
    ] {
        let result = rules.check_resolved(url, &lookups, LookupOwner::Anonymous, &time).await;
        assert_eq!(result.map(|_| ()), expected, "{url}");
    }
    let asked = names.asked.lock().unwrap();
    assert!(asked.iter().all(|name| name.ends_with(".example")), "{asked:?}");
}

/// A resolver that never responds.
#[derive(Debug)]
struct SilentResolver;

impl Resolver for SilentResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> ResolveFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn accepts_names_whose_lookup_times_out() {
    let time = ManualTime::new();
    let rules = UrlPolicy::default();
    let url = "https://example.com/";
    let lookups = NameLookups::new(Arc::new(SilentResolver));
    let (result, ()) = tokio::join!(
        rules.check_resolved(url, &lookups, LookupOwner::Anonymous, &time),
        async {
            time.advance(jiff::SignedDuration::from_secs(3));
        }
    );
    assert_eq!(result.unwrap().url(), url);
}

#[test]
fn permitted_addresses_excludes_forbidden_ones() {
    let addresses = ["8.8.8.8", "127.0.0.1", "::ffff:1.1.1.1", "10.0.0.1", "2606:4700::1"];
    let addresses: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    let dialled = |rules: &UrlPolicy, url: &str| {
        let target = rules.check(url).unwrap();
        let dialled = rules.permitted_addresses(&target, &addresses);
        dialled.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        dialled(&UrlPolicy::default(), "https://example.com/"),
        ["8.8.8.8", "2606:4700::1"]
    );
    let rules = policy_allowing(&["10.0.0.0/8"]);
    assert_eq!(
        dialled(&rules, "https://example.com/"),
        ["8.8.8.8", "10.0.0.1", "2606:4700::1"]
    );
    assert_eq!(dialled(&rules, "http://example.com/"), ["10.0.0.1"]);
}

#[test]
fn recognises_slack_hosts_only() {
    let rules = policy_allowing(&["127.0.0.0/8"]);
    for (url, is_slack) in [
        ("https://hooks.slack.com/services/T0/B0/x", true),
        ("https://HOOKS.slack.com/services/T0/B0/x", true),
        ("https://hooks.slack-gov.com/services/T0/B0/x", true),
        ("http://hooks.slack.com/services/T0/B0/x", false),
        ("https://hooks.slack.com.example/", false),
        ("https://evil-hooks.slack.com/", false),
        ("https://slack.com/", false),
    ] {
        assert_eq!(rules.check(url).unwrap().is_slack(), is_slack, "{url}");
    }
}
