//! `GET /go`: the search box of every page. A symbol leads to its stock, anything else to a new alert.

use market::Symbol;
use url::form_urlencoded;

use super::response::redirect;
use super::visitor::Visitor;
use crate::routes::prelude::*;

/// Maximum length of the input, in characters: that of a rule.
const MAX_CHARS: usize = 1_000;

/// Leads to the stock or the rule that was entered.
pub(super) async fn go(visitor: Visitor, mut query: Query) -> Response {
    let text = query.text("q", MAX_CHARS).unwrap_or_default();
    let text = text.trim();
    let path = if text.is_empty() {
        "/alerts".to_owned()
    } else if let Ok(symbol) = text.to_ascii_uppercase().parse::<Symbol>() {
        format!("/stocks/{symbol}")
    } else {
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        format!("/alerts/new?text={text}")
    };
    redirect(&visitor.head.link(&path))
}
