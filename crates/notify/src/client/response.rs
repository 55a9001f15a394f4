//! Reads the response of a receiver, up to a size limit.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::WebhookOutcome;
use super::read_budget::ReadBudget;

/// Maximum number of body bytes to read. A longer response is valid, but its connection is not reused.
const MAX_READ_BYTES: usize = 64 * 1024;
/// Maximum number of body bytes to keep.
const MAX_KEPT_BYTES: usize = 1_024;

/// A response body, as far as it was read.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct ResponseBody {
    /// The beginning of the body.
    pub(super) text: Option<String>,
    /// Whether the body was read completely, so that the connection can be reused.
    pub(super) is_complete: bool,
}

pub(super) async fn read(mut body: Incoming, budget: &ReadBudget) -> Result<ResponseBody, WebhookOutcome> {
    let mut kept: Vec<u8> = Vec::new();
    let mut length = 0;
    let mut is_complete = true;
    loop {
        let Some(read) = budget.bound(body.frame()).await else {
            is_complete = false;
            break;
        };
        let Some(frame) = read else { break };
        let data = frame
            .map_err(|error| outcome_of_error(&error))?
            .into_data()
            .unwrap_or_else(|_| Bytes::new());
        length += data.len();
        let space = MAX_KEPT_BYTES - kept.len();
        kept.extend_from_slice(&data[..data.len().min(space)]);
        if length > MAX_READ_BYTES {
            is_complete = false;
            break;
        }
    }
    Ok(ResponseBody {
        text: text(&kept),
        is_complete,
    })
}

/// Converts bytes to text that is safe to display. Invalid UTF-8 is replaced. Control characters are removed, except line feeds and
/// tabs. A character that is cut off at the end is removed.
fn text(bytes: &[u8]) -> Option<String> {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if bytes.len() == MAX_KEPT_BYTES && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    let text = String::from_utf8_lossy(whole);
    let text: String = text
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    let mut end = text.len().min(MAX_KEPT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (!text.is_empty()).then(|| text[..end].to_owned())
}

/// Classifies a connection error.
pub(super) fn outcome_of_error(error: &hyper::Error) -> WebhookOutcome {
    if error.is_parse() {
        WebhookOutcome::InvalidResponse
    } else {
        WebhookOutcome::ConnectionLost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_text_is_clean_and_at_most_1_kib() {
        for (bytes, expected) in [
            (&b"ok"[..], Some("ok".to_owned())),
            (b"", None),
            (b"\x00\x1b[31m\r\n\ttwo\x7f", Some("[31m\n\ttwo".to_owned())),
            (b"\xff", Some("\u{fffd}".to_owned())),
            (b"caf\xc3\xa9", Some("café".to_owned())),
            ("é".repeat(512).as_bytes(), Some("é".repeat(512))),
            (
                &format!("x{}", "é".repeat(512)).as_bytes()[..1_024],
                Some(format!("x{}", "é".repeat(511))),
            ),
            (&[0xff; 1_024], Some("\u{fffd}".repeat(341))),
            (b"caf\xc3", Some("caf\u{fffd}".to_owned())),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }
}
