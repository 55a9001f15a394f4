//! What Twilio tells about a message it took: whether the telephone got it.
//!
//! Anybody may post to a callback's URL, so Twilio signs: HMAC-SHA1 with the account's secret over the URL it was given and,
//! in the order of their names, the names and values of the form, all without anything between them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

/// Whether a callback is from Twilio. `url` is the whole URL that it was given, `params` are the form's fields, decoded, and
/// `signature` is the header `X-Twilio-Signature`.
#[must_use]
pub fn verify(auth_token: &str, url: &str, params: &[(String, String)], signature: &str) -> bool {
    let Ok(claimed) = STANDARD.decode(signature) else {
        return false;
    };
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(auth_token.as_bytes()) else {
        return false;
    };
    let mut params: Vec<_> = params.iter().collect();
    params.sort();
    params.dedup();
    mac.update(url.as_bytes());
    for (name, value) in params {
        mac.update(name.as_bytes());
        mac.update(value.as_bytes());
    }
    // It compares in constant time.
    mac.verify_slice(&claimed).is_ok()
}

/// How far a message has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It is on its way.
    UnderWay,
    /// The telephone has it.
    Delivered,
    /// It was given up.
    Failed,
}

/// What a callback tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusReport {
    /// Which message: [`provider_id`](crate::message_attempt::MessageAttempt::provider_id) of the attempt that sent it.
    pub sid: String,
    /// How far it has got.
    pub progress: Progress,
    /// Why it was given up, a number of Twilio's.
    pub error_code: Option<u32>,
}

impl StatusReport {
    /// Reads a callback's form, once it is known to be from Twilio. `None`, if it tells nothing of a message.
    #[must_use]
    pub fn of_params(params: &[(String, String)]) -> Option<Self> {
        let field = |name| {
            params
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value.as_str())
        };
        let sid = field("MessageSid").or_else(|| field("SmsSid"))?;
        let status = field("MessageStatus").or_else(|| field("SmsStatus"))?;
        let progress = match status {
            "delivered" | "read" => Progress::Delivered,
            "failed" | "undelivered" | "canceled" => Progress::Failed,
            "accepted" | "scheduled" | "queued" | "sending" | "sent" => Progress::UnderWay,
            _ => return None,
        };
        Some(Self {
            sid: sid.to_owned(),
            progress,
            error_code: field("ErrorCode").and_then(|code| code.parse().ok()),
        })
    }
}
