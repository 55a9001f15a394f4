//! How much one may still ask: fixed windows per principal and group of routes (decisions 1.8).
//!
//! The principal is the account, or else the client's address: so requests that show no key, or a wrong one, are
//! counted by address, and guessing keys comes to an end. Every answer of the API says what is left.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use metrics::counter;

use super::client::{self, Peer};
use super::windows::{Allowance, Counted, Principal, Windows};
use crate::answer::RateLimit;
use crate::app::App;
use crate::auth::Identity;
use crate::error::{ApiError, Code};
use crate::settings::Limits;

/// Routes that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// Alerts and their history.
    Alerts,
    /// Stocks, quotes, the market.
    Stocks,
    /// The watchlist.
    Watchlist,
    /// Webhooks.
    Webhooks,
    /// Tests of webhooks, which send something at once.
    WebhookTest,
    /// Everything about the account, and what is no route at all.
    User,
    /// Market data that is pushed: unlimited for those who may.
    Ingest,
}

impl Group {
    /// The group of a path; `None` outside the API.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/api/v1").or_else(|| path.strip_prefix("/v1"))?;
        let mut segments = rest.split('/');
        if segments.next() != Some("") {
            return None;
        }
        let group = match (segments.next().unwrap_or_default(), segments.next()) {
            ("market", Some("ingest")) => Self::Ingest,
            ("alerts", _) => Self::Alerts,
            ("stocks" | "quotes" | "market", _) => Self::Stocks,
            ("watchlist", _) => Self::Watchlist,
            ("webhooks", Some("test")) => Self::WebhookTest,
            ("webhooks", _) => Self::Webhooks,
            _ => Self::User,
        };
        Some(group)
    }

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::Stocks => "stocks",
            Self::Watchlist => "watchlist",
            Self::Webhooks => "webhooks",
            Self::WebhookTest => "webhook_test",
            Self::User => "user",
            Self::Ingest => "ingest",
        }
    }
}

/// The limit that is reported where there is none.
pub const UNLIMITED: u32 = i32::MAX.cast_unsigned();

/// Counts requests.
#[derive(Debug)]
pub struct Limiter {
    limits: Limits,
    windows: Windows,
}

impl Limiter {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            windows: Windows::new(limits.max_tracked),
        }
    }

    /// Counts a request.
    pub fn count(&self, who: &Identity, group: Group, address: std::net::IpAddr, now: Timestamp) -> Counted {
        let by_hour = |requests| Allowance {
            requests,
            window: SignedDuration::from_hours(1),
        };
        let stranger = Principal::of_address(address);
        let allowance = |requests| match group {
            Group::WebhookTest => Allowance {
                requests: self.limits.webhook_test_per_minute,
                window: SignedDuration::from_mins(1),
            },
            _ => by_hour(requests),
        };
        match who {
            Identity::Known(actor) => {
                let principal = Principal::Account(actor.account);
                if group == Group::Ingest {
                    return self.windows.peek(principal, group, by_hour(UNLIMITED), now);
                }
                let requests = match actor.plan {
                    alerts::Plan::Basic => self.limits.basic_per_hour,
                    alerts::Plan::Premium | alerts::Plan::EarlyBird => self.limits.premium_per_hour,
                };
                self.windows.count(principal, group, allowance(requests), now)
            }
            Identity::Nobody | Identity::Refused(_) => {
                let allowance = allowance(self.limits.basic_per_hour);
                self.windows.count(stranger, group, allowance, now)
            }
            // It is our fault that nobody knows who this is, so it costs nobody anything.
            Identity::Failed(_) => {
                let allowance = allowance(self.limits.basic_per_hour);
                let peeked = self.windows.peek(stranger, group, allowance, now);
                Counted {
                    is_allowed: true,
                    ..peeked
                }
            }
        }
    }
}

/// Refuses whoever has used up the allowance, and tells all others what is left of it.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let Some(group) = Group::of(request.uri().path()) else {
        return next.run(request).await;
    };
    let identity = request
        .extensions()
        .get::<Identity>()
        .cloned()
        .unwrap_or(Identity::Nobody);
    let peer = request.extensions().get::<Peer>().copied();
    let address = client::address(peer, request.headers(), &app.settings().trusted_proxies);
    let counted = app.limiter().count(&identity, group, address, app.now());
    request.extensions_mut().insert(counted.rate_limit);
    let mut response = if counted.is_allowed {
        next.run(request).await
    } else {
        counter!("rate_limited_total", "group" => group.name()).increment(1);
        let limit = counted.rate_limit.limit;
        let seconds = counted.retry_after_s;
        let message = format!("{limit} requests have been made in this window; try again in {seconds} s");
        ApiError::new(Code::RateLimited, message)
            .retry_after(seconds)
            .into_response()
    };
    write(response.headers_mut(), counted.rate_limit);
    response
}

fn write(headers: &mut HeaderMap, rate_limit: RateLimit) {
    let RateLimit {
        limit,
        remaining,
        reset,
    } = rate_limit;
    headers.insert(HeaderName::from_static("x-ratelimit-limit"), HeaderValue::from(limit));
    headers.insert(
        HeaderName::from_static("x-ratelimit-remaining"),
        HeaderValue::from(remaining),
    );
    headers.insert(HeaderName::from_static("x-ratelimit-reset"), HeaderValue::from(reset));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_its_group_under_both_prefixes() {
        for (path, group) in [
            ("/api/v1/alerts", Group::Alerts),
            ("/v1/alerts/1/pause", Group::Alerts),
            ("/v1/stocks/AAPL", Group::Stocks),
            ("/api/v1/quotes", Group::Stocks),
            ("/api/v1/market/status", Group::Stocks),
            ("/api/v1/market/ingest", Group::Ingest),
            ("/v1/webhooks/test", Group::WebhookTest),
            ("/api/v1/webhooks/test/deliveries", Group::WebhookTest),
            ("/api/v1/webhooks", Group::Webhooks),
            ("/api/v1/nonsense", Group::User),
            ("/api/v1", Group::User),
        ] {
            assert_eq!(Group::of(path), Some(group), "{path}");
        }
        for path in ["/", "/docs", "/v10/alerts", "/api/v1x", "/healthz"] {
            assert_eq!(Group::of(path), None, "{path}");
        }
    }
}
