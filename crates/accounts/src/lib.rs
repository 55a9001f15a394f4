//! # Accounts: credentials, identity and the OAuth server
//!
//! * [`access`]: authentication, accounts and API keys.
//! * [`identity`]: registration, sign-in and account settings.
//! * [`oauth`]: OAuth authorization server.

pub mod access;
pub mod identity;
pub mod oauth;
mod use_cases;

pub use use_cases::AccountUseCases;
