//! # The MCP endpoint for AI agents
//!
//! `POST /mcp` is stateless JSON-RPC with one message per request. rmcp implements the protocol: the revisions before
//! 2026-07-28, which start with `initialize`, and 2026-07-28, whose requests are self-contained. The module [`request`] checks
//! each request before rmcp handles it, in this order: host and origin ([`origin`]), authentication ([`authentication`]), one
//! valid message ([`message`]), rate limit and scope ([`access`]). Errors are JSON-RPC errors with the id of the request
//! ([`error`]).
//!
//! There are eleven tools ([`tools`]), one file each, with arguments, output schema and call. They use the same use cases and
//! views as the REST endpoints. [`resources`] are data that agents read, and [`prompts`] are tasks that users start. [`access`]
//! maps each of them to its scope and rate limit group. [`handler`] registers them with rmcp, with a time limit and panic
//! handling, which rmcp lacks.
//!
//! Fired alerts are not pushed to agents. Agents read them (`list_alert_events`, `bellwether://events`), or a webhook
//! receives them.

mod access;
mod authentication;
mod cors;
mod error;
mod handler;
mod message;
pub(crate) mod origin;
mod prompts;
mod request;
mod resources;
pub mod tools;

pub(crate) use cors::preflight;
pub(crate) use handler::McpEndpoint;
pub(crate) use request::respond;
