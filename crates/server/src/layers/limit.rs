//! How much one may still ask: fixed windows per principal and group of routes (decisions 1.8).
//!
//! The principal is the account, or else the client's address: so requests that show no key, or a wrong one, are
//! counted by address. Who it is has been looked up by then; that guessing keys comes to an end there, too,
//! [`look_ups`](super::look_ups) sees to. Every answer of the API says what is left.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use metrics::counter;
use service::market::may_push;

use super::client::{self, Peer};
use super::look_ups::LookUps;
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
    /// Alerts that people without an account ask for.
    GuestAlerts,
    /// Stocks, quotes, the market.
    Stocks,
    /// The watchlist.
    Watchlist,
    /// Webhooks.
    Webhooks,
    /// Tests of webhooks, which send something at once.
    WebhookTest,
    /// Signing in, and what leads to it.
    Login,
    /// Registering.
    Register,
    /// Pages on which people are asked what apps may do.
    Authorize,
    /// Apps that register.
    Clients,
    /// Apps that exchange codes and tokens.
    Token,
    /// What agents say that calls no tool.
    Mcp,
    /// Everything about the account, and what is no route at all.
    User,
    /// Market data that is pushed: unlimited for those who may.
    Ingest,
    /// Jobs that are started from outside: unlimited for whoever has the secret.
    Cron,
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
            ("cron", _) => Self::Cron,
            ("alerts", _) => Self::Alerts,
            ("stocks" | "quotes" | "market", _) => Self::Stocks,
            ("watchlist", _) => Self::Watchlist,
            ("webhooks", Some("test")) => Self::WebhookTest,
            ("webhooks", _) => Self::Webhooks,
            ("auth", Some("register")) => Self::Register,
            ("auth", Some("session" | "logout")) => Self::User,
            ("auth", _) => Self::Login,
            _ => Self::User,
        };
        Some(group)
    }

    /// The group that somebody's request is counted in. Pushing market data is unlimited for those who may; what others
    /// send there is as limited as anything about the market.
    #[must_use]
    pub fn counted_for(self, who: &Identity) -> Self {
        match (self, who) {
            (Self::Ingest, Identity::Known(actor)) if may_push(actor).is_ok() => Self::Ingest,
            (Self::Ingest, _) => Self::Stocks,
            (group, _) => group,
        }
    }

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::GuestAlerts => "guest_alerts",
            Self::Stocks => "stocks",
            Self::Watchlist => "watchlist",
            Self::Webhooks => "webhooks",
            Self::WebhookTest => "webhook_test",
            Self::Login => "login",
            Self::Register => "register",
            Self::Authorize => "authorize",
            Self::Clients => "clients",
            Self::Token => "token",
            Self::Mcp => "mcp",
            Self::User => "user",
            Self::Ingest => "ingest",
            Self::Cron => "cron",
        }
    }
}

/// The limit that is reported where there is none.
pub const UNLIMITED: u32 = i32::MAX.cast_unsigned();

/// So many keys that are not known may be shown a minute from one address.
const FAILED_LOOK_UPS_PER_MINUTE: u32 = 100;
/// So many by agents (decisions 7.3).
const FAILED_MCP_LOOK_UPS_PER_MINUTE: u32 = 20;

/// So often a minute people can be asked what an app may do, from one address.
const AUTHORIZE_PER_MINUTE: u32 = 300;
/// So many apps can register a minute, from one address.
const CLIENTS_PER_MINUTE: u32 = 60;
/// So often a minute apps can exchange something, from one address: many people's apps may run in one place.
const TOKEN_PER_MINUTE: u32 = 300;

/// Counts requests.
#[derive(Debug)]
pub struct Limiter {
    limits: Limits,
    windows: Windows,
    look_ups: LookUps,
    mcp_look_ups: LookUps,
}

impl Limiter {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            windows: Windows::new(limits.max_tracked),
            look_ups: LookUps::new(FAILED_LOOK_UPS_PER_MINUTE, limits.max_tracked),
            mcp_look_ups: LookUps::new(FAILED_MCP_LOOK_UPS_PER_MINUTE, limits.max_tracked),
        }
    }

    /// Counts look-ups of keys.
    #[must_use]
    pub const fn look_ups(&self) -> &LookUps {
        &self.look_ups
    }

    /// Counts look-ups of what agents show.
    #[must_use]
    pub const fn mcp_look_ups(&self) -> &LookUps {
        &self.mcp_look_ups
    }

    /// Counts a request.
    pub fn count(&self, who: &Identity, group: Group, address: std::net::IpAddr, now: Timestamp) -> Counted {
        let group = group.counted_for(who);
        let by_hour = |requests| Allowance {
            requests,
            window: SignedDuration::from_hours(1),
        };
        let by_minute = |requests| Allowance {
            requests,
            window: SignedDuration::from_mins(1),
        };
        let stranger = Principal::of_address(address);
        // Whoever they are: who comes here wants to become somebody else.
        let by_address = match group {
            Group::Login => Some(by_minute(self.limits.login_per_minute)),
            // Whoever raises the one wants no limits, or has all people behind one address.
            Group::Clients => Some(by_minute(CLIENTS_PER_MINUTE.max(self.limits.login_per_minute))),
            Group::Authorize => Some(by_minute(AUTHORIZE_PER_MINUTE.max(self.limits.login_per_minute))),
            Group::Token => Some(by_minute(TOKEN_PER_MINUTE.max(self.limits.login_per_minute))),
            Group::Register => Some(by_hour(self.limits.register_per_hour)),
            _ => None,
        };
        if let Some(allowance) = by_address {
            return self.windows.count(stranger, group, allowance, now);
        }
        let allowance = |requests| match group {
            Group::WebhookTest => by_minute(self.limits.webhook_test_per_minute),
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
            Identity::Scheduler => self.windows.peek(stranger, group, by_hour(UNLIMITED), now),
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

impl Limiter {
    /// Counts an alert that somebody without an account asks for, by the client's address. It is counted besides the request,
    /// when it is known that it is one: a letter will go to whatever address they have named.
    pub fn count_guest_alert(&self, address: std::net::IpAddr, now: Timestamp) -> Counted {
        let allowance = Allowance {
            requests: self.limits.guest_alerts_per_hour,
            window: SignedDuration::from_hours(1),
        };
        self.windows
            .count(Principal::of_address(address), Group::GuestAlerts, allowance, now)
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
    if !counted.is_allowed {
        return used_up(group, &counted);
    }
    let mut response = next.run(request).await;
    // Whoever was counted in another group besides is told of that one.
    let rate_limit = response.extensions().get::<RateLimit>().copied();
    write(response.headers_mut(), rate_limit.unwrap_or(counted.rate_limit));
    response
}

/// The answer to whoever has used up what a group allows.
pub(crate) fn used_up(group: Group, counted: &Counted) -> Response {
    let (limit, seconds) = (counted.rate_limit.limit, counted.retry_after_s);
    let message = format!("{limit} requests have been made in this window; try again in {seconds} s");
    refusal(counted, group.name(), message)
}

/// The answer to whoever has used something up.
pub(super) fn refusal(used_up: &Counted, group: &'static str, message: String) -> Response {
    counter!("rate_limited_total", "group" => group).increment(1);
    let mut response = ApiError::new(Code::RateLimited, message)
        .retry_after(used_up.retry_after_s)
        .into_response();
    write(response.headers_mut(), used_up.rate_limit);
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
            ("/v1/cron/evaluate", Group::Cron),
            ("/v1/webhooks/test", Group::WebhookTest),
            ("/api/v1/webhooks/test/deliveries", Group::WebhookTest),
            ("/api/v1/webhooks", Group::Webhooks),
            ("/api/v1/auth/login", Group::Login),
            ("/v1/auth/reset-confirm", Group::Login),
            ("/v1/auth/register", Group::Register),
            ("/v1/auth/session", Group::User),
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
