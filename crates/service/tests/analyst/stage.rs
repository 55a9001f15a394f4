//! A stock with a year behind it, an account that looks at it, and a model.

use alerts::{Plan, Status};
use jiff::civil::date;
use market::Calendar;
use serde_json::{Value, json};
use service::Actor;
use service::alerts::Created;
use service::analyst::{Advised, Author, Budget, Intention, Key, ModelSettings, TokenLimit, WhyNot, Wish};
use testkit::Database;
use testkit::stub_server::{StubResponse, StubServer, response_bytes};

use crate::support::{World, settings, symbol};

pub(crate) const MODEL: &str = "test-model";
pub(crate) const KEY: &str = "sk-a-key-that-nobody-else-sees";
/// How long the model may take.
pub(crate) const TIMEOUT_S: i64 = 30;

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) ann: Actor,
    pub(crate) endpoint: StubServer,
}

impl Stage {
    /// With a model that says this.
    pub(crate) async fn of(say: StubResponse) -> Self {
        Self::with(say, |_| ()).await
    }

    /// The same, with the model set otherwise.
    pub(crate) async fn with(say: StubResponse, change: impl FnOnce(&mut ModelSettings)) -> Self {
        let endpoint = StubServer::start(say).await;
        let mut model = ModelSettings {
            base_url: format!("{}/v1", endpoint.origin()),
            name: MODEL.to_owned(),
            key: Key::new(KEY),
            timeout: std::time::Duration::from_secs(TIMEOUT_S.unsigned_abs()),
            tokens: TokenLimit::MaxTokens(2_000),
            budget: Budget {
                in_all: 100,
                to_each: 100,
            },
        };
        change(&mut model);
        let mut settings = settings();
        settings.analyst.model = Some(model);
        let world = World::with(Database::sqlite(), settings).await;
        let ann = world.ann(Plan::Premium).await;
        stock(&world, "Acme").await;
        Self { world, ann, endpoint }
    }

    pub(crate) async fn wish(&self) -> Wish {
        // An analysis takes a current price only, and some tests advance the clock.
        self.world.quote("ACME", 105.0).await;
        let service = &self.world.service;
        let wish = service
            .analysis
            .wish_of(&self.ann, symbol("ACME"), Intention::Buy, None);
        wish.await.unwrap()
    }

    /// What a buyer is told.
    pub(crate) async fn advise(&self) -> Advised {
        let wish = self.wish().await;
        self.advise_on(wish).await
    }

    pub(crate) async fn advise_on(&self, wish: Wish) -> Advised {
        let advised = self.world.service.analysis.advise(wish, std::future::pending());
        advised.await.unwrap()
    }

    /// The answer is taken, and is the model's.
    #[track_caller]
    pub(crate) fn assert_model(advised: &Advised) {
        assert_eq!(
            (&advised.author, &advised.fell_back),
            (&Author::Model(MODEL.to_owned()), &None)
        );
        assert_authors(advised, MODEL);
    }

    /// It is not, for that reason, and the rules' alerts stand in.
    #[track_caller]
    pub(crate) fn assert_rules(advised: &Advised, why: &str) {
        let named = advised.fell_back.as_ref().map(WhyNot::name);
        assert_eq!(
            (&advised.author, named),
            (&Author::Rules, Some(why)),
            "{:?}",
            advised.fell_back
        );
        assert_authors(advised, "rules");
    }
}

#[track_caller]
fn assert_authors(advised: &Advised, author: &str) {
    let proposals = &advised.advice.proposals;
    assert!((2..=5).contains(&proposals.len()), "{proposals:#?}");
    for proposal in proposals {
        assert_eq!(proposal.body["parameters"]["analyst"], author);
        assert_eq!(proposal.body["parameters"]["source"], "ai");
        assert_eq!(proposal.body["parameters"]["rationale"], proposal.rationale);
    }
}

/// What was advised can be created as it is, and none of it fires at once.
pub(crate) async fn assert_usable(world: &World, actor: &Actor, advised: &Advised) {
    let mut ids = Vec::new();
    for proposal in &advised.advice.proposals {
        match world.service.alerts.create_alert(actor, &proposal.body).await.unwrap() {
            Created::New(detail) => ids.push(detail.stored.alert.id),
            Created::Existing(detail) => panic!("two say the same: {detail:?}"),
        }
    }
    world.service.evaluate().await.unwrap();
    for id in ids {
        assert_eq!(world.status(actor, id).await, Status::Active);
    }
}

/// A year that swings between 100 and 110 and stands at 105 on 2024-03-08, with an ex-date ten days ahead.
pub(crate) async fn stock(world: &World, name: &str) {
    let calendar = Calendar::nyse();
    let days = calendar.sessions(date(2023, 3, 7), date(2024, 3, 7));
    let bars: Vec<Value> = (0..)
        .zip(days)
        .map(|(day, session): (i32, _)| {
            let swing = |day: i32| 100.0 + f64::from((day % 20 - 10).abs());
            let (open, close) = (swing((day - 1).max(0)), swing(day));
            json!({"symbol": "ACME", "date": session.date.to_string(), "open": open, "high": open.max(close) + 0.5,
                "low": open.min(close) - 0.5, "close": close, "volume": 1_000 + 500 * (day % 3)})
        })
        .collect();
    let stock = json!({"symbol": "ACME", "name": name});
    let dividend = json!({"symbol": "ACME", "ex_date": "2024-03-18", "payment_date": "2024-04-01", "amount": 0.5});
    world
        .deliver(json!({"stocks": [stock], "bars": bars, "dividends": [dividend]}))
        .await;
    world.quote("ACME", 105.0).await;
}

/// An alert as a model writes it.
pub(crate) fn said(role: &str, condition: &str, threshold: Value) -> Value {
    json!({
        "role": role,
        "condition": condition,
        "threshold": threshold,
        "direction": null,
        "rationale": "The stock has turned there 12 times within the last year, which is why it may matter.",
    })
}

/// What a model says that does as it is told.
pub(crate) fn good() -> Value {
    json!({
        "summary": "ACME swings between 100 and 110 dollars without a trend and moves about 1% a day.",
        "alerts": [
            said("entry", "price_below", json!(100.4)),
            said("breakout", "price_above", json!(110.75)),
            said("event", "dividend_ex_date", json!(3)),
        ],
    })
}

/// The body of a chat completion with this content.
pub(crate) fn completion(content: &str) -> String {
    let message = json!({"role": "assistant", "content": content, "refusal": null});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage})
        .to_string()
}

/// A chat completion that says this.
pub(crate) fn says(said: &Value) -> StubResponse {
    StubResponse::Bytes(response_bytes("200 OK", "", &completion(&said.to_string())))
}

/// A good answer in which something was changed.
pub(crate) fn changed(change: impl FnOnce(&mut Value)) -> StubResponse {
    let mut said = good();
    change(&mut said);
    says(&said)
}
