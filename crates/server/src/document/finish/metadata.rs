//! The title, the servers and the tags of the document.

use serde_json::{Value, json};

use crate::document::VERSION;

/// Adds the metadata.
pub(super) fn describe(document: &mut Value) {
    document["info"] = json!({
        "title": "Bellwether",
        "version": VERSION,
        "summary": "Self-hosted stock alerts",
        "description": include_str!("../description.md"),
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    document["servers"] = json!([{"url": "/", "description": "This service"}]);
    document["tags"] = json!([
        {"name": "Identity", "description": "Registration, sign-in and sessions"},
        {"name": "User", "description": "The account and its settings"},
        {"name": "OAuth", "description": "Authorization of MCP clients, and its revocation"},
        {"name": "API Keys", "description": "Keys for programs, managed by signed-in users"},
        {"name": "Alerts", "description": "Create, read, update and delete alerts"},
        {"name": "Firings", "description": "Fired alerts, with the time of each step, messages and acknowledgements"},
        {"name": "Stocks", "description": "The stock catalog, quotes, candles and fundamentals"},
        {"name": "Market", "description": "Market status, calendars, overviews, and ingestion of market data"},
        {"name": "Watchlist", "description": "Planned trades, simulated trades and their performance"},
        {"name": "Webhooks", "description": "Endpoints for events, and their deliveries"},
        {"name": "Notification channels", "description": "Chat and push services, email addresses and phones that get firings"},
        {"name": "Pages", "description": "Pages behind email links. Opening a page changes nothing; submitting its form does"},
        {"name": "Messages", "description": "Email and text messages: the outbox, unsubscribing, provider reports"},
        {"name": "MCP", "description": "The Model Context Protocol endpoint for AI agents"},
        {"name": "Feedback", "description": "Feature requests and bug reports"},
        {"name": "Utilities", "description": "Redirects"},
        {"name": "Cron", "description": "Scheduled jobs, for external schedulers"},
        {"name": "Description", "description": "The API description"},
        {"name": "Operation", "description": "For operators; on a separate listener if `server.ops_listen` is set"},
    ]);
}
