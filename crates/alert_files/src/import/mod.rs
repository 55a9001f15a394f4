//! Alerts of other programs as bodies of create requests. Nothing is guessed: what is not understood is reported.

mod stockalert;
mod tradingview;

use serde_json::{Map, Value};

pub use stockalert::read_stockalert;
pub use tradingview::read_tradingview;

/// An alert of a file that is imported.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportedItem {
    /// Its place in the file, such as `line 3`.
    pub place: String,
    /// The alert in words, for the report.
    pub title: String,
    /// The body of the create request, or why there is none.
    pub body: Result<Map<String, Value>, ImportSkip>,
}

/// The reason why an alert is not imported.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImportSkip {
    /// The alert is left out on purpose.
    #[error("left out: {0}")]
    LeftOut(String),
    /// The alert is not understood.
    #[error("not understood: {0}")]
    NotUnderstood(String),
}

/// An error: the file as a whole cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ImportError(pub String);
