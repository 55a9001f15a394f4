//! The result of the evaluation of a missed period.

/// The result of the evaluation of a missed period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MissedPeriodOutcome {
    /// The number of evaluated quotes.
    pub evaluated: usize,
    /// The number of quotes that were left out: without a time, from the future, out of session, of an unknown stock,
    /// or not newer than the last quote of the stock.
    pub left_out: usize,
    /// The number of late firings.
    pub fired: u64,
}
