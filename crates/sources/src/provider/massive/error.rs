//! Mapping of Massive's errors.

use serde::Deserialize;

use super::NAME;
use crate::provider::{ProviderError, json};

#[derive(Debug, Deserialize)]
struct Body {
    status: String,
}

/// Maps a status and a body to an error where Massive deviates from HTTP semantics.
pub(super) fn classify_error(status: u16, body: &[u8]) -> Option<ProviderError> {
    // Only small bodies are parsed here; a body with data is large.
    let body = Some(body).filter(|body| body.len() < 4_096)?;
    let reported = json::parse_optional::<Body>(body)?.status;
    match (status, reported.as_str()) {
        (200 | 403, "NOT_AUTHORIZED") => Some(ProviderError::Forbidden { provider: NAME }),
        (_, "NOT_FOUND") => Some(ProviderError::NotFound { provider: NAME }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insufficient_plan_is_recognised_even_with_status_200() {
        let body = br#"{"status":"NOT_AUTHORIZED","request_id":"x","message":"You are not entitled to this data."}"#;
        assert_eq!(
            classify_error(200, body),
            Some(ProviderError::Forbidden { provider: NAME })
        );
        assert_eq!(classify_error(200, br#"{"status":"DELAYED","results":[]}"#), None);
        assert_eq!(
            classify_error(404, br#"{"status":"NOT_FOUND"}"#),
            Some(ProviderError::NotFound { provider: NAME })
        );
    }
}
