//! # Text: alerts as people write them
//!
//! `AAPL below 180 and rsi under 30 each time until 2027-01-31 to sms`: a symbol, an expression in operators or in words, then the
//! options and the channel. [`parse_text`] reads such a text, without a language model; [`sentence`] writes it, so that both are
//! inverse.
//!
//! * [`phrases`]: the phrases of the options and of the channel.
//! * [`read`]: reads the phrases into the members of a create request; [`mod@write`]: writes them.
//! * [`named`]: conditions that are no expressions, such as `golden cross`.
//! * [`body`]: the condition as the members of a create request. A text becomes one of the 23 conditions only where the condition
//!   means exactly the same.

mod body;
mod named;
mod phrases;
mod read;
mod words;
mod write;

use market::Symbol;
use serde_json::{Map, Value};

use crate::alert::NewAlert;
use crate::expression::{Expression, ExpressionError};
use crate::options::AlertOptions;
use crate::request::{FieldErrors, ParseContext, RequestError, parse_create};
use phrases::TextOption;
use read::{PhraseReader, ReadPhrases};

pub use write::{option_phrases, sentence};

/// The field of a request that has the text.
pub const TEXT_FIELD: &str = "text";

/// An alert that was read from a text.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertText {
    /// The alert.
    pub alert: NewAlert,
    /// The body of the request that creates it.
    pub body: Map<String, Value>,
    /// The symbols that the text names, with their positions in characters from 1; the first is the alert's own.
    pub symbols: Vec<(Symbol, usize)>,
}

/// Reads a text.
///
/// # Errors
/// The error of the field `text`, with the position, the expected texts and suggestions.
pub fn parse_text(text: &str, context: &ParseContext<'_>) -> Result<AlertText, FieldErrors> {
    read_text(text, context).map_err(|error| {
        let mut errors = FieldErrors::default();
        errors.add_expression_error(TEXT_FIELD, error);
        errors
    })
}

fn read_text(text: &str, context: &ParseContext<'_>) -> Result<AlertText, ExpressionError> {
    if let Some(named) = named::read(text) {
        let phrases = PhraseReader::new(named.rest, named.rest_position).read()?;
        if let Some(within) = phrases.place_of(TextOption::Within) {
            let problem = "it needs an expression with a crossing; omit it".to_owned();
            return Err(ExpressionError::unsuitable(&within.text, problem, within.position));
        }
        return created(
            named.body,
            &phrases,
            vec![(named.symbol, named.symbol_position)],
            context,
        );
    }
    let parsed = Expression::parse_text(text)?;
    if let Some(error) = parsed.unsuitable {
        return Err(error);
    }
    let phrases = PhraseReader::new(parsed.rest, parsed.rest_position).read()?;
    let within = phrases.within.as_deref();
    let body = body::of_expression(parsed.symbol, &parsed.expression, within, context);
    created(body, &phrases, parsed.symbols, context)
}

/// Reads the create request of a text.
fn created(
    mut body: Map<String, Value>,
    phrases: &ReadPhrases,
    symbols: Vec<(Symbol, usize)>,
    context: &ParseContext<'_>,
) -> Result<AlertText, ExpressionError> {
    phrases.add_to(&mut body);
    let alert = parse_create(&Value::Object(body.clone()), context).map_err(|error| refused(&error, phrases))?;
    if let Some(Value::Object(options)) = body.get_mut("options") {
        write_instants(options, &alert.options);
    }
    Ok(AlertText { alert, body, symbols })
}

/// Writes the instants of options as responses have them. A snooze that has ended is omitted.
fn write_instants(written: &mut Map<String, Value>, options: &AlertOptions) {
    let read = options.to_json();
    for option in [TextOption::ExpiresAt, TextOption::SnoozedUntil] {
        let name = option.field().trim_start_matches("options.");
        if written.shift_remove(name).is_some()
            && let Some(instant) = read.get(name)
        {
            written.insert(name.to_owned(), instant.clone());
        }
    }
}

/// Returns the error of a text whose options do not fit, at the phrase of the first of them.
fn refused(error: &RequestError, phrases: &ReadPhrases) -> ExpressionError {
    let RequestError::Invalid(errors) = error else {
        return ExpressionError::unsuitable("text", error.to_string(), 1);
    };
    let at_phrase = errors.iter().find_map(|(field, messages)| {
        let place = phrases.place_of(TextOption::of_field(field)?)?;
        Some(ExpressionError::unsuitable(
            &place.text,
            messages.join("; "),
            place.position,
        ))
    });
    at_phrase.unwrap_or_else(|| ExpressionError::unsuitable("text", errors.to_string(), 1))
}
