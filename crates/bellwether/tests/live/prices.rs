//! Current prices on a service that asks a provider, and on one that follows a folder.

use alerts::AlertId;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use service::Clock;
use testkit::Database;

use crate::exchange::{Books, Exchange};
use crate::house::{From, Live, at, symbol};

/// `2024-03-08T{time}Z`, a Friday.
fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

fn change(symbol: &str, percent: u32) -> Value {
    json!({"symbol": symbol, "condition": "price_change_up", "threshold": percent})
}

/// An exchange that lists no stock and has these prices, now and at Thursday's close.
async fn exchange(now: Timestamp, prices: &[(&str, &str)]) -> Exchange {
    let last = |(name, price): &(&str, &str)| ((*name).to_owned(), ((*price).to_owned(), now));
    let bar = |(name, price): &(&str, &str)| {
        let thursday = (at("2024-03-07T05:00:00Z"), [*price; 4].map(str::to_owned));
        ((*name).to_owned(), vec![thursday])
    };
    let books = Books {
        days: prices.iter().map(bar).collect(),
        last: prices.iter().map(last).collect(),
        ..Books::default()
    };
    Exchange::open(books, now).await
}

impl Live {
    async fn initial_price(&self, id: AlertId) -> Option<String> {
        let price = self.alert(id).await.stored.alert.initial_price;
        price.map(|price| price.to_string())
    }
}

async fn paused_over_a_rise(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = exchange(begin, &[("AAPL", "200")]).await;
    let live = Live::open(database, From::Alpaca(&exchange), begin).await;
    // The stock is in no catalog, so the provider is queried.
    let created = live
        .service()
        .alerts
        .create_alert(&live.ann, &change("AAPL", 50))
        .await
        .unwrap();
    let service::alerts::Created::New(created) = created else {
        panic!("there was one already")
    };
    let id = created.stored.alert.id;
    live.soon("it has an initial price", async |live| {
        live.initial_price(id).await.is_some()
    })
    .await;
    assert_eq!(live.initial_price(id).await.as_deref(), Some("200"));
    live.service().alerts.pause_alert(&live.ann, id).await.unwrap();
    live.reach(friday("15:20:00")).await;

    // Three seconds of this clock may pass before the exchange responds: then the result is 503, and the test tries again.
    let trade = |live: &Live| {
        let now = live.clock.now();
        exchange.books().last.insert("AAPL".to_owned(), ("300".to_owned(), now));
    };
    loop {
        let (service, ann) = (live.service().clone(), live.ann.clone());
        let activating = tokio::spawn(async move { service.alerts.activate_alert(&ann, id).await });
        live.soon("the activation is answered", async |live| {
            trade(live);
            activating.is_finished()
        })
        .await;
        if activating.await.unwrap().is_ok() {
            break;
        }
    }
    live.soon("it has a new initial price", async |live| {
        trade(live);
        live.initial_price(id).await.is_some()
    })
    .await;
    assert_eq!(live.initial_price(id).await.as_deref(), Some("300"));
    let then = live.clock.now().saturating_add(SignedDuration::from_mins(3)).unwrap();
    live.reach(then).await;
    assert_eq!(live.fired(&[id]).await, [], "300 is no rise above 300");
    live.house.close().await.unwrap();
}

async fn unwatched(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = exchange(begin, &[("AAPL", "200"), ("MSFT", "400")]).await;
    let live = Live::open(database, From::Alpaca(&exchange), begin).await;
    // The clock stands still, so no time limit passes before the response.
    let shown = live.service().stocks.stock(symbol("MSFT")).await.unwrap();
    assert_eq!(shown.last_price, "400".parse().ok());
    let created = live.service().alerts.create_alert(&live.ann, &change("AAPL", 5)).await;
    assert!(created.is_ok());
    assert!(live.service().stocks.stock(symbol("NOSUCH")).await.is_err());
    // It stays of interest without an alert or a watchlist.
    live.soon("it is subscribed", async |_| {
        exchange.books().subscribed.contains(&"MSFT".to_owned())
    })
    .await;
    live.reach(begin.saturating_add(SignedDuration::from_mins(20)).unwrap())
        .await;
    live.soon("it is not subscribed any more", async |_| {
        !exchange.books().subscribed.contains(&"MSFT".to_owned())
    })
    .await;
    live.house.close().await.unwrap();
}

async fn folder_of_old_bars(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bars")).unwrap();
    let head = "symbol,date,open,high,low,close,volume\n";
    let rows = "OLD,2021-03-08,9,9,9,9,100\nAAPL,2024-03-07,190,190,190,190,100\n";
    std::fs::write(folder.path().join("bars/all.csv"), format!("{head}{rows}")).unwrap();
    // Before the open of Friday.
    let live = Live::open(database, From::Folder(folder.path()), friday("13:00:00")).await;
    live.until("the folder has been read", async |live| {
        live.service().ready().await.is_ok()
    })
    .await;
    let created = async |name: &str| {
        let body = json!({"symbol": name, "condition": "price_above", "threshold": 1_000});
        let detail = live.create(&body).await;
        let price = detail.stored.alert.initial_price.map(|price| price.to_string());
        (price, detail.stock.updated_at)
    };
    // Everything is known at the very instant at which the service is ready.
    assert_eq!(
        created("AAPL").await,
        (Some("190".to_owned()), Some(at("2024-03-07T21:00:00Z")))
    );
    assert_eq!(created("OLD").await, (None, Some(at("2021-03-08T21:00:00Z"))));
    live.house.close().await.unwrap();
}

testkit::on_both! {
    async fn alert_that_was_paused_over_a_rise_starts_from_the_price_of_now(database) {
        paused_over_a_rise(database).await;
    }

    async fn stock_that_nobody_watches_is_asked_of_the_provider_when_it_is_read(database) {
        unwatched(database).await;
    }

    async fn file_source_is_ready_after_its_first_load_and_a_price_is_as_old_as_its_bar(database) {
        folder_of_old_bars(database).await;
    }
}
