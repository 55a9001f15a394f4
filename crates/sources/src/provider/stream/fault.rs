//! What ends a connection.

/// What a provider complains of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFault {
    /// The key is wrong.
    Unauthorized,
    /// The plan has no such stream.
    Forbidden,
    /// More symbols than the plan has; the connection goes on.
    TooManySymbols,
    /// There are as many connections as the plan has: another program has one, or our last one is still counted.
    Crowded,
    /// We read too slowly.
    Slow,
    /// Anything else, by the provider's own number.
    Other(u16),
}

impl StreamFault {
    /// Whether the connection can go on.
    #[must_use]
    pub const fn is_bearable(self) -> bool {
        matches!(self, Self::TooManySymbols)
    }
}
