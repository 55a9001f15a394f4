//! The stocks that the expression of an alert names.

use std::collections::BTreeMap;

use alerts::expression::{Expression, ExpressionError};
use market::Symbol;
use serde_json::Value;

use crate::alerts::Alerts;
use foundation::ServiceError;

/// The field with the text of an expression.
const WHEN_FIELD: &str = "parameters.when";

/// Returns the symbols that the expression in the body of a request names, with their positions; none if it is invalid, which the
/// reader of requests reports.
fn named_symbols(body: &Value, own: Symbol) -> Vec<(Symbol, usize)> {
    let text = body["parameters"]["when"].as_str().unwrap_or_default();
    Expression::parse(text, Some(own)).map_or_else(|_| Vec::new(), |parsed| parsed.symbols)
}

impl Alerts {
    /// Requires that this service or a source knows the stocks that the expression in the body of a request names.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with the position of the first unknown symbol; otherwise as `Prices::require_stock`.
    pub(super) async fn require_named_stocks(&self, body: &Value, own: Symbol) -> Result<(), ServiceError> {
        self.require_stocks_in(WHEN_FIELD, &named_symbols(body, own)).await
    }

    /// As [`Self::require_named_stocks`], for symbols in the text of a field.
    pub(super) async fn require_stocks_in(&self, field: &str, named: &[(Symbol, usize)]) -> Result<(), ServiceError> {
        for &(symbol, position) in named {
            match self.prices.require_stock_to_read(symbol).await {
                Err(ServiceError::UnknownStock { candidates, .. }) => {
                    let names = candidates.iter().map(|candidate| candidate.symbol.to_string());
                    let error = ExpressionError::unknown_symbol(symbol, position, names.collect());
                    let message = error.to_string();
                    return Err(ServiceError::Invalid {
                        message: format!("{field}: {message}"),
                        fields: BTreeMap::from([(field.to_owned(), vec![message])]),
                        expression: Some(Box::new(error)),
                    });
                }
                other => other?,
            }
        }
        Ok(())
    }
}
