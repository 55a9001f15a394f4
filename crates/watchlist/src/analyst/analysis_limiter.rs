//! Runs analyses off the request threads, few at a time.
//!
//! An analysis takes about a millisecond of a core. It copies a stock's history when it begins and not before, so
//! waiting analyses cost almost nothing.

use std::sync::Arc;

use tokio::sync::Semaphore;

use foundation::ServiceError;

/// The number of analyses, or of model responses that are read, at once.
const MAX_CONCURRENT_ANALYSES: usize = 2;

/// Limits the number of concurrent analyses.
#[derive(Debug)]
pub(super) struct AnalysisLimiter(Arc<Semaphore>);

impl Default for AnalysisLimiter {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_ANALYSES)))
    }
}

impl AnalysisLimiter {
    /// Runs `job` on a blocking thread when a permit is free. If the caller is cancelled meanwhile, the job keeps its
    /// permit until it is done.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the job panics.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let turn = turn.map_err(ServiceError::internal)?;
        let work = tokio::task::spawn_blocking(move || {
            let _held = turn;
            job()
        });
        work.await.map_err(ServiceError::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};

    use futures_util::future::join_all;

    use super::*;

    /// On a runtime with one thread: an analysis on that thread would block everything else.
    #[tokio::test]
    async fn two_analyses_run_at_once_without_blocking_the_runtime() {
        let limiter = Arc::new(AnalysisLimiter::default());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let jobs: Vec<_> = (0..20)
            .map(|_| {
                let (limiter, now, most) = (Arc::clone(&limiter), Arc::clone(&now), Arc::clone(&most));
                let (arrived, released) = (arrived.clone(), Arc::clone(&released));
                tokio::spawn(async move {
                    let job = move || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        arrived.send(()).unwrap();
                        released.lock().unwrap().recv().unwrap();
                        now.fetch_sub(1, Ordering::SeqCst);
                    };
                    limiter.run(job).await.unwrap();
                })
            })
            .collect();
        for _ in 0..MAX_CONCURRENT_ANALYSES {
            arrivals.recv().await.unwrap();
        }
        for _ in &jobs {
            release.send(()).unwrap();
        }
        for job in join_all(jobs).await {
            job.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), MAX_CONCURRENT_ANALYSES);
    }

    #[tokio::test]
    async fn panicking_job_is_an_internal_error_and_releases_its_permit() {
        let limiter = AnalysisLimiter::default();
        for _ in 0..=MAX_CONCURRENT_ANALYSES {
            let failed = limiter.run(|| panic!("on purpose")).await;
            assert!(matches!(failed, Err(ServiceError::Internal(_))));
        }
        assert_eq!(limiter.run(|| 7).await.unwrap(), 7);
    }
}
