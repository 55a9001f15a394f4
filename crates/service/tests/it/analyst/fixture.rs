//! A test service with a stock with a year of history, an account, and a model endpoint.

use alerts::{Plan, Status};
use foundation::Actor;
use jiff::civil::date;
use market::Calendar;
use serde_json::{Value, json};
use service::alerts::Created;
use testkit::Database;
use testkit::stub_server::{StubResponse, StubServer, response_bytes};
use watchlist::analyst::{
    AnalysisRequest, Author, CallBudget, FallbackReason, Intention, ModelConfig, ModelKey, StockAdvice, TokenLimit,
};

use crate::support::{TestApp, settings, symbol};

pub(crate) const MODEL: &str = "test-model";
pub(crate) const KEY: &str = "sk-a-key-that-nobody-else-sees";
/// The timeout of the model in seconds.
pub(crate) const TIMEOUT_S: i64 = 30;

pub(crate) struct Fixture {
    pub(crate) app: TestApp,
    pub(crate) ann: Actor,
    pub(crate) endpoint: StubServer,
}

impl Fixture {
    /// Creates a fixture whose model answers with `say`.
    pub(crate) async fn new(say: StubResponse) -> Self {
        Self::with(say, |_| ()).await
    }

    /// Creates a fixture with a changed model configuration.
    pub(crate) async fn with(say: StubResponse, change: impl FnOnce(&mut ModelConfig)) -> Self {
        let endpoint = StubServer::start(say).await;
        let mut model = ModelConfig {
            base_url: format!("{}/v1", endpoint.origin()),
            name: MODEL.to_owned(),
            key: ModelKey::new(KEY),
            timeout: std::time::Duration::from_secs(TIMEOUT_S.unsigned_abs()),
            tokens: TokenLimit::MaxTokens(2_000),
            budget: CallBudget {
                total: 100,
                per_account: 100,
            },
        };
        change(&mut model);
        let mut settings = settings();
        settings.analyst.model = Some(model);
        let app = TestApp::with(Database::sqlite(), settings).await;
        let ann = app.ann(Plan::Premium).await;
        stock(&app, "Acme").await;
        Self { app, ann, endpoint }
    }

    pub(crate) async fn request(&self) -> AnalysisRequest {
        // An analysis needs a current price, and some tests advance the clock.
        self.app.quote("ACME", 105.0).await;
        let service = &self.app.service;
        let request = service
            .analysis
            .request_for(&self.ann, symbol("ACME"), Intention::Buy, None);
        request.await.unwrap()
    }

    /// Returns the advice for a buyer.
    pub(crate) async fn advise(&self) -> StockAdvice {
        let request = self.request().await;
        self.advise_on(request).await
    }

    pub(crate) async fn advise_on(&self, request: AnalysisRequest) -> StockAdvice {
        let advised = self.app.service.analysis.advise(request, std::future::pending());
        advised.await.unwrap()
    }

    /// Asserts that the model's answer was used.
    #[track_caller]
    pub(crate) fn assert_model(advised: &StockAdvice) {
        assert_eq!(
            (&advised.author, &advised.fallback),
            (&Author::Model(MODEL.to_owned()), &None)
        );
        assert_authors(advised, MODEL);
    }

    /// Asserts that the rules answered for the given reason.
    #[track_caller]
    pub(crate) fn assert_rules(advised: &StockAdvice, why: &str) {
        let named = advised.fallback.as_ref().map(FallbackReason::name);
        assert_eq!(
            (&advised.author, named),
            (&Author::Rules, Some(why)),
            "{:?}",
            advised.fallback
        );
        assert_authors(advised, "rules");
    }
}

#[track_caller]
fn assert_authors(advised: &StockAdvice, author: &str) {
    let proposals = &advised.advice.proposals;
    assert!((2..=5).contains(&proposals.len()), "{proposals:#?}");
    for proposal in proposals {
        assert_eq!(proposal.body["parameters"]["analyst"], author);
        assert_eq!(proposal.body["parameters"]["source"], "ai");
        assert_eq!(proposal.body["parameters"]["rationale"], proposal.rationale);
    }
}

/// Asserts that the proposed alerts can be created and that none of them fires at once.
pub(crate) async fn assert_creatable(app: &TestApp, actor: &Actor, advised: &StockAdvice) {
    let mut ids = Vec::new();
    for proposal in &advised.advice.proposals {
        match app.service.alerts.create_alert(actor, &proposal.body).await.unwrap() {
            Created::New(detail) => ids.push(detail.stored.alert.id),
            Created::Existing(detail) => panic!("two say the same: {detail:?}"),
        }
    }
    app.service.evaluate().await.unwrap();
    for id in ids {
        assert_eq!(app.status(actor, id).await, Status::Active);
    }
}

/// Adds a stock that moves between 100 and 110 for a year and is at 105 on 2024-03-08, with an ex-date ten days
/// ahead.
pub(crate) async fn stock(app: &TestApp, name: &str) {
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
    app.deliver(json!({"stocks": [stock], "bars": bars, "dividends": [dividend]}))
        .await;
    app.quote("ACME", 105.0).await;
}

/// Returns an alert in the format of a model's answer.
pub(crate) fn model_alert(role: &str, condition: &str, threshold: Value) -> Value {
    json!({
        "role": role,
        "condition": condition,
        "threshold": threshold,
        "direction": null,
        "rationale": "The stock has turned there 12 times within the last year, which is why it may matter.",
    })
}

/// Returns the content of a valid answer.
pub(crate) fn valid_answer() -> Value {
    json!({
        "summary": "ACME swings between 100 and 110 dollars without a trend and moves about 1% a day.",
        "alerts": [
            model_alert("entry", "price_below", json!(100.4)),
            model_alert("breakout", "price_above", json!(110.75)),
            model_alert("event", "dividend_ex_date", json!(3)),
        ],
    })
}

/// Returns the body of a chat completion with this content.
pub(crate) fn completion(content: &str) -> String {
    let message = json!({"role": "assistant", "content": content, "refusal": null});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage})
        .to_string()
}

/// Returns a chat completion with this content.
pub(crate) fn chat_completion(said: &Value) -> StubResponse {
    StubResponse::Bytes(response_bytes("200 OK", "", &completion(&said.to_string())))
}

/// Returns a valid answer with a change.
pub(crate) fn valid_answer_with(change: impl FnOnce(&mut Value)) -> StubResponse {
    let mut said = valid_answer();
    change(&mut said);
    chat_completion(&said)
}
