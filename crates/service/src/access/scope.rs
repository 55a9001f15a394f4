//! What an API key may be used for.

/// What an API key may be used for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Reading alerts and their history.
    AlertsRead,
    /// Making, changing and deleting alerts.
    AlertsWrite,
    /// Reading the watchlist, paper trades and performance.
    WatchlistRead,
    /// Changing the watchlist.
    WatchlistWrite,
    /// Reading webhooks and their deliveries.
    WebhooksRead,
    /// Making, changing and deleting webhooks.
    WebhooksWrite,
    /// Reading stocks and market data.
    StocksRead,
    /// Delivering market data; for operators.
    MarketWrite,
    /// Reading what the outbox keeps; for operators.
    OutboxRead,
}

impl Scope {
    /// Every scope there is.
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

    /// Those that every account may give to its keys.
    pub const PUBLIC: &'static [Self] = &[
        Self::AlertsRead,
        Self::AlertsWrite,
        Self::WatchlistRead,
        Self::WatchlistWrite,
        Self::WebhooksRead,
        Self::WebhooksWrite,
        Self::StocksRead,
    ];

    /// Its name in requests and answers.
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

    /// The scope of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }
}
