//! OAuth 2.1: lets users give a client access to the MCP endpoint without sharing their password.
//!
//! 1. The client identifies itself by registration ([`OAuth::register_client`]) or by the URL of its metadata document
//!    (`client_metadata.rs`). None of its claims is verified.
//! 2. It sends the user's browser here with a request (`authorize.rs`). Errors go to the client only after its redirect
//!    URI is validated, before that only to the user (`redirect_uri.rs`).
//! 3. The user sees the client and the scopes, and allows some or all of them (`consent.rs`). That creates a *grant*.
//!    The browser returns with a code.
//! 4. The client exchanges the code for tokens, and refresh tokens for new ones (`tokens.rs`).
//! 5. Each request presents an access token and gets an [`Actor`](foundation::Actor) with the granted scopes
//!    (`authenticate.rs`).
//! 6. The user can list and end grants (`grants.rs`); the client can revoke tokens (`revoke.rs`).
//!
//! **All clients are public.** They have no secret, so PKCE with S256 binds a code to the client that requested it.
//!
//! **Codes and refresh tokens are valid once.** A second use means that one of the two users stole it, so it ends the
//! grant and all its tokens. This includes a client that sends one refresh token twice at once: one request succeeds,
//! then no token is valid. Used tokens are stored for the life of the grant. The number of renewals per hour is
//! limited, so the number of rows is bounded.
//!
//! **Everything an account creates is bounded:** live grants, new grants per hour, and renewals per hour. Registered
//! clients are bounded too: a new one replaces the least useful one.
//!
//! **Tokens are valid only for the MCP endpoint** (RFC 8707). Grants end together with sessions that may be somebody
//! else's: on password change or reset, when the owner of an address takes over an unverified account, and on deletion.
//! While an account is deactivated, grants stay live like its API keys, but cannot create anything.

mod authenticate;
mod authorize;
mod client;
mod client_metadata;
mod consent;
mod error;
mod fetch_permits;
mod grants;
mod params;
mod pkce;
mod redirect_uri;
mod register;
mod revoke;
mod scopes;
mod tokens;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::access::CredentialCache;
use crate::identity::AccountAccess;
use crate::identity::IdentityConfig;
use foundation::{Ports, ServiceError};

pub use authorize::{AuthorizationError, AuthorizationRequest, RedirectTarget};
pub use client::{ClientOrigin, OAuthClient};
pub(crate) use client_metadata::ClientMetadataCache;
pub use consent::ConsentDecision;
pub use error::{OAuthError, OAuthErrorCode};
pub use scopes::MCP_SCOPES;
pub use store::model::{Grant, GrantId, RegisteredClient};
pub use tokens::IssuedTokens;

/// Prefix of access tokens.
const ACCESS_TOKEN_PREFIX: &str = "mcp_at_";
/// Prefix of refresh tokens.
const REFRESH_TOKEN_PREFIX: &str = "mcp_rt_";

/// Hash purposes, so that each secret is valid for its purpose only.
const CODE_HASH_PURPOSE: &str = "oauth code";
const ACCESS_HASH_PURPOSE: &str = "oauth access token";
const REFRESH_HASH_PURPOSE: &str = "oauth refresh token";

/// Lifetime of an authorization code.
const CODE_LIFETIME: SignedDuration = SignedDuration::from_secs(60);
/// Lifetime of an access token.
const ACCESS_TOKEN_LIFETIME: SignedDuration = SignedDuration::from_hours(1);
/// Maximum time between two renewals of a grant.
const GRANT_IDLE_TIMEOUT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Maximum age of a grant, regardless of use.
const GRANT_LIFETIME: SignedDuration = SignedDuration::from_hours(180 * 24);
/// Time for the user to decide on the consent page.
const CONSENT_TIMEOUT: SignedDuration = SignedDuration::from_mins(10);

/// Maximum number of live grants per account. A new one beyond it ends the least recently used.
const MAX_GRANTS_PER_ACCOUNT: u32 = 100;
/// Maximum number of new grants per account and hour, including ended ones.
const MAX_GRANTS_PER_HOUR: u32 = 60;
/// Maximum number of renewals per grant and hour.
const MAX_RENEWALS_PER_HOUR: u32 = 60;
const ONE_HOUR: SignedDuration = SignedDuration::from_hours(1);
/// Retention of grants whose code was never exchanged, and of expired access tokens. They count against the hourly
/// limits until then.
pub const UNUSED_GRANT_RETENTION: SignedDuration = ONE_HOUR;
/// Maximum number of registered clients.
const MAX_REGISTERED_CLIENTS: u32 = 10_000;
/// Retention of registered clients that never had a grant.
pub const UNUSED_CLIENT_RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Retention of registered clients after their last use, if they had a grant.
pub const IDLE_CLIENT_RETENTION: SignedDuration = SignedDuration::from_hours(200 * 24);

/// The OAuth authorization server.
#[derive(Clone)]
pub struct OAuth {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<IdentityConfig>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) client_metadata: Arc<ClientMetadataCache>,
    pub(crate) identity: AccountAccess,
}

impl OAuth {
    /// Returns the URL of the MCP endpoint, the resource that tokens are valid for.
    #[must_use]
    pub fn mcp_resource(&self) -> String {
        format!("{}/mcp", self.identity.public_url())
    }
}

fn later(at: Timestamp, time: SignedDuration) -> Timestamp {
    at.saturating_add(time).unwrap_or(Timestamp::MAX)
}

/// Checks an hourly limit. `first` is the time of the oldest entry within the limit, if the limit is reached.
fn check_hourly_limit(first: Option<Timestamp>, now: Timestamp, message: &str) -> Result<(), ServiceError> {
    let left = first.map(|first| later(first, ONE_HOUR).duration_since(now));
    match left.filter(SignedDuration::is_positive) {
        None => Ok(()),
        Some(left) => Err(ServiceError::RateLimited {
            message: message.to_owned(),
            // Rounded up to whole seconds.
            retry_after_s: left
                .min(ONE_HOUR)
                .as_secs()
                .unsigned_abs()
                .saturating_add(u64::from(left.subsec_nanos() > 0)),
        }),
    }
}

/// Returns when a grant expires that is renewed now.
fn expiry(created_at: Timestamp, now: Timestamp) -> Timestamp {
    later(now, GRANT_IDLE_TIMEOUT).min(later(created_at, GRANT_LIFETIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grant_expires_30_days_after_last_use_and_180_days_after_creation() {
        let day = |days: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * days);
        assert_eq!(expiry(day(0), day(0)), day(30));
        assert_eq!(expiry(day(0), day(149)), day(179));
        assert_eq!(expiry(day(0), day(151)), day(180));
    }
}
