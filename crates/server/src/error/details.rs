//! The schema of an error's details.

use std::collections::HashMap;

use utoipa::ToSchema;

use super::RefusedChangeView;

/// Details of an error. Each member is present only in the errors that it belongs to.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"fields": {"threshold": ["must be omitted for new_high"]}}))]
#[expect(dead_code, reason = "describes the members; each error adds its own")]
pub struct ErrorDetails {
    /// The messages of each invalid field.
    #[schema(nullable = false, example = json!({"parameters.when": ["unknown metric `smaa` at 9; did you mean `sma`?"]}))]
    fields: Option<HashMap<String, Vec<String>>>,
    /// The position in the text of an expression or an alert, in characters from 1; the end of the text is its length + 1.
    #[schema(nullable = false, minimum = 1, example = 9)]
    position: Option<u32>,
    /// The texts that are possible at the position, or what the problem demands.
    #[schema(nullable = false, example = json!(["a metric"]))]
    expected: Option<Vec<String>>,
    /// The nearest known names, the best first.
    #[schema(nullable = false, example = json!(["sma"]))]
    suggestions: Option<Vec<String>>,
    /// The reason why a request is forbidden, such as `scope` or `plan`.
    #[schema(nullable = false, example = "plan")]
    reason: Option<String>,
    /// The scope or the plan that a forbidden request requires.
    #[schema(example = "premium")]
    required: Option<String>,
    /// Stocks that are similar to an unknown one.
    #[schema(nullable = false)]
    candidates: Option<Vec<ErrorCandidate>>,
    /// The refused changes of a batch, in the order of the request.
    #[schema(nullable = false)]
    refused: Option<Vec<RefusedChangeView>>,
}

/// A stock that is similar to an unknown one.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the members; the error adds them")]
pub struct ErrorCandidate {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    name: String,
}
