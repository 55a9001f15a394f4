//! Accounts of people: registration, sign-in, sessions and account settings.
//!
//! * `register.rs`: creates an account; an email link confirms its address. `first_account.rs`: the operator's account.
//! * `login.rs`: sign-in by password or email link; `throttle.rs` slows down password guessing.
//! * `sessions.rs`: sessions and refresh tokens; `reset.rs`: password reset.
//! * `email_links.rs`: links sent by email. `profile.rs` and [`account`]: profile and account settings.
//!
//! **Responses never reveal whether an address has an account.** An unauthenticated caller gets the same response
//! either way; a password is hashed and rows are written either way. Details go to the address by email.
//!
//! **Secrets are shown once and stored as hashes** (`secret.rs`), each bound to its purpose. Using one is a single
//! `UPDATE` that succeeds only if it is unused, so of concurrent uses exactly one succeeds.
//!
//! All functions that use the database return [`ServiceError::StorageUnavailable`](foundation::ServiceError) or
//! [`ServiceError::Internal`](foundation::ServiceError) if it fails.

pub mod account;
mod config;
mod email_links;
mod first_account;
mod login;
mod profile;
mod register;
pub mod requests;
mod reset;
pub mod sessions;
mod throttle;

use delivery::DeliveryConfig;
use std::sync::Arc;

use crate::access::{AccessTokens, Authenticator, CredentialCache, PublicKey};
use delivery::messages::MessageWriter;
use foundation::Ports;

pub use config::IdentityConfig;
pub(crate) use first_account::FirstAccount;
pub use login::SignInResult;
pub use sessions::{SessionTokens, session_of};
pub use store::model::{Account, Browser, OperatingSystem, SessionClient, SessionId, UserSession};
pub(crate) use throttle::{SignInThrottle, client_network};

/// Registration, sign-in, sessions and password resets.
#[derive(Clone)]
pub struct AccountAccess {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<IdentityConfig>,
    pub(crate) delivery_settings: Arc<DeliveryConfig>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) throttle: Arc<SignInThrottle>,
    pub(crate) tokens: Arc<AccessTokens>,
    pub(crate) authenticator: Authenticator,
    pub(crate) writer: MessageWriter,
    pub(crate) first_account: Arc<FirstAccount>,
}

impl AccountAccess {
    /// Returns the public URL of this service, without a trailing slash.
    #[must_use]
    pub fn public_url(&self) -> &str {
        self.delivery_settings.public_url.trim_end_matches('/')
    }

    /// Returns the key that verifies access tokens.
    #[must_use]
    pub fn token_key(&self) -> PublicKey {
        self.tokens.public_key()
    }
}
