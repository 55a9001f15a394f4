//! Mapping of Finnhub's errors.

use super::NAME;
use crate::provider::ProviderError;

/// Maps a status and a body to an error where Finnhub deviates from HTTP semantics.
pub(super) fn classify_error(status: u16, body: &[u8]) -> Option<ProviderError> {
    let contains = |words: &str| {
        body.windows(words.len())
            .any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
    };
    // An unsupported symbol fails its request with 400 or 422.
    (matches!(status, 400 | 422) && contains("symbol not supported"))
        .then_some(ProviderError::NotFound { provider: NAME })
}
