//! Request bodies about webhooks.

use std::sync::Arc;

use foundation::request::{BodyReader, Field, NamedSchema, OrTrue, RefOr, Schema, add_component, array_of};
use foundation::request::{formatted, reference};
use foundation::{ServiceError, enumerations, request, texts};
use jiff::Timestamp;
use notify::address::{LookupOwner, TargetUrl, UrlPolicy, UrlPolicyError};
use notify::signature::{SignatureFormat, SigningSecret};
use serde_json::Value;
use store::model::{AccountId, SignatureForm};

use super::{DeliveryContext, EVENT};

texts! {
    /// The URL of a webhook; [`check_url`] checks it.
    WebhookUrl = |text| Ok(text.to_owned()), formatted("uri").max_length(Some(2048)).pattern(Some("^https://"));
}

enumerations! {
    /// An event type of webhooks.
    EventName = vec![EVENT], None;
}

/// Subscribed events.
pub struct Events(pub(super) Vec<String>);

impl Field for Events {
    fn read(value: &Value) -> Result<Self, String> {
        let is_known = |events: &&Vec<Value>| !events.is_empty() && events.iter().all(|event| event == EVENT);
        let events = value.as_array().filter(is_known).map(|_| Self(vec![EVENT.to_owned()]));
        events.ok_or_else(|| format!("must be [\"{EVENT}\"], the only event"))
    }

    fn schema() -> RefOr<Schema> {
        array_of(reference("EventName"))
    }

    fn components(schemas: &mut Vec<NamedSchema>) {
        add_component::<EventName>(schemas);
    }
}

request! {
    /// The webhook to create.
    CreateWebhookRequest as "CreateWebhook" {
        /// Public https URL without user info and fragment. If the operator allows private ranges (`webhooks.allow_private_cidrs`), http
        /// URLs to these ranges are also accepted.
        url: WebhookUrl = "https://example.com/hooks/bellwether",
        /// Subscribed events.
        events: Events = [EVENT],
        /// Signing secret; generated if omitted.
        secret: Option<SigningSecret>,
        /// Signed content of the `X-Service-Signature` header.
        signature: Option<SignatureFormat>,
        /// Whether the webhook is active; defaults to `true`.
        is_active: OrTrue,
    }
}

request! {
    /// The fields to change. Omitted fields keep their values.
    UpdateWebhookRequest as "UpdateWebhook" {
        /// URL.
        url: Option<WebhookUrl>,
        /// Subscribed events.
        events: Option<Events>,
        /// Whether the webhook is active.
        is_active: Option<bool>,
    }
}

request! {
    /// A test delivery.
    TestWebhookRequest as "TestWebhook" {
        /// URL, with the same rules as for a webhook.
        url: WebhookUrl = "https://example.com/hooks/bellwether",
        /// Signing secret; not required for Slack.
        secret: Option<SigningSecret> = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
        /// Signed content of the `X-Service-Signature` header.
        signature: Option<SignatureFormat>,
    }
}

request! {
    /// The failed deliveries to recover.
    RecoverDeliveriesRequest as "RecoverWebhook" {
        /// Recovers deliveries of events at or after this time.
        since: Timestamp = "2026-03-02T15:04:00.000Z",
    }
}

/// Checks the URL of a body without a name lookup. Returns it if it is valid.
pub(super) fn check_url(body: &mut BodyReader<'_>, rules: &UrlPolicy) -> Option<TargetUrl> {
    let checked = rules.check(body.value("url")?.as_str()?);
    checked.map_err(|error| body.add_error("url", error.to_string())).ok()
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
    use foundation::request::Request;
    use serde_json::json;

    use super::*;

    fn errors(change: Value) -> Vec<String> {
        let mut body = json!({"url": "https://example.com/hook", "events": [EVENT]});
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let read = CreateWebhookRequest::read_and(&body, |body| _ = check_url(body, &UrlPolicy::default()));
        match read {
            Ok(_) => Vec::new(),
            Err(ServiceError::Invalid { fields, .. }) => fields.into_keys().collect(),
            Err(other) => panic!("{other}"),
        }
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
            assert_eq!(errors(json!({ "events": events })), ["events"], "{events}");
        }
        for events in [json!([EVENT]), json!([EVENT, EVENT])] {
            assert_eq!(Events::read(&events).unwrap().0, [EVENT]);
        }
    }

    #[test]
    fn secret_is_a_non_empty_text_or_absent() {
        for secret in [json!(""), json!(7), json!("a\0b"), json!("x".repeat(513))] {
            assert_eq!(errors(json!({ "secret": secret })), ["secret"]);
        }
        for body in [json!({}), json!({"secret": null})] {
            assert!(errors(body).is_empty());
        }
    }

    #[test]
    fn signature_format_is_body_or_timestamped() {
        for (name, form) in [
            ("body", SignatureFormat::Body),
            ("timestamped", SignatureFormat::Timestamped),
        ] {
            assert_eq!(SignatureFormat::read(&json!(name)), Ok(form));
        }
        assert_eq!(errors(json!({"signature": "md5"})), ["signature"]);
    }

    #[test]
    fn url_must_be_https_and_public() {
        assert!(errors(json!({"url": "https://example.com/hook"})).is_empty());
        for url in [
            "http://example.com",
            "https://127.0.0.1/",
            "https://2130706433",
            "ftp://a",
            "",
            "https://u@a.example",
        ] {
            assert_eq!(errors(json!({ "url": url })), ["url"], "{url}");
        }
    }
}
