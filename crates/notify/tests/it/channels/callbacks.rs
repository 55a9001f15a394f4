//! Verification and parsing of Twilio callbacks.

use notify::sms::callback::{SmsStatus, SmsStatusReport, verify};

fn params(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// The example of the Twilio documentation on webhook security.
const TOKEN: &str = "12345";
const URL: &str = "https://mycompany.com/myapp.php?foo=1&bar=2";
const SIGNATURE: &str = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";

fn documented() -> Vec<(String, String)> {
    params(&[
        ("Digits", "1234"),
        ("To", "+18005551212"),
        ("From", "+14158675309"),
        ("Caller", "+14158675309"),
        ("CallSid", "CA1234567890ABCDE"),
    ])
}

#[test]
fn example_of_the_twilio_documentation_verifies() {
    assert!(verify(TOKEN, URL, &documented(), SIGNATURE));
}

#[test]
fn changed_callback_fails_verification() {
    assert!(!verify("12346", URL, &documented(), SIGNATURE));
    assert!(!verify(
        TOKEN,
        "https://mycompany.com/myapp.php?foo=1",
        &documented(),
        SIGNATURE
    ));
    for (at, value) in [(0, "1235"), (4, "CA1234567890ABCDF")] {
        let mut changed = documented();
        changed[at].1 = value.to_owned();
        assert!(!verify(TOKEN, URL, &changed, SIGNATURE));
    }
    let mut more = documented();
    more.push(("MessageStatus".to_owned(), "delivered".to_owned()));
    assert!(!verify(TOKEN, URL, &more, SIGNATURE));
    assert!(!verify(TOKEN, URL, &documented()[1..], SIGNATURE));
    for signature in [
        "",
        "RSOYDt4T1cUTdK1PDd93/VVr8B8",
        "not base64",
        "RSOYDt4T1cUTdK1PDd93/VVr8B9=",
        "AAAA",
        "UlNPWURUNFQ=",
    ] {
        assert!(!verify(TOKEN, URL, &documented(), signature), "{signature}");
    }
}

#[test]
fn order_of_form_fields_does_not_matter() {
    let mut turned = documented();
    turned.reverse();
    assert!(verify(TOKEN, URL, &turned, SIGNATURE));
}

#[test]
fn callback_gives_the_delivery_status() {
    for (name, status) in [
        ("queued", SmsStatus::InProgress),
        ("sent", SmsStatus::InProgress),
        ("delivered", SmsStatus::Delivered),
        ("undelivered", SmsStatus::Failed),
        ("failed", SmsStatus::Failed),
    ] {
        let report = SmsStatusReport::from_params(&params(&[
            ("MessageSid", "SM1"),
            ("MessageStatus", name),
            ("ErrorCode", "30003"),
        ]));
        let expected = SmsStatusReport {
            sid: "SM1".to_owned(),
            status,
            error_code: Some(30003),
        };
        assert_eq!(report, Some(expected));
    }
    assert_eq!(
        SmsStatusReport::from_params(&params(&[("MessageSid", "SM1"), ("MessageStatus", "odd")])),
        None
    );
    assert_eq!(
        SmsStatusReport::from_params(&params(&[("MessageStatus", "sent")])),
        None
    );
}
