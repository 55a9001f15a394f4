//! The repetition of requests that fail for a moment.

use std::time::Duration;

/// How often, and for how long, a request is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRetryPolicy {
    /// The number of attempts, at least 1.
    pub max_attempts: u32,
    /// The pause after the first attempt, if the server names none. Each further pause is twice as long.
    pub first_pause: Duration,
    /// The longest pause. If the server demands a longer one, its error is returned instead.
    pub max_pause: Duration,
}

impl Default for RequestRetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            first_pause: Duration::from_millis(200),
            max_pause: Duration::from_secs(30),
        }
    }
}

/// The result of a failed attempt, as far as it decides about another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailedAttempt {
    /// No response was received.
    NoResponse,
    /// An error response with its status and its `Retry-After`, in seconds.
    Response { status: u16, retry_after_s: Option<u64> },
}

impl RequestRetryPolicy {
    /// Returns the pause before the next attempt; `None` if there is none. `attempt` counts from 1.
    pub(crate) fn pause(&self, attempt: u32, failed: FailedAttempt) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let own = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt - 1));
        let named = match failed {
            FailedAttempt::NoResponse => None,
            FailedAttempt::Response { status, retry_after_s } => match status {
                429 | 502 | 503 | 504 => retry_after_s,
                // A request with the same key is in progress.
                409 => Some(retry_after_s?),
                _ => return None,
            },
        };
        match named.map(Duration::from_secs) {
            None => Some(own.min(self.max_pause)),
            Some(named) => (named <= self.max_pause).then_some(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, retry_after_s: Option<u64>) -> FailedAttempt {
        FailedAttempt::Response { status, retry_after_s }
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = RequestRetryPolicy {
            max_attempts: 12,
            ..RequestRetryPolicy::default()
        };
        let pause = |attempt| policy.pause(attempt, FailedAttempt::NoResponse);
        let milliseconds = Duration::from_millis;
        assert_eq!(pause(1), Some(milliseconds(200)));
        assert_eq!(pause(2), Some(milliseconds(400)));
        assert_eq!(pause(11), Some(policy.max_pause));
        assert_eq!(pause(12), None);
    }

    #[test]
    fn pause_of_the_server_counts_up_to_the_longest() {
        let policy = RequestRetryPolicy::default();
        assert_eq!(policy.pause(1, response(429, Some(30))), Some(Duration::from_secs(30)));
        assert_eq!(policy.pause(1, response(429, Some(31))), None);
        assert_eq!(policy.pause(1, response(503, None)), Some(policy.first_pause));
    }

    #[test]
    fn only_errors_that_pass_are_repeated() {
        let policy = RequestRetryPolicy::default();
        for status in [429, 502, 503, 504] {
            assert!(policy.pause(1, response(status, None)).is_some(), "{status}");
        }
        for status in [400, 401, 403, 404, 409, 422, 500] {
            assert_eq!(policy.pause(1, response(status, None)), None, "{status}");
        }
        assert!(policy.pause(1, response(409, Some(2))).is_some());
    }
}
