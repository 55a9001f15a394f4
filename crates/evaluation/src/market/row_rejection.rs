//! Rejected rows of market data.

/// A row that was rejected, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowRejection {
    /// The part of the batch: `quotes`, `bars`, ...
    pub kind: &'static str,
    /// The index in that part, from 0.
    pub index: usize,
    /// The reason, and the fix.
    pub reason: String,
}
