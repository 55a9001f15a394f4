//! Authentication, authorization, accounts and API keys.
//!
//! A request presents a credential (API key, access token or session cookie, `authenticate.rs`) and becomes an
//! [`Actor`](foundation::Actor), the first argument of the use cases. Lookups are cached for a short time (`credential_cache.rs`). This
//! service signs the access tokens (`tokens.rs`); see [`identity`](crate::identity) for sessions. Operators create
//! accounts and keys by command ([`Accounts::create_account`], [`Accounts::create_api_key_for_email`]); owners create
//! keys within their plan (`keys.rs`). Passwords are stored as argon2id hashes (`password.rs`), keys as SHA-256 hashes.
//!
//! All functions that use the database return `ServiceError::StorageUnavailable` or `ServiceError::Internal` if it
//! fails.

pub(crate) mod accounts;
pub(crate) mod authenticate;
mod credential_cache;
mod downgrade;
mod hashing;
mod key_request;
mod keys;
pub(crate) mod password;
mod tokens;

pub use accounts::{Accounts, NewAccount};
pub use authenticate::Authenticator;
pub(crate) use credential_cache::CredentialCache;
pub use key_request::CreateApiKeyRequest;
pub use keys::{ApiKeyParams, CreatedApiKey};
pub use store::model::ApiKey;
pub(crate) use tokens::AccessTokens;
pub use tokens::{ACCESS_TOKEN_LIFETIME, PublicKey};
