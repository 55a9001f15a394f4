//! Requests for single prices, put to every adapter with its documented payloads.

use std::sync::Arc;

use jiff::civil::{Date, time};
use market::{Calendar, Symbol};
use sources::combine::{Combination, Polling};
use sources::freshness::Limits;
use sources::live::{self, Demand, Health, Memory, Options, PriceReply, PriceRequest, Seen};
use sources::provider::http::Setup;
use sources::provider::{Provider, stream};
use sources::{Clock, Delivery, ManualClock};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::subjects::{alpaca, apewisdom, finnhub, massive, sec, tiingo};
use crate::support::NOW;
use crate::support::server::Server;
use crate::support::subject::{Place, fixture};

/// An adapter and its price of AAPL.
struct Case {
    provider: &'static str,
    build: fn(url: &str, setup: &Setup) -> Box<dyn Provider>,
    places: Vec<Place>,
    /// The price and its time; nothing from a provider that has no prices.
    newest: Option<(&'static str, &'static str)>,
}

fn cases() -> Vec<Case> {
    const NEWEST: Option<(&str, &str)> = Some(("171.2", "2024-03-08T15:29:58.123456789Z"));
    let nothing = r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#;
    vec![
        Case {
            provider: "alpaca",
            build: alpaca::build,
            places: vec![("/v2/stocks/snapshots", fixture("alpaca/snapshots.json"))],
            newest: NEWEST,
        },
        Case {
            provider: "finnhub",
            build: finnhub::build,
            places: vec![
                ("/quote?symbol=AAPL", fixture("finnhub/quote.json")),
                ("/quote?symbol=NOSUCH", nothing.to_owned()),
            ],
            newest: Some(("171.2", "2024-03-08T15:29:58Z")),
        },
        Case {
            provider: "massive",
            build: massive::build,
            places: vec![("/v2/snapshot/", fixture("massive/snapshots.json"))],
            newest: NEWEST,
        },
        Case {
            provider: "tiingo",
            build: tiingo::build,
            places: vec![("/iex/", fixture("tiingo/iex.json"))],
            newest: NEWEST,
        },
        Case {
            provider: "sec",
            build: sec::build,
            places: vec![("/files/company_tickers.json", fixture("sec/company_tickers.json"))],
            newest: None,
        },
        Case {
            provider: "apewisdom",
            build: apewisdom::build,
            places: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            newest: None,
        },
    ]
}

/// Nothing is known.
#[derive(Debug)]
struct Nothing;

impl Memory for Nothing {
    fn last_seen(&self, _symbol: Symbol) -> Option<Seen> {
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
struct Live {
    requests: mpsc::Sender<PriceRequest>,
    deliveries: mpsc::Receiver<Delivery>,
    // The source ends with them.
    _watched: watch::Sender<Arc<Vec<Symbol>>>,
    _wanted: broadcast::Sender<live::Matter>,
}

impl Live {
    async fn begin(case: &Case) -> (Self, Server) {
        let server = Server::start().await;
        for (place, body) in &case.places {
            server.route(place, body);
        }
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(NOW.parse().unwrap()));
        let setup = Setup::new(Arc::clone(&clock), 1);
        let provider: Arc<dyn Provider> = Arc::from((case.build)(&server.url, &setup));
        let mut combination = Combination::new(clock);
        for capability in provider.tier().capabilities().iter() {
            // Nothing is asked but what is requested.
            if capability == sources::provider::Capability::Quotes {
                combination = combination.with(capability, Arc::clone(&provider));
            }
        }
        let options = Options {
            combination: Arc::new(combination),
            setup,
            calendar: Calendar::nyse(),
            polling: Polling::default(),
            limits: Limits::default(),
            stream: stream::Settings::default(),
            nightly_at: time(22, 30, 0, 0),
            benchmark: "SPY".parse().unwrap(),
            splits_only: watch::channel(Arc::default()).1,
        };
        let (watched, watched_receiver) = watch::channel(Arc::default());
        let (wanted, wanted_receiver) = broadcast::channel(1);
        let (requests, requests_receiver) = mpsc::channel(1);
        let (sender, deliveries) = mpsc::channel(100);
        let demand = Demand {
            watched: watched_receiver,
            wanted: wanted_receiver,
            requests: requests_receiver,
        };
        tokio::spawn(live::run(options, demand, Arc::new(Nothing), Health::default(), sender));
        let live = Self {
            requests,
            deliveries,
            _watched: watched,
            _wanted: wanted,
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
async fn every_adapter_tells_a_requested_price_and_which_stocks_it_does_not_know() {
    for case in cases() {
        let provider = case.provider;
        let (mut live, _server) = Live::begin(&case).await;
        let reply = live.request("AAPL").await;
        let Some((price, time)) = case.newest else {
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
async fn no_adapter_takes_a_failing_provider_for_one_that_does_not_know_a_stock() {
    for case in cases() {
        let failing = Case {
            places: Vec::new(),
            ..case
        };
        let (live, server) = Live::begin(&failing).await;
        server.first(std::iter::repeat_n(crate::support::server::Reply::status(401), 10));
        assert_eq!(live.request("AAPL").await, PriceReply::NoAnswer, "{}", failing.provider);
    }
}
