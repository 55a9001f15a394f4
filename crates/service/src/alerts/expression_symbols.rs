//! Checks that the stocks which an expression names exist.

use std::collections::BTreeMap;

use alerts::expression::{Expression, ExpressionError};
use evaluation::prices::Prices;
use foundation::ServiceError;
use market::Symbol;
use serde_json::Value;

/// The field of an expression in errors.
const FIELD: &str = "parameters.when";

/// Requires that all stocks exist which the expression of a request's body names, if it has one.
///
/// # Errors
/// [`ServiceError::Invalid`] with the position of an unknown symbol and similar ones; [`ServiceError::Unavailable`] if no source
/// answers for it.
pub(super) async fn require_named_stocks(prices: &Prices, body: &Value, own: Symbol) -> Result<(), ServiceError> {
    let text = body.pointer("/parameters/when").and_then(Value::as_str);
    let Some(parsed) = text.and_then(|text| Expression::parse(text, Some(own)).ok()) else {
        return Ok(());
    };
    for (symbol, position) in parsed.symbols {
        match prices.require_stock(symbol).await {
            Err(ServiceError::UnknownStock { candidates, .. }) => {
                let similar = candidates
                    .iter()
                    .map(|candidate| candidate.symbol.to_string())
                    .collect();
                return Err(invalid(ExpressionError::unknown_symbol(symbol, position, similar)));
            }
            required => required?,
        }
    }
    Ok(())
}

fn invalid(error: ExpressionError) -> ServiceError {
    let message = error.to_string();
    ServiceError::Invalid {
        message: format!("{FIELD}: {message}"),
        fields: BTreeMap::from([(FIELD.to_owned(), vec![message])]),
        expression: Some(Box::new(error)),
    }
}
