//! Reads an alert from a text.

use alerts::request::ParseContext;
use alerts::text::{TEXT_FIELD, parse_text, sentence};
use serde_json::{Map, Value};

use crate::alerts::Alerts;
use foundation::request;
use foundation::request::{PlainText, Request};
use foundation::{Actor, ServiceError};

request! {
    /// An alert as text.
    ParseAlertRequest as "ParseAlert" {
        /// A stock symbol, an expression in operators or in words, then options and the channel.
        text: PlainText = "AAPL below 180 and rsi under 30 each time until 2030-01-31 to sms",
    }
}

/// An alert that was read from a text.
#[derive(Clone, PartialEq, Debug)]
pub struct ParsedAlert {
    /// The body of the request that creates the alert.
    pub alert: Map<String, Value>,
    /// The alert as a sentence, which is read as the same alert.
    pub sentence: String,
}

impl Alerts {
    /// Reads an alert from the text of a request: `{text}`. Nothing is stored.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with the position of the first error; [`ServiceError::Unavailable`] if no source answers for an
    /// unknown symbol.
    pub async fn parse_alert_text(&self, actor: &Actor, body: &Value) -> Result<ParsedAlert, ServiceError> {
        let request = ParseAlertRequest::read(body)?;
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let parsed = parse_text(&request.text.0, &context)?;
        self.require_stocks_in(TEXT_FIELD, &parsed.symbols).await?;
        let sentence =
            sentence(&parsed.alert).ok_or_else(|| ServiceError::internal("a parsed alert has no sentence"))?;
        Ok(ParsedAlert {
            alert: parsed.body,
            sentence,
        })
    }
}
