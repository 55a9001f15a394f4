//! The history of stocks from providers, against local servers.

use std::sync::Arc;

use jiff::civil::date;
use sources::history::{HistoryRequest, ProviderHistory, read_history};
use sources::provider::alpaca::{Alpaca, AlpacaConfig};
use sources::provider::{Capability, DateRange, Provider, ProviderKey, finnhub};
use sources::routing::{ProviderRouter, RoutingError};

use crate::providers::support::case::{fixture, symbols};
use crate::providers::support::clock::TestClock;
use crate::providers::support::server::StubServer;
use crate::providers::support::{KEY, setup};

/// Reads two bars of NVDA of March 2024 from a provider that adjusts bars, with or without another one that knows the split of June.
async fn read(has_splits: bool) -> Result<ProviderHistory, RoutingError> {
    let (bars, splits, clock) = (
        StubServer::start().await,
        StubServer::start().await,
        TestClock::auto_advancing(),
    );
    bars.route("/stock/candle", &fixture("finnhub/candles.json"));
    splits.route("/v1/corporate-actions", &fixture("alpaca/splits.json"));
    let key = ProviderKey::new(KEY).unwrap();
    let finnhub = finnhub::FinnhubConfig {
        api_url: bars.url.clone(),
        ..finnhub::FinnhubConfig::free(key.clone())
    };
    let alpaca = AlpacaConfig {
        data_url: splits.url.clone(),
        trading_url: splits.url.clone(),
        ..AlpacaConfig::free(key.clone(), key)
    };
    let setup = setup(&clock);
    let finnhub: Arc<dyn Provider> = Arc::new(finnhub::Finnhub::new(finnhub, &setup).unwrap());
    let mut router = ProviderRouter::new(Arc::<TestClock>::clone(&clock)).with(Capability::DailyBars, finnhub);
    if has_splits {
        let alpaca: Arc<dyn Provider> = Arc::new(Alpaca::new(alpaca, &setup).unwrap());
        router = router.with(Capability::Splits, alpaca);
    }
    let request = HistoryRequest {
        symbols: symbols(&["NVDA"]),
        days: DateRange {
            from: date(2024, 3, 1),
            to: date(2024, 3, 31),
        },
        today: date(2024, 7, 1),
        insiders: false,
    };
    read_history(&router, &request).await
}

#[tokio::test]
async fn adjusted_bars_become_bars_as_traded() {
    let history = read(true).await.unwrap();
    let nvda = symbols(&["NVDA"])[0];
    let closes: Vec<String> = history.data.bars[&nvda]
        .daily
        .iter()
        .map(|bar| bar.close.to_string())
        .collect();
    // Ten of today's shares were one share in March.
    assert_eq!(closes, ["1691.2", "1690"]);
    assert!(history.data.splits.iter().any(|split| split.symbol == nvda));
    let missing: Vec<_> = history.missing.iter().map(|error| error.capability).collect();
    assert_eq!(missing, [Capability::Dividends, Capability::Earnings]);
}

#[tokio::test]
async fn adjusted_bars_without_splits_are_an_error() {
    let error = read(false).await.unwrap_err();
    assert_eq!(error.capability, Capability::Splits);
}
