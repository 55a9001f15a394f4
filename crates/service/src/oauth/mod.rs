//! OAuth 2.1: how somebody lets a program use the MCP endpoint in their name, without giving it their password.
//!
//! 1. The program says who it is: by registering ([`Service::register_client`]), or with a URL under which it says so
//!    (`document.rs`). All of that is its own word.
//! 2. It sends somebody's browser here with what it wants (`authorize.rs`). What can be wrong about that the program is told,
//!    but only once it is known where its answers may go: before that only the person is (`redirect_uri.rs`).
//! 3. The person sees who asks for what, and allows as much of it as they like (`consent.rs`). That is a *grant*. The browser
//!    goes back with a code.
//! 4. The program exchanges the code for tokens, and refresh tokens for further ones (`tokens.rs`).
//! 5. With each request it shows an access token, and is an [`Actor`](crate::Actor) then that can do no more than was allowed
//!    (`authenticate.rs`).
//! 6. The person looks at what they have allowed and ends it (`grants.rs`); so can the program (`revoke.rs`).
//!
//! **There are public clients only.** None has a secret, so a code is bound to whoever asked for it by PKCE, with S256.
//!
//! **Codes and refresh tokens are good once.** One that is shown again was stolen, or the one who showed it first has stolen it;
//! nobody can tell which. So the grant ends, with all that came of it. That holds for a program, too, that sends one refresh
//! token twice at once: one of the two is answered, and then neither has anything. What was used is remembered as
//! long as the grant goes on; it can be renewed only so often an hour, so that it comes to no more rows than can be kept.
//!
//! **What one account makes is bounded:** how many grants go on, how many are made in an hour, and how often each is renewed. So
//! is what anybody can make who has none: one registered client too many takes the place of the one that is of least use.
//!
//! **Tokens are good for the MCP endpoint and nothing else** (RFC 8707): the other ways in do not ask for them. Grants end when
//! sessions do that may have been somebody else's: when the password is changed or reset, when the owner of an address takes
//! over an account that was registered with it, and with the account. While an account is deactivated they go on, as its keys
//! do, and can as little be used to make anything.

mod authenticate;
mod authorize;
mod client;
mod consent;
mod document;
mod error;
mod grants;
mod params;
mod pkce;
mod redirect_uri;
mod register;
mod revoke;
mod scopes;
mod tokens;
mod turns;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::access::Reception;
use crate::identity::Identity;
use crate::{Ports, ServiceError, Settings};

pub use authorize::{Asked, NotAsked, WayBack};
pub use client::{Client, Origin};
pub use consent::Decision;
pub(crate) use document::Documents;
pub use error::{ErrorCode, OAuthError};
pub use scopes::SCOPES;
pub use store::model::{Grant, GrantId, RegisteredClient};
pub use tokens::Issued;

/// What access tokens begin with.
const ACCESS_MARK: &str = "mcp_at_";
/// What refresh tokens begin with.
const REFRESH_MARK: &str = "mcp_rt_";

/// What each secret is hashed for, so that none is good for anything else.
const CODE: &str = "oauth code";
const ACCESS: &str = "oauth access token";
const REFRESH: &str = "oauth refresh token";

/// How long a code is good for.
const CODE_LIFE: SignedDuration = SignedDuration::from_secs(60);
/// How long an access token is good for.
const ACCESS_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// A grant whose refresh token is not used ends after this time.
const GRANT_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A grant ends after this time, however much it is used.
const GRANT_LIFE: SignedDuration = SignedDuration::from_hours(180 * 24);
/// How long somebody may think about what they are asked.
const THINKING: SignedDuration = SignedDuration::from_mins(10);

/// So many grants of an account go on at once; one more ends the one that was used least lately.
const MAX_GRANTS: u32 = 100;
/// So many grants of an account are made in an hour, whatever becomes of them.
const MAX_GRANTS_AN_HOUR: u32 = 60;
/// So many times an hour a grant is renewed.
const MAX_RENEWALS_AN_HOUR: u32 = 60;
const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// A grant whose code nobody has exchanged is forgotten after this time, and so is an access token that is over. Not before:
/// they count for the hour.
pub(crate) const UNUSED_GRANTS_KEPT: SignedDuration = HOUR;
/// So many registered clients are kept.
const MAX_CLIENTS: u32 = 10_000;
/// A registered client that nobody has allowed anything is forgotten after this time ...
pub(crate) const UNUSED_CLIENTS_KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);
/// ... and one that was allowed something when all of that has long been over.
pub(crate) const IDLE_CLIENTS_KEPT: SignedDuration = SignedDuration::from_hours(200 * 24);

/// The OAuth authorization server.
#[derive(Clone)]
pub struct OAuth {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) reception: Arc<Reception>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) identity: Identity,
}

impl OAuth {
    /// The URL of the MCP endpoint: what tokens are good for.
    #[must_use]
    pub fn mcp_resource(&self) -> String {
        format!("{}/mcp", self.identity.public_url())
    }
}

fn later(at: Timestamp, time: SignedDuration) -> Timestamp {
    at.saturating_add(time).unwrap_or(Timestamp::MAX)
}

/// Refuses one more of what there may be some of an hour, given when the first of those was made.
fn must_be_an_hour_ago(first: Option<Timestamp>, now: Timestamp, message: &str) -> Result<(), ServiceError> {
    let left = first.map(|first| later(first, HOUR).duration_since(now));
    match left.filter(SignedDuration::is_positive) {
        None => Ok(()),
        Some(left) => Err(ServiceError::TooMany {
            message: message.to_owned(),
            // A second begun is a second to wait.
            retry_after_s: left
                .min(HOUR)
                .as_secs()
                .unsigned_abs()
                .saturating_add(u64::from(left.subsec_nanos() > 0)),
        }),
    }
}

/// Until when a grant goes on that is renewed now.
fn expiry(created_at: Timestamp, now: Timestamp) -> Timestamp {
    later(now, GRANT_IDLE).min(later(created_at, GRANT_LIFE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_ends_thirty_days_after_its_last_use_and_half_a_year_after_its_first() {
        let day = |days: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * days);
        assert_eq!(expiry(day(0), day(0)), day(30));
        assert_eq!(expiry(day(0), day(149)), day(179));
        assert_eq!(expiry(day(0), day(151)), day(180));
    }
}
