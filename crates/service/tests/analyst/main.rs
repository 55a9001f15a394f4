//! Stocks looked at by the rules and by a language model: a local endpoint in the shape of OpenAI's chat completions stands for
//! the model. Whatever it says or does, whoever asks gets alerts that can be created as they are, and is told whose they are.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../use_cases/support/mod.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "the use cases need more of it")]
mod support;

mod answers;
mod budget;
mod injection;
mod rules;
mod secrets;
mod stage;
mod trouble;
