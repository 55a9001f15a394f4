//! The inputs of an evaluation.

use ::market::Symbol;
use jiff::Timestamp;

/// The inputs of an evaluation.
#[derive(Debug, Default)]
pub(crate) struct EvaluationInputs {
    /// The stocks with an observed price.
    pub(crate) symbols: Vec<Symbol>,
    /// The stocks with an observed price in extended hours.
    pub(crate) extended: Vec<Symbol>,
    /// The instant up to which the clock was processed, if it was.
    pub(crate) clock: Option<Timestamp>,
}
