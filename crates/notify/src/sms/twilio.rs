//! A client of the Twilio Messages resource.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde::Deserialize;
use url::Url;

use super::{Sms, SmsError, SmsSender, TwilioConfig};
use crate::client::tls;
use crate::message_attempt::{MessageAttempt, MessageOutcome};
use crate::provider::{self, call_error, parse_base_url, read_body};
use crate::schedule::requested_delay;
use clock::Clock;

/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
/// Maximum length of a message SID, in characters.
const MAX_SID_LENGTH: usize = 64;

/// Sends text messages through Twilio.
pub struct Twilio {
    client: Client,
    url: Url,
    settings: TwilioConfig,
    time: Arc<dyn Clock>,
}

impl fmt::Debug for Twilio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Twilio")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The relevant fields of a Twilio response: a message, or an error.
#[derive(Default, Deserialize)]
struct TwilioResponse {
    #[serde(default)]
    sid: Option<String>,
    #[serde(default)]
    code: Option<u32>,
    #[serde(default)]
    message: Option<String>,
}

/// The outcome of a failed attempt, with the error message of Twilio.
type SendFailure = (MessageOutcome, Option<String>);

impl Twilio {
    /// Creates a client.
    ///
    /// # Errors
    /// [`SmsError`] if a setting is invalid.
    pub fn new(settings: TwilioConfig, time: Arc<dyn Clock>) -> Result<Self, SmsError> {
        let sid = &settings.account_sid;
        if sid.is_empty() || !sid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(SmsError::BadAccountSid);
        }
        let url = parse_base_url(&settings.base_url).ok_or(SmsError::BadBaseUrl)?;
        let path = format!(
            "{}/2010-04-01/Accounts/{sid}/Messages.json",
            url.path().trim_end_matches('/')
        );
        let url = url.join(&path).map_err(|_| SmsError::BadBaseUrl)?;
        let client = provider::builder(tls::config(&settings.extra_roots, &time)?).build()?;
        Ok(Self {
            client,
            url,
            settings,
            time,
        })
    }

    /// Makes one attempt to send a message.
    pub async fn send(&self, sms: &Sms) -> MessageAttempt {
        let at = self.time.now();
        let ended = |outcome, detail: Option<&str>| MessageAttempt::ended(at, self.time.now(), outcome, detail);
        if !is_number(&sms.to) {
            return ended(
                MessageOutcome::Unsendable,
                Some("the recipient's number is invalid; the form is +15551234567"),
            );
        }
        let result = tokio::select! {
            biased;
            result = self.exchange(sms) => result,
            () = self.time.sleep(self.settings.timeout) => Err((MessageOutcome::TimedOut, None)),
        };
        match result {
            Ok(sid) => MessageAttempt {
                provider_id: sid,
                ..ended(MessageOutcome::Delivered, None)
            },
            Err((outcome, detail)) => ended(outcome, detail.as_deref()),
        }
    }

    /// Posts the message. Returns its SID if Twilio accepts it.
    async fn exchange(&self, sms: &Sms) -> Result<Option<String>, SendFailure> {
        let mut form = vec![("To", sms.to.as_str()), ("Body", sms.text.as_str())];
        form.push(match &self.settings.sender {
            SmsSender::From(number) => ("From", number),
            SmsSender::MessagingService(sid) => ("MessagingServiceSid", sid),
        });
        if let Some(url) = &self.settings.status_callback {
            form.push(("StatusCallback", url));
        }
        let request = self.client.post(self.url.clone());
        let request = request
            .basic_auth(&self.settings.account_sid, Some(&self.settings.auth_token))
            .form(&form);
        let response = request
            .send()
            .await
            .map_err(|error| (call_error(&error).message_outcome(), None))?;
        let status = response.status();
        let delay = requested_delay(response.headers(), self.time.now());
        let body = read_body(response, MAX_RESPONSE_BYTES).await.unwrap_or_default();
        let body: Option<TwilioResponse> = serde_json::from_slice(&body).ok();
        if status.is_success() {
            // The message is accepted, even if its SID cannot be read. A retry would send it twice.
            return Ok(body.and_then(|body| body.sid).filter(|sid| is_sid(sid)));
        }
        let body = body.unwrap_or_default();
        Err((outcome_of_refusal(status, body.code, delay), body.message))
    }
}

/// Classifies an error response.
fn outcome_of_refusal(status: StatusCode, error: Option<u32>, retry_after: Option<Duration>) -> MessageOutcome {
    let code = error.unwrap_or(u32::from(status.as_u16()));
    let deferred = MessageOutcome::Deferred { code, retry_after };
    match (status, code) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) | (_, 20003 | 20005) => MessageOutcome::NotAuthenticated,
        // Too many requests, or the queue of the sender is full.
        (StatusCode::BAD_REQUEST, 14107 | 20429 | 21611 | 30001 | 30022) => deferred,
        // The sender is invalid, not configured or not permitted. The operator must fix that.
        (
            StatusCode::BAD_REQUEST,
            21212 | 21603 | 21606 | 21607 | 21608 | 21609 | 21618 | 21659 | 21660 | 21701..=21705,
        ) => deferred,
        (StatusCode::BAD_REQUEST, _) => MessageOutcome::Refused { code },
        (status, _) if status.is_redirection() || status.is_informational() => MessageOutcome::InvalidResponse,
        _ => deferred,
    }
}

/// Returns whether a text is a phone number in E.164.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
}

fn is_sid(text: &str) -> bool {
    (1..=MAX_SID_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
