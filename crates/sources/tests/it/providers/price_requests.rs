//! Requests for single prices, against every adapter with its documented payloads.

use std::sync::Arc;

use clock::{Clock, ManualClock};
use jiff::civil::{Date, time};
use market::{Calendar, ObservedPrice, Symbol};
use sources::MarketUpdate;
use sources::freshness::QuoteLimits;
use sources::live::{
    self, LiveSourceConfig, LiveSourceHealth, LiveSourceInputs, MarketState, PriceReply, PriceRequest,
};
use sources::provider::http::AdapterSetup;
use sources::provider::{Provider, stream};
use sources::routing::{PollingConfig, ProviderRouter};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::providers::adapters::{alpaca, apewisdom, finnhub, massive, sec, tiingo};
use crate::providers::support::NOW;
use crate::providers::support::case::{StubRoute, fixture};
use crate::providers::support::server::StubServer;

/// An adapter and the price of AAPL in its payloads.
struct PriceCase {
    provider: &'static str,
    build: fn(url: &str, setup: &AdapterSetup) -> Box<dyn Provider>,
    routes: Vec<StubRoute>,
    /// The price and its time; `None` for a provider without prices.
    expected: Option<(&'static str, &'static str)>,
}

fn price_cases() -> Vec<PriceCase> {
    const NEWEST: Option<(&str, &str)> = Some(("171.2", "2024-03-08T15:29:58.123456789Z"));
    let nothing = r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#;
    vec![
        PriceCase {
            provider: "alpaca",
            build: alpaca::build,
            routes: vec![("/v2/stocks/snapshots", fixture("alpaca/snapshots.json"))],
            expected: NEWEST,
        },
        PriceCase {
            provider: "finnhub",
            build: finnhub::build,
            routes: vec![
                ("/quote?symbol=AAPL", fixture("finnhub/quote.json")),
                ("/quote?symbol=NOSUCH", nothing.to_owned()),
            ],
            expected: Some(("171.2", "2024-03-08T15:29:58Z")),
        },
        PriceCase {
            provider: "massive",
            build: massive::build,
            routes: vec![("/v2/snapshot/", fixture("massive/snapshots.json"))],
            expected: NEWEST,
        },
        PriceCase {
            provider: "tiingo",
            build: tiingo::build,
            routes: vec![("/iex/", fixture("tiingo/iex.json"))],
            expected: NEWEST,
        },
        PriceCase {
            provider: "sec",
            build: sec::build,
            routes: vec![("/files/company_tickers.json", fixture("sec/company_tickers.json"))],
            expected: None,
        },
        PriceCase {
            provider: "apewisdom",
            build: apewisdom::build,
            routes: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            expected: None,
        },
    ]
}

/// A market state without any data.
#[derive(Debug)]
struct Nothing;

impl MarketState for Nothing {
    fn last_quote(&self, _symbol: Symbol) -> Option<ObservedPrice> {
        None
    }

    fn last_bar(&self, _symbol: Symbol) -> Option<Date> {
        None
    }

    fn is_listed(&self, _symbol: Symbol) -> bool {
        false
    }

    fn average_volume(&self, _symbol: Symbol) -> Option<i64> {
        None
    }
}

/// A live source with one provider.
struct LiveSource {
    requests: mpsc::Sender<PriceRequest>,
    deliveries: mpsc::Receiver<MarketUpdate>,
    // Dropping the senders ends the source.
    _watched: watch::Sender<Arc<Vec<Symbol>>>,
    _refreshes: broadcast::Sender<live::RefreshKind>,
}

impl LiveSource {
    async fn start(case: &PriceCase) -> (Self, StubServer) {
        let server = StubServer::start().await;
        for (route, body) in &case.routes {
            server.route(route, body);
        }
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(NOW.parse().unwrap()));
        let setup = AdapterSetup::new(Arc::clone(&clock), 1);
        let provider: Arc<dyn Provider> = Arc::from((case.build)(&server.url, &setup));
        let mut router = ProviderRouter::new(clock);
        // Only quotes are configured, so that the source sends no other requests.
        if provider.tier().offer(sources::provider::Capability::Quotes).is_some() {
            router = router.with(sources::provider::Capability::Quotes, Arc::clone(&provider));
        }
        let options = LiveSourceConfig {
            router: Arc::new(router),
            setup,
            calendar: Calendar::nyse(),
            polling: PollingConfig::default(),
            limits: QuoteLimits::default(),
            stream: stream::StreamConfig::default(),
            nightly_at: time(22, 30, 0, 0),
            benchmark: "SPY".parse().unwrap(),
            splits_only: watch::channel(Arc::default()).1,
        };
        let (watched, watched_receiver) = watch::channel(Arc::default());
        let (refreshes, refreshes_receiver) = broadcast::channel(1);
        let (requests, requests_receiver) = mpsc::channel(1);
        let (sender, deliveries) = mpsc::channel(100);
        let inputs = LiveSourceInputs {
            watched: watched_receiver,
            refreshes: refreshes_receiver,
            requests: requests_receiver,
        };
        tokio::spawn(live::run(
            options,
            inputs,
            Arc::new(Nothing),
            LiveSourceHealth::default(),
            sender,
        ));
        let live = Self {
            requests,
            deliveries,
            _watched: watched,
            _refreshes: refreshes,
        };
        (live, server)
    }

    async fn request(&self, symbol: &str) -> PriceReply {
        let (reply, receiver) = oneshot::channel();
        let symbol = symbol.parse().unwrap();
        self.requests.send(PriceRequest { symbol, reply }).await.unwrap();
        receiver.await.unwrap()
    }
}

#[tokio::test]
async fn adapters_return_the_requested_price_and_report_unknown_symbols() {
    for case in price_cases() {
        let provider = case.provider;
        let (mut live, _server) = LiveSource::start(&case).await;
        let reply = live.request("AAPL").await;
        let Some((price, time)) = case.expected else {
            assert_eq!(reply, PriceReply::NoAnswer, "{provider} has no prices");
            continue;
        };
        let known = PriceReply::Known {
            newest: Some(time.parse().unwrap()),
            is_delivered: true,
        };
        assert_eq!(reply, known, "{provider}");
        let listing = live.deliveries.recv().await.unwrap().batch.stocks;
        assert_eq!(listing[0].symbol.as_str(), "AAPL", "{provider}");
        let quotes = live.deliveries.recv().await.unwrap().batch.quotes;
        assert_eq!(quotes.len(), 1, "{provider}");
        assert_eq!(quotes[0].price, price.parse().unwrap(), "{provider}");
        assert_eq!(quotes[0].time, time.parse().ok(), "{provider}");
        assert_eq!(live.request("NOSUCH").await, PriceReply::Unknown, "{provider}");
    }
}

#[tokio::test]
async fn failed_request_is_not_reported_as_unknown_symbol() {
    for case in price_cases() {
        let failing = PriceCase {
            routes: Vec::new(),
            ..case
        };
        let (live, server) = LiveSource::start(&failing).await;
        server.first(std::iter::repeat_n(
            crate::providers::support::server::StubResponse::status(401),
            10,
        ));
        assert_eq!(live.request("AAPL").await, PriceReply::NoAnswer, "{}", failing.provider);
    }
}
