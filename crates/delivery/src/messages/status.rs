//! Delivery reports of the text message provider.

use std::time::Duration;

use notify::sms::callback::{SmsStatus, SmsStatusReport, verify};
use store::model::MessageChannel;

use crate::messages::OperatorOutbox;
use foundation::ServiceError;
use foundation::links::link;

/// Maximum number of lookups of the message. A report may arrive before the message's provider id is stored.
const MAX_LOOKUPS: u32 = 5;
/// Delay between lookups.
const LOOKUP_INTERVAL: Duration = Duration::from_millis(200);

/// Returns the callback URL for delivery reports, for a service at this public URL.
#[must_use]
pub fn status_callback(public_url: &str) -> String {
    link(public_url, "sms/status", &[])
}

impl OperatorOutbox {
    /// Records a delivery report of a text message, from its form fields and signature.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if no provider is configured or the message is unknown, [`ServiceError::Forbidden`]
    /// if the signature is invalid.
    pub async fn sms_status(&self, params: &[(String, String)], signature: &str) -> Result<(), ServiceError> {
        let twilio = self.settings.messages.sms.twilio.as_ref();
        let Some((twilio, url)) = twilio.and_then(|twilio| Some((twilio, twilio.status_callback.as_deref()?))) else {
            return Err(ServiceError::NotFound("provider of text messages"));
        };
        if !verify(&twilio.auth_token, url, params, signature) {
            return Err(ServiceError::Forbidden {
                reason: "signature",
                required: None,
                message: "X-Twilio-Signature is not valid for this form and the configured account; only the provider may send reports"
                    .to_owned(),
            });
        }
        let Some(report) = SmsStatusReport::from_params(params) else {
            // A valid report about something else.
            return Ok(());
        };
        let (outcome, has_failed) = match report.status {
            SmsStatus::InProgress => return Ok(()),
            SmsStatus::Delivered => ("delivered".to_owned(), false),
            SmsStatus::Failed => match report.error_code {
                Some(code) => (format!("undelivered ({code})"), true),
                None => ("undelivered".to_owned(), true),
            },
        };
        let time = &self.ports.network.time;
        for lookup in 0..MAX_LOOKUPS {
            if lookup > 0 {
                time.sleep(LOOKUP_INTERVAL).await;
            }
            let store = &self.ports.store;
            let noted = store.record_message_status(MessageChannel::Sms, &report.sid, &outcome, has_failed, time.now());
            if noted.await? {
                let outcome = if has_failed { "undelivered" } else { "delivered" };
                metrics::counter!("bellwether_sms_reports_total", "outcome" => outcome).increment(1);
                return Ok(());
            }
        }
        Err(ServiceError::NotFound("message"))
    }
}
