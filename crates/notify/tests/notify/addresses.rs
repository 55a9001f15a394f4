//! Which URLs may be saved, and which addresses are dialled for them.

use std::sync::Arc;

use crate::common::{ManualTime, Names, opening};
use notify::address::{AddressError, LookupOwner, NameLookups, Range, Resolve, Resolving, UrlRules};

/// What the rules say of a URL.
fn judge(rules: &UrlRules, text: &str) -> Result<String, AddressError> {
    rules.check(text).map(|target| target.url().to_owned())
}

#[test]
fn urls_of_the_public_are_taken() {
    let rules = UrlRules::default();
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
        assert_eq!(judge(&rules, text).as_deref(), Ok(normal), "{text}");
    }
}

#[test]
fn urls_that_are_wrong_in_form_say_how_to_mend_them() {
    use AddressError::{Fragment, NotAUrl, NotHttps, Port, TooLong, TrailingDot, UserInfo};
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
        assert_eq!(judge(&UrlRules::default(), text), Err(error), "{text}");
    }
}

/// Hosts that are addresses, however they are disguised, and why they are refused.
const LITERALS: &[(&str, Range)] = &[
    ("127.0.0.1", Range::Loopback),
    ("127.255.255.254", Range::Loopback),
    ("2130706433", Range::Loopback),
    ("017700000001", Range::Loopback),
    ("0x7f000001", Range::Loopback),
    ("0x7f.1", Range::Loopback),
    ("0177.0.0.1", Range::Loopback),
    ("127.1", Range::Loopback),
    ("127.0.1", Range::Loopback),
    ("0x7f.0x0.0x0.0x1", Range::Loopback),
    ("①②⑦.0.0.1", Range::Loopback),
    ("１２７.０.０.１", Range::Loopback),
    ("127。0。0。1", Range::Loopback),
    ("%31%32%37.0.0.1", Range::Loopback),
    ("localhost", Range::Loopback),
    ("LOCALHOST", Range::Loopback),
    ("ⓛocalhost", Range::Loopback),
    ("hooks.localhost", Range::Loopback),
    ("0", Range::Unspecified),
    ("0.0.0.0", Range::Unspecified),
    ("0x0", Range::Unspecified),
    ("10.0.0.1", Range::Private),
    ("167772161", Range::Private),
    ("172.16.0.1", Range::Private),
    ("192.168.0.1", Range::Private),
    ("100.64.0.1", Range::Shared),
    ("169.254.1.1", Range::LinkLocal),
    ("169.254.169.254", Range::Metadata),
    ("2852039166", Range::Metadata),
    ("0xa9fea9fe", Range::Metadata),
    ("224.0.0.1", Range::Multicast),
    ("255.255.255.255", Range::Broadcast),
    ("4294967295", Range::Broadcast),
    ("192.0.2.1", Range::Documentation),
    ("198.18.0.1", Range::Benchmarking),
    ("[::]", Range::Unspecified),
    ("[::1]", Range::Loopback),
    ("[0:0:0:0:0:0:0:1]", Range::Loopback),
    ("[::ffff:127.0.0.1]", Range::Embedded),
    ("[::ffff:7f00:1]", Range::Embedded),
    ("[::ffff:8.8.8.8]", Range::Embedded),
    ("[::127.0.0.1]", Range::Embedded),
    ("[64:ff9b::7f00:1]", Range::Loopback),
    ("[64:ff9b::10.0.0.1]", Range::Private),
    ("[64:ff9b::169.254.169.254]", Range::Metadata),
    ("[64:ff9b:1::1]", Range::Embedded),
    ("[2002:7f00:1::]", Range::Embedded),
    ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", Range::Embedded),
    ("[2001:db8::1]", Range::Documentation),
    ("[fd00:ec2::254]", Range::Metadata),
    ("[fd12:3456:789a::1]", Range::UniqueLocal),
    ("[fe80::1]", Range::LinkLocal),
    ("[fec0::1]", Range::SiteLocal),
    ("[ff02::1]", Range::Multicast),
];

#[test]
fn hosts_that_are_special_addresses_in_any_disguise_are_refused() {
    for (host, range) in LITERALS {
        for text in [format!("https://{host}/hook"), format!("http://{host}:8080/hook")] {
            let judged = judge(&UrlRules::default(), &text);
            assert_eq!(judged, Err(AddressError::NotPublic(*range)), "{text}");
        }
    }
}

#[test]
fn hosts_that_other_programs_read_differently_are_refused_with_how_to_write_them() {
    let opened = opening(&["127.0.0.0/8"]);
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
        let judged = judge(&opened, &format!("https://{host}:8443/hook"));
        assert_eq!(judged, Err(AddressError::AmbiguousHost(plain.to_owned())), "{host}");
    }
}

#[test]
fn a_url_with_a_backslash_is_refused() {
    for url in [
        r"https://93.184.216.34\@127.0.0.1/",
        r"https://127.0.0.1\@93.184.216.34/",
        r"https:\\example.com\hook",
        r"https://example.com\hook",
        r"https://example.com/?a=\b",
    ] {
        let judged = judge(&opening(&["127.0.0.0/8"]), url);
        assert_eq!(judged, Err(AddressError::Backslash), "{url}");
    }
}

#[test]
fn the_allow_list_opens_exactly_what_it_names() {
    let rules = opening(&["127.0.0.1/32", "10.1.0.0/16", "fd00:1::/32"]);
    for open in ["127.0.0.1", "localhost", "10.1.2.3", "[fd00:1::5]"] {
        for scheme in ["https", "http"] {
            judge(&rules, &format!("{scheme}://{open}:8080/hook")).unwrap();
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
            let judged = judge(&rules, &format!("{scheme}://{shut}/"));
            assert!(matches!(judged, Err(AddressError::NotPublic(_))), "{scheme}://{shut}");
        }
    }
}

#[test]
fn http_is_for_opened_addresses_only() {
    assert_eq!(
        judge(&UrlRules::default(), "http://example.com/"),
        Err(AddressError::Http)
    );
    assert_eq!(judge(&UrlRules::default(), "http://8.8.8.8/"), Err(AddressError::Http));
    let rules = opening(&["10.0.0.0/8"]);
    assert_eq!(judge(&rules, "http://8.8.8.8/"), Err(AddressError::Http));
    // What the name resolves to decides.
    judge(&rules, "http://hooks.corp.example/").unwrap();
}

#[tokio::test]
async fn a_name_is_refused_if_any_of_its_addresses_is() {
    let names = Arc::new(Names::of(&[
        ("public.example", &["8.8.8.8", "2001:4860:4860::8888"]),
        ("private.example", &["10.0.0.7"]),
        ("both.example", &["8.8.8.8", "127.0.0.1"]),
        ("mapped.example", &["::ffff:8.8.8.8"]),
        ("metadata.example", &["169.254.169.254"]),
    ]));
    let lookups = NameLookups::new(Arc::clone(&names) as Arc<dyn Resolve>);
    let time = ManualTime::new();
    let (shut, open) = (UrlRules::default(), opening(&["10.0.0.0/8"]));
    let refused = Err(AddressError::ResolvesToNotPublic);
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
            Err(AddressError::NotPublic(Range::Loopback)),
        ),
        (&shut, "http://private.example/", Err(AddressError::Http)),
        (&open, "https://private.example/", Ok(())),
        (&open, "http://private.example/", Ok(())),
        (&open, "http://public.example/", Err(AddressError::Http)),
        (&open, "https://both.example/", refused),
        (&open, "https://public.example/", Ok(())),
        (&open, "http://not-yet.example/", Ok(())),
    ] {
        let judged = rules.check_resolved(url, &lookups, LookupOwner::Anonymous, &time).await;
        assert_eq!(judged.map(|_| ()), expected, "{url}");
    }
    let asked = names.asked.lock().unwrap();
    assert!(asked.iter().all(|name| name.ends_with(".example")), "{asked:?}");
}

/// Name servers that never answer.
#[derive(Debug)]
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_name_whose_servers_are_silent_counts_as_one_that_does_not_resolve_yet() {
    let time = ManualTime::new();
    let rules = UrlRules::default();
    let url = "https://example.com/";
    let lookups = NameLookups::new(Arc::new(Silent));
    let (judged, ()) = tokio::join!(
        rules.check_resolved(url, &lookups, LookupOwner::Anonymous, &time),
        async {
            time.advance(jiff::SignedDuration::from_secs(3));
        }
    );
    assert_eq!(judged.unwrap().url(), url);
}

#[test]
fn of_the_addresses_of_a_name_only_the_open_ones_are_dialled() {
    let addresses = ["8.8.8.8", "127.0.0.1", "::ffff:1.1.1.1", "10.0.0.1", "2606:4700::1"];
    let addresses: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    let dialled = |rules: &UrlRules, url: &str| {
        let target = rules.check(url).unwrap();
        let dialled = rules.dialable(&target, &addresses);
        dialled.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        dialled(&UrlRules::default(), "https://example.com/"),
        ["8.8.8.8", "2606:4700::1"]
    );
    let rules = opening(&["10.0.0.0/8"]);
    assert_eq!(
        dialled(&rules, "https://example.com/"),
        ["8.8.8.8", "10.0.0.1", "2606:4700::1"]
    );
    assert_eq!(dialled(&rules, "http://example.com/"), ["10.0.0.1"]);
}

#[test]
fn only_slack_s_own_hosts_are_slack() {
    let rules = opening(&["127.0.0.0/8"]);
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
