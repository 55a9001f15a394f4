//! Signing in: by a password, or by a link that is mailed.

use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, AccountId, Session};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::letters::{Purpose, bad_link, redeem};
use super::register::take_over;
use super::sessions::{Beginning, SignedIn};
use super::{read, secret};
use crate::ServiceError;
use crate::body::Members;
use crate::identity::Identity;

/// What came of asking to be signed in.
#[derive(Clone, Debug)]
pub enum SignIn {
    /// They are.
    Done(Box<SignedIn>),
    /// If the address has an account, a link was mailed to it.
    Mailed,
}

/// The ways to sign in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Password,
    MagicLink,
}

impl Way {
    const ALL: [Self; 2] = [Self::Password, Self::MagicLink];

    const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::MagicLink => "magic_link",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.name() == name)
    }
}

impl Identity {
    /// Signs in: `{email, password}`, or `{email, type: "magic_link"}` to have a link mailed. `address` is the client's.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if address and password do not belong together, [`ServiceError::TooMany`] after
    /// too many of those, [`ServiceError::Unavailable`] if too many sign in at once.
    pub async fn sign_in(&self, body: &Value, address: IpAddr) -> Result<SignIn, ServiceError> {
        let mut members = Members::of(body)?;
        let email = read::email(&mut members);
        let way = members.word("type", &Way::ALL, Way::from_name, Way::name);
        let way = way.unwrap_or(Way::Password);
        let password = if way == Way::Password {
            members.required("password").unwrap_or_default()
        } else {
            ""
        };
        members.finish()?;
        if way == Way::MagicLink {
            self.mail_link(Purpose::SignIn, email).await?;
            return Ok(SignIn::Mailed);
        }
        let now = self.ports.clock.now();
        self.throttle.attempt(&email, address, now)?;
        match self.sign_in_by_password(&email, password.to_owned(), now).await {
            Ok(signed_in) => {
                self.throttle.was_right(&email, address, now);
                Ok(SignIn::Done(Box::new(signed_in)))
            }
            Err(wrong @ ServiceError::Unauthenticated(_)) => Err(wrong),
            Err(failure) => {
                self.throttle.was_not_judged(&email, address);
                Err(failure)
            }
        }
    }

    async fn sign_in_by_password(
        &self,
        email: &str,
        password: String,
        now: Timestamp,
    ) -> Result<SignedIn, ServiceError> {
        let ports = &self.ports;
        let found = ports.store.account_by_email(email).await?;
        let found = found.filter(|account| account.profile.deleted_at.is_none());
        let kept = found.as_ref().and_then(|account| account.password_hash.clone());
        let is_right = self.authenticator.is_password(password, kept).await?;
        let account = found.filter(|_| is_right).ok_or_else(wrong)?;
        if self.settings.identity.require_email_confirmation && !account.is_verified {
            // Anybody can register with anybody's address: told from a wrong password, this would tell them whether there
            // was an account before.
            return Err(wrong());
        }
        let work = Begin {
            beginning: self.beginning(now),
            account: account.id,
            password_hash: account.password_hash,
        };
        let (beginning, account, session) = self.ports.store.write(work).await?;
        self.begun(beginning, account, session)
    }

    /// Signs in by a link that was mailed: `{token}`. It works once, for a quarter of an hour, and shows that the address
    /// is theirs.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is not good.
    pub async fn sign_in_by_link(&self, body: &Value) -> Result<SignedIn, ServiceError> {
        let token = read::token(body)?;
        if !secret::is_well_formed(&token) {
            return Err(bad_link());
        }
        let now = self.ports.clock.now();
        let work = BeginByLink {
            beginning: self.beginning(now),
            hash: Purpose::SignIn.hash("", &token),
            now,
        };
        let (beginning, account, session) = self.ports.store.write(work).await?;
        self.reception.forget(account.id);
        self.begun(beginning, account, session)
    }
}

/// One refusal for an unknown address, a wrong password, and an address that has to be confirmed first.
fn wrong() -> ServiceError {
    let message = "there is no account with this address and password, or the address is not confirmed yet; check both, \
                   open the link that was mailed, or sign in by a link (type magic_link)";
    ServiceError::Unauthenticated(message.to_owned())
}

/// A session, for whoever has shown the password that is kept so.
struct Begin {
    beginning: Beginning,
    account: AccountId,
    password_hash: Option<String>,
}

impl Transaction for Begin {
    type Output = (Beginning, Account, Session);
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Self::Output, Abort<ServiceError>>> {
        Box::pin(async move {
            let found = unit.lock_account(self.account).await?;
            // The password may have been changed since it was looked at: no session begins with the old one.
            let is_same =
                |account: &Account| account.password_hash == self.password_hash && account.profile.deleted_at.is_none();
            let account = found.filter(is_same).ok_or_else(|| Abort::Refused(wrong()))?;
            let session = self.beginning.write(unit, account.id).await?;
            Ok((self.beginning.clone(), account, session))
        })
    }
}

/// A session, for whoever has shown a link.
struct BeginByLink {
    beginning: Beginning,
    hash: [u8; 32],
    now: Timestamp,
}

impl Transaction for BeginByLink {
    type Output = (Beginning, Account, Session);
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Self::Output, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = redeem(unit, self.hash, self.now).await?.account;
            take_over(unit, &mut account, self.now).await?;
            let session = self.beginning.write(unit, account.id).await?;
            Ok((self.beginning.clone(), account, session))
        })
    }
}
