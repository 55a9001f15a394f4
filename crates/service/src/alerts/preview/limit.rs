//! The limit of previews that run at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use foundation::ServiceError;

/// The maximum number of previews that run at once. A preview takes a processor for its whole time.
const MAX_RUNNING_PREVIEWS: usize = 2;
/// The maximum number of previews that run or wait.
const MAX_ACCEPTED_PREVIEWS: usize = 16;

/// Limits the previews that run at once.
#[derive(Debug)]
pub(crate) struct PreviewLimit {
    accepted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// A permission to run a preview. The thread that runs it holds a clone, because it goes on if the request is cancelled.
#[derive(Clone, Debug)]
pub(in crate::alerts) struct PreviewPermit {
    _permits: Arc<[OwnedSemaphorePermit; 2]>,
}

impl Default for PreviewLimit {
    fn default() -> Self {
        Self {
            accepted: Arc::new(Semaphore::new(MAX_ACCEPTED_PREVIEWS)),
            running: Arc::new(Semaphore::new(MAX_RUNNING_PREVIEWS)),
        }
    }
}

impl PreviewLimit {
    /// Waits for a permission.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many previews wait.
    pub(in crate::alerts) async fn acquire(&self) -> Result<PreviewPermit, ServiceError> {
        let accepted = Arc::clone(&self.accepted).try_acquire_owned();
        let accepted = accepted.map_err(|_| ServiceError::Overloaded {
            message: "too many previews are running; try again in a few seconds".to_owned(),
            retry_after_s: 2,
        })?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        let running = running.map_err(ServiceError::internal)?;
        Ok(PreviewPermit {
            _permits: Arc::new([accepted, running]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn previews_beyond_the_queue_are_refused() {
        let limit = PreviewLimit::default();
        let mut permits = Vec::new();
        for _ in 0..MAX_RUNNING_PREVIEWS {
            permits.push(limit.acquire().await.unwrap());
        }
        let waiting: Vec<_> = (MAX_RUNNING_PREVIEWS..MAX_ACCEPTED_PREVIEWS)
            .map(|_| limit.accepted.try_acquire().unwrap())
            .collect();
        assert!(matches!(limit.acquire().await, Err(ServiceError::Overloaded { .. })));
        drop(waiting);
        permits.pop();
        assert!(limit.acquire().await.is_ok());
    }

    #[tokio::test]
    async fn thread_of_a_cancelled_preview_keeps_its_permission() {
        let limit = PreviewLimit::default();
        let permit = limit.acquire().await.unwrap();
        let of_thread = permit.clone();
        drop(permit);
        assert_eq!(limit.running.available_permits(), MAX_RUNNING_PREVIEWS - 1);
        drop(of_thread);
        assert_eq!(limit.running.available_permits(), MAX_RUNNING_PREVIEWS);
    }
}
