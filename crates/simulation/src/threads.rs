//! Statements run on the only thread, after a delay by seed.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use store::{BoxFuture, StatementThreads};
use tokio::time::{Sleep, sleep};

/// The maximum delay of a turn of the writer or of a read, in milliseconds of virtual time.
const MAX_DELAY_MS: u64 = 12;

/// The delays of a simulation. On a machine, another thread may run first; here a delay lets other tasks run first.
#[derive(Debug)]
pub(crate) struct Delays(Mutex<ChaCha8Rng>);

impl Delays {
    pub(crate) fn new(random: ChaCha8Rng) -> Arc<Self> {
        Arc::new(Self(Mutex::new(random)))
    }

    /// Returns the next delay. Half of them are none.
    fn next(&self) -> Duration {
        let mut random = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match random.random_range(0..2 * MAX_DELAY_MS) {
            delay if delay < MAX_DELAY_MS => Duration::from_millis(delay),
            _ => Duration::ZERO,
        }
    }
}

/// Runs statements on the thread of the simulation.
#[derive(Debug)]
pub(crate) struct OneThread(pub(crate) Arc<Delays>);

impl StatementThreads for OneThread {
    fn run_writer(&self, writer: BoxFuture<'static, ()>) {
        tokio::spawn(DelayedTurns {
            task: writer,
            delays: Arc::clone(&self.0),
            delay: None,
        });
    }

    fn run_read(&self, read: Box<dyn FnOnce() + Send>) {
        let delay = self.0.next();
        tokio::spawn(async move {
            if !delay.is_zero() {
                sleep(delay).await;
            }
            read();
        });
    }
}

/// A task that waits before each of its turns.
struct DelayedTurns {
    task: BoxFuture<'static, ()>,
    delays: Arc<Delays>,
    delay: Option<Pin<Box<Sleep>>>,
}

impl Future for DelayedTurns {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.delay.is_none() {
            let next = self.delays.next();
            self.delay = (!next.is_zero()).then(|| Box::pin(sleep(next)));
        }
        if let Some(delay) = &mut self.delay {
            ready!(delay.as_mut().poll(context));
            self.delay = None;
        }
        self.task.as_mut().poll(context)
    }
}
