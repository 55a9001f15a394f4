//! Mapping of Alpaca's errors.

use serde::Deserialize;

use super::NAME;
use crate::provider::stream::StreamError;
use crate::provider::{ProviderError, json};

/// An error body: `{"message": "..."}`, sometimes with a `code`.
#[derive(Debug, Deserialize)]
struct Body {
    message: String,
}

/// Maps a status and a body to an error where Alpaca deviates from HTTP semantics.
pub(super) fn classify_error(status: u16, body: &[u8]) -> Option<ProviderError> {
    match status {
        // An invalid symbol fails the whole request. The message names the symbol.
        400 | 422 => Some(ProviderError::Rejected {
            provider: NAME,
            status,
            symbol: json::parse_optional::<Body>(body).and_then(|body| named_symbol(&body.message)),
        }),
        _ => None,
    }
}

/// Returns the symbol in `invalid symbol: FOO`. The exact wording is undocumented.
fn named_symbol(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("symbol")?;
    let (_, name) = rest.split_once(':')?;
    let name: String = name
        .trim()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/'))
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Maps an error code of the stream ("WebSocket stream", errors).
pub(super) const fn stream_error(code: u16) -> StreamError {
    match code {
        // auth failed
        402 => StreamError::Unauthorized,
        // symbol limit exceeded
        405 => StreamError::TooManySymbols,
        // connection limit exceeded
        406 => StreamError::TooManyConnections,
        // slow client
        407 => StreamError::SlowConsumer,
        // insufficient subscription
        409 => StreamError::Forbidden,
        // invalid syntax, not authenticated, already authenticated, auth timeout, invalid action, internal error
        code => StreamError::Other(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_symbol_is_named() {
        let named = |message: &str| {
            let body = serde_json::json!({ "message": message }).to_string();
            match classify_error(400, body.as_bytes()) {
                Some(ProviderError::Rejected { symbol, .. }) => symbol,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(named("invalid symbol: FOO.BAR").as_deref(), Some("FOO.BAR"));
        assert_eq!(
            named("code=400, message=invalid symbol(s): XYZ, other"),
            Some("XYZ".into())
        );
        assert_eq!(named("invalid feed"), None);
    }

    #[test]
    fn maps_stream_error_codes() {
        assert_eq!(stream_error(402), StreamError::Unauthorized);
        assert_eq!(stream_error(405), StreamError::TooManySymbols);
        assert_eq!(stream_error(406), StreamError::TooManyConnections);
        assert_eq!(stream_error(407), StreamError::SlowConsumer);
        assert_eq!(stream_error(409), StreamError::Forbidden);
        assert_eq!(stream_error(404), StreamError::Other(404));
    }
}
