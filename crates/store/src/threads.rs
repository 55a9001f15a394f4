//! The threads that run SQLite's statements, as a port.
//!
//! SQLite's statements block, so the program runs them on separate threads ([`BlockingThreads`]). A simulation runs them on its only
//! thread, so that their order is the same each time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A task that can move to another thread.
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs SQLite's statements, which block.
pub trait StatementThreads: Send + Sync + fmt::Debug {
    /// Runs the task that writes, until it ends. Called on the runtime of the store.
    fn run_writer(&self, writer: Task);

    /// Runs a whole read. A read that is dropped instead fails.
    fn run_read(&self, read: Box<dyn FnOnce() + Send>);
}

/// One thread for writes, and Tokio's threads for blocking work for reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockingThreads;

impl StatementThreads for BlockingThreads {
    fn run_writer(&self, writer: Task) {
        let runtime = tokio::runtime::Handle::current();
        std::thread::spawn(move || runtime.block_on(writer));
    }

    fn run_read(&self, read: Box<dyn FnOnce() + Send>) {
        tokio::task::spawn_blocking(read);
    }
}
