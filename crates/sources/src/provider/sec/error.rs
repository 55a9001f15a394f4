//! Mapping of the SEC's errors.

use std::time::Duration;

use super::NAME;
use crate::provider::ProviderError;

/// How long the SEC locks out a client that exceeds the rate limit. Further requests extend it.
const LOCKOUT_DURATION: Duration = Duration::from_secs(600);

/// Maps a status and a body to an error where the SEC deviates from HTTP semantics.
pub(super) fn classify_error(status: u16, body: &[u8]) -> Option<ProviderError> {
    let contains = |words: &str| body.windows(words.len()).any(|window| window == words.as_bytes());
    match status {
        403 | 429 if contains("Request Rate Threshold Exceeded") => Some(ProviderError::RateLimited {
            provider: NAME,
            retry_after: Some(LOCKOUT_DURATION),
        }),
        // The archive's storage returns 403 for files that do not exist.
        403 if contains("<Code>AccessDenied</Code>") || contains("<Code>NoSuchKey</Code>") => {
            Some(ProviderError::NotFound { provider: NAME })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_lockout_missing_file_and_rejection() {
        let locked = classify_error(403, b"<h1>Request Rate Threshold Exceeded</h1>");
        assert!(matches!(
            locked,
            Some(ProviderError::RateLimited {
                retry_after: Some(LOCKOUT_DURATION),
                ..
            })
        ));
        let missing = classify_error(403, b"<Error><Code>AccessDenied</Code></Error>");
        assert_eq!(missing, Some(ProviderError::NotFound { provider: NAME }));
        assert_eq!(
            classify_error(403, b"Your Request Originates from an Undeclared Automated Tool"),
            None
        );
    }
}
