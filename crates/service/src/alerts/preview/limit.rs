//! The limit of previews that run at once.

use tokio::sync::{Semaphore, SemaphorePermit};

use foundation::ServiceError;

/// The maximum number of previews that run at once. A preview takes a processor for its whole time.
const MAX_RUNNING_PREVIEWS: usize = 2;
/// The maximum number of previews that run or wait.
const MAX_ACCEPTED_PREVIEWS: usize = 16;

/// Limits the previews that run at once.
#[derive(Debug)]
pub(crate) struct PreviewLimit {
    accepted: Semaphore,
    running: Semaphore,
}

/// A permission to run a preview.
pub(in crate::alerts) struct PreviewPermit<'a> {
    _accepted: SemaphorePermit<'a>,
    _running: SemaphorePermit<'a>,
}

impl Default for PreviewLimit {
    fn default() -> Self {
        Self {
            accepted: Semaphore::new(MAX_ACCEPTED_PREVIEWS),
            running: Semaphore::new(MAX_RUNNING_PREVIEWS),
        }
    }
}

impl PreviewLimit {
    /// Waits for a permission.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many previews wait.
    pub(in crate::alerts) async fn acquire(&self) -> Result<PreviewPermit<'_>, ServiceError> {
        let accepted = self.accepted.try_acquire().map_err(|_| ServiceError::Overloaded {
            message: "too many previews are running; try again in a few seconds".to_owned(),
            retry_after_s: 2,
        })?;
        let running = self.running.acquire().await.map_err(ServiceError::internal)?;
        Ok(PreviewPermit {
            _accepted: accepted,
            _running: running,
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
}
