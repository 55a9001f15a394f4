//! Thread pool for password hashing.
//!
//! One argon2id hash takes 19 MiB of memory and tens of milliseconds of a core. A fixed number of threads run hashes.
//! Each thread reuses one memory buffer, so memory does not grow with the number of sign-ins. The queue is bounded;
//! when it is full, a request is rejected at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use argon2::Block;
use tokio::sync::oneshot;

use foundation::ServiceError;

/// Number of hashing threads. Each keeps a buffer of 19 MiB after its first hash.
const HASHING_THREADS: usize = 2;
/// Maximum number of waiting jobs: about two seconds of work.
const MAX_WAITING_JOBS: usize = 100;
/// Retry delay for rejected requests, in seconds. The queue is empty by then.
const RETRY_AFTER_SECONDS: u64 = 2;

/// Memory blocks of one hashing thread, reused for all its hashes.
pub(super) type HashBuffer = Vec<Block>;

type Job = Box<dyn FnOnce(&mut HashBuffer) + Send>;

/// Runs password hashes on its own threads. The threads start with the first hash and end when the pool is dropped.
#[derive(Default)]
pub(crate) struct HashingPool {
    queue: Mutex<Option<SyncSender<Job>>>,
}

impl std::fmt::Debug for HashingPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashingPool")
    }
}

impl HashingPool {
    /// Runs `hash` on a hashing thread. Skips the job if its caller is gone before it starts.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if the queue is full.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        hash: impl FnOnce(&mut HashBuffer) -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |buffer| {
            if !answer.is_closed() {
                // The caller may be gone when the hash is complete.
                let _ = answer.send(hash(buffer));
            }
        });
        match self.queue()?.try_send(job) {
            Ok(()) => answered.await.map_err(ServiceError::internal),
            Err(TrySendError::Full(_)) => Err(ServiceError::Overloaded {
                message: "too many sign-ins at the moment; try again in a few seconds".to_owned(),
                retry_after_s: RETRY_AFTER_SECONDS,
            }),
            Err(TrySendError::Disconnected(_)) => Err(ServiceError::internal("the hashing threads have stopped")),
        }
    }

    fn queue(&self) -> Result<SyncSender<Job>, ServiceError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = &*queue {
            return Ok(queue.clone());
        }
        let started = start().map_err(ServiceError::internal)?;
        Ok(queue.insert(started).clone())
    }
}

fn start() -> std::io::Result<SyncSender<Job>> {
    let (queue, jobs) = sync_channel(MAX_WAITING_JOBS);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..HASHING_THREADS {
        let jobs = Arc::clone(&jobs);
        thread::Builder::new()
            .name("password-hashing".to_owned())
            .spawn(move || work(&jobs))?;
    }
    Ok(queue)
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    let mut buffer = HashBuffer::new();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // A panic drops the result channel, which the caller sees as an internal error. The next hash overwrites the
        // buffer.
        if catch_unwind(AssertUnwindSafe(|| job(&mut buffer))).is_err() {
            tracing::error!("hashing a password panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use futures_util::future::join_all;

    use super::*;

    /// The test runtime has one thread: a hash on that thread would block everything else.
    #[tokio::test]
    async fn pool_runs_two_hashes_and_rejects_when_full() {
        let pool = Arc::new(HashingPool::default());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let queued = Arc::new(AtomicUsize::new(0));
        let login = || {
            let (pool, now, most) = (Arc::clone(&pool), Arc::clone(&now), Arc::clone(&most));
            let (arrived, released, queued) = (arrived.clone(), Arc::clone(&released), Arc::clone(&queued));
            tokio::spawn(async move {
                // No other task runs between this line and the entry of the job into the queue.
                queued.fetch_add(1, Ordering::SeqCst);
                let hash = move |_: &mut HashBuffer| {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    arrived.send(()).unwrap();
                    released.lock().unwrap().recv().unwrap();
                    now.fetch_sub(1, Ordering::SeqCst);
                };
                pool.run(hash).await.unwrap();
            })
        };
        let mut logins: Vec<_> = (0..HASHING_THREADS).map(|_| login()).collect();
        for _ in 0..HASHING_THREADS {
            arrivals.recv().await.unwrap();
        }
        logins.extend((0..MAX_WAITING_JOBS).map(|_| login()));
        while queued.load(Ordering::SeqCst) < logins.len() {
            tokio::task::yield_now().await;
        }
        let refused = pool.run(|_| ()).await;
        assert!(
            matches!(refused, Err(ServiceError::Overloaded { retry_after_s: 2, .. })),
            "{refused:?}"
        );
        for _ in &logins {
            release.send(()).unwrap();
        }
        for login in join_all(logins).await {
            login.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), HASHING_THREADS);
        pool.run(|_| ()).await.unwrap();
    }

    #[tokio::test]
    async fn job_of_dropped_caller_is_skipped() {
        let pool = Arc::new(HashingPool::default());
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begun, mut began) = tokio::sync::mpsc::unbounded_channel();
        let busy: Vec<_> = (0..HASHING_THREADS)
            .map(|_| {
                let (pool, begun, released) = (Arc::clone(&pool), begun.clone(), Arc::clone(&released));
                tokio::spawn(async move {
                    let hash = move |_: &mut HashBuffer| {
                        begun.send(()).unwrap();
                        released.lock().unwrap().recv().unwrap();
                    };
                    pool.run(hash).await.unwrap();
                })
            })
            .collect();
        for _ in 0..HASHING_THREADS {
            began.recv().await.unwrap();
        }
        let (hashed, queued) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let gone = {
            let (pool, hashed, queued) = (Arc::clone(&pool), Arc::clone(&hashed), Arc::clone(&queued));
            tokio::spawn(async move {
                queued.fetch_add(1, Ordering::SeqCst);
                pool.run(move |_| hashed.fetch_add(1, Ordering::SeqCst)).await
            })
        };
        while queued.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        for _ in &busy {
            release.send(()).unwrap();
        }
        join_all(busy).await;
        // Jobs run in order: when this job is done, the one before it has been skipped.
        pool.run(|_| ()).await.unwrap();
        assert_eq!(hashed.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn panic_fails_one_hash_and_keeps_the_thread() {
        let pool = HashingPool::default();
        for _ in 0..2 * HASHING_THREADS {
            let failed: Result<(), _> = pool.run(|_| panic!("a bug")).await;
            assert!(matches!(failed, Err(ServiceError::Internal(_))), "{failed:?}");
        }
        assert_eq!(pool.run(|_| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn hashing_threads_reuse_their_buffers() {
        let pool = HashingPool::default();
        let mut addresses = std::collections::HashSet::new();
        for _ in 0..10 {
            let address = pool
                .run(|buffer| {
                    buffer.resize(100, Block::default());
                    buffer.as_ptr().addr()
                })
                .await;
            addresses.insert(address.unwrap());
        }
        assert!(addresses.len() <= HASHING_THREADS, "{addresses:?}");
    }
}
