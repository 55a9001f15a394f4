//! Counts requests for the rate limits: fixed windows per principal and group of routes (decisions 1.8).
//!
//! The principal is the account, or the client's address for requests without a valid key. If several processes use the database,
//! the limits hold for all of them together.

use evaluation::market::require_push_permission;
use foundation::{ServiceError, SharedLimiter};
use jiff::{SignedDuration, Timestamp};

use crate::auth::identity::Identity;
use crate::failed_auth::FailedAuthLimiter;
use crate::fixed_window::{Principal, RateLimitDecision, WindowLimit};
use crate::request_windows::RequestWindows;
use crate::settings::RateLimits;

/// A group of routes that share a rate limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RateLimitGroup {
    /// Alerts and their history.
    Alerts,
    /// Alerts of guests, who have no account.
    GuestAlerts,
    /// Stocks, quotes and the market.
    Stocks,
    /// The watchlist.
    Watchlist,
    /// Webhooks.
    Webhooks,
    /// Tests of webhooks, which send a request immediately.
    WebhookTest,
    /// Sign-in and account recovery.
    Login,
    /// Registration.
    Register,
    /// OAuth consent pages.
    Authorize,
    /// Pages of the dashboard.
    Pages,
    /// Registration of OAuth clients.
    Clients,
    /// The OAuth token endpoint.
    Token,
    /// MCP messages that do not access account data.
    Mcp,
    /// The account, and unknown routes.
    User,
    /// Pushed market data: unlimited with the permission to push.
    Ingest,
    /// Jobs started by external schedulers: unlimited with the secret.
    Cron,
}

impl RateLimitGroup {
    /// Returns the group of a path, or `None` outside the API.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/api/v1").or_else(|| path.strip_prefix("/v1"))?;
        if rest.starts_with("/notification-channels/") && rest.ends_with("/test") {
            return Some(Self::WebhookTest);
        }
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
            ("webhooks" | "notification-channels", _) => Self::Webhooks,
            ("auth", Some("register")) => Self::Register,
            ("auth", Some("session" | "logout")) => Self::User,
            ("auth", _) => Self::Login,
            _ => Self::User,
        };
        Some(group)
    }

    /// Returns the group that a caller's request counts in. Pushing market data is unlimited with the permission to push;
    /// without it, the request counts in the market group.
    #[must_use]
    pub fn counted_for(self, caller: &Identity) -> Self {
        match (self, caller) {
            (Self::Ingest, Identity::Authenticated(actor)) if require_push_permission(actor).is_ok() => Self::Ingest,
            (Self::Ingest, _) => Self::Stocks,
            (group, _) => group,
        }
    }

    /// Returns the name in metrics.
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
            Self::Pages => "pages",
            Self::Clients => "clients",
            Self::Token => "token",
            Self::Mcp => "mcp",
            Self::User => "user",
            Self::Ingest => "ingest",
            Self::Cron => "cron",
        }
    }
}

/// The reported limit of unlimited requests.
pub const UNLIMITED_REQUESTS: u32 = i32::MAX.cast_unsigned();

/// The maximum number of unknown keys per minute from one address.
const MAX_FAILED_API_AUTH_PER_MINUTE: u32 = 100;
/// The same limit for the MCP endpoint (decisions 7.3).
const MAX_FAILED_MCP_AUTH_PER_MINUTE: u32 = 20;

/// The maximum number of consent page requests per minute from one address.
const MAX_AUTHORIZE_REQUESTS_PER_MINUTE: u32 = 300;
/// The maximum number of dashboard requests per minute from one address. Many people may share an address.
const MAX_PAGE_REQUESTS_PER_MINUTE: u32 = 1_200;
/// The maximum number of client registrations per minute from one address.
const MAX_CLIENT_REGISTRATIONS_PER_MINUTE: u32 = 60;
/// The maximum number of token requests per minute from one address. Many users' clients may share an address.
const MAX_TOKEN_REQUESTS_PER_MINUTE: u32 = 300;

/// Counts requests and failed authentications.
#[derive(Debug)]
pub struct RateLimiter {
    limits: RateLimits,
    windows: RequestWindows,
    failed_api_auth: FailedAuthLimiter,
    failed_mcp_auth: FailedAuthLimiter,
}

impl RateLimiter {
    /// Creates a limiter without counts. `shared` has the limits of all processes on the database, if there are several.
    #[must_use]
    pub fn new(limits: RateLimits, shared: Option<SharedLimiter>) -> Self {
        Self {
            limits,
            failed_api_auth: FailedAuthLimiter::new(MAX_FAILED_API_AUTH_PER_MINUTE, limits.max_tracked),
            failed_mcp_auth: FailedAuthLimiter::new(MAX_FAILED_MCP_AUTH_PER_MINUTE, limits.max_tracked),
            windows: RequestWindows::new(limits.max_tracked, shared),
        }
    }

    /// Returns the limiter of failed authentications at the API.
    #[must_use]
    pub const fn failed_api_auth(&self) -> &FailedAuthLimiter {
        &self.failed_api_auth
    }

    /// Returns the limiter of failed authentications at the MCP endpoint.
    #[must_use]
    pub const fn failed_mcp_auth(&self) -> &FailedAuthLimiter {
        &self.failed_mcp_auth
    }

    /// Counts a request in the window of its principal and group.
    ///
    /// # Errors
    /// [`ServiceError::StorageUnavailable`] if the limit is shared with other processes and the database cannot be reached.
    pub async fn count(
        &self,
        caller: &Identity,
        group: RateLimitGroup,
        address: std::net::IpAddr,
        now: Timestamp,
    ) -> Result<RateLimitDecision, ServiceError> {
        let group = group.counted_for(caller);
        let by_hour = |requests| WindowLimit {
            requests,
            window: SignedDuration::from_hours(1),
        };
        let by_minute = |requests| WindowLimit {
            requests,
            window: SignedDuration::from_mins(1),
        };
        let address_principal = Principal::of_address(address);
        // These groups count by address for every caller, because they change the identity.
        let by_address = match group {
            RateLimitGroup::Login => Some(by_minute(self.limits.login_per_minute)),
            // A raised login limit means no limits, or all users behind one address. It applies to these groups too.
            RateLimitGroup::Clients => Some(by_minute(
                MAX_CLIENT_REGISTRATIONS_PER_MINUTE.max(self.limits.login_per_minute),
            )),
            RateLimitGroup::Authorize => Some(by_minute(
                MAX_AUTHORIZE_REQUESTS_PER_MINUTE.max(self.limits.login_per_minute),
            )),
            RateLimitGroup::Pages => Some(by_minute(
                MAX_PAGE_REQUESTS_PER_MINUTE.max(self.limits.login_per_minute),
            )),
            RateLimitGroup::Token => Some(by_minute(
                MAX_TOKEN_REQUESTS_PER_MINUTE.max(self.limits.login_per_minute),
            )),
            RateLimitGroup::Register => Some(by_hour(self.limits.register_per_hour)),
            _ => None,
        };
        if let Some(allowance) = by_address {
            return self.windows.count(address_principal, group, allowance, now).await;
        }
        let allowance = |requests| match group {
            RateLimitGroup::WebhookTest => by_minute(self.limits.webhook_test_per_minute),
            _ => by_hour(requests),
        };
        match caller {
            Identity::Authenticated(actor) => {
                let principal = Principal::Account(actor.account);
                if group == RateLimitGroup::Ingest {
                    let unlimited = by_hour(UNLIMITED_REQUESTS);
                    return Ok(self.windows.unlimited(principal, group, unlimited, now));
                }
                let requests = match actor.plan {
                    alerts::Plan::Basic => self.limits.basic_per_hour,
                    alerts::Plan::Premium | alerts::Plan::EarlyBird => self.limits.premium_per_hour,
                };
                self.windows.count(principal, group, allowance(requests), now).await
            }
            Identity::Scheduler => {
                let unlimited = by_hour(UNLIMITED_REQUESTS);
                Ok(self.windows.unlimited(address_principal, group, unlimited, now))
            }
            Identity::Anonymous | Identity::Rejected(_) => {
                let allowance = allowance(self.limits.basic_per_hour);
                self.windows.count(address_principal, group, allowance, now).await
            }
            // Authentication failed by an internal error, so the request does not count.
            Identity::Failed(_) => {
                let allowance = allowance(self.limits.basic_per_hour);
                Ok(self.windows.uncounted(address_principal, group, allowance, now))
            }
        }
    }
}

impl RateLimiter {
    /// Counts a guest alert by the client's address, in addition to the request. The caller counts it when the request is known
    /// to be a guest alert, because that sends an email to the given address.
    ///
    /// # Errors
    /// [`ServiceError::StorageUnavailable`], as for [`count`](Self::count).
    pub async fn count_guest_alert(
        &self,
        address: std::net::IpAddr,
        now: Timestamp,
    ) -> Result<RateLimitDecision, ServiceError> {
        let allowance = WindowLimit {
            requests: self.limits.guest_alerts_per_hour,
            window: SignedDuration::from_hours(1),
        };
        let principal = Principal::of_address(address);
        let group = RateLimitGroup::GuestAlerts;
        self.windows.count(principal, group, allowance, now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_has_the_same_group_under_both_prefixes() {
        for (path, group) in [
            ("/api/v1/alerts", RateLimitGroup::Alerts),
            ("/v1/alerts/1/pause", RateLimitGroup::Alerts),
            ("/v1/stocks/AAPL", RateLimitGroup::Stocks),
            ("/api/v1/quotes", RateLimitGroup::Stocks),
            ("/api/v1/market/status", RateLimitGroup::Stocks),
            ("/api/v1/market/ingest", RateLimitGroup::Ingest),
            ("/v1/cron/evaluate", RateLimitGroup::Cron),
            ("/v1/webhooks/test", RateLimitGroup::WebhookTest),
            ("/api/v1/webhooks/test/deliveries", RateLimitGroup::WebhookTest),
            ("/api/v1/webhooks", RateLimitGroup::Webhooks),
            ("/v1/notification-channels/1", RateLimitGroup::Webhooks),
            ("/api/v1/notification-channels/1/test", RateLimitGroup::WebhookTest),
            ("/api/v1/auth/login", RateLimitGroup::Login),
            ("/v1/auth/reset-confirm", RateLimitGroup::Login),
            ("/v1/auth/register", RateLimitGroup::Register),
            ("/v1/auth/session", RateLimitGroup::User),
            ("/api/v1/nonsense", RateLimitGroup::User),
            ("/api/v1", RateLimitGroup::User),
        ] {
            assert_eq!(RateLimitGroup::of(path), Some(group), "{path}");
        }
        for path in ["/", "/docs", "/v10/alerts", "/api/v1x", "/healthz"] {
            assert_eq!(RateLimitGroup::of(path), None, "{path}");
        }
    }
}
