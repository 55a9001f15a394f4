//! The repetition of requests that fail for a moment.

use std::time::Duration;

use crate::ClientError;

/// How often, and for how long, a request is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRetryPolicy {
    /// The number of attempts, at least 1.
    pub max_attempts: u32,
    /// The pause after the first attempt, if the server names none. Each further pause is twice as long.
    pub first_pause: Duration,
    /// The longest pause, if the server names none.
    pub max_pause: Duration,
    /// Whether every error of a server (5xx) is repeated, as for a read that goes on for days. Otherwise only those that name a passing
    /// cause are.
    pub repeats_server_errors: bool,
    /// The longest pause that the server can name. If it demands a longer one, its error is returned instead.
    pub max_retry_after: Duration,
}

impl Default for RequestRetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            first_pause: Duration::from_millis(200),
            max_pause: Duration::from_secs(30),
            max_retry_after: Duration::from_secs(30),
            repeats_server_errors: false,
        }
    }
}

impl RequestRetryPolicy {
    /// Returns the pause after a failed attempt; `None` if the request is not repeated. `attempt` counts from 1.
    #[must_use]
    pub fn pause(&self, attempt: u32, error: &ClientError) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let named = match error {
            ClientError::Unreachable { .. } => None,
            ClientError::Refused(refusal) => match refusal.status {
                429 | 502 | 503 | 504 => refusal.retry_after_s,
                500.. if self.repeats_server_errors => refusal.retry_after_s,
                // A request with the same key is in progress.
                409 => Some(refusal.retry_after_s?),
                _ => return None,
            },
            ClientError::InvalidUrl(_) | ClientError::UnexpectedResponse { .. } => return None,
        };
        match named.map(Duration::from_secs) {
            None => {
                let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
                Some(self.first_pause.saturating_mul(doubled).min(self.max_pause))
            }
            Some(named) => (named <= self.max_retry_after).then_some(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestRefusal;

    fn refusal(status: u16, retry_after_s: Option<u64>) -> ClientError {
        ClientError::Refused(Box::new(RequestRefusal {
            status,
            code: String::new(),
            message: String::new(),
            details: serde_json::Map::new(),
            retry_after_s,
        }))
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = RequestRetryPolicy {
            max_attempts: 100,
            ..RequestRetryPolicy::default()
        };
        let unreachable = ClientError::Unreachable {
            url: String::new(),
            cause: String::new(),
        };
        let pause = |attempt| policy.pause(attempt, &unreachable);
        let milliseconds = Duration::from_millis;
        assert_eq!(pause(1), Some(milliseconds(200)));
        assert_eq!(pause(2), Some(milliseconds(400)));
        assert_eq!(pause(11), Some(policy.max_pause));
        assert_eq!(pause(99), Some(policy.max_pause));
        assert_eq!(pause(100), None);
    }

    #[test]
    fn pause_of_the_server_counts_up_to_the_longest() {
        let policy = RequestRetryPolicy::default();
        assert_eq!(policy.pause(1, &refusal(429, Some(30))), Some(Duration::from_secs(30)));
        assert_eq!(policy.pause(1, &refusal(429, Some(31))), None);
        assert_eq!(policy.pause(1, &refusal(503, None)), Some(policy.first_pause));
    }

    #[test]
    fn only_errors_that_pass_are_repeated() {
        let policy = RequestRetryPolicy::default();
        for status in [429, 502, 503, 504] {
            assert!(policy.pause(1, &refusal(status, None)).is_some(), "{status}");
        }
        for status in [400, 401, 403, 404, 409, 422, 500] {
            assert_eq!(policy.pause(1, &refusal(status, None)), None, "{status}");
        }
        assert!(policy.pause(1, &refusal(409, Some(2))).is_some());
        let patient = RequestRetryPolicy {
            repeats_server_errors: true,
            ..policy
        };
        for status in [500, 521] {
            assert!(patient.pause(1, &refusal(status, None)).is_some(), "{status}");
        }
        assert_eq!(patient.pause(1, &refusal(422, None)), None);
        assert_eq!(policy.pause(1, &ClientError::InvalidUrl("a".to_owned())), None);
    }
}
