//! Hashing passwords takes much memory and much of a core. So it is done off the threads that answer requests, few at a
//! time, and only so many wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::ServiceError;

/// So many passwords are hashed at once. Each takes 19 MiB and much of a core.
const AT_ONCE: usize = 2;
/// So many wait for their turn: about two seconds' worth. Whoever comes then is asked to come again.
const WAITING: usize = 100;

/// Those who hash, and those who wait for it.
#[derive(Debug)]
pub(crate) struct Hashing {
    turns: Arc<Semaphore>,
    inside: Arc<AtomicUsize>,
}

/// Whoever waits or hashes. Counted out when it is dropped, however that comes about.
struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Hashing {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            inside: Arc::default(),
        }
    }
}

impl Hashing {
    /// Runs `hash` on a thread of its own when it has its turn. If the caller goes away meanwhile, it keeps its turn until it
    /// is done.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] if too many wait.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        hash: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        let is_full = self.inside.fetch_add(1, Ordering::Relaxed) >= AT_ONCE + WAITING;
        let inside = Inside(Arc::clone(&self.inside));
        if is_full {
            let message = "too many are signing in at the moment; try again in a few seconds";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(ServiceError::internal)?;
        let hashing = tokio::task::spawn_blocking(move || {
            let _held = (turn, inside);
            hash()
        });
        hashing.await.map_err(ServiceError::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::future::join_all;

    use super::*;

    /// On a runtime with one thread: if hashing were done on it, nothing else could happen meanwhile.
    #[tokio::test]
    async fn however_many_sign_in_two_are_hashed_at_once_and_the_rest_goes_on() {
        let hashing = Arc::new(Hashing::default());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (arrived, arrivals) = tokio::sync::mpsc::unbounded_channel();
        let mut arrivals = arrivals;
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let logins: Vec<_> = (0..AT_ONCE + WAITING)
            .map(|_| {
                let (hashing, now, most) = (Arc::clone(&hashing), Arc::clone(&now), Arc::clone(&most));
                let (arrived, released) = (arrived.clone(), Arc::clone(&released));
                tokio::spawn(async move {
                    let hash = move || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        arrived.send(()).unwrap();
                        released.lock().unwrap().recv().unwrap();
                        now.fetch_sub(1, Ordering::SeqCst);
                    };
                    hashing.run(hash).await.unwrap();
                })
            })
            .collect();
        for _ in 0..AT_ONCE {
            arrivals.recv().await.unwrap();
        }
        // Two hash, a hundred wait, and this thread is free. One more is one too many.
        let refused = hashing.run(|| ()).await;
        assert!(matches!(refused, Err(ServiceError::Unavailable(_))), "{refused:?}");
        for _ in &logins {
            release.send(()).unwrap();
        }
        for login in join_all(logins).await {
            login.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
        hashing.run(|| ()).await.unwrap();
        assert_eq!(
            hashing.inside.load(Ordering::SeqCst),
            0,
            "whoever leaves is counted out"
        );
    }

    #[tokio::test]
    async fn who_goes_away_while_hashing_keeps_the_turn_until_it_is_done() {
        let hashing = Arc::new(Hashing::default());
        let (release, released) = mpsc::channel::<()>();
        let (begun, mut began) = tokio::sync::mpsc::unbounded_channel();
        let gone = {
            let hashing = Arc::clone(&hashing);
            let hash = move || {
                begun.send(()).unwrap();
                released.recv().unwrap();
            };
            tokio::spawn(async move { hashing.run(hash).await })
        };
        began.recv().await.unwrap();
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        assert_eq!(hashing.turns.available_permits(), AT_ONCE - 1);
        release.send(()).unwrap();
        let _both = hashing.turns.acquire_many(2).await.unwrap();
    }
}
