//! Messages for Slack's incoming webhooks.
//!
//! Company names and reasons may hold what somebody typed. Slack reads `<!channel>`, `<@U123>` and `<https://…|text>` in
//! texts, so `&`, `<` and `>` are escaped as Slack says; and the texts are `plain_text`, where `*bold*` and the like mean
//! nothing. The text beside the blocks, which notifications show, has its markup switched off.

use bytes::Bytes;
use market::Decimal;
use market::display::{Percent, Usd};
use serde_json::{Value, json};

/// A header of a block may have so many characters, ...
const HEADER_LENGTH: usize = 150;
/// ... and its text so many.
const TEXT_LENGTH: usize = 3_000;

/// The body that tells Slack of an event. `data` is the event's, as in a webhook's body; what is missing of it is left out.
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
        json!({"type": "header", "text": plain(&title, HEADER_LENGTH)}),
        json!({"type": "section", "text": plain(reason, TEXT_LENGTH)}),
    ];
    let is_reminder = matches!(text("/alert/condition"), "reminder" | "daily_reminder");
    if is_reminder && !text("/alert/parameters/note").is_empty() {
        let note = plain(text("/alert/parameters/note"), TEXT_LENGTH);
        blocks.push(json!({"type": "section", "text": note}));
    }
    if !figures.is_empty() {
        let figures = plain(&figures.join(" · "), TEXT_LENGTH);
        blocks.push(json!({"type": "context", "elements": [figures]}));
    }
    let message = json!({
        "text": escaped(&format!("{title}: {reason}"), TEXT_LENGTH),
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

/// A text without line breaks and other controls, in which nothing means anything to Slack, of at most so many
/// characters. It is cut before it is escaped, but as escaping makes it longer, it counts what comes out.
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
