//! The first account of a service, which operates it, and sessions that the program itself starts.

use std::sync::atomic::{AtomicBool, Ordering};

use alerts::Plan;
use foundation::account::DEFAULT_TIME_ZONE;
use foundation::request::Request;
use foundation::{Random, ServiceError, secret};
use serde_json::Value;
use store::model::{Account, AccountId, Profile};

use super::requests::RegisterRequest;
use super::sessions::SessionTokens;
use crate::identity::AccountAccess;

/// Hash purpose of the code.
const CODE_HASH_PURPOSE: &str = "first account";

/// The code for the first account, and whether it exists.
#[derive(Debug)]
pub(crate) struct FirstAccount {
    /// The code by which a browser on another machine may create it.
    code: String,
    /// Whether an account exists, once that is known. Accounts are never removed.
    exists: AtomicBool,
}

impl FirstAccount {
    pub(crate) fn new(random: &Random) -> Self {
        Self {
            code: secret::new(random),
            exists: AtomicBool::new(false),
        }
    }
}

impl AccountAccess {
    /// Returns whether this service has an account, deleted or not.
    ///
    /// # Errors
    /// [`ServiceError::StorageUnavailable`] or [`ServiceError::Internal`] if the database fails.
    pub async fn has_accounts(&self) -> Result<bool, ServiceError> {
        if self.first_account.exists.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let exists = self.ports.store.has_accounts().await?;
        self.first_account.exists.store(exists, Ordering::Relaxed);
        Ok(exists)
    }

    /// Returns the code by which a browser on another machine may create the first account. It belongs in the server's log.
    #[must_use]
    pub fn first_account_code(&self) -> &str {
        &self.first_account.code
    }

    /// Returns whether a text is that code.
    #[must_use]
    pub fn is_first_account_code(&self, text: &str) -> bool {
        // Hashes are compared, so that the time reveals nothing about the code.
        let hash = |code: &str| secret::hash(CODE_HASH_PURPOSE, "", code);
        hash(text.trim()) == hash(&self.first_account.code)
    }

    /// Creates the first account, an operator's, and signs in: `{email, password}`.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid address or password, [`ServiceError::NotFound`] if there is an account already,
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub async fn create_first_account(&self, body: &Value) -> Result<SessionTokens, ServiceError> {
        let request = RegisterRequest::read(body)?;
        let now = self.ports.clock.now();
        let account = Account {
            id: AccountId(self.ports.random.uuid()),
            email: request.email.0,
            password_hash: Some(self.authenticator.hash_password(request.password.0).await?),
            full_name: request.full_name.map(|name| name.0),
            plan: Plan::Premium,
            is_operator: true,
            is_verified: true,
            time_zone: DEFAULT_TIME_ZONE.to_owned(),
            created_at: now,
            profile: Profile::default(),
        };
        let inputs = (self.new_session(now), account);
        let created = self.ports.transaction(inputs, |(new_session, account), unit| {
            Box::pin(async move {
                if unit.has_accounts_locked().await? || !unit.insert_account(account).await? {
                    return Err(ServiceError::NotFound("first account").into());
                }
                let session = new_session.write(unit, account.id).await?;
                Ok((new_session.clone(), account.clone(), session))
            })
        });
        let (new_session, account, session) = created.await?;
        self.session_tokens(new_session, account, session)
    }

    /// Starts a session of the account with this address, without credentials: for the program itself, such as its demo.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if no account has the address.
    pub async fn start_session(&self, email: &str) -> Result<SessionTokens, ServiceError> {
        let inputs = (self.new_session(self.ports.clock.now()), email.to_owned());
        let started = self.ports.transaction(inputs, |(new_session, email), unit| {
            Box::pin(async move {
                let found = unit.account_by_email(email).await?;
                let account = found.ok_or(ServiceError::NotFound("account"))?;
                let session = new_session.write(unit, account.id).await?;
                Ok((new_session.clone(), account, session))
            })
        });
        let (new_session, account, session) = started.await?;
        self.session_tokens(new_session, account, session)
    }
}
