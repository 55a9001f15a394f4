//! Checks of the configuration of channels: each error names the field and the fix.

use std::time::Duration;

use notify::channels::apprise::AppriseConfig;
use notify::channels::discord::DiscordConfig;
use notify::channels::ntfy::NtfyConfig;
use notify::channels::pushover::{PushoverConfig, PushoverSettings};
use notify::channels::slack::SlackConfig;
use notify::channels::teams::TeamsConfig;
use notify::channels::telegram::{TelegramConfig, TelegramSettings};
use notify::channels::web_push::WebPushConfig;
use notify::channels::{
    ChannelClient, ChannelClientConfig, ChannelSecret, ChannelSetupError, ChannelTarget, WebPushSettings,
};

use super::common::{ChannelFixture, OWNER};
use super::web_push::{AUTH, P256DH};
use crate::notify::common::policy_allowing;

fn secret(text: &str) -> ChannelSecret {
    ChannelSecret::new(text)
}

fn with_url(url: &str) -> [ChannelTarget; 5] {
    [
        ChannelTarget::Slack(SlackConfig { url: secret(url) }),
        ChannelTarget::Discord(DiscordConfig { url: secret(url) }),
        ChannelTarget::Teams(TeamsConfig { url: secret(url) }),
        ChannelTarget::Apprise(AppriseConfig { url: secret(url) }),
        ntfy(url, "alerts", None),
    ]
}

fn ntfy(url: &str, topic: &str, token: Option<&str>) -> ChannelTarget {
    ChannelTarget::Ntfy(NtfyConfig {
        url: url.to_owned(),
        topic: topic.to_owned(),
        token: token.map(secret),
    })
}

fn telegram(bot_token: Option<&str>) -> ChannelTarget {
    ChannelTarget::Telegram(TelegramConfig {
        bot_token: bot_token.map(secret),
        chat_id: None,
    })
}

fn pushover(user: &str, token: Option<&str>) -> ChannelTarget {
    ChannelTarget::Pushover(PushoverConfig {
        user: secret(user),
        token: token.map(secret),
    })
}

fn web_push(endpoint: &str, p256dh: &str, auth: &str) -> ChannelTarget {
    ChannelTarget::WebPush(WebPushConfig {
        endpoint: secret(endpoint),
        p256dh: secret(p256dh),
        auth: secret(auth),
    })
}

/// Returns the field and the message of the error of a configuration.
fn error_of(target: ChannelTarget) -> Option<(&'static str, String)> {
    let rules = policy_allowing(&["127.0.0.0/8"]);
    let error = target.checked(&rules).err()?;
    Some((error.field, error.to_string()))
}

#[test]
fn url_follows_the_rules_of_webhooks() {
    for (url, message) in [
        ("", "must be a URL like https://example.com/hooks/bellwether"),
        ("ftp://example.com/x", "must begin with https://"),
        (
            "https://u:p@example.com/x",
            "must not have a user name or a password before the host",
        ),
        (
            "https://example.com/x#y",
            "must not have a fragment: remove the # and everything after it",
        ),
    ] {
        for target in with_url(url) {
            assert_eq!(error_of(target), Some(("config.url", message.to_owned())), "{url}");
        }
    }
    for target in with_url("https://10.0.0.1/x") {
        let (field, message) = error_of(target).unwrap();
        assert_eq!(field, "config.url");
        assert!(
            message.starts_with("must have a public address as its host"),
            "{message}"
        );
    }
    for target in with_url("http://127.0.0.1:8000/notify/key") {
        assert_eq!(error_of(target), None);
    }
}

#[test]
fn endpoint_follows_the_rules_of_webhooks() {
    for (endpoint, expected) in [
        ("ftp://example.com/x", Some("must begin with https://")),
        ("", Some("must be a URL like https://example.com/hooks/bellwether")),
        ("https://updates.push.services.mozilla.com/wpush/v2/gAAAAA", None),
    ] {
        let expected = expected.map(|message| ("config.endpoint", message.to_owned()));
        assert_eq!(error_of(web_push(endpoint, P256DH, AUTH)), expected, "{endpoint}");
    }
    let (field, message) = error_of(web_push("https://10.0.0.1/x", P256DH, AUTH)).unwrap();
    assert_eq!(field, "config.endpoint");
    assert!(
        message.starts_with("must have a public address as its host"),
        "{message}"
    );
}

#[test]
fn url_is_stored_in_its_normal_form() {
    let rules = policy_allowing(&[]);
    for (written, normal) in with_url("https://EXAMPLE.com:443/a b".replace(' ', "%20").as_str())
        .into_iter()
        .zip(with_url("https://example.com/a%20b"))
    {
        assert_eq!(written.checked(&rules).unwrap(), normal);
    }
}

#[test]
fn topic_token_and_keys_are_checked() {
    let topic = "must be 1 to 64 letters, digits, hyphens or underscores";
    let token = "must be 1 to 256 visible ASCII characters without spaces; copy it again from the service";
    let bot_token = "must be the token of a bot, as @BotFather shows it: digits, a colon, and letters, digits, hyphens or \
                     underscores";
    let p256dh = "must be the `p256dh` of the browser's subscription: an uncompressed point of P-256, 65 bytes in base64url \
                  without padding";
    let auth = "must be the `auth` of the browser's subscription: 16 bytes in base64url without padding";
    let (url, push) = (NtfyConfig::DEFAULT_URL, "https://push.example.com/x");
    for (target, expected) in [
        (ntfy(url, &"t".repeat(64), Some("tk_1")), None),
        (ntfy(url, &"t".repeat(65), None), Some(("config.topic", topic))),
        (ntfy(url, "", None), Some(("config.topic", topic))),
        (ntfy(url, "a/b", None), Some(("config.topic", topic))),
        (ntfy(url, "alerts", Some("two words")), Some(("config.token", token))),
        (ntfy(url, "alerts", Some("")), Some(("config.token", token))),
        (telegram(None), None),
        (telegram(Some("123456:ABC-DEF_1")), None),
        (telegram(Some("123456:ABC/../x")), Some(("config.bot_token", bot_token))),
        (telegram(Some("")), Some(("config.bot_token", bot_token))),
        (pushover("uQiRzpo4DXghDmr9QzzfQu27cmVRsG", None), None),
        (pushover("", None), Some(("config.user", token))),
        (pushover("u", Some("a\nb")), Some(("config.token", token))),
        (web_push(push, P256DH, AUTH), None),
        (web_push(push, &P256DH[1..], AUTH), Some(("config.p256dh", p256dh))),
        (web_push(push, P256DH, &AUTH[1..]), Some(("config.auth", auth))),
    ] {
        let context = format!("{target:?}");
        let expected = expected.map(|(field, message)| (field, message.to_owned()));
        assert_eq!(error_of(target), expected, "{context}");
    }
}

/// Returns a client of an operator with these base URLs and without tokens.
fn client_of(fixture: &ChannelFixture, telegram: &str, pushover: &str) -> Result<ChannelClient, ChannelSetupError> {
    ChannelClient::new(ChannelClientConfig {
        webhooks: fixture.clients.client(),
        telegram: TelegramSettings {
            base_url: telegram.to_owned(),
            bot_token: None,
        },
        pushover: PushoverSettings {
            base_url: pushover.to_owned(),
            token: None,
        },
        web_push: WebPushSettings {
            key: None,
            subject: "https://alerts.example.com".to_owned(),
            random: Box::new(|| [7; 32]),
        },
        extra_roots: Vec::new(),
        timeout: Duration::from_secs(5),
    })
}

#[tokio::test]
async fn token_is_required_if_the_operator_has_none() {
    let fixture = ChannelFixture::new();
    let client = client_of(
        &fixture,
        TelegramSettings::DEFAULT_BASE_URL,
        PushoverSettings::DEFAULT_BASE_URL,
    );
    let client = client.unwrap();
    for (target, field) in [
        (telegram(None), Some("config.bot_token")),
        (telegram(Some("1:A")), None),
        (pushover("u", None), Some("config.token")),
        (pushover("u", Some("a")), None),
    ] {
        let error = client.check(OWNER, target.clone()).await.err();
        assert_eq!(error.as_ref().map(|error| error.field), field, "{target:?}");
        let expected = "is required, because the operator has configured no token";
        assert!(error.is_none_or(|error| error.to_string() == expected));
    }
}

#[tokio::test]
async fn name_that_resolves_to_private_address_is_refused_on_save() {
    let fixture = ChannelFixture::new();
    fixture.clients.names.set("internal.example", &["10.0.0.7"]);
    fixture.clients.names.set("public.example", &["1.1.1.1"]);
    let client = client_of(&fixture, "https://api.telegram.org", "https://api.pushover.net").unwrap();
    for target in with_url("https://internal.example/x") {
        let error = client.check(OWNER, target).await.unwrap_err();
        let expected = "must have a host that resolves to public addresses only";
        assert_eq!((error.field, error.to_string().as_str()), ("config.url", expected));
    }
    let target = web_push("https://internal.example/x", P256DH, AUTH);
    assert_eq!(client.check(OWNER, target).await.unwrap_err().field, "config.endpoint");
    for target in with_url("https://public.example/x") {
        assert_eq!(client.check(OWNER, target.clone()).await, Ok(target));
    }
}

#[tokio::test]
async fn base_urls_must_be_https_or_on_this_machine() {
    let fixture = ChannelFixture::new();
    let (good, bad) = ("http://127.0.0.1:8081/api", "http://api.example");
    assert!(client_of(&fixture, good, good).is_ok());
    for (telegram, pushover, expected) in [
        (
            bad,
            good,
            "`telegram.base_url` must be https, or http to this machine, without a query",
        ),
        (
            good,
            bad,
            "`pushover.base_url` must be https, or http to this machine, without a query",
        ),
    ] {
        assert_eq!(
            client_of(&fixture, telegram, pushover).unwrap_err().to_string(),
            expected
        );
    }
}
