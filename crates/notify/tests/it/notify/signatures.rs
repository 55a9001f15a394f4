//! Signatures, compared with other implementations: values computed with `hmac` of Python, and the published test vector of Standard
//! Webhooks.

use jiff::Timestamp;
use notify::signature::{
    HeaderPrefix, HeaderPrefixError, HeaderStyle, MAX_SIGNING_SECRETS, SignatureFormat, SigningInput, SigningSecret,
    SigningSecretError, SigningSecrets, TimestampFormat, service, standard,
};
use uuid::Uuid;

const ID: &str = "7f1c2c0e-5b0a-4b6e-9a51-0d6f3a1f2b3c";
const BODY: &str = concat!(
    r#"{"id":"7f1c2c0e-5b0a-4b6e-9a51-0d6f3a1f2b3c","event":"alert.triggered","timestamp":"2024-03-08T14:30:00.000Z","#,
    r#""data":{"price":198.66,"tiny":1e-7,"name":"Zoë"}}"#
);
const TIMESTAMP: &str = "2024-03-08T14:30:00.000Z";
/// `whsec_` and the base64 of the bytes 0 to 31.
const GENERATED: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

// Python: hmac.new(key, message, hashlib.sha256).hexdigest()
const TIMESTAMPED: &str = "bb75e3cff2fe2169292b04578011d3d9024330f0067dd7a85a54497613d48874";
const TIMESTAMPED_EPOCH: &str = "9ffe3b0e89ffb79b38abf03b9f8f30cca472b3bbe15ce7b54ad4e879d17ba1cd";
const BODY_ALONE: &str = "77cb2650c622d36c7917170eb19f89b2acc0a204919cf8d6e561c8ce96a01eca";
const OWN_BODY_ALONE: &str = "9059aa83b7c80ccf047374cfb5f08ae632460ed0220b8d344f1f8045e96a6124";
// base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()), attempted at 1709908260.
const STANDARD: &str = "v1,Q3DAWuRoZmbzfQnsL0WhwNsuVYeTgOvJwYf9u6uaI9s=";
const OWN_STANDARD: &str = "v1,stDJKdbzTcWoQIfaJr6QZBrXt7GsIsVuywz134aDiwg=";

fn generated() -> SigningSecret {
    SigningSecret::from_random(std::array::from_fn(|index| u8::try_from(index).unwrap()))
}

fn user_secret() -> SigningSecret {
    SigningSecret::from_user("hunter2").unwrap()
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn generated_secret_is_whsec_and_base64_of_32_bytes() {
    assert_eq!(generated().expose(), GENERATED);
}

#[test]
fn debug_output_hides_secrets() {
    let secrets = SigningSecrets {
        current: user_secret(),
        former: vec![generated()],
    };
    let printed = format!("{:?} {secrets:#?}", user_secret());
    assert!(!printed.contains("hunter2") && !printed.contains("AAEC"), "{printed}");
}

#[test]
fn user_secret_is_unchanged_and_limited_in_length() {
    for text in ["x", " spaces kept ", "ключ", &"k".repeat(512)] {
        assert_eq!(SigningSecret::from_user(text).unwrap().expose(), text);
    }
    for text in ["", &"k".repeat(513)] {
        assert_eq!(SigningSecret::from_user(text), Err(SigningSecretError));
    }
}

#[test]
fn service_signatures_match_another_implementation() {
    for (format, secret, timestamp, expected) in [
        (
            SignatureFormat::Timestamped,
            generated(),
            TIMESTAMP,
            format!("sha256={TIMESTAMPED}"),
        ),
        (
            SignatureFormat::Timestamped,
            generated(),
            "1709908200000",
            format!("sha256={TIMESTAMPED_EPOCH}"),
        ),
        (SignatureFormat::Body, generated(), TIMESTAMP, BODY_ALONE.to_owned()),
        (SignatureFormat::Body, user_secret(), "", OWN_BODY_ALONE.to_owned()),
    ] {
        let signature = service::sign(format, &secret, timestamp, BODY.as_bytes());
        assert_eq!(signature, expected);
        assert!(service::verify(format, &secret, timestamp, BODY.as_bytes(), &signature));
    }
}

#[test]
fn changed_input_fails_verification() {
    let right = format!("sha256={TIMESTAMPED}");
    let verify = |secret: &SigningSecret, timestamp: &str, body: &str, signature: &str| {
        service::verify(
            SignatureFormat::Timestamped,
            secret,
            timestamp,
            body.as_bytes(),
            signature,
        )
    };
    assert!(verify(&generated(), TIMESTAMP, BODY, &right));
    assert!(verify(&generated(), TIMESTAMP, BODY, TIMESTAMPED));
    assert!(!verify(&user_secret(), TIMESTAMP, BODY, &right));
    assert!(!verify(&generated(), "2024-03-08T14:30:00.001Z", BODY, &right));
    assert!(!verify(
        &generated(),
        TIMESTAMP,
        &BODY.replace("198.66", "198.67"),
        &right
    ));
    for wrong in [
        "",
        "sha256=",
        "sha256=00",
        &right[..70],
        &format!("{right}00"),
        &right.replace('b', "c"),
        "sha512=x",
    ] {
        assert!(!verify(&generated(), TIMESTAMP, BODY, wrong), "{wrong}");
    }
}

#[test]
fn standard_signature_matches_the_published_vector() {
    let secrets = SigningSecret::from_user("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap()
        .into();
    let body = br#"{"test": 2432232314}"#;
    let signature = standard::sign(&secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", second(1_614_265_330), body);
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn standard_signatures_verify_with_both_secrets_during_a_rotation() {
    let (current, previous) = (generated(), user_secret());
    let secrets = SigningSecrets {
        current: current.clone(),
        former: vec![previous.clone()],
    };
    let signatures = standard::sign(&secrets, ID, second(1_709_908_260), BODY.as_bytes());
    assert_eq!(signatures, format!("{STANDARD} {OWN_STANDARD}"));
    for secret in [current, previous] {
        let now = second(1_709_908_270);
        standard::verify(&secret, ID, "1709908260", &signatures, BODY.as_bytes(), now).unwrap();
    }
}

#[test]
fn only_the_five_newest_secrets_sign() {
    let former: Vec<_> = (1..=5_u8).map(|byte| SigningSecret::from_random([byte; 32])).collect();
    let secrets = SigningSecrets {
        current: generated(),
        former: former.clone(),
    };
    let signatures = standard::sign(&secrets, ID, second(1_709_908_260), BODY.as_bytes());
    assert_eq!(signatures.split(' ').count(), MAX_SIGNING_SECRETS);
    let verify = |secret: &SigningSecret| {
        let now = second(1_709_908_270);
        standard::verify(secret, ID, "1709908260", &signatures, BODY.as_bytes(), now).is_ok()
    };
    assert!(verify(&generated()) && former[..4].iter().all(verify) && !verify(&former[4]));
}

#[test]
fn secret_without_valid_whsec_base64_is_used_as_text() {
    for text in ["whsec_not base64!", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
        let secret = SigningSecret::from_user(text).unwrap();
        let signature = standard::sign(&secret.clone().into(), ID, second(0), b"");
        // The same bytes as a `whsec_` secret.
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
        let encoded_secret = SigningSecret::from_user(&format!("whsec_{encoded}")).unwrap();
        standard::verify(&encoded_secret, ID, "0", &signature, b"", second(0)).unwrap();
    }
}

#[test]
fn standard_verification_rejects_invalid_deliveries() {
    use standard::VerifyError::{InvalidTimestamp, NoMatchingSignature, TimestampOutOfTolerance};
    let then = 1_709_908_260;
    for (timestamp, signatures, body, now, expected) in [
        ("1709908260", STANDARD, BODY, then, Ok(())),
        ("1709908260", STANDARD, BODY, then + 300, Ok(())),
        ("1709908260", STANDARD, BODY, then - 300, Ok(())),
        ("1709908260", STANDARD, BODY, then + 301, Err(TimestampOutOfTolerance)),
        ("1709908260", STANDARD, BODY, then - 301, Err(TimestampOutOfTolerance)),
        ("1709908260", &format!("v2,x v1,AAAA {STANDARD}"), BODY, then, Ok(())),
        ("1709908260", OWN_STANDARD, BODY, then, Err(NoMatchingSignature)),
        ("1709908260", &STANDARD[3..], BODY, then, Err(NoMatchingSignature)),
        ("1709908260", "", BODY, then, Err(NoMatchingSignature)),
        ("1709908260", STANDARD, "{}", then, Err(NoMatchingSignature)),
        ("1709908261", STANDARD, BODY, then, Err(NoMatchingSignature)),
        ("2024-03-08T14:31:00Z", STANDARD, BODY, then, Err(InvalidTimestamp)),
    ] {
        let checked = standard::verify(&generated(), ID, timestamp, signatures, body.as_bytes(), second(now));
        assert_eq!(checked, expected, "{timestamp} {signatures} {now}");
    }
}

fn headers(style: &HeaderStyle, format: SignatureFormat) -> Vec<(String, String)> {
    let secrets = generated().into();
    let headers = style.headers(&SigningInput {
        id: ID.parse::<Uuid>().unwrap(),
        event: "alert.triggered",
        generated_at: second(1_709_908_200),
        attempted_at: second(1_709_908_260),
        body: BODY.as_bytes(),
        secrets: &secrets,
        format,
    });
    let text =
        |(name, value): (&http::HeaderName, &http::HeaderValue)| (name.to_string(), value.to_str().unwrap().to_owned());
    let mut headers: Vec<_> = headers.iter().map(text).collect();
    headers.sort();
    headers
}

#[test]
fn delivery_has_headers_of_each_prefix_and_of_standard_webhooks() {
    let signature = format!("sha256={TIMESTAMPED}");
    let expected = [
        ("content-type", "application/json"),
        ("webhook-id", ID),
        ("webhook-signature", STANDARD),
        ("webhook-timestamp", "1709908260"),
        ("x-service-delivery", ID),
        ("x-service-event", "alert.triggered"),
        ("x-service-signature", &signature),
        ("x-service-timestamp", TIMESTAMP),
        ("x-stockalert-delivery", ID),
        ("x-stockalert-event", "alert.triggered"),
        ("x-stockalert-signature", &signature),
        ("x-stockalert-timestamp", TIMESTAMP),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(headers(&HeaderStyle::default(), SignatureFormat::Timestamped), expected);
}

#[test]
fn header_prefix_timestamp_and_format_are_configurable() {
    let style = HeaderStyle {
        prefixes: vec![HeaderPrefix::new("X-Acme").unwrap()],
        timestamp: TimestampFormat::EpochMs,
    };
    let has = |format, name: &str, value: &str| headers(&style, format).contains(&(name.to_owned(), value.to_owned()));
    assert!(has(SignatureFormat::Timestamped, "x-acme-timestamp", "1709908200000"));
    assert!(has(
        SignatureFormat::Timestamped,
        "x-acme-signature",
        &format!("sha256={TIMESTAMPED_EPOCH}")
    ));
    assert!(has(SignatureFormat::Body, "x-acme-signature", BODY_ALONE));
    assert_eq!(headers(&style, SignatureFormat::Body).len(), 8);
    for text in ["", "X Acme", "X-Acme-", "X-Äcme", "X-Acme:", &"x".repeat(65)] {
        assert_eq!(HeaderPrefix::new(text), Err(HeaderPrefixError), "{text}");
    }
}

#[test]
fn signature_format_names_round_trip() {
    for form in [SignatureFormat::Timestamped, SignatureFormat::Body] {
        assert_eq!(SignatureFormat::from_name(form.name()), Some(form));
    }
    assert_eq!(SignatureFormat::from_name("headers"), None);
}
