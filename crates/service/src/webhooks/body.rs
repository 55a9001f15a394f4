//! Requests about webhooks, read with all their faults at once.

use std::sync::Arc;

use notify::address::{LookupOwner, TargetUrl, UrlPolicy, UrlPolicyError};
use notify::signature::{SignatureFormat, SigningSecret};
use serde_json::{Map, Value};
use store::model::SignatureForm;

use super::{DeliveryContext, EVENT};
use crate::{AccountId, Fields, ServiceError};

/// Reads the members of a body and gathers what is wrong with them.
pub(super) struct Body<'a> {
    members: &'a Map<String, Value>,
    faults: Fields,
}

impl<'a> Body<'a> {
    /// # Errors
    /// [`ServiceError::Malformed`] for a body that is no object.
    pub(super) fn of(body: &'a Value) -> Result<Self, ServiceError> {
        let members = body.as_object();
        let members = members.ok_or_else(|| ServiceError::Malformed("the body must be a JSON object".to_owned()))?;
        Ok(Self {
            members,
            faults: Fields::new(),
        })
    }

    pub(super) fn fault(&mut self, name: &str, fault: impl Into<String>) {
        self.faults.entry(name.to_owned()).or_default().push(fault.into());
    }

    /// A member; one that is null is as good as none.
    fn member(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn missing(&mut self, name: &str) {
        if !self.faults.contains_key(name) {
            self.fault(name, "is required");
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Option<&'a str> {
        let value = self.member(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.fault(name, "must be a text");
        }
        text
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.member(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.fault(name, "must be true or false");
        }
        flag
    }

    /// Refuses a member that cannot be changed.
    pub(super) fn fixed(&mut self, name: &str, fault: &str) {
        if self.member(name).is_some() {
            self.fault(name, fault);
        }
    }

    /// A URL, as far as it can be judged without looking its name up.
    pub(super) fn url(&mut self, rules: &UrlPolicy) -> Option<&'a str> {
        let text = self.text("url")?;
        match rules.check(text) {
            Ok(_) => Some(text),
            Err(error) => {
                self.fault("url", error.to_string());
                None
            }
        }
    }

    pub(super) fn events(&mut self) -> Option<Vec<String>> {
        let value = self.member("events")?;
        let is_known = |events: &&Vec<Value>| !events.is_empty() && events.iter().all(|event| event == EVENT);
        if value.as_array().filter(is_known).is_none() {
            self.fault("events", format!("must be [\"{EVENT}\"], the only event that is sent"));
            return None;
        }
        Some(vec![EVENT.to_owned()])
    }

    pub(super) fn secret(&mut self) -> Option<SigningSecret> {
        let text = self.text("secret")?;
        if text.contains('\0') {
            self.fault("secret", "must not contain the character U+0000");
            return None;
        }
        match SigningSecret::from_user(text) {
            Ok(secret) => Some(secret),
            Err(error) => {
                self.fault("secret", error.to_string());
                None
            }
        }
    }

    pub(super) fn signature(&mut self) -> Option<SignatureForm> {
        let text = self.text("signature")?;
        let form = SignatureFormat::from_name(text).map(kept);
        if form.is_none() {
            let allowed = [SignatureFormat::Timestamped, SignatureFormat::Body].map(|form| form.name());
            self.fault("signature", format!("must be one of {}", allowed.join(", ")));
        }
        form
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all faults.
    pub(super) fn finish(self) -> Result<(), ServiceError> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(ServiceError::fields(self.faults))
        }
    }
}

/// A form of signatures as it is kept.
pub(super) const fn kept(form: SignatureFormat) -> SignatureForm {
    match form {
        SignatureFormat::Timestamped => SignatureForm::Timestamped,
        SignatureFormat::Body => SignatureForm::Body,
    }
}

/// A form of signatures as it is signed by.
pub(super) const fn signed(form: SignatureForm) -> SignatureFormat {
    match form {
        SignatureForm::Timestamped => SignatureFormat::Timestamped,
        SignatureForm::Body => SignatureFormat::Body,
    }
}

impl DeliveryContext {
    /// Judges a URL with what its name resolves to.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`], which says nothing of what it resolves to.
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

    fn faults(body: &Value, read: impl Fn(&mut Body<'_>)) -> Vec<String> {
        let mut reader = Body::of(body).unwrap();
        read(&mut reader);
        reader.faults.into_keys().collect()
    }

    #[test]
    fn the_only_events_are_alert_triggered() {
        for events in [
            json!([]),
            json!("alert.triggered"),
            json!(["alert.created"]),
            json!([EVENT, 1]),
            json!({}),
        ] {
            assert_eq!(
                faults(&json!({ "events": events }), |body| _ = body.events()),
                ["events"],
                "{events}"
            );
        }
        for events in [json!([EVENT]), json!([EVENT, EVENT])] {
            let body = json!({ "events": events });
            assert_eq!(Body::of(&body).unwrap().events(), Some(vec![EVENT.to_owned()]));
        }
    }

    #[test]
    fn a_secret_is_a_text_that_is_not_empty_and_none_is_none() {
        for secret in [json!(""), json!(7), json!("a\0b"), json!("x".repeat(513))] {
            assert_eq!(
                faults(&json!({ "secret": secret }), |body| _ = body.secret()),
                ["secret"]
            );
        }
        for body in [json!({}), json!({"secret": null})] {
            assert_eq!(Body::of(&body).unwrap().secret(), None);
            assert!(Body::of(&body).unwrap().finish().is_ok());
        }
    }

    #[test]
    fn a_signature_is_over_the_body_alone_or_with_the_timestamp() {
        for (name, form) in [
            ("body", SignatureForm::Body),
            ("timestamped", SignatureForm::Timestamped),
        ] {
            assert_eq!(Body::of(&json!({ "signature": name })).unwrap().signature(), Some(form));
        }
        assert_eq!(
            faults(&json!({"signature": "md5"}), |body| _ = body.signature()),
            ["signature"]
        );
    }

    #[test]
    fn a_url_is_https_and_public() {
        let rules = UrlPolicy::default();
        let read = |url: &str| faults(&json!({ "url": url }), |body| _ = body.url(&rules));
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
