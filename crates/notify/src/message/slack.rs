//! Messages for Slack incoming webhooks.
//!
//! Company names and reasons may contain user input. Slack interprets `<!channel>`, `<@U123>` and `<https://…|text>` in texts, so
//! `&`, `<` and `>` are escaped as Slack requires. The texts are `plain_text`, without markup like `*bold*`. In the text for
//! notifications, markup is disabled.

use bytes::Bytes;
use market::Decimal;
use market::display::{Percent, Usd};
use serde_json::{Value, json};

/// Maximum length of a header block, in characters.
const MAX_HEADER_LENGTH: usize = 150;
/// Maximum length of a section block, in characters.
const MAX_TEXT_LENGTH: usize = 3_000;

/// Returns the Slack message of an event. `data` is the same as in a webhook body; missing fields are left out.
#[must_use]
pub fn body(event: &str, data: &str) -> Bytes {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let number = |pointer: &str| {
        data.pointer(pointer)
            .filter(|value| value.is_number())
            .map(alerts::json::text)
    };
    let symbol = [text("/alert/symbol"), text("/stock/symbol")]
        .into_iter()
        .find(|text| !text.is_empty());
    let company = Some(text("/company_name")).filter(|name| !name.is_empty() && Some(*name) != symbol);
    let title = match (symbol, company) {
        (Some(symbol), Some(company)) => format!("{symbol} ({company})"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Stock alert".to_owned(),
    };
    let reason = match text("/reason") {
        "" => event,
        reason => reason,
    };
    let mut figures = Vec::new();
    let decimal = |pointer: &str| Decimal::from_f64(data.pointer(pointer)?.as_f64()?).ok();
    if let Some(price) = decimal("/stock/price") {
        figures.push(format!("Price {}", Usd(price)));
    }
    if let Some(percent) = decimal("/stock/change_percent") {
        figures.push(format!("{} % today", Percent(percent)));
    }
    if !text("/alert/condition").is_empty() {
        let threshold = number("/alert/threshold").map(|threshold| format!(" {threshold}"));
        figures.push(format!(
            "Alert {}{}",
            text("/alert/condition"),
            threshold.unwrap_or_default()
        ));
    }
    let mut blocks = vec![
        json!({"type": "header", "text": plain(&title, MAX_HEADER_LENGTH)}),
        json!({"type": "section", "text": plain(reason, MAX_TEXT_LENGTH)}),
    ];
    let is_reminder = matches!(text("/alert/condition"), "reminder" | "daily_reminder");
    if is_reminder && !text("/alert/parameters/note").is_empty() {
        let note = plain(text("/alert/parameters/note"), MAX_TEXT_LENGTH);
        blocks.push(json!({"type": "section", "text": note}));
    }
    if !text("/alert/note").is_empty() {
        blocks.push(json!({"type": "section", "text": plain(text("/alert/note"), MAX_TEXT_LENGTH)}));
    }
    if !figures.is_empty() {
        let figures = plain(&figures.join(" · "), MAX_TEXT_LENGTH);
        blocks.push(json!({"type": "context", "elements": [figures]}));
    }
    let message = json!({
        "text": escaped(&format!("{title}: {reason}"), MAX_TEXT_LENGTH),
        "mrkdwn": false,
        "unfurl_links": false,
        "unfurl_media": false,
        "blocks": blocks,
    });
    Bytes::from(alerts::json::text(&message))
}

fn plain(text: &str, length: usize) -> Value {
    json!({"type": "plain_text", "text": escaped(text, length), "emoji": false})
}

/// Escapes a text for Slack and removes control characters. The result has at most `length` characters after escaping, and no escape
/// sequence is cut.
fn escaped(text: &str, length: usize) -> String {
    let mut out = String::new();
    let mut left = length.saturating_sub(1);
    for c in text.chars() {
        let mut one = [0; 4];
        let piece = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            c if c.is_control() => " ",
            c => &*c.encode_utf8(&mut one),
        };
        let Some(rest) = left.checked_sub(piece.chars().count()) else {
            out.push('…');
            break;
        };
        left = rest;
        out.push_str(piece);
    }
    out
}
