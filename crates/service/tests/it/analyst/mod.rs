//! Analyses by the rules and by a language model. A local endpoint with the API of OpenAI's chat completions stands
//! for the model. Whatever it does, the result has alerts that can be created, and names their author.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod answers;
mod budget;
mod endpoint_errors;
mod fixture;
mod injection;
mod rules;
mod secrets;
