//! Sign-in by password or by email link.

use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::Value;
use store::model::Account;

use super::email_links::{LinkPurpose, invalid_link, redeem_link};
use super::register::take_over_unverified;
use super::requests::{LinkTokenRequest, LoginRequest};
use super::sessions::SessionTokens;
use crate::identity::AccountAccess;
use foundation::ServiceError;
use foundation::request::Request;
use foundation::secret;

/// Result of a sign-in request.
#[derive(Clone, Debug)]
pub enum SignInResult {
    /// The session has started.
    SignedIn(Box<SessionTokens>),
    /// A link was sent if the address has an account.
    LinkSent,
}

/// Sign-in methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignInMethod {
    /// By password.
    Password,
    /// By a link sent by email.
    MagicLink,
}

impl SignInMethod {
    pub(super) const ALL: [Self; 2] = [Self::Password, Self::MagicLink];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::MagicLink => "magic_link",
        }
    }
}

impl AccountAccess {
    /// Signs in by password: `{email, password}`. With `{email, type: "magic_link"}` it sends a link instead. `address`
    /// is the client address.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] for wrong credentials, [`ServiceError::RateLimited`] after too many of them,
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub async fn sign_in(&self, body: &Value, address: IpAddr) -> Result<SignInResult, ServiceError> {
        let request = LoginRequest::read_and(body, |body| {
            if body
                .value("type")
                .is_none_or(|method| method != SignInMethod::MagicLink.name())
            {
                body.require("password");
            }
        })?;
        let email = request.email.0;
        if request.r#type == Some(SignInMethod::MagicLink) {
            self.send_link(LinkPurpose::SignIn, email).await?;
            return Ok(SignInResult::LinkSent);
        }
        let password = request.password.map(|password| password.0).unwrap_or_default();
        let now = self.ports.clock.now();
        self.throttle.attempt(&email, address, now)?;
        match self.sign_in_by_password(&email, password, now).await {
            Ok(signed_in) => {
                self.throttle.record_success(&email, address, now);
                Ok(SignInResult::SignedIn(Box::new(signed_in)))
            }
            Err(wrong @ ServiceError::Unauthenticated(_)) => Err(wrong),
            Err(failure) => {
                self.throttle.cancel_attempt(&email, address);
                Err(failure)
            }
        }
    }

    async fn sign_in_by_password(
        &self,
        email: &str,
        password: String,
        now: Timestamp,
    ) -> Result<SessionTokens, ServiceError> {
        let ports = &self.ports;
        let found = ports.store.account_by_email(email).await?;
        let found = found.filter(|account| account.profile.deleted_at.is_none());
        let stored = found.as_ref().and_then(|account| account.password_hash.clone());
        let is_right = self.authenticator.verify_password(password, stored).await?;
        let account = found.filter(|_| is_right).ok_or_else(wrong_credentials)?;
        if self.settings.require_email_confirmation && !account.is_verified {
            // Anyone can register any address. A different error than for a wrong password would reveal whether the
            // address had an account before.
            return Err(wrong_credentials());
        }
        let inputs = (self.new_session(now), account.id, account.password_hash);
        let transaction = self
            .ports
            .transaction(inputs, |&(ref new_session, account, ref password_hash), unit| {
                Box::pin(async move {
                    let found = unit.lock_account(account).await?;
                    // If the password has changed since it was verified, no session starts.
                    let is_same = |account: &Account| {
                        account.password_hash == *password_hash && account.profile.deleted_at.is_none()
                    };
                    let account = found.filter(is_same).ok_or_else(wrong_credentials)?;
                    let session = new_session.write(unit, account.id).await?;
                    Ok((new_session.clone(), account, session))
                })
            });
        let (new_session, account, session) = transaction.await?;
        self.session_tokens(new_session, account, session)
    }

    /// Signs in by an email link: `{token}`. The link works once, within 15 minutes, and verifies the address.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for an invalid link.
    pub async fn sign_in_by_link(&self, body: &Value) -> Result<SessionTokens, ServiceError> {
        let token = LinkTokenRequest::read(body)?.token.0;
        if !secret::is_well_formed(&token) {
            return Err(invalid_link());
        }
        let now = self.ports.clock.now();
        let inputs = (self.new_session(now), LinkPurpose::SignIn.hash("", &token), now);
        let transaction = self.ports.transaction(inputs, |&(ref new_session, hash, now), unit| {
            Box::pin(async move {
                let mut account = redeem_link(unit, hash, now).await?.account;
                take_over_unverified(unit, &mut account, now).await?;
                let session = new_session.write(unit, account.id).await?;
                Ok((new_session.clone(), account, session))
            })
        });
        let (new_session, account, session) = transaction.await?;
        self.credential_cache.invalidate(account.id);
        self.session_tokens(new_session, account, session)
    }
}

/// Returns the same error for an unknown address, a wrong password and an unconfirmed address.
fn wrong_credentials() -> ServiceError {
    let message = "there is no account with this address and password, or the address is not confirmed yet; check both, \
                   open the link in the email, or sign in by link (type magic_link)";
    ServiceError::Unauthenticated(message.to_owned())
}
