//! The resources: data that agents read by URI.
//!
//! | URI | content | scope |
//! |---|---|---|
//! | `bellwether://guide/conditions` | each condition with its threshold, parameters and an example | none |
//! | `bellwether://events` | the latest firings of the account's alerts | `alerts:read` |
//! | `bellwether://stocks/{symbol}` | a stock with its figures and fundamentals | `stocks:read`; for apps `alerts:read` |
//!
//! Lists contain only resources that the caller may read.

mod events;
mod guide;
mod stock;

use foundation::{Actor, AuthMethod, Scope};
use market::Symbol;
use rmcp::model::{
    CacheScope, ErrorData, ReadResourceResult, Resource as ResourceEntry, ResourceContents, ResourceTemplate,
};
use serde::Serialize;
use serde_json::json;

use super::handler::internal;
use super::tools::{ToolError, ToolOutput};
use crate::rate_limiter::RateLimitGroup;
use crate::state::App;

pub(super) use guide::text as guide_text;

/// The URI of the guide to the conditions.
pub(super) const GUIDE_URI: &str = "bellwether://guide/conditions";
const EVENTS_URI: &str = "bellwether://events";
const STOCKS_URI: &str = "bellwether://stocks/";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// The time that clients may cache the guide, in milliseconds. It changes only with a new version of the program.
const GUIDE_TTL_MS: u64 = 60 * 60 * 1000;

/// A resource that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resource {
    /// The guide to the conditions.
    Guide,
    /// The latest firings of the account's alerts.
    Events,
    /// A stock.
    Stock(Symbol),
}

impl Resource {
    /// Returns the resource with this URI.
    pub(super) fn from_uri(uri: &str) -> Option<Self> {
        match uri {
            GUIDE_URI => Some(Self::Guide),
            EVENTS_URI => Some(Self::Events),
            _ => uri.strip_prefix(STOCKS_URI)?.parse().ok().map(Self::Stock),
        }
    }

    /// Returns the scope for reading it.
    pub(super) const fn scope(self, actor: &Actor) -> Option<Scope> {
        match self {
            Self::Guide => None,
            Self::Events => Some(Scope::AlertsRead),
            Self::Stock(_) => Some(stock_scope(actor)),
        }
    }

    /// Returns the rate limit group of reading it.
    pub(super) const fn group(self) -> RateLimitGroup {
        match self {
            Self::Guide => RateLimitGroup::Mcp,
            Self::Events => RateLimitGroup::Alerts,
            Self::Stock(_) => RateLimitGroup::Stocks,
        }
    }

    /// Reads the resource for a caller with its scope.
    pub(super) async fn read(self, app: &App, actor: &Actor, uri: String) -> Result<ReadResourceResult, ToolError> {
        // The module `request` has checked the scope already. This check does not rely on it.
        if let Some(scope) = self.scope(actor) {
            actor.require(scope)?;
        }
        Ok(match self {
            Self::Guide => {
                let contents = ResourceContents::text(guide::text(), uri).with_mime_type(MARKDOWN);
                ReadResourceResult::new(vec![contents])
                    .with_ttl_ms(GUIDE_TTL_MS)
                    .with_cache_scope(CacheScope::Public)
            }
            Self::Events => private(uri, &events::read(app, actor).await?)?,
            Self::Stock(symbol) => private(uri, &stock::read(app, symbol).await?)?,
        })
    }
}

/// Returns the scope for reading a stock. OAuth has no scope for stocks, so OAuth clients need `alerts:read`.
const fn stock_scope(actor: &Actor) -> Scope {
    match actor.auth_method {
        AuthMethod::Grant { .. } => Scope::AlertsRead,
        AuthMethod::ApiKey { .. } | AuthMethod::Session { .. } | AuthMethod::MessageLink { .. } => Scope::StocksRead,
    }
}

/// Returns the resources that the caller may read.
pub(super) fn entries(actor: &Actor) -> Vec<ResourceEntry> {
    let guide = ResourceEntry::new(GUIDE_URI, "conditions")
        .with_title("Guide to the alert conditions")
        .with_description(
            "The 23 conditions of create_alert: when each fires, its threshold and parameters, and an example",
        )
        .with_mime_type(MARKDOWN);
    let events = ResourceEntry::new(EVENTS_URI, "events")
        .with_title("Latest firings")
        .with_description("The latest firings of the account's alerts, newest first, with their reasons")
        .with_mime_type(JSON);
    let may_read_events = actor.require(Scope::AlertsRead).is_ok();
    [guide].into_iter().chain(may_read_events.then_some(events)).collect()
}

/// Returns the resource templates that the caller may read.
pub(super) fn templates(actor: &Actor) -> Vec<ResourceTemplate> {
    let stock = ResourceTemplate::new("bellwether://stocks/{symbol}", "stock")
        .with_title("Stock")
        .with_description(
            "A stock by its ticker symbol, such as AAPL: price, 52-week range, RSI, averages, volume, fundamentals",
        )
        .with_mime_type(JSON);
    let may_read_stocks = actor.require(stock_scope(actor)).is_ok();
    may_read_stocks.then_some(stock).into_iter().collect()
}

/// Returns the error for an unknown URI.
pub(super) fn unknown(uri: &str) -> ErrorData {
    let text = format!(
        "unknown resource; the resources are {GUIDE_URI}, {EVENTS_URI} and {STOCKS_URI}{{symbol}} with a ticker symbol"
    );
    not_found(text, uri)
}

/// Returns the error for a resource that could not be read. Only a missing resource is "not found"; others may be readable
/// later.
pub(super) fn read_error(error: ToolError, uri: &str) -> ErrorData {
    match error {
        ToolError::NotFound(text) => not_found(text, uri),
        ToolError::Refused(text) => ErrorData::internal_error(text, None),
        ToolError::Internal => internal(),
    }
}

fn not_found(text: String, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(text, Some(json!({"uri": uri})))
}

/// Returns data as JSON that only the caller's client may cache.
fn private(uri: String, data: &impl Serialize) -> Result<ReadResourceResult, ToolError> {
    let contents = ResourceContents::text(ToolOutput::of(data)?.text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private))
}

#[cfg(test)]
mod tests {
    use foundation::ServiceError;
    use rmcp::model::ErrorCode;

    use super::*;

    #[test]
    fn only_missing_resources_are_not_found() {
        let unavailable = ServiceError::Unavailable("prices are not available; try again".to_owned());
        let missing = ServiceError::NotFound("stock");
        for (error, code) in [
            (unavailable, ErrorCode::INTERNAL_ERROR),
            (missing, ErrorCode::RESOURCE_NOT_FOUND),
        ] {
            let shown = read_error(error.into(), "bellwether://stocks/NEWX");
            assert_eq!(shown.code, code, "{shown:?}");
            assert!(!shown.message.is_empty());
        }
    }

    #[test]
    fn finds_resources_by_uri() {
        let apple = Resource::Stock("AAPL".parse().unwrap());
        for (uri, resource) in [
            ("bellwether://guide/conditions", Some(Resource::Guide)),
            ("bellwether://events", Some(Resource::Events)),
            ("bellwether://stocks/AAPL", Some(apple)),
            ("bellwether://stocks/aapl", Some(apple)),
            ("bellwether://stocks/", None),
            ("bellwether://stocks/AAPL/x", None),
            ("bellwether://stocks/TOOLONGSYMBOL", None),
            ("bellwether://events/1", None),
            ("https://events", None),
            ("", None),
        ] {
            assert_eq!(Resource::from_uri(uri), resource, "{uri}");
        }
    }
}
