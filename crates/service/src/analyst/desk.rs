//! Where stocks are looked at: off the threads that answer requests, few at a time.
//!
//! A look takes about a millisecond of a core. A stock's history is copied when its look begins and not before, so those who
//! wait cost next to nothing.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::ServiceError;

/// So many stocks are looked at, or answers of a model read, at once.
const AT_ONCE: usize = 2;

/// Those who look.
#[derive(Debug)]
pub(super) struct Desk(Arc<Semaphore>);

impl Default for Desk {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Desk {
    /// Runs `job` on a thread of its own when it has its turn. If the caller goes away meanwhile, it keeps its turn until it
    /// is done.
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

    /// On a runtime with one thread: if looking were done on it, nothing else could happen meanwhile.
    #[tokio::test]
    async fn however_many_wait_two_are_looked_at_at_once_and_the_rest_goes_on() {
        let desk = Arc::new(Desk::default());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let looks: Vec<_> = (0..20)
            .map(|_| {
                let (desk, now, most) = (Arc::clone(&desk), Arc::clone(&now), Arc::clone(&most));
                let (arrived, released) = (arrived.clone(), Arc::clone(&released));
                tokio::spawn(async move {
                    let look = move || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        arrived.send(()).unwrap();
                        released.lock().unwrap().recv().unwrap();
                        now.fetch_sub(1, Ordering::SeqCst);
                    };
                    desk.run(look).await.unwrap();
                })
            })
            .collect();
        for _ in 0..AT_ONCE {
            arrivals.recv().await.unwrap();
        }
        for _ in &looks {
            release.send(()).unwrap();
        }
        for look in join_all(looks).await {
            look.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
    }

    #[tokio::test]
    async fn a_job_that_panics_is_a_fault_of_ours_and_gives_its_turn_back() {
        let desk = Desk::default();
        for _ in 0..=AT_ONCE {
            let failed = desk.run(|| panic!("on purpose")).await;
            assert!(matches!(failed, Err(ServiceError::Internal(_))));
        }
        assert_eq!(desk.run(|| 7).await.unwrap(), 7);
    }
}
