//! What Massive means by an error.

use serde::Deserialize;

use super::NAME;
use crate::provider::{ProviderError, json};

#[derive(Debug, Deserialize)]
struct Body {
    status: String,
}

/// What it means by a status and a body where HTTP does not say it.
pub(super) fn judge(status: u16, body: &[u8]) -> Option<ProviderError> {
    // A body of data is large; only a small one is read twice.
    let body = Some(body).filter(|body| body.len() < 4_096)?;
    let said = json::maybe::<Body>(body)?.status;
    match (status, said.as_str()) {
        (200 | 403, "NOT_AUTHORIZED") => Some(ProviderError::Forbidden { provider: NAME }),
        (_, "NOT_FOUND") => Some(ProviderError::NotFound { provider: NAME }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_is_too_small_is_told_even_with_status_200() {
        let body = br#"{"status":"NOT_AUTHORIZED","request_id":"x","message":"You are not entitled to this data."}"#;
        assert_eq!(judge(200, body), Some(ProviderError::Forbidden { provider: NAME }));
        assert_eq!(judge(200, br#"{"status":"DELAYED","results":[]}"#), None);
        assert_eq!(
            judge(404, br#"{"status":"NOT_FOUND"}"#),
            Some(ProviderError::NotFound { provider: NAME })
        );
    }
}
