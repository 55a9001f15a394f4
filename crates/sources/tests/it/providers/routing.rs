//! Routing over several providers, against local servers.

use std::sync::Arc;

use jiff::SignedDuration;
use sources::provider::tiingo::{self, Tiingo};
use sources::provider::{Capability, DataRequest, DateRange, Provider, ProviderError, ProviderKey, finnhub};
use sources::routing::{CheckOutcome, FailedAttempt, NewestTime, ProviderRouter, check, check_table};

use crate::providers::support::case::{fixture, lines, symbols};
use crate::providers::support::clock::TestClock;
use crate::providers::support::server::{StubResponse, StubServer};
use crate::providers::support::websocket::WebSocketServer;
use crate::providers::support::{KEY, setup};

const AAPL: &str = "quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z";

/// Tiingo as the primary and Finnhub as the fallback, each with its own server.
struct TwoProviders {
    tiingo: StubServer,
    finnhub: StubServer,
    clock: Arc<TestClock>,
    router: ProviderRouter,
}

async fn providers() -> TwoProviders {
    providers_of(Capability::Quotes).await
}

async fn providers_of(capability: Capability) -> TwoProviders {
    let (tiingo, finnhub, clock) = (
        StubServer::start().await,
        StubServer::start().await,
        TestClock::auto_advancing(),
    );
    let key = ProviderKey::new(KEY).unwrap();
    let first = tiingo::TiingoConfig {
        api_url: tiingo.url.clone(),
        ..tiingo::TiingoConfig::free(key.clone())
    };
    let second = finnhub::FinnhubConfig {
        api_url: finnhub.url.clone(),
        ..finnhub::FinnhubConfig::free(key)
    };
    let setup = setup(&clock);
    let first: Arc<dyn Provider> = Arc::new(Tiingo::new(&first, &setup).unwrap());
    let second: Arc<dyn Provider> = Arc::new(finnhub::Finnhub::new(second, &setup).unwrap());
    let router = ProviderRouter::new(Arc::<TestClock>::clone(&clock))
        .with(capability, first)
        .with(capability, second);
    TwoProviders {
        tiingo,
        finnhub,
        clock,
        router,
    }
}

fn quote_request() -> DataRequest {
    DataRequest::Quotes(symbols(&["AAPL"]))
}

#[tokio::test]
async fn working_primary_is_the_only_provider_requested() {
    let providers = providers().await;
    providers.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    let fetched = providers.router.fetch(&quote_request()).await.unwrap();
    assert_eq!(
        (fetched.providers, lines(&fetched.answer)),
        (vec!["tiingo"], vec![AAPL.to_owned()])
    );
    assert_eq!(providers.finnhub.requests(), 0);
}

#[tokio::test]
async fn bars_as_traded_stay_so_next_to_adjusted_bars_of_a_fallback() {
    let providers = providers_of(Capability::DailyBars).await;
    let route = |symbol: &str| format!("/tiingo/daily/{symbol}/prices");
    providers.tiingo.route(&route("AAPL"), &fixture("tiingo/daily.json"));
    providers
        .finnhub
        .route("/stock/candle", &fixture("finnhub/candles.json"));
    let days = DateRange {
        from: jiff::civil::date(2000, 1, 1),
        to: jiff::civil::date(2030, 1, 1),
    };
    let request = DataRequest::DailyBars(symbols(&["AAPL", "MSFT"]), days);
    let fetched = providers.router.fetch(&request).await.unwrap();
    let bars_of = |symbol| {
        fetched
            .answer
            .batch
            .bars
            .iter()
            .filter(|row| row.symbol == symbol)
            .count()
    };
    let [aapl, msft] = [symbols(&["AAPL"])[0], symbols(&["MSFT"])[0]];
    assert!(bars_of(aapl) > 0 && bars_of(msft) > 0);
    assert_eq!(fetched.adjusted_for_splits, [msft].into());
}

#[tokio::test]
async fn failed_primary_backs_off_and_recovers() {
    let providers = providers().await;
    providers.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    providers.finnhub.route("/quote", &fixture("finnhub/quote.json"));
    providers.tiingo.first([StubResponse::status(401)]);
    let fetched = providers.router.fetch(&quote_request()).await.unwrap();
    assert_eq!(fetched.providers, ["finnhub"]);
    assert!(matches!(
        fetched.failed_attempts[..],
        [FailedAttempt::Failed(ProviderError::Unauthorized { .. })]
    ));
    let fetched = providers.router.fetch(&quote_request()).await.unwrap();
    assert!(matches!(
        fetched.failed_attempts[..],
        [FailedAttempt::BackingOff("tiingo", _)]
    ));
    assert_eq!(providers.tiingo.requests(), 1);
    // The backoff of an account error is 15 minutes.
    let later = clock::Clock::now(&*providers.clock) + SignedDuration::from_mins(15);
    clock::Clock::sleep_until(&*providers.clock, later).await;
    assert_eq!(
        providers.router.fetch(&quote_request()).await.unwrap().providers,
        ["tiingo"]
    );
}

#[tokio::test]
async fn fallback_is_requested_for_unknown_symbols() {
    let providers = providers().await;
    providers.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    providers
        .finnhub
        .route("/quote?symbol=MSFT", &fixture("finnhub/quote.json"));
    let fetched = providers
        .router
        .fetch(&DataRequest::Quotes(symbols(&["AAPL", "MSFT"])))
        .await
        .unwrap();
    assert_eq!(fetched.providers, ["tiingo", "finnhub"]);
    let quoted_by: Vec<_> = fetched.quoted_by.into_values().collect();
    assert_eq!(quoted_by, ["tiingo", "finnhub"], "AAPL, MSFT");
    assert_eq!((fetched.answer.batch.quotes.len(), fetched.answer.unknown), (2, vec![]));
    assert_eq!(providers.finnhub.requests(), 1);
}

#[tokio::test]
async fn error_lists_the_reason_of_each_provider() {
    let providers = providers().await;
    providers.tiingo.first([StubResponse::status(403)]);
    providers.finnhub.first([StubResponse::status(401)]);
    let error = providers.router.fetch(&quote_request()).await.unwrap_err();
    assert_eq!(error.failed_attempts.len(), 2);
    let message = error.to_string();
    assert!(
        message.starts_with("no provider answers for quotes; tiingo does not include this data in the current plan"),
        "{message}"
    );
    let error = providers.router.fetch(&DataRequest::Catalog).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no provider is configured for catalog; configure one that offers it"
    );
}

#[tokio::test]
async fn check_requests_every_configured_capability() {
    let providers = providers().await;
    providers.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    providers.finnhub.first([StubResponse::status(401)]);
    let aapl = symbols(&["AAPL"]);
    let rows = check(&providers.router, &aapl, aapl[0], &setup(&providers.clock)).await;
    let newest = NewestTime::Instant("2024-03-08T15:29:58.123456789Z".parse().unwrap());
    assert_eq!(
        rows[0].outcome,
        CheckOutcome::Answered {
            records: 1,
            invalid_rows: 0,
            newest: Some(newest)
        }
    );
    assert!(matches!(
        rows[1].outcome,
        CheckOutcome::Failed(ProviderError::Unauthorized { .. })
    ));
    let table = check_table(&rows, "2024-03-08T15:30:00.123456789Z".parse().unwrap());
    assert_eq!(
        table,
        "capability  provider  role        latency  records  newest                age  result\n\
         quotes      tiingo    primary        0 ms        1  2024-03-08T15:29:58Z  2 s  ok\n\
         quotes      finnhub   fallback 1     0 ms        -  -                       -  \
         finnhub rejected the API key; check the key, and that it belongs to the right environment\n"
    );
}

#[tokio::test]
async fn check_of_a_stream_connects_to_it() {
    let (server, clock) = (WebSocketServer::new().await, TestClock::paused());
    let config = finnhub::FinnhubConfig {
        stream_url: server.url.clone(),
        ..finnhub::FinnhubConfig::free(ProviderKey::new(KEY).unwrap())
    };
    let setup = setup(&clock);
    let provider: Arc<dyn Provider> = Arc::new(finnhub::Finnhub::new(config, &setup).unwrap());
    let router = ProviderRouter::new(Arc::<TestClock>::clone(&clock)).with(Capability::Stream, provider);
    let aapl = symbols(&["AAPL"]);
    let (rows, _connection) = tokio::join!(check(&router, &aapl, aapl[0], &setup), server.accept());
    assert!(matches!(rows[0].outcome, CheckOutcome::Answered { .. }), "{rows:?}");
    let (rows, ()) = tokio::join!(check(&router, &aapl, aapl[0], &setup), server.reject(401));
    assert!(
        matches!(
            rows[0].outcome,
            CheckOutcome::Failed(ProviderError::Unauthorized { .. })
        ),
        "{rows:?}"
    );
}
