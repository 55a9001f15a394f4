//! Parses request bodies about webhooks and collects all errors.

use std::sync::Arc;

use notify::address::{LookupOwner, TargetUrl, UrlPolicy, UrlPolicyError};
use notify::signature::{SignatureFormat, SigningSecret};
use serde_json::{Map, Value};
use store::model::SignatureForm;

use super::{DeliveryContext, EVENT};
use foundation::{ErrorsByField, ServiceError};
use store::model::AccountId;

/// Reads the fields of a body and collects errors.
pub(super) struct WebhookBodyReader<'a> {
    members: &'a Map<String, Value>,
    errors: ErrorsByField,
}

impl<'a> WebhookBodyReader<'a> {
    /// Creates a reader.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if the body is not an object.
    pub(super) fn new(body: &'a Value) -> Result<Self, ServiceError> {
        let members = body.as_object();
        let members = members.ok_or_else(|| ServiceError::Malformed("the body must be a JSON object".to_owned()))?;
        Ok(Self {
            members,
            errors: ErrorsByField::new(),
        })
    }

    pub(super) fn add_error(&mut self, name: &str, fault: impl Into<String>) {
        self.errors.entry(name.to_owned()).or_default().push(fault.into());
    }

    /// Returns a field; `null` counts as absent.
    fn member(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn add_missing(&mut self, name: &str) {
        if !self.errors.contains_key(name) {
            self.add_error(name, "is required");
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Option<&'a str> {
        let value = self.member(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.add_error(name, "must be a text");
        }
        text
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        let value = self.member(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.add_error(name, "must be true or false");
        }
        flag
    }

    /// Rejects a field that cannot be changed.
    pub(super) fn reject(&mut self, name: &str, fault: &str) {
        if self.member(name).is_some() {
            self.add_error(name, fault);
        }
    }

    /// Reads a URL and checks it without a name lookup.
    pub(super) fn url(&mut self, rules: &UrlPolicy) -> Option<&'a str> {
        let text = self.text("url")?;
        match rules.check(text) {
            Ok(_) => Some(text),
            Err(error) => {
                self.add_error("url", error.to_string());
                None
            }
        }
    }

    pub(super) fn events(&mut self) -> Option<Vec<String>> {
        let value = self.member("events")?;
        let is_known = |events: &&Vec<Value>| !events.is_empty() && events.iter().all(|event| event == EVENT);
        if value.as_array().filter(is_known).is_none() {
            self.add_error("events", format!("must be [\"{EVENT}\"], the only event"));
            return None;
        }
        Some(vec![EVENT.to_owned()])
    }

    pub(super) fn secret(&mut self) -> Option<SigningSecret> {
        let text = self.text("secret")?;
        if text.contains('\0') {
            self.add_error("secret", "must not contain the character U+0000");
            return None;
        }
        match SigningSecret::from_user(text) {
            Ok(secret) => Some(secret),
            Err(error) => {
                self.add_error("secret", error.to_string());
                None
            }
        }
    }

    pub(super) fn signature(&mut self) -> Option<SignatureForm> {
        let text = self.text("signature")?;
        let form = SignatureFormat::from_name(text).map(stored_form);
        if form.is_none() {
            let allowed = [SignatureFormat::Timestamped, SignatureFormat::Body].map(|form| form.name());
            self.add_error("signature", format!("must be one of {}", allowed.join(", ")));
        }
        form
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors.
    pub(super) fn finish(self) -> Result<(), ServiceError> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(ServiceError::fields(self.errors))
        }
    }
}

/// Converts a signature format for the store.
pub(super) const fn stored_form(form: SignatureFormat) -> SignatureForm {
    match form {
        SignatureFormat::Timestamped => SignatureForm::Timestamped,
        SignatureFormat::Body => SignatureForm::Body,
    }
}

/// Converts a signature format for signing.
pub(super) const fn signing_form(form: SignatureForm) -> SignatureFormat {
    match form {
        SignatureForm::Timestamped => SignatureFormat::Timestamped,
        SignatureForm::Body => SignatureFormat::Body,
    }
}

impl DeliveryContext {
    /// Checks a URL and the addresses that its host resolves to.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`], which does not reveal the addresses.
    pub(super) async fn check(&self, account: AccountId, url: &str) -> Result<TargetUrl, ServiceError> {
        let (rules, lookups) = (self.rules.clone(), self.lookups.clone());
        let (time, url) = (Arc::clone(&self.network.time), url.to_owned());
        let owner = LookupOwner::Account(account.0);
        let check = async move { rules.check_resolved(&url, &lookups, owner, &*time).await };
        let checked = self.network.run(check).await;
        checked.map_err(|error: UrlPolicyError| ServiceError::field("url", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(body: &Value, read: impl Fn(&mut WebhookBodyReader<'_>)) -> Vec<String> {
        let mut reader = WebhookBodyReader::new(body).unwrap();
        read(&mut reader);
        reader.errors.into_keys().collect()
    }

    #[test]
    fn only_alert_triggered_is_a_valid_event() {
        for events in [
            json!([]),
            json!("alert.triggered"),
            json!(["alert.created"]),
            json!([EVENT, 1]),
            json!({}),
        ] {
            assert_eq!(
                errors(&json!({ "events": events }), |body| _ = body.events()),
                ["events"],
                "{events}"
            );
        }
        for events in [json!([EVENT]), json!([EVENT, EVENT])] {
            let body = json!({ "events": events });
            assert_eq!(
                WebhookBodyReader::new(&body).unwrap().events(),
                Some(vec![EVENT.to_owned()])
            );
        }
    }

    #[test]
    fn secret_is_a_non_empty_text_or_absent() {
        for secret in [json!(""), json!(7), json!("a\0b"), json!("x".repeat(513))] {
            assert_eq!(
                errors(&json!({ "secret": secret }), |body| _ = body.secret()),
                ["secret"]
            );
        }
        for body in [json!({}), json!({"secret": null})] {
            assert_eq!(WebhookBodyReader::new(&body).unwrap().secret(), None);
            assert!(WebhookBodyReader::new(&body).unwrap().finish().is_ok());
        }
    }

    #[test]
    fn signature_format_is_body_or_timestamped() {
        for (name, form) in [
            ("body", SignatureForm::Body),
            ("timestamped", SignatureForm::Timestamped),
        ] {
            assert_eq!(
                WebhookBodyReader::new(&json!({ "signature": name }))
                    .unwrap()
                    .signature(),
                Some(form)
            );
        }
        assert_eq!(
            errors(&json!({"signature": "md5"}), |body| _ = body.signature()),
            ["signature"]
        );
    }

    #[test]
    fn url_must_be_https_and_public() {
        let rules = UrlPolicy::default();
        let read = |url: &str| errors(&json!({ "url": url }), |body| _ = body.url(&rules));
        assert!(read("https://example.com/hook").is_empty());
        for url in [
            "http://example.com",
            "https://127.0.0.1/",
            "https://2130706433",
            "ftp://a",
            "",
            "https://u@a.example",
        ] {
            assert_eq!(read(url), ["url"], "{url}");
        }
    }
}
