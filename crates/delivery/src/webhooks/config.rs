//! Configuration of webhooks.

use jiff::SignedDuration;
use notify::address::Cidr;
use notify::schedule::RetrySchedule;
use notify::signature::HeaderStyle;

/// Configuration of webhooks.
#[derive(Clone, Debug)]
pub struct WebhooksConfig {
    /// Address ranges that are allowed besides public addresses, also by plain HTTP.
    pub allow_private: Vec<Cidr>,
    /// Delays between retries.
    pub retry_delays: RetrySchedule,
    /// Timeout of an attempt, from name lookup to the end of the response.
    pub timeout: SignedDuration,
    /// Headers of a delivery.
    pub headers: HeaderStyle,
    /// Additional root certificates, in DER.
    pub own_roots: Vec<Vec<u8>>,
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        Self {
            allow_private: Vec::new(),
            retry_delays: RetrySchedule::default(),
            timeout: SignedDuration::from_secs(5),
            headers: HeaderStyle::default(),
            own_roots: Vec::new(),
        }
    }
}
