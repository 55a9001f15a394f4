//! Push messages. A subscription's private key decrypts what the push service received (RFC 8291), and the public key of this service
//! checks its signature (RFC 8292). Error responses are those of Mozilla's, Google's and Apple's push services.

use std::collections::HashMap;

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use notify::channels::web_push::WebPushConfig;
use notify::channels::{ChannelMessage, ChannelSecret, ChannelTarget};
use serde_json::{Value, json};

use super::common::{ErrorCase, check_errors, message, received, text_message};
use crate::notify::common::receiver::{Received, answer};

/// The subscription of RFC 8291, appendix A.
pub(crate) const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
pub(crate) const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";
const SUBSCRIBER_PRIVATE_KEY: &str = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
/// The public key of the private key of these tests.
const VAPID_PUBLIC_KEY: &str =
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";

pub(crate) fn target(url: &str) -> ChannelTarget {
    ChannelTarget::WebPush(WebPushConfig {
        endpoint: ChannelSecret::new(url),
        p256dh: ChannelSecret::new(P256DH),
        auth: ChannelSecret::new(AUTH),
    })
}

fn decode(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(key_material: &Prk, info: &[&[u8]], length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let output = key_material.expand(info, Length(length)).unwrap();
    output.fill(&mut bytes).unwrap();
    bytes
}

/// Decrypts a body as a browser does.
fn decrypt(body: &[u8]) -> Vec<u8> {
    let (salt, rest) = body.split_at(16);
    let (record_size, rest) = rest.split_at(4);
    assert_eq!(record_size, 4_096_u32.to_be_bytes());
    let (sender_key, record) = rest[1..].split_at(usize::from(rest[0]));
    let private_key = PrivateKey::from_private_key(&ECDH_P256, &decode(SUBSCRIBER_PRIVATE_KEY)).unwrap();
    let peer = UnparsedPublicKey::new(&ECDH_P256, sender_key);
    let shared = agree(&private_key, peer, (), |shared| Ok(shared.to_vec())).unwrap();
    let key_material = Salt::new(HKDF_SHA256, &decode(AUTH)).extract(&shared);
    let input_key = expand(&key_material, &[b"WebPush: info\0", &decode(P256DH), sender_key], 32);
    let key_material = Salt::new(HKDF_SHA256, salt).extract(&input_key);
    let key = expand(&key_material, &[b"Content-Encoding: aes128gcm\0"], 16);
    let nonce = expand(&key_material, &[b"Content-Encoding: nonce\0"], 12);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
    let mut record = record.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
    let content = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
    let (delimiter, content) = content.split_last().unwrap();
    assert_eq!(*delimiter, 2, "the delimiter of the last record");
    content.to_vec()
}

async fn pushed(message: &ChannelMessage) -> (Received, Value) {
    let request = received(
        target,
        answer("201 Created", "Location: https://push.example/m/1\r\n", ""),
        message,
    )
    .await;
    let content = serde_json::from_slice(&decrypt(&request.bytes)).unwrap();
    (request, content)
}

#[tokio::test]
async fn browser_decrypts_title_text_link_and_actions() {
    let action = |title: &str, token: &str| {
        let url = format!("https://alerts.example.com/acknowledge?t={token}-token-0123456789");
        json!({"title": title, "url": url})
    };
    let (request, content) = pushed(&message()).await;
    assert_eq!(
        content,
        json!({
            "title": "AAPL 180.00 <at> your level & more",
            "body": "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it",
            "url": "https://alerts.example.com/alerts/7",
            "tag": "01234567-89ab-4def-8123-456789abcdef",
            "urgent": false,
            "actions": [action("Acknowledge", "ack"), action("Snooze 1 h", "hour")],
        })
    );
    for (header, value) in [
        ("content-type", "application/octet-stream"),
        ("content-encoding", "aes128gcm"),
        ("ttl", "604800"),
        ("urgency", "normal"),
        ("topic", "0123456789ab4def8123456789abcdef"),
    ] {
        assert_eq!(request.headers[header], value, "{header}");
    }
}

#[tokio::test]
async fn urgent_message_has_high_urgency() {
    let urgent = ChannelMessage {
        urgent: true,
        ..message()
    };
    let (request, content) = pushed(&urgent).await;
    assert_eq!(request.headers["urgency"], "high");
    assert_eq!(content["urgent"], true);
}

#[tokio::test]
async fn signature_is_valid_for_half_a_day_at_the_origin_of_the_endpoint() {
    let (request, _) = pushed(&message()).await;
    let parameters = request.headers["authorization"].strip_prefix("vapid ").unwrap();
    let parameters: HashMap<&str, &str> = parameters
        .split(", ")
        .map(|part| part.split_once('=').unwrap())
        .collect();
    assert_eq!(parameters["k"], VAPID_PUBLIC_KEY);
    let (signed, signature) = parameters["t"].rsplit_once('.').unwrap();
    let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(VAPID_PUBLIC_KEY));
    key.verify(signed.as_bytes(), &decode(signature)).unwrap();
    let (head, claims) = signed.split_once('.').unwrap();
    let read = |part: &str| serde_json::from_slice::<Value>(&decode(part)).unwrap();
    assert_eq!(read(head), json!({"typ": "JWT", "alg": "ES256"}));
    let claims = read(claims);
    let origin = format!("http://{}", request.headers["host"]);
    assert_eq!(
        (claims["aud"].as_str(), claims["sub"].as_str()),
        (Some(origin.as_str()), Some("https://alerts.example.com"))
    );
    // The time of these tests is 2026-03-06T14:30:00Z.
    let end: jiff::Timestamp = "2026-03-07T02:30:00Z".parse().unwrap();
    assert_eq!(claims["exp"], end.as_second());
}

#[tokio::test]
async fn text_is_cut_so_that_the_body_has_at_most_4096_bytes() {
    for (text, is_cut) in [
        ("x".repeat(3_000), false),
        ("x".repeat(5_000), true),
        ("\"é\n".repeat(1_500), true),
    ] {
        let (request, content) = pushed(&text_message(&text)).await;
        let body = content["body"].as_str().unwrap();
        assert_eq!(body.ends_with('…'), is_cut);
        assert!(request.bytes.len() <= 4_096, "{}", request.bytes.len());
        assert!(!is_cut || request.bytes.len() > 4_080, "{}", request.bytes.len());
    }
}

#[tokio::test]
async fn push_errors_are_gone_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::gone(
                "410 Gone",
                r#"{"code":410,"errno":106,"error":"Gone","message":"Request did not validate","more_info":"http://autopush.readthedocs.io/en/latest/http.html#error-codes"}"#,
                410,
            ),
            ErrorCase::gone("404 Not Found", "A valid push subscription endpoint should be specified in the URL", 404),
            ErrorCase::refused(
                "413 Payload Too Large",
                r#"{"code":413,"errno":104,"error":"Payload Too Large","message":"Data payload too large"}"#,
                413,
                "Data payload too large",
            ),
            ErrorCase::refused("400 Bad Request", r#"{"reason":"BadWebPushTopic"}"#, 400, "BadWebPushTopic"),
            ErrorCase::credentials("403 Forbidden", r#"{"reason":"BadJwtToken"}"#, "BadJwtToken"),
            ErrorCase::credentials(
                "403 Forbidden",
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.\n",
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.",
            ),
            ErrorCase::credentials(
                "401 Unauthorized",
                r#"{"code":401,"errno":109,"error":"Unauthorized","message":"Invalid VAPID token"}"#,
                "Invalid VAPID token",
            ),
            ErrorCase::deferred("429 Too Many Requests", r#"{"reason":"TooManyRequests"}"#, 429, "TooManyRequests")
                .after("Retry-After: 60\r\n", 60_000),
            ErrorCase::deferred("503 Service Unavailable", "<html>", 503, ""),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_stored_keys_are_unsendable_and_name_the_fix() {
    let broken = |url: &str| {
        ChannelTarget::WebPush(WebPushConfig {
            endpoint: ChannelSecret::new(url),
            p256dh: ChannelSecret::new("AAAA"),
            auth: ChannelSecret::new(AUTH),
        })
    };
    let found = super::common::attempt(broken, crate::notify::common::receiver::ok(), &message()).await;
    assert_eq!(found.attempt.outcome.name(), "unsendable");
    let detail = found.attempt.detail.unwrap();
    assert!(
        detail.starts_with("`config.p256dh` must be") && detail.ends_with("subscribe the browser again"),
        "{detail}"
    );
}
