//! Identity: how people get an account, show that it is theirs, and look after it.
//!
//! * `register.rs`: an account for an address, which is confirmed by a link that is mailed to it.
//! * `login.rs`: signing in, by a password or by a mailed link; `throttle.rs` makes guessing passwords slow.
//! * `sessions.rs`: what signing in begins; `reset.rs`: a new password for whoever has forgotten theirs.
//! * `letters.rs`: the links that are mailed. `profile.rs` and [`account`]: what an owner says about themselves and does
//!   with the account.
//!
//! **Nothing tells whether an address has an account.** What is answered to a stranger is the same either way, a password is
//! hashed either way, and as much is written. What there is to tell is mailed to the address.
//!
//! **Secrets are shown once and kept as hashes** (`secret.rs`), each bound to what it is for. Using one up is one `UPDATE`
//! that finds it unused or does not, so that of any number at once one succeeds.

pub mod account;
mod letters;
mod login;
pub(crate) mod profile;
pub(crate) mod read;
mod register;
mod reset;
pub(crate) mod secret;
pub(crate) mod sessions;
mod throttle;

use std::sync::Arc;

use crate::Ports;
use crate::access::{Authenticator, PublicKey, Reception, Tokens};
use crate::messages::MessageWriter;
pub use login::SignIn;
pub use sessions::SignedIn;
pub use store::model::{Account, Session, SessionId};
pub(crate) use throttle::{Throttle, network};

/// What can be set about it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether nobody can sign in by a password before the address is confirmed.
    pub require_email_confirmation: bool,
    /// Whether only the operator makes accounts.
    pub is_registration_closed: bool,
}

/// Registration, sign-in, sessions and password resets.
#[derive(Clone)]
pub struct Identity {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::Settings>,
    pub(crate) reception: Arc<Reception>,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) authenticator: Authenticator,
    pub(crate) writer: MessageWriter,
}

impl Identity {
    /// The address under which people reach this service.
    #[must_use]
    pub fn public_url(&self) -> &str {
        self.settings.public_url.trim_end_matches('/')
    }

    /// The key that access tokens are verified with.
    #[must_use]
    pub fn token_key(&self) -> PublicKey {
        self.tokens.public_key()
    }
}
