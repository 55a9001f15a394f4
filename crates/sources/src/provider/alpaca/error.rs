//! What Alpaca means by an error.

use serde::Deserialize;

use super::NAME;
use crate::provider::stream::StreamFault;
use crate::provider::{ProviderError, json};

/// `{"message": "..."}`, also with a `code`.
#[derive(Debug, Deserialize)]
struct Body {
    message: String,
}

/// What it means by a status and a body where HTTP does not say it.
pub(super) fn judge(status: u16, body: &[u8]) -> Option<ProviderError> {
    match status {
        // A symbol that is none is refused together with all the others, and named.
        400 | 422 => Some(ProviderError::Refused {
            provider: NAME,
            status,
            symbol: json::maybe::<Body>(body).and_then(|body| named_symbol(&body.message)),
        }),
        _ => None,
    }
}

/// The symbol in `invalid symbol: FOO`; the documentation does not fix the words around it.
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

/// What a code of the stream means ("WebSocket stream", errors).
pub(super) const fn stream_fault(code: u16) -> StreamFault {
    match code {
        // auth failed
        402 => StreamFault::Unauthorized,
        // symbol limit exceeded
        405 => StreamFault::TooManySymbols,
        // connection limit exceeded
        406 => StreamFault::Crowded,
        // slow client
        407 => StreamFault::Slow,
        // insufficient subscription
        409 => StreamFault::Forbidden,
        // invalid syntax, not authenticated, already authenticated, auth timeout, invalid action, internal error
        code => StreamFault::Other(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_that_is_refused_is_named() {
        let named = |message: &str| {
            let body = serde_json::json!({ "message": message }).to_string();
            match judge(400, body.as_bytes()) {
                Some(ProviderError::Refused { symbol, .. }) => symbol,
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
    fn each_code_of_the_stream_has_a_meaning() {
        assert_eq!(stream_fault(402), StreamFault::Unauthorized);
        assert_eq!(stream_fault(405), StreamFault::TooManySymbols);
        assert_eq!(stream_fault(406), StreamFault::Crowded);
        assert_eq!(stream_fault(407), StreamFault::Slow);
        assert_eq!(stream_fault(409), StreamFault::Forbidden);
        assert_eq!(stream_fault(404), StreamFault::Other(404));
    }
}
