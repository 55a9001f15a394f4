//! What the SEC means by an error.

use std::time::Duration;

use super::NAME;
use crate::provider::ProviderError;

/// Who asked too often is locked out for so long, and longer if they go on.
const LOCKED_OUT: Duration = Duration::from_secs(600);

/// What it means by a status and a body where HTTP does not say it.
pub(super) fn judge(status: u16, body: &[u8]) -> Option<ProviderError> {
    let says = |words: &str| body.windows(words.len()).any(|window| window == words.as_bytes());
    match status {
        403 | 429 if says("Request Rate Threshold Exceeded") => Some(ProviderError::RateLimited {
            provider: NAME,
            retry_after: Some(LOCKED_OUT),
        }),
        // The archive's storage says so of what is not there.
        403 if says("<Code>AccessDenied</Code>") || says("<Code>NoSuchKey</Code>") => {
            Some(ProviderError::NotFound { provider: NAME })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_out_is_told_from_a_file_that_is_not_there_and_from_a_refusal() {
        let locked = judge(403, b"<h1>Request Rate Threshold Exceeded</h1>");
        assert!(matches!(
            locked,
            Some(ProviderError::RateLimited {
                retry_after: Some(LOCKED_OUT),
                ..
            })
        ));
        let missing = judge(403, b"<Error><Code>AccessDenied</Code></Error>");
        assert_eq!(missing, Some(ProviderError::NotFound { provider: NAME }));
        assert_eq!(
            judge(403, b"Your Request Originates from an Undeclared Automated Tool"),
            None
        );
    }
}
