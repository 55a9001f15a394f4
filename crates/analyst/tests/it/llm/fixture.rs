//! A stock for the model, and a good answer about it.

use alerts::engine::Dividend;
use analyst::llm::{AnswerError, PromptInput, parse_answer};
use analyst::{Advice, Analysis, Intention};
use jiff::civil::date;
use serde_json::{Value, json};

use crate::support::{Fixture, bars, price};

pub(crate) const MODEL: &str = "test-model";

/// A year that swings between 100 and 110 and stands at 105 on 2022-01-03, with an ex-date ten days ahead.
pub(crate) fn fixture() -> Fixture {
    let closes: Vec<i64> = (0..252)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut fixture = Fixture::of(bars(&closes, &[500_000], &[1_000, 2_000, 1_500]));
    fixture.price = price("105");
    fixture.dividends = vec![Dividend {
        ex_date: date(2022, 1, 13),
        payment_date: None,
        amount: None,
    }];
    fixture
}

/// An alert as a model writes it.
pub(crate) fn model_alert(role: &str, condition: &str, threshold: Value) -> Value {
    json!({
        "role": role,
        "condition": condition,
        "threshold": threshold,
        "direction": null,
        "rationale": "The stock has turned there 12 times within the last year, which is why it may matter.",
    })
}

/// A valid answer of a model.
pub(crate) fn good_content() -> Value {
    json!({
        "summary": "TEST swings between 100 and 110 dollars without a trend and moves about 1% a day.",
        "alerts": [
            model_alert("entry", "price_below", json!(100.4)),
            model_alert("breakout", "price_above", json!(110.75)),
            {
                "role": "momentum",
                "condition": "rsi_limit",
                "threshold": 30,
                "direction": "below",
                "rationale": "The RSI is in the middle; at 30 the price has fallen far in a short time.",
            },
            model_alert("event", "dividend_ex_date", json!(3)),
        ],
    })
}

/// The body of a chat completion with this content.
pub(crate) fn completion(content: &str) -> Vec<u8> {
    let message = json!({"role": "assistant", "content": content, "refusal": null});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL, "choices": [choice]});
    body.to_string().into_bytes()
}

/// Parses the body of an answer about the stock, for a buyer.
pub(crate) fn parse(fixture: &Fixture, body: &[u8]) -> Result<Advice, AnswerError> {
    parse_for(fixture, Intention::Buy, body)
}

pub(crate) fn parse_for(fixture: &Fixture, intention: Intention, body: &[u8]) -> Result<Advice, AnswerError> {
    let subject = fixture.subject(intention);
    let analysis = Analysis::of(&subject);
    let input = PromptInput {
        subject: &subject,
        analysis: &analysis,
        stock_name: None,
        notes: None,
    };
    parse_answer(body, MODEL, &input)
}

/// Parses a good answer with a change.
pub(crate) fn parse_changed(change: impl FnOnce(&mut Value)) -> Result<Advice, AnswerError> {
    let mut content = good_content();
    change(&mut content);
    parse(&fixture(), &completion(&content.to_string()))
}
