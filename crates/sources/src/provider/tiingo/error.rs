//! Mapping of Tiingo's errors.

use super::NAME;
use crate::provider::ProviderError;

/// Maps a status and a body to an error where Tiingo deviates from HTTP semantics.
pub(super) fn classify_error(status: u16, body: &[u8]) -> Option<ProviderError> {
    // An exceeded hourly limit is a plain text message; users report it with status 200.
    let is_exceeded =
        body.starts_with(b"You have run over") || body.starts_with(b"{\"detail\":\"Error: You have run over");
    (matches!(status, 200 | 403 | 429) && is_exceeded).then_some(ProviderError::RateLimited {
        provider: NAME,
        retry_after: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceeded_hourly_limit_is_rate_limited() {
        let error = classify_error(200, b"You have run over your hourly request allocation");
        assert!(matches!(error, Some(ProviderError::RateLimited { .. })));
        assert_eq!(classify_error(200, b"[]"), None);
    }
}
