//! The notice about the last change, kept in a cookie between the change and the page that follows it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use web::layout::Notice;

use crate::auth::cookie::cookie_values;
use crate::query::uuid;
use crate::routes::prelude::*;

const COOKIE: &str = "bellwether_notice";
/// How long the notice waits for its page.
const MAX_AGE_SECONDS: u32 = 60;
/// Maximum number of characters of a notice's text.
const MAX_TEXT_CHARS: usize = 500;

/// Adds a notice to the response of a change.
pub(super) fn set(response: &mut Response, notice: &Notice) {
    let text: String = notice.text.chars().take(MAX_TEXT_CHARS).collect();
    let value = json!({"text": text, "is_error": notice.is_error, "undo": notice.undo});
    let value = URL_SAFE_NO_PAD.encode(value.to_string());
    write(response.headers_mut(), &value, MAX_AGE_SECONDS);
}

/// Returns the notice of a request.
pub(super) fn read(headers: &HeaderMap) -> Option<Notice> {
    let value = cookie_values(headers, COOKIE).next()?;
    let value: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
    let text = value.get("text")?.as_str()?;
    let undo = value.get("undo").and_then(Value::as_str).and_then(uuid);
    Some(Notice {
        text: text.chars().take(MAX_TEXT_CHARS).collect(),
        is_error: value.get("is_error")?.as_bool()?,
        undo: undo.map(|id| id.to_string()),
    })
}

/// Deletes the notice.
pub(super) fn clear(headers: &mut HeaderMap) {
    write(headers, "", 0);
}

fn write(headers: &mut HeaderMap, value: &str, seconds: u32) {
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.append(header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(notice: &Notice) -> Option<Notice> {
        let mut response = StatusCode::SEE_OTHER.into_response();
        set(&mut response, notice);
        let cookie = response.headers().get(header::SET_COOKIE)?.to_str().ok()?;
        let (pair, _) = cookie.split_once(';')?;
        let cookie = HeaderValue::try_from(pair).ok()?;
        read(&HeaderMap::from_iter([(header::COOKIE, cookie)]))
    }

    #[test]
    fn notice_survives_its_cookie() {
        let notice = Notice {
            text: "2 alerts paused; “é”, <b>".to_owned(),
            is_error: false,
            undo: Some("00000000-0000-4000-8000-000000000001".to_owned()),
        };
        assert_eq!(round_trip(&notice), Some(notice));
    }

    #[test]
    fn undo_that_is_no_id_is_ignored() {
        let notice = Notice {
            text: "done".to_owned(),
            is_error: true,
            undo: Some("\"><script>".to_owned()),
        };
        assert_eq!(round_trip(&notice).unwrap().undo, None);
    }

    #[test]
    fn cookie_that_is_no_notice_is_ignored() {
        for value in ["", "!", "e30", "bnVsbA"] {
            let cookie = HeaderValue::try_from(format!("{COOKIE}={value}")).unwrap();
            assert_eq!(read(&HeaderMap::from_iter([(header::COOKIE, cookie)])), None, "{value}");
        }
    }
}
