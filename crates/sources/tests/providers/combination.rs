//! Several providers as one, against local servers.

use std::sync::Arc;

use jiff::SignedDuration;
use sources::combine::{Checked, Combination, Newest, Tried, check, check_table};
use sources::provider::tiingo::{self, Tiingo};
use sources::provider::{Ask, Capability, Key, Provider, ProviderError, finnhub};

use crate::support::clock::TestClock;
use crate::support::server::{Reply, Server};
use crate::support::subject::{fixture, lines, symbols};
use crate::support::telephone::Telephone;
use crate::support::{KEY, setup};

const AAPL: &str = "quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z";

/// Tiingo before Finnhub, each at a server of its own.
struct Two {
    tiingo: Server,
    finnhub: Server,
    clock: Arc<TestClock>,
    combination: Combination,
}

async fn two() -> Two {
    let (tiingo, finnhub, clock) = (Server::start().await, Server::start().await, TestClock::hurried());
    let key = Key::new(KEY).unwrap();
    let first = tiingo::Config {
        api_url: tiingo.url.clone(),
        ..tiingo::Config::free(key.clone())
    };
    let second = finnhub::Config {
        api_url: finnhub.url.clone(),
        ..finnhub::Config::free(key)
    };
    let setup = setup(&clock);
    let first: Arc<dyn Provider> = Arc::new(Tiingo::new(&first, &setup).unwrap());
    let second: Arc<dyn Provider> = Arc::new(finnhub::Finnhub::new(second, &setup).unwrap());
    let combination = Combination::new(Arc::<TestClock>::clone(&clock))
        .with(Capability::Quotes, first)
        .with(Capability::Quotes, second);
    Two {
        tiingo,
        finnhub,
        clock,
        combination,
    }
}

fn ask() -> Ask {
    Ask::Quotes(symbols(&["AAPL"]))
}

#[tokio::test]
async fn while_the_primary_answers_nobody_else_is_asked() {
    let two = two().await;
    two.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    let fetched = two.combination.fetch(&ask()).await.unwrap();
    assert_eq!(
        (fetched.providers, lines(&fetched.answer)),
        (vec!["tiingo"], vec![AAPL.to_owned()])
    );
    assert_eq!(two.finnhub.requests(), 0);
}

#[tokio::test]
async fn a_primary_that_fails_is_left_alone_for_a_while_and_comes_back() {
    let two = two().await;
    two.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    two.finnhub.route("/quote", &fixture("finnhub/quote.json"));
    two.tiingo.first([Reply::status(401)]);
    let fetched = two.combination.fetch(&ask()).await.unwrap();
    assert_eq!(fetched.providers, ["finnhub"]);
    assert!(matches!(
        fetched.tried[..],
        [Tried::Failed(ProviderError::Unauthorized { .. })]
    ));
    let fetched = two.combination.fetch(&ask()).await.unwrap();
    assert!(matches!(fetched.tried[..], [Tried::LeftAlone("tiingo", _)]));
    assert_eq!(two.tiingo.requests(), 1);
    // A quarter of an hour later.
    let later = sources::Clock::now(&*two.clock) + SignedDuration::from_mins(15);
    sources::Clock::sleep_until(&*two.clock, later).await;
    assert_eq!(two.combination.fetch(&ask()).await.unwrap().providers, ["tiingo"]);
}

#[tokio::test]
async fn what_one_does_not_know_the_next_is_asked_about() {
    let two = two().await;
    two.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    two.finnhub.route("/quote?symbol=MSFT", &fixture("finnhub/quote.json"));
    let fetched = two
        .combination
        .fetch(&Ask::Quotes(symbols(&["AAPL", "MSFT"])))
        .await
        .unwrap();
    assert_eq!(fetched.providers, ["tiingo", "finnhub"]);
    let quoted_by: Vec<_> = fetched.quoted_by.into_values().collect();
    assert_eq!(quoted_by, ["tiingo", "finnhub"], "AAPL, MSFT");
    assert_eq!((fetched.answer.batch.quotes.len(), fetched.answer.unknown), (2, vec![]));
    assert_eq!(two.finnhub.requests(), 1);
}

#[tokio::test]
async fn when_nobody_answers_each_says_why() {
    let two = two().await;
    two.tiingo.first([Reply::status(403)]);
    two.finnhub.first([Reply::status(401)]);
    let nobody = two.combination.fetch(&ask()).await.unwrap_err();
    assert_eq!(nobody.tried.len(), 2);
    let said = nobody.to_string();
    assert!(
        said.starts_with("nobody answers for quotes; tiingo refuses this on the present plan"),
        "{said}"
    );
    let nobody = two.combination.fetch(&Ask::Catalog).await.unwrap_err();
    assert_eq!(
        nobody.to_string(),
        "nobody is set for catalog; set a provider that offers it"
    );
}

#[tokio::test]
async fn a_check_asks_every_provider_for_all_it_is_set_for() {
    let two = two().await;
    two.tiingo.route("/iex/", &fixture("tiingo/iex.json"));
    two.finnhub.first([Reply::status(401)]);
    let aapl = symbols(&["AAPL"]);
    let rows = check(&two.combination, &aapl, aapl[0], &setup(&two.clock)).await;
    let newest = Newest::Instant("2024-03-08T15:29:58.123456789Z".parse().unwrap());
    assert_eq!(
        rows[0].outcome,
        Checked::Answered {
            records: 1,
            faults: 0,
            newest: Some(newest)
        }
    );
    assert!(matches!(
        rows[1].outcome,
        Checked::Failed(ProviderError::Unauthorized { .. })
    ));
    let table = check_table(&rows, "2024-03-08T15:30:00.123456789Z".parse().unwrap());
    assert_eq!(
        table,
        "capability  provider  role        latency  records  newest                age  result\n\
         quotes      tiingo    primary        0 ms        1  2024-03-08T15:29:58Z  2 s  ok\n\
         quotes      finnhub   fallback 1     0 ms        -  -                       -  \
         finnhub does not take the key; check it, and that it is of the right environment\n"
    );
}

#[tokio::test]
async fn a_stream_is_checked_by_listening_to_it() {
    let (phone, clock) = (Telephone::new().await, TestClock::standing());
    let config = finnhub::Config {
        stream_url: phone.url.clone(),
        ..finnhub::Config::free(Key::new(KEY).unwrap())
    };
    let setup = setup(&clock);
    let provider: Arc<dyn Provider> = Arc::new(finnhub::Finnhub::new(config, &setup).unwrap());
    let combination = Combination::new(Arc::<TestClock>::clone(&clock)).with(Capability::Stream, provider);
    let aapl = symbols(&["AAPL"]);
    let (rows, _call) = tokio::join!(check(&combination, &aapl, aapl[0], &setup), phone.take());
    assert!(matches!(rows[0].outcome, Checked::Answered { .. }), "{rows:?}");
    let (rows, ()) = tokio::join!(check(&combination, &aapl, aapl[0], &setup), phone.refuse(401));
    assert!(
        matches!(rows[0].outcome, Checked::Failed(ProviderError::Unauthorized { .. })),
        "{rows:?}"
    );
}
