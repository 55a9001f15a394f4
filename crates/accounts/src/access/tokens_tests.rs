//! Tests with invalid tokens, one violation each.

use jsonwebtoken::encode;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Map, Value, json};

use super::*;

const URL: &str = "https://alerts.example.com/";

fn tokens() -> AccessTokens {
    AccessTokens::new(&Vault::new(b"a key for tests"), URL).unwrap()
}

fn random() -> Random {
    Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)))
}

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn later(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn claimed() -> VerifiedToken {
    VerifiedToken {
        account: AccountId(Uuid::from_u128(1)),
        session: SessionId(Uuid::from_u128(2)),
    }
}

fn good() -> String {
    let VerifiedToken { account, session } = claimed();
    tokens().issue(&random(), account, session, now()).unwrap()
}

/// Decodes one of a token's three parts.
fn part(token: &str, number: usize) -> Value {
    let text = token.split('.').nth(number).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

fn claims() -> Map<String, Value> {
    part(&good(), 1).as_object().unwrap().clone()
}

fn head(more: &Value) -> Value {
    let mut head = part(&good(), 0);
    head.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    head
}

/// Signs any header and claims with the service's key.
fn signed(head: &Value, claims: &Map<String, Value>) -> String {
    let seed = Vault::new(b"a key for tests").derive("access tokens: ed25519");
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    let text = |value: &[u8]| URL_SAFE_NO_PAD.encode(value);
    let body = format!(
        "{}.{}",
        text(head.to_string().as_bytes()),
        text(json!(claims).to_string().as_bytes())
    );
    format!("{body}.{}", text(pair.sign(body.as_bytes()).as_ref()))
}

fn is_taken(token: &str) -> bool {
    tokens().verify(token, now()).is_some()
}

#[test]
fn token_names_account_and_session_and_survives_restart() {
    assert_eq!(tokens().verify(&good(), now()), Some(claimed()));
    let head = part(&good(), 0);
    assert_eq!((&head["alg"], &head["typ"]), (&json!("EdDSA"), &json!("at+jwt")));
    assert_eq!(head["kid"], tokens().public_key().kid);
    let claims = claims();
    assert_eq!(claims["iss"], "https://alerts.example.com");
    assert_eq!(claims["aud"], "https://alerts.example.com/api/v1");
    let names: Vec<_> = claims.keys().map(String::as_str).collect();
    assert_eq!(names, ["iss", "aud", "sub", "exp", "iat", "jti", "sid"]);
}

#[test]
fn token_expires_after_fifteen_minutes() {
    let token = good();
    assert!(tokens().verify(&token, later(899)).is_some());
    assert!(tokens().verify(&token, later(900)).is_none());
    assert!(tokens().verify(&token, later(-30)).is_some(), "clocks differ a little");
    assert!(tokens().verify(&token, later(-31)).is_none(), "it is of the future");
}

#[test]
fn signed_jwt_with_wrong_header_or_claims_is_rejected() {
    assert!(
        is_taken(&signed(&head(&json!({})), &claims())),
        "the test's own signature is right"
    );
    for fault in [
        json!({"typ": "JWT"}),
        json!({"typ": null}),
        json!({"kid": "other"}),
        json!({"kid": null}),
        json!({"alg": "HS256"}),
        json!({"alg": "none"}),
        json!({"crit": ["exp"]}),
    ] {
        assert!(!is_taken(&signed(&head(&fault), &claims())), "{fault}");
    }
    for (name, value) in [
        ("aud", json!("https://alerts.example.com/mcp")),
        ("aud", json!(null)),
        ("iss", json!("https://evil.example.com")),
        ("iss", json!(null)),
        ("sub", json!("ann@example.com")),
        ("sid", json!(null)),
        ("exp", json!(now().as_second())),
        ("exp", json!("never")),
    ] {
        let mut claims = claims();
        claims.insert(name.to_owned(), value.clone());
        assert!(!is_taken(&signed(&head(&json!({})), &claims)), "{name} {value}");
    }
    for name in ["aud", "iss", "sub", "exp", "iat", "jti", "sid"] {
        let mut claims = claims();
        claims.remove(name);
        assert!(!is_taken(&signed(&head(&json!({})), &claims)), "without {name}");
    }
}

#[test]
fn forged_signatures_are_rejected() {
    let token = good();
    let (body, signature) = token.rsplit_once('.').unwrap();
    let (first, second) = body.split_once('.').unwrap();
    let none = URL_SAFE_NO_PAD.encode(head(&json!({"alg": "none"})).to_string());
    for forged in [
        format!("{body}."),
        body.to_owned(),
        format!("{none}.{second}."),
        format!("{none}.{second}.{signature}"),
        format!("{first}.{second}.{}", "A".repeat(86)),
        format!("{first}.{second}x.{signature}"),
        String::new(),
        "..".to_owned(),
        "x".repeat(MAX_TOKEN_BYTES + 1),
    ] {
        assert!(!is_taken(&forged), "{forged}");
    }
    // Algorithm confusion: a verifier that trusts the `alg` header would use the public key as a shared secret.
    let hs256 = Header {
        typ: Some(TOKEN_TYPE.to_owned()),
        kid: Some(tokens().kid),
        ..Header::new(Algorithm::HS256)
    };
    for secret in [
        tokens().public.into_bytes(),
        URL_SAFE_NO_PAD.decode(tokens().public).unwrap(),
    ] {
        let forged = encode(&hs256, &json!(claims()), &EncodingKey::from_secret(&secret)).unwrap();
        assert!(!is_taken(&forged));
    }
    let VerifiedToken { account, session } = claimed();
    let other = AccessTokens {
        kid: tokens().kid,
        ..AccessTokens::new(&Vault::new(b"another key"), URL).unwrap()
    };
    assert!(!is_taken(&other.issue(&random(), account, session, now()).unwrap()));
}

#[test]
fn changing_any_character_invalidates_token() {
    let token = good();
    for (place, character) in token.char_indices() {
        // The last character of a signature has unused bits.
        if character == '.' || place == token.len() - 1 {
            continue;
        }
        let other = if character == 'A' { "B" } else { "A" };
        let changed = format!("{}{other}{}", &token[..place], &token[place + 1..]);
        assert!(!is_taken(&changed), "character {place}");
    }
}

#[test]
fn only_public_key_is_exposed() {
    let key = tokens().public_key();
    assert_eq!(URL_SAFE_NO_PAD.decode(&key.x).unwrap().len(), 32);
    assert_ne!(
        key,
        AccessTokens::new(&Vault::new(b"another key"), URL)
            .unwrap()
            .public_key()
    );
    let printed = format!("{:?}", tokens());
    assert!(!printed.contains("EncodingKey"), "{printed}");
}
