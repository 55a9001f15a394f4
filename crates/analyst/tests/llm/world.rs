//! A stock that a model is asked about, and a good answer on it.

use alerts::engine::Dividend;
use analyst::llm::{AnswerError, Brief, read};
use analyst::{Advice, Analysis, Intention};
use jiff::civil::date;
use serde_json::{Value, json};

use crate::support::{Stage, bars, price};

pub(crate) const MODEL: &str = "test-model";

/// A year that swings between 100 and 110 and stands at 105 on 2022-01-03, with an ex-date ten days ahead.
pub(crate) fn stage() -> Stage {
    let closes: Vec<i64> = (0..252)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut stage = Stage::of(bars(&closes, &[500_000], &[1_000, 2_000, 1_500]));
    stage.price = price("105");
    stage.dividends = vec![Dividend {
        ex_date: date(2022, 1, 13),
        payment_date: None,
        amount: None,
    }];
    stage
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
        "summary": "TEST swings between 100 and 110 dollars without a trend and moves about 1% a day.",
        "alerts": [
            said("entry", "price_below", json!(100.4)),
            said("breakout", "price_above", json!(110.75)),
            {
                "role": "momentum",
                "condition": "rsi_limit",
                "threshold": 30,
                "direction": "below",
                "rationale": "The RSI is in the middle; at 30 the price has fallen far in a short time.",
            },
            said("event", "dividend_ex_date", json!(3)),
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

/// Reads the body of an answer about the stock, for a buyer.
pub(crate) fn answer(stage: &Stage, body: &[u8]) -> Result<Advice, AnswerError> {
    answer_for(stage, Intention::Buy, body)
}

pub(crate) fn answer_for(stage: &Stage, intention: Intention, body: &[u8]) -> Result<Advice, AnswerError> {
    let subject = stage.subject(intention);
    let analysis = Analysis::of(&subject);
    let brief = Brief {
        subject: &subject,
        analysis: &analysis,
        stock_name: None,
        notes: None,
    };
    read(body, MODEL, &brief)
}

/// Reads a good answer in which something was changed.
pub(crate) fn changed(change: impl FnOnce(&mut Value)) -> Result<Advice, AnswerError> {
    let mut said = good();
    change(&mut said);
    answer(&stage(), &completion(&said.to_string()))
}
