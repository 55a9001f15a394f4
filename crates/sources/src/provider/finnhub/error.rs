//! What Finnhub means by an error.

use super::NAME;
use crate::provider::ProviderError;

/// What it means by a status and a body where HTTP does not say it.
pub(super) fn judge(status: u16, body: &[u8]) -> Option<ProviderError> {
    let says = |words: &str| {
        body.windows(words.len())
            .any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
    };
    // A symbol that it does not cover is an error of the request to it.
    (matches!(status, 400 | 422) && says("symbol not supported")).then_some(ProviderError::NotFound { provider: NAME })
}
