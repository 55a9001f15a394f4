//! Tests of current prices with a provider and with a data folder.

use alerts::AlertId;
use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::Database;

use crate::live::exchange::{ExchangeData, FakeExchange};
use crate::live::test_server::{DataSource, TestServer, at, symbol};

/// `2024-03-08T{time}Z`, a Friday.
fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

fn change(symbol: &str, percent: u32) -> Value {
    json!({"symbol": symbol, "condition": "price_change_up", "threshold": percent})
}

/// An exchange without a catalog that has these prices, now and at Thursday's close.
async fn exchange(now: Timestamp, prices: &[(&str, &str)]) -> FakeExchange {
    let last = |(name, price): &(&str, &str)| ((*name).to_owned(), ((*price).to_owned(), now));
    let bar = |(name, price): &(&str, &str)| {
        let thursday = (at("2024-03-07T05:00:00Z"), [*price; 4].map(str::to_owned));
        ((*name).to_owned(), vec![thursday])
    };
    let data = ExchangeData {
        days: prices.iter().map(bar).collect(),
        last: prices.iter().map(last).collect(),
        ..ExchangeData::default()
    };
    FakeExchange::open(data, now).await
}

impl TestServer {
    async fn initial_price(&self, id: AlertId) -> Option<String> {
        let price = self.alert(id).await.stored.alert.initial_price;
        price.map(|price| price.to_string())
    }
}

async fn paused_over_a_rise(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = exchange(begin, &[("AAPL", "200")]).await;
    let test = TestServer::open(database, DataSource::Alpaca(&exchange), begin).await;
    // The stock is in no catalog, so the provider is queried.
    let created = test
        .service()
        .alerts
        .create_alert(&test.ann, &change("AAPL", 50))
        .await
        .unwrap();
    let service::alerts::Created::New(created) = created else {
        panic!("there was one already")
    };
    let id = created.stored.alert.id;
    test.advance_until("it has an initial price", async |test| {
        test.initial_price(id).await.is_some()
    })
    .await;
    assert_eq!(test.initial_price(id).await.as_deref(), Some("200"));
    test.service().alerts.pause_alert(&test.ann, id).await.unwrap();
    test.advance_to(friday("15:20:00")).await;

    // Three seconds of this clock may pass before the exchange responds: then the result is 503, and the test tries again.
    let trade = |test: &TestServer| {
        let now = test.clock.now();
        exchange.data().last.insert("AAPL".to_owned(), ("300".to_owned(), now));
    };
    loop {
        let (service, ann) = (test.service().clone(), test.ann.clone());
        let activating = tokio::spawn(async move { service.alerts.activate_alert(&ann, id).await });
        test.advance_until("the activation is answered", async |test| {
            trade(test);
            activating.is_finished()
        })
        .await;
        if activating.await.unwrap().is_ok() {
            break;
        }
    }
    test.advance_until("it has a new initial price", async |test| {
        trade(test);
        test.initial_price(id).await.is_some()
    })
    .await;
    assert_eq!(test.initial_price(id).await.as_deref(), Some("300"));
    let then = test.clock.now().saturating_add(SignedDuration::from_mins(3)).unwrap();
    test.advance_to(then).await;
    assert_eq!(test.fired(&[id]).await, [], "300 is no rise above 300");
    test.server.close().await.unwrap();
}

async fn unwatched(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = exchange(begin, &[("AAPL", "200"), ("MSFT", "400")]).await;
    let test = TestServer::open(database, DataSource::Alpaca(&exchange), begin).await;
    // The clock stands still, so no time limit passes before the response.
    let shown = test.service().stocks.stock(symbol("MSFT")).await.unwrap();
    assert_eq!(shown.last_price, "400".parse().ok());
    let created = test.service().alerts.create_alert(&test.ann, &change("AAPL", 5)).await;
    assert!(created.is_ok());
    assert!(test.service().stocks.stock(symbol("NOSUCH")).await.is_err());
    // It stays of interest without an alert or a watchlist.
    test.advance_until("it is subscribed", async |_| {
        exchange.data().subscribed.contains(&"MSFT".to_owned())
    })
    .await;
    test.advance_to(begin.saturating_add(SignedDuration::from_mins(20)).unwrap())
        .await;
    test.advance_until("it is not subscribed any more", async |_| {
        !exchange.data().subscribed.contains(&"MSFT".to_owned())
    })
    .await;
    test.server.close().await.unwrap();
}

async fn folder_of_old_bars(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bars")).unwrap();
    let head = "symbol,date,open,high,low,close,volume\n";
    let rows = "OLD,2021-03-08,9,9,9,9,100\nAAPL,2024-03-07,190,190,190,190,100\n";
    std::fs::write(folder.path().join("bars/all.csv"), format!("{head}{rows}")).unwrap();
    // Before Friday's open.
    let test = TestServer::open(database, DataSource::Folder(folder.path()), friday("13:00:00")).await;
    test.wait_until("the folder has been read", async |test| {
        test.service().ready().await.is_ok()
    })
    .await;
    let created = async |name: &str| {
        let body = json!({"symbol": name, "condition": "price_above", "threshold": 1_000});
        let detail = test.create(&body).await;
        let price = detail.stored.alert.initial_price.map(|price| price.to_string());
        (price, detail.stock.updated_at)
    };
    // All data is known as soon as the service is ready.
    assert_eq!(
        created("AAPL").await,
        (Some("190".to_owned()), Some(at("2024-03-07T21:00:00Z")))
    );
    assert_eq!(created("OLD").await, (None, Some(at("2021-03-08T21:00:00Z"))));
    test.server.close().await.unwrap();
}

testkit::on_both_databases! {
    async fn reactivated_alert_counts_from_the_current_price(database) {
        paused_over_a_rise(database).await;
    }

    async fn unwatched_stock_is_requested_when_it_is_read(database) {
        unwatched(database).await;
    }

    async fn file_source_is_ready_after_its_first_load(database) {
        folder_of_old_bars(database).await;
    }
}
