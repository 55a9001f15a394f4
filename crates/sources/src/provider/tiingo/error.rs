//! What Tiingo means by an error.

use super::NAME;
use crate::provider::ProviderError;

/// What it means by a status and a body where HTTP does not say it.
pub(super) fn judge(status: u16, body: &[u8]) -> Option<ProviderError> {
    // Who has used up the hour is told so in plain words, with 200 as people report.
    let is_used_up =
        body.starts_with(b"You have run over") || body.starts_with(b"{\"detail\":\"Error: You have run over");
    (matches!(status, 200 | 403 | 429) && is_used_up).then_some(ProviderError::RateLimited {
        provider: NAME,
        retry_after: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_that_is_used_up_is_no_answer() {
        let said = judge(200, b"You have run over your hourly request allocation");
        assert!(matches!(said, Some(ProviderError::RateLimited { .. })));
        assert_eq!(judge(200, b"[]"), None);
    }
}
