//! Reading a receiver's answer, as much of it as anybody wants to see.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::Outcome;
use super::read_budget::ReadBudget;

/// So much of a body is read. Who sends more has answered all the same, but the connection is not kept.
const READ: usize = 64 * 1024;
/// So much of it is kept.
const KEPT: usize = 1_024;

/// A body as far as it was read.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Answered {
    /// The beginning of it.
    pub(super) text: Option<String>,
    /// Whether that was all, so that the connection can be used again.
    pub(super) is_complete: bool,
}

pub(super) async fn read(mut body: Incoming, budget: &ReadBudget) -> Result<Answered, Outcome> {
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
            .map_err(|error| lost(&error))?
            .into_data()
            .unwrap_or_else(|_| Bytes::new());
        length += data.len();
        let room = KEPT - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if length > READ {
            is_complete = false;
            break;
        }
    }
    Ok(Answered {
        text: text(&kept),
        is_complete,
    })
}

/// Bytes as a text that does no harm where it is shown: what is no UTF-8 is replaced, control characters but the white
/// ones are left out. A character that the cut goes through is left out, too.
fn text(bytes: &[u8]) -> Option<String> {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if bytes.len() == KEPT && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    let text = String::from_utf8_lossy(whole);
    let text: String = text
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    let mut end = text.len().min(KEPT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (!text.is_empty()).then(|| text[..end].to_owned())
}

/// What an error on a connection comes to.
pub(super) fn lost(error: &hyper::Error) -> Outcome {
    if error.is_parse() {
        Outcome::BadAnswer
    } else {
        Outcome::ConnectionLost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_clean_text_of_at_most_a_kibibyte() {
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
