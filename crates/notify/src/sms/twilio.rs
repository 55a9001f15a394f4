//! Posts a message to Twilio's Messages resource and reads what it says.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;
use url::{Host, Url};

use super::{Sender, Sms, SmsError, TwilioSettings};
use crate::client::tls;
use crate::message_attempt::{MessageAttempt, MessageOutcome};
use crate::provider::{self, lost};
use crate::schedule::retry_after;
use crate::time::Time;

/// So much of an answer is read.
const READ: usize = 64 * 1024;
/// A sid has at most so many characters.
const SID: usize = 64;

/// Hands text messages to Twilio.
pub struct Twilio {
    client: Client,
    url: Url,
    settings: TwilioSettings,
    time: Arc<dyn Time>,
}

impl fmt::Debug for Twilio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Twilio")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Twilio's answer, as far as it matters: a message, or an error.
#[derive(Default, Deserialize)]
struct Answer {
    #[serde(default)]
    sid: Option<String>,
    #[serde(default)]
    code: Option<u32>,
    #[serde(default)]
    message: Option<String>,
}

/// What went wrong, and what Twilio said to it.
type Fault = (MessageOutcome, Option<String>);

impl Twilio {
    /// A sender of text messages.
    ///
    /// # Errors
    /// [`SmsError`], if a setting is none to work with.
    pub fn new(settings: TwilioSettings, time: Arc<dyn Time>) -> Result<Self, SmsError> {
        let sid = &settings.account_sid;
        if sid.is_empty() || !sid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(SmsError::BadAccountSid);
        }
        let url = base(&settings.base_url).ok_or(SmsError::BadBaseUrl)?;
        let path = format!(
            "{}/2010-04-01/Accounts/{sid}/Messages.json",
            url.path().trim_end_matches('/')
        );
        let url = url.join(&path).map_err(|_| SmsError::BadBaseUrl)?;
        let client = provider::builder(tls::config(&settings.own_roots, &time)?).build()?;
        Ok(Self {
            client,
            url,
            settings,
            time,
        })
    }

    /// One attempt to hand a message to Twilio.
    pub async fn send(&self, sms: &Sms) -> MessageAttempt {
        let at = self.time.now();
        let ended = |outcome, detail: Option<&str>| MessageAttempt::ended(at, self.time.now(), outcome, detail);
        if !is_number(&sms.to) {
            return ended(
                MessageOutcome::Unsendable,
                Some("the recipient's number is none; it reads +15551234567"),
            );
        }
        let done = tokio::select! {
            biased;
            done = self.exchange(sms) => done,
            () = self.time.sleep(self.settings.timeout) => Err((MessageOutcome::TimedOut, None)),
        };
        match done {
            Ok(sid) => MessageAttempt {
                provider_id: sid,
                ..ended(MessageOutcome::Delivered, None)
            },
            Err((outcome, detail)) => ended(outcome, detail.as_deref()),
        }
    }

    /// It is `Ok` with the message's sid, once Twilio has taken it.
    async fn exchange(&self, sms: &Sms) -> Result<Option<String>, Fault> {
        let mut form = vec![("To", sms.to.as_str()), ("Body", sms.text.as_str())];
        form.push(match &self.settings.sender {
            Sender::From(number) => ("From", number),
            Sender::MessagingService(sid) => ("MessagingServiceSid", sid),
        });
        if let Some(url) = &self.settings.status_callback {
            form.push(("StatusCallback", url));
        }
        let request = self.client.post(self.url.clone());
        let request = request
            .basic_auth(&self.settings.account_sid, Some(&self.settings.auth_token))
            .form(&form);
        let response = request.send().await.map_err(|error| (lost(&error).into(), None))?;
        let status = response.status();
        let wait = wait(&response, self.time.now());
        let answer = read(response).await;
        if status.is_success() {
            // Taken is taken, even if nobody can say by which name: a second try would be a second message.
            return Ok(answer.ok().and_then(|answer| answer.sid).filter(|sid| is_sid(sid)));
        }
        let answer = answer.unwrap_or_default();
        Err((judged(status, answer.code, wait), answer.message))
    }
}

/// What a refusal comes to.
fn judged(status: StatusCode, error: Option<u32>, retry_after: Option<Duration>) -> MessageOutcome {
    let code = error.unwrap_or(u32::from(status.as_u16()));
    let deferred = MessageOutcome::Deferred { code, retry_after };
    match (status, code) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) | (_, 20003 | 20005) => MessageOutcome::NotAuthenticated,
        // Too many at once, or the sender's queue is full.
        (StatusCode::BAD_REQUEST, 14107 | 20429 | 21611 | 30001 | 30022) => deferred,
        // The sender is not ours, not configured, or not allowed to: for the operator to mend.
        (
            StatusCode::BAD_REQUEST,
            21212 | 21603 | 21606 | 21607 | 21608 | 21609 | 21618 | 21659 | 21660 | 21701..=21705,
        ) => deferred,
        (StatusCode::BAD_REQUEST, _) => MessageOutcome::Refused { code },
        (status, _) if status.is_redirection() || status.is_informational() => MessageOutcome::BadAnswer,
        _ => deferred,
    }
}

/// Reads an answer, as much of it as an answer has.
async fn read(mut response: Response) -> Result<Answer, ()> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(drop)? {
        if bytes.len() + chunk.len() > READ {
            return Err(());
        }
        bytes.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&bytes).map_err(drop)
}

/// How long Twilio asks to be left alone.
fn wait(response: &Response, now: Timestamp) -> Option<Duration> {
    retry_after(response.headers().get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// Where the API is. The secret goes there, so it goes there encrypted, or stays on this machine.
fn base(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_here = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
    let is_bare =
        url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    (is_safe && is_bare).then_some(url)
}

/// A number in E.164.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
}

fn is_sid(text: &str) -> bool {
    (1..=SID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
