//! The use cases of this crate.

use std::sync::Arc;

use delivery::{DeliveryConfig, DeliveryUseCases};
use evaluation::evaluator::Evaluator;
use foundation::{Ports, ServiceError};
use tokio_util::task::TaskTracker;

use crate::access::{AccessTokens, Accounts, Authenticator, CredentialCache};
use crate::identity::account::AccountSettings;
use crate::identity::{AccountAccess, FirstAccount, IdentityConfig, SignInThrottle};
use crate::oauth::{ClientMetadataCache, OAuth};

/// The use cases of this crate.
pub struct AccountUseCases {
    /// API keys, tokens, sessions and passwords.
    pub authenticator: Authenticator,
    /// Accounts and API keys, for operators.
    pub accounts: Accounts,
    /// Settings of the actor's account.
    pub account_settings: AccountSettings,
    /// Registration, sign-in and sessions.
    pub identity: AccountAccess,
    /// The OAuth authorization server.
    pub oauth: OAuth,
    credential_cache: Arc<CredentialCache>,
}

impl AccountUseCases {
    /// Creates the use cases in the order of their dependencies. `tasks` runs exports in the background.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the signing key cannot be derived.
    pub fn new(
        ports: &Ports,
        settings: IdentityConfig,
        delivery_settings: &Arc<DeliveryConfig>,
        delivery: &DeliveryUseCases,
        evaluator: &Arc<Evaluator>,
        tasks: &TaskTracker,
    ) -> Result<Self, ServiceError> {
        let settings = Arc::new(settings);
        let writer = delivery.writer.clone();
        let tokens = Arc::new(AccessTokens::new(&ports.vault, &delivery_settings.public_url)?);
        let client_metadata = ClientMetadataCache::new(Arc::clone(&delivery.context.client), ports.network.clone());
        let credential_cache = Arc::new(CredentialCache::new(ports.store.is_shared()));
        let throttle = Arc::new(SignInThrottle::default());
        let authenticator = Authenticator {
            ports: ports.clone(),
            credential_cache: Arc::clone(&credential_cache),
            tokens: Arc::clone(&tokens),
        };
        let accounts = Accounts {
            ports: ports.clone(),
            evaluator: Arc::clone(evaluator),
            credential_cache: Arc::clone(&credential_cache),
            authenticator: authenticator.clone(),
            writer: writer.clone(),
        };
        let identity = AccountAccess {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            delivery_settings: Arc::clone(delivery_settings),
            credential_cache: Arc::clone(&credential_cache),
            throttle: Arc::clone(&throttle),
            tokens,
            authenticator: authenticator.clone(),
            writer: writer.clone(),
            first_account: Arc::new(FirstAccount::new(&ports.random)),
        };
        let oauth = OAuth {
            ports: ports.clone(),
            settings,
            credential_cache: Arc::clone(&credential_cache),
            client_metadata: Arc::new(client_metadata),
            identity: identity.clone(),
        };
        let account_settings = AccountSettings {
            ports: ports.clone(),
            delivery_settings: Arc::clone(delivery_settings),
            evaluator: Arc::clone(evaluator),
            credential_cache: Arc::clone(&credential_cache),
            throttle,
            authenticator: authenticator.clone(),
            identity: identity.clone(),
            writer,
            tasks: tasks.clone(),
        };
        Ok(Self {
            authenticator,
            accounts,
            account_settings,
            identity,
            oauth,
            credential_cache,
        })
    }

    /// Waits for the running writes of credential use.
    pub async fn close(&self) {
        self.credential_cache.close().await;
    }
}
