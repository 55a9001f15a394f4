//! How many messages a notification channel gets.

use delivery::notification_channels::{ChannelThrottle, Digest};

/// How many messages a channel gets, as the fields of a form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelLimits {
    /// The burst limit; empty for that of the service.
    pub burst_limit: String,
    /// `hourly`, `daily` or empty.
    pub digest: &'static str,
    /// The time of the daily digest: `17:30`.
    pub digest_time: String,
    /// The daily budget; empty for any number.
    pub daily_budget: String,
}

impl ChannelLimits {
    pub(super) fn of(throttle: ChannelThrottle) -> Self {
        let number = |limit: Option<u32>| limit.map_or_else(String::new, |limit| limit.to_string());
        let (digest, time) = match throttle.digest {
            None => ("", None),
            Some(Digest::Hourly) => ("hourly", None),
            Some(Digest::Daily(time)) => ("daily", Some(time)),
        };
        Self {
            burst_limit: number(throttle.burst_limit),
            digest,
            digest_time: time.map_or_else(|| "17:30".to_owned(), |time| time.strftime("%H:%M").to_string()),
            daily_budget: number(throttle.daily_budget),
        }
    }
}
