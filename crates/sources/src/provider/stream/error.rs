//! Errors that a provider reports on a stream.

/// An error that a provider reports on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// The API key was rejected.
    Unauthorized,
    /// The plan does not include this stream.
    Forbidden,
    /// More symbols than the plan allows. The connection stays open.
    TooManySymbols,
    /// More connections than the plan allows: another program uses the key, or the last connection is still counted.
    TooManyConnections,
    /// The client reads too slowly.
    SlowConsumer,
    /// Any other error, by the provider's code.
    Other(u16),
}

impl StreamError {
    /// Returns whether the connection stays open after this error.
    #[must_use]
    pub const fn keeps_connection(self) -> bool {
        matches!(self, Self::TooManySymbols)
    }
}
