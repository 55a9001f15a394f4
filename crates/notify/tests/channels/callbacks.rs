//! Whether a callback is from Twilio, and what it tells.

use notify::sms::callback::{Progress, StatusReport, verify};

fn params(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// The example of Twilio's documentation on the security of webhooks.
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
fn twilios_own_example_is_verified() {
    assert!(verify(TOKEN, URL, &documented(), SIGNATURE));
}

#[test]
fn anything_that_was_changed_is_not_from_twilio() {
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
fn the_order_of_the_form_does_not_matter() {
    let mut turned = documented();
    turned.reverse();
    assert!(verify(TOKEN, URL, &turned, SIGNATURE));
}

#[test]
fn a_callback_tells_how_far_a_message_has_got() {
    for (status, progress) in [
        ("queued", Progress::UnderWay),
        ("sent", Progress::UnderWay),
        ("delivered", Progress::Delivered),
        ("undelivered", Progress::Failed),
        ("failed", Progress::Failed),
    ] {
        let told = StatusReport::of_params(&params(&[
            ("MessageSid", "SM1"),
            ("MessageStatus", status),
            ("ErrorCode", "30003"),
        ]));
        let expected = StatusReport {
            sid: "SM1".to_owned(),
            progress,
            error_code: Some(30003),
        };
        assert_eq!(told, Some(expected));
    }
    assert_eq!(
        StatusReport::of_params(&params(&[("MessageSid", "SM1"), ("MessageStatus", "odd")])),
        None
    );
    assert_eq!(StatusReport::of_params(&params(&[("MessageStatus", "sent")])), None);
}
