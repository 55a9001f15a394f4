//! Permission scopes of API keys and OAuth grants.

alerts::named_enum! {
    /// A permission scope.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Scope {
        /// Read alerts and their history.
        AlertsRead = "alerts:read",
        /// Create, change and delete alerts.
        AlertsWrite = "alerts:write",
        /// Read the watchlist, paper trades and performance.
        WatchlistRead = "watchlist:read",
        /// Change the watchlist.
        WatchlistWrite = "watchlist:write",
        /// Read webhooks and their deliveries.
        WebhooksRead = "webhooks:read",
        /// Create, change and delete webhooks.
        WebhooksWrite = "webhooks:write",
        /// Read stocks and market data.
        StocksRead = "stocks:read",
        /// Push market data; operators only.
        MarketWrite = "market:write",
        /// Read the outbox; operators only.
        OutboxRead = "outbox:read",
    }
}

impl Scope {
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
}
