//! Whether a delivery is to be trusted, as any receiver would find out.

use std::fmt;

use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use notify::signature::{Form, Secret, service, standard};
use serde_json::Value;

/// What a signature is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is right.
    Right(&'static str),
    /// It is wrong, and why.
    Wrong(String),
    /// There is none.
    NotSigned,
    /// There is no secret to verify it with.
    NotVerified,
}

impl Verdict {
    /// Whether there is something wrong with it.
    #[must_use]
    pub const fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong(_))
    }

    /// Whether it is right.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        matches!(self, Self::Right(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Right(over) => write!(f, "right, over {over}"),
            Self::Wrong(why) => write!(f, "WRONG: {why}"),
            Self::NotSigned => f.write_str("none"),
            Self::NotVerified => f.write_str("not verified (give --secret)"),
        }
    }
}

/// A delivery that was received and verified.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// When it came.
    pub at: Timestamp,
    /// Its id.
    pub id: Option<String>,
    /// The service's own signature.
    pub service: Verdict,
    /// That of Standard Webhooks.
    pub standard: Verdict,
    /// The body, or null if it is no JSON.
    pub body: Value,
    /// The body as it came, fit for a terminal.
    pub text: String,
}

impl Checked {
    /// Verifies a delivery.
    #[must_use]
    pub fn of(headers: &HeaderMap, body: &[u8], secret: Option<&Secret>, at: Timestamp) -> Self {
        Self {
            at,
            id: text(headers, "webhook-id").map(str::to_owned),
            service: of_service(headers, body, secret),
            standard: of_standard(headers, body, secret, at),
            body: serde_json::from_slice(body).unwrap_or_default(),
            text: plain(&String::from_utf8_lossy(body)),
        }
    }

    /// Whether it is to be trusted: signed, and nothing wrong with it.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        self.service.is_right() && self.standard.is_right()
    }

    /// What it tells, for a person: the stock, the condition and the reason.
    #[must_use]
    pub fn summary(&self) -> String {
        let part = |pointer: &str| self.body.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        plain(&format!(
            "{:<5} {:<22} {}",
            part("/data/alert/symbol"),
            part("/data/alert/condition"),
            part("/data/reason")
        ))
    }

    /// How long after the event it came.
    #[must_use]
    pub fn delay(&self) -> Option<SignedDuration> {
        let event: Timestamp = self.body.get("timestamp")?.as_str()?.parse().ok()?;
        Some(self.at.duration_since(event))
    }
}

/// A text without what a terminal would obey: anybody may have sent it.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The prefix that headers are sent with is a setting, so any will do; of several, all have to be right.
fn of_service(headers: &HeaderMap, body: &[u8], secret: Option<&Secret>) -> Verdict {
    let names = headers.keys().map(http::HeaderName::as_str);
    let prefixes = names
        .filter(|name| *name != "webhook-signature")
        .filter_map(|name| name.strip_suffix("-signature"));
    let verdicts = prefixes.map(|prefix| {
        let signature = text(headers, &format!("{prefix}-signature")).unwrap_or_default();
        let timestamp = text(headers, &format!("{prefix}-timestamp")).unwrap_or_default();
        let Some(secret) = secret else {
            return Verdict::NotVerified;
        };
        if service::verify(Form::Timestamped, secret, timestamp, body, signature) {
            Verdict::Right("timestamp.body")
        } else if service::verify(Form::Body, secret, timestamp, body, signature) {
            Verdict::Right("the body")
        } else {
            Verdict::Wrong(format!("{prefix}-signature is not by this secret, or not of this body"))
        }
    });
    let verdicts: Vec<Verdict> = verdicts.collect();
    let wrong = verdicts.iter().find(|verdict| verdict.is_wrong());
    wrong
        .or_else(|| verdicts.first())
        .cloned()
        .unwrap_or(Verdict::NotSigned)
}

fn of_standard(headers: &HeaderMap, body: &[u8], secret: Option<&Secret>, at: Timestamp) -> Verdict {
    let Some(signatures) = text(headers, "webhook-signature") else {
        return Verdict::NotSigned;
    };
    let Some(secret) = secret else {
        return Verdict::NotVerified;
    };
    let id = text(headers, "webhook-id").unwrap_or_default();
    let timestamp = text(headers, "webhook-timestamp").unwrap_or_default();
    match standard::verify(secret, id, timestamp, signatures, body, at) {
        Ok(()) => Verdict::Right("id.timestamp.body"),
        Err(distrust) => Verdict::Wrong(distrust.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use notify::signature::{Delivery, HeaderStyle, Secrets};
    use uuid::Uuid;

    use super::*;

    const BODY: &[u8] = br#"{"event":"alert.triggered","data":{"alert":{"symbol":"AAPL"}}}"#;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn headers(form: Form, secret: &Secret) -> HeaderMap {
        HeaderStyle::default().headers(&Delivery {
            id: Uuid::from_u128(1),
            event: "alert.triggered",
            generated_at: at("2026-03-02T15:00:00Z"),
            attempted_at: at("2026-03-02T15:04:00Z"),
            body: BODY,
            secrets: &Secrets::from(secret.clone()),
            form,
        })
    }

    #[test]
    fn a_delivery_in_either_form_is_right_by_its_secret_and_wrong_by_another() {
        let (secret, other) = (Secret::from_random([1; 32]), Secret::from_random([2; 32]));
        let now = at("2026-03-02T15:04:05Z");
        for (form, over) in [(Form::Timestamped, "timestamp.body"), (Form::Body, "the body")] {
            let headers = headers(form, &secret);
            let right = Checked::of(&headers, BODY, Some(&secret), now);
            assert_eq!(right.service, Verdict::Right(over));
            assert!(right.is_trusted());
            for (secret, body) in [(&other, BODY), (&secret, &BODY[1..])] {
                let wrong = Checked::of(&headers, body, Some(secret), now);
                assert!(wrong.service.is_wrong() && wrong.standard.is_wrong(), "{wrong:?}");
            }
        }
    }

    #[test]
    fn of_several_prefixes_one_that_is_wrong_is_told() {
        let secret = Secret::from_random([1; 32]);
        let mut headers = headers(Form::Timestamped, &secret);
        headers.insert("x-stockalert-signature", "sha256=00".parse().unwrap());
        let checked = Checked::of(&headers, BODY, Some(&secret), at("2026-03-02T15:04:05Z"));
        assert!(
            checked.service.to_string().contains("x-stockalert-signature"),
            "{checked:?}"
        );
    }

    #[test]
    fn an_old_delivery_is_not_trusted() {
        let secret = Secret::from_random([1; 32]);
        let checked = Checked::of(
            &headers(Form::Body, &secret),
            BODY,
            Some(&secret),
            at("2026-03-02T15:10:00Z"),
        );
        assert!(checked.service.is_right() && checked.standard.is_wrong());
    }

    #[test]
    fn without_a_secret_nothing_is_verified_and_without_a_signature_nothing_is_signed() {
        let secret = Secret::from_random([1; 32]);
        let now = at("2026-03-02T15:04:05Z");
        let checked = Checked::of(&headers(Form::Body, &secret), BODY, None, now);
        assert_eq!(
            (checked.service, checked.standard),
            (Verdict::NotVerified, Verdict::NotVerified)
        );
        let checked = Checked::of(&HeaderMap::new(), b"hello", Some(&secret), now);
        assert_eq!(
            (checked.service, checked.standard),
            (Verdict::NotSigned, Verdict::NotSigned)
        );
        assert!(checked.body.is_null());
    }

    #[test]
    fn nothing_of_a_delivery_means_anything_to_a_terminal() {
        for body in [r#"{"data":{"reason":"\u001b[31m"}}"#, "\u{1b}[2J\u{9b}2J\n"] {
            let checked = Checked::of(&HeaderMap::new(), body.as_bytes(), None, at("2026-03-02T15:04:05Z"));
            let shown = checked.summary() + &checked.text;
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
    }

    #[test]
    fn how_long_it_took_counts_from_the_event() {
        let body = br#"{"timestamp":"2026-03-02T15:04:00.250Z"}"#;
        let checked = Checked::of(&HeaderMap::new(), body, None, at("2026-03-02T15:04:01Z"));
        assert_eq!(checked.delay(), Some(SignedDuration::from_millis(750)));
        let none = Checked::of(&HeaderMap::new(), BODY, None, at("2026-03-02T15:04:01Z"));
        assert_eq!(none.delay(), None);
    }
}
