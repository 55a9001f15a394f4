//! # The MCP endpoint: the way in for agents
//!
//! `POST /mcp` speaks JSON-RPC, one request a message, and remembers nothing between them. rmcp answers; it speaks the
//! revisions before 2026-07-28 (`initialize` first) and that one (every request says all of itself). What rmcp leaves
//! open is decided in front of it ([`front`]), in this order: where the request comes from ([`origin`]), whether its body is
//! one message ([`message`]), who asks ([`caller`]), whether they may, and how much they may still ask. Whatever is refused
//! there is an answer in the form of JSON-RPC with the id of what was asked ([`refusal`]).
//!
//! Behind it are eleven tools ([`tools`]), one file each: what it takes, what it gives, the call. They call the very use
//! cases that the REST endpoints call and answer with the very views, so nothing is decided here. [`resources`] are data
//! that agents read, [`prompts`] are tasks that people start. [`access`] says which scope each of them needs and in which
//! group of requests it counts. [`handler`] gives them to rmcp, with a time limit and a guard against panics, because rmcp
//! has neither.
//!
//! Fired alerts are not pushed to agents. Agents read them (`list_alert_events`, `bellwether://events`), or a webhook is
//! called.

mod access;
mod caller;
mod cors;
mod front;
mod handler;
mod message;
pub(crate) mod origin;
mod prompts;
mod refusal;
mod resources;
pub mod tools;

pub(crate) use cors::preflight;
pub(crate) use front::answer;
pub(crate) use handler::{Endpoint, endpoint};
