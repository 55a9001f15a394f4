//! The limits of previews that run at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use store::model::AccountId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use foundation::ServiceError;

/// The maximum number of previews that run at once. A preview takes a processor for its whole time.
const MAX_RUNNING_PREVIEWS: usize = 2;
/// The maximum number of previews that run or wait.
const MAX_ACCEPTED_PREVIEWS: usize = 16;
/// The maximum number of previews of an account that run at once, so that it leaves a processor to others.
const MAX_RUNNING_PREVIEWS_PER_ACCOUNT: usize = 1;
/// The maximum number of previews of an account that run or wait.
const MAX_ACCEPTED_PREVIEWS_PER_ACCOUNT: usize = 8;

/// Limits the previews that run at once, in total and of each account.
#[derive(Debug)]
pub(crate) struct PreviewLimit {
    all: PreviewSemaphores,
    of_accounts: Mutex<HashMap<AccountId, Weak<PreviewSemaphores>>>,
}

/// The semaphores of previews that may run, and of those that run or wait.
#[derive(Debug)]
struct PreviewSemaphores {
    accepted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// A permission to run a preview. The thread that runs it holds a clone, because it ends later than a cancelled request.
#[derive(Clone, Debug)]
pub(in crate::alerts) struct PreviewPermit {
    _permits: Arc<Vec<OwnedSemaphorePermit>>,
    /// Keeps the limit of the account.
    _account: Arc<PreviewSemaphores>,
}

impl PreviewSemaphores {
    fn new(accepted: usize, running: usize) -> Self {
        Self {
            accepted: Arc::new(Semaphore::new(accepted)),
            running: Arc::new(Semaphore::new(running)),
        }
    }

    /// Accepts a preview.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] with the message if too many previews wait.
    fn accept(&self, message: &str) -> Result<OwnedSemaphorePermit, ServiceError> {
        let accepted = Arc::clone(&self.accepted).try_acquire_owned();
        accepted.map_err(|_| ServiceError::Overloaded {
            message: message.to_owned(),
            retry_after_s: 2,
        })
    }

    /// Waits until an accepted preview may run.
    async fn run(&self) -> Result<OwnedSemaphorePermit, ServiceError> {
        let running = Arc::clone(&self.running).acquire_owned().await;
        running.map_err(ServiceError::internal)
    }
}

impl Default for PreviewLimit {
    fn default() -> Self {
        Self {
            all: PreviewSemaphores::new(MAX_ACCEPTED_PREVIEWS, MAX_RUNNING_PREVIEWS),
            of_accounts: Mutex::default(),
        }
    }
}

impl PreviewLimit {
    /// Waits for a permission of an account.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many previews of the account, or in total, wait.
    pub(in crate::alerts) async fn acquire_for(&self, account: AccountId) -> Result<PreviewPermit, ServiceError> {
        let own = self.of_account(account);
        let accepted = [own.accept(TOO_MANY_OF_ACCOUNT)?, self.all.accept(TOO_MANY)?];
        // One that waits for another of its account takes no processor from other accounts.
        let running = [own.run().await?, self.all.run().await?];
        Ok(PreviewPermit {
            _permits: Arc::new(accepted.into_iter().chain(running).collect()),
            _account: own,
        })
    }

    /// Returns the limits of an account, and forgets those of accounts without previews.
    fn of_account(&self, account: AccountId) -> Arc<PreviewSemaphores> {
        let mut accounts = self.of_accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|_, limit| limit.strong_count() > 0);
        if let Some(limit) = accounts.get(&account).and_then(Weak::upgrade) {
            return limit;
        }
        let limit = PreviewSemaphores::new(MAX_ACCEPTED_PREVIEWS_PER_ACCOUNT, MAX_RUNNING_PREVIEWS_PER_ACCOUNT);
        let limit = Arc::new(limit);
        accounts.insert(account, Arc::downgrade(&limit));
        limit
    }
}

const TOO_MANY: &str = "too many previews and explanations of past moments are running; try again in a few seconds";
const TOO_MANY_OF_ACCOUNT: &str =
    "too many of your previews and explanations of past moments are running; try again when they have ended";

/// Ends the threads of a preview, or of an explanation of the past, when it is dropped.
#[derive(Debug, Default)]
pub(in crate::alerts) struct ReplayCancellation(Arc<AtomicBool>);

impl ReplayCancellation {
    /// Returns the flag that is set when this is dropped.
    pub(in crate::alerts) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for ReplayCancellation {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn previews_beyond_the_queue_are_refused() {
        let limit = PreviewLimit::default();
        let mut permits = Vec::new();
        for number in 0..MAX_RUNNING_PREVIEWS {
            permits.push(limit.acquire_for(account(number as u128)).await.unwrap());
        }
        let waiting: Vec<_> = (MAX_RUNNING_PREVIEWS..MAX_ACCEPTED_PREVIEWS)
            .map(|_| limit.all.accepted.try_acquire().unwrap())
            .collect();
        let other = account(MAX_RUNNING_PREVIEWS as u128);
        assert!(matches!(
            limit.acquire_for(other).await,
            Err(ServiceError::Overloaded { .. })
        ));
        drop(waiting);
        permits.pop();
        assert!(limit.acquire_for(other).await.is_ok());
    }

    #[tokio::test]
    async fn thread_of_a_cancelled_preview_keeps_its_permission() {
        let limit = PreviewLimit::default();
        let permit = limit.acquire_for(account(1)).await.unwrap();
        let of_thread = permit.clone();
        drop(permit);
        assert_eq!(limit.all.running.available_permits(), MAX_RUNNING_PREVIEWS - 1);
        drop(of_thread);
        assert_eq!(limit.all.running.available_permits(), MAX_RUNNING_PREVIEWS);
    }

    fn account(number: u128) -> AccountId {
        AccountId(uuid::Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn account_with_a_running_preview_leaves_a_processor_to_others() {
        let limit = PreviewLimit::default();
        let first = limit.acquire_for(account(1)).await.unwrap();
        let mut second = Box::pin(limit.acquire_for(account(1)));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        let other = limit.acquire_for(account(2)).await.unwrap();
        drop(first);
        assert!(second.await.is_ok());
        drop(other);
    }

    #[tokio::test]
    async fn previews_beyond_the_queue_of_an_account_are_refused() {
        let limit = PreviewLimit::default();
        let _running = limit.acquire_for(account(1)).await.unwrap();
        let own = limit.of_account(account(1));
        let _waiting: Vec<_> = (1..MAX_ACCEPTED_PREVIEWS_PER_ACCOUNT)
            .map(|_| own.accepted.try_acquire().unwrap())
            .collect();
        let refused = limit.acquire_for(account(1)).await;
        assert!(matches!(refused, Err(ServiceError::Overloaded { .. })));
        assert!(limit.acquire_for(account(2)).await.is_ok());
    }

    #[tokio::test]
    async fn limits_of_accounts_without_previews_are_forgotten() {
        let limit = PreviewLimit::default();
        drop(limit.acquire_for(account(1)).await.unwrap());
        let _running = limit.acquire_for(account(2)).await.unwrap();
        assert_eq!(limit.of_accounts.lock().unwrap().len(), 1);
    }

    #[test]
    fn dropped_preview_ends_its_threads() {
        let cancellation = ReplayCancellation::default();
        let flag = cancellation.flag();
        assert!(!flag.load(Ordering::Relaxed));
        drop(cancellation);
        assert!(flag.load(Ordering::Relaxed));
    }
}
