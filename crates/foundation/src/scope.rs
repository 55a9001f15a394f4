//! Permission scopes of API keys and OAuth grants.

/// A permission scope.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Read alerts and their history.
    AlertsRead,
    /// Create, change and delete alerts.
    AlertsWrite,
    /// Read the watchlist, paper trades and performance.
    WatchlistRead,
    /// Change the watchlist.
    WatchlistWrite,
    /// Read webhooks and their deliveries.
    WebhooksRead,
    /// Create, change and delete webhooks.
    WebhooksWrite,
    /// Read stocks and market data.
    StocksRead,
    /// Push market data; operators only.
    MarketWrite,
    /// Read the outbox; operators only.
    OutboxRead,
}

impl Scope {
    /// All scopes.
    pub const ALL: &'static [Self] = &[
        Self::AlertsRead,
        Self::AlertsWrite,
        Self::WatchlistRead,
        Self::WatchlistWrite,
        Self::WebhooksRead,
        Self::WebhooksWrite,
        Self::StocksRead,
        Self::MarketWrite,
        Self::OutboxRead,
    ];

    /// Scopes that every account may give to its keys.
    pub const PUBLIC: &'static [Self] = &[
        Self::AlertsRead,
        Self::AlertsWrite,
        Self::WatchlistRead,
        Self::WatchlistWrite,
        Self::WebhooksRead,
        Self::WebhooksWrite,
        Self::StocksRead,
    ];

    /// Returns the name in requests and responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlertsRead => "alerts:read",
            Self::AlertsWrite => "alerts:write",
            Self::WatchlistRead => "watchlist:read",
            Self::WatchlistWrite => "watchlist:write",
            Self::WebhooksRead => "webhooks:read",
            Self::WebhooksWrite => "webhooks:write",
            Self::StocksRead => "stocks:read",
            Self::MarketWrite => "market:write",
            Self::OutboxRead => "outbox:read",
        }
    }

    /// Returns the scope with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }
}
