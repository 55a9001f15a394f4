//! What the provider of text messages tells of a message after it has taken it.

use std::time::Duration;

use notify::sms::callback::{SmsStatus, SmsStatusReport, verify};
use store::model::MessageChannel;

use crate::ServiceError;
use crate::links::link;
use crate::messages::Outbox;

/// How often to look for a message that is not known yet: a provider may report faster than its answer gets to disk.
const LOOKS: u32 = 5;
/// How long to wait before looking again.
const BREATH: Duration = Duration::from_millis(200);

/// Where the provider tells what became of messages, for a service at that address.
#[must_use]
pub fn status_callback(public_url: &str) -> String {
    link(public_url, "sms/status", &[])
}

impl Outbox {
    /// Takes note of a report about a text message: the fields of its form, and its signature.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if there is no provider, or the message is none of ours, [`ServiceError::Forbidden`] if the
    /// report is not from the provider, [`ServiceError::Internal`] if the database fails.
    pub async fn sms_status(&self, params: &[(String, String)], signature: &str) -> Result<(), ServiceError> {
        let twilio = self.settings.messages.sms.twilio.as_ref();
        let Some((twilio, url)) = twilio.and_then(|twilio| Some((twilio, twilio.status_callback.as_deref()?))) else {
            return Err(ServiceError::NotFound("provider of text messages"));
        };
        if !verify(&twilio.auth_token, url, params, signature) {
            return Err(ServiceError::Forbidden {
                reason: "signature",
                required: None,
                message: "X-Twilio-Signature is not that of the configured account over this form; reports are taken from the \
                          provider alone"
                    .to_owned(),
            });
        }
        let Some(report) = SmsStatusReport::from_params(params) else {
            // It is the provider's, but about something else.
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
        for look in 0..LOOKS {
            if look > 0 {
                time.sleep(BREATH).await;
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
