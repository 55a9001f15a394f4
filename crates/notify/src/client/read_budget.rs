//! A bound on the bytes that a receiver may send at each step of an exchange.
//!
//! HTTP lets a server send any number of informational (1xx) heads before the final one, and TLS any number of records
//! without data. hyper bounds the size of one head, not their sum. So the bytes of the connection itself are counted, below
//! TLS. When a step's budget is used up, reading stops, and the caller that waits for the step is notified
//! ([`ReadBudget::bound`]).

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// Maximum number of bytes up to the end of the final response head, including informational heads. A TLS handshake may use the
/// same number in addition.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum number of bytes of a response body, as transferred. Small chunks are mostly framing, so this is more than the limit for
/// the body itself.
pub(super) const MAX_RAW_BODY_BYTES: usize = 256 * 1024;

/// The bytes that may still be read from a connection.
#[derive(Debug, Default)]
pub(super) struct ReadBudget {
    state: Mutex<State>,
    refused: Notify,
}

#[derive(Debug, Default)]
struct State {
    left: usize,
    /// Whether a read was refused since the budget was set.
    is_exhausted: bool,
    /// The task that reads, while it waits for a new budget.
    reader: Option<Waker>,
}

impl ReadBudget {
    /// Sets the budget of the next step; the rest of the last one is discarded.
    pub(super) fn set(&self, bytes: usize) {
        let mut state = self.state();
        state.left = bytes;
        state.is_exhausted = false;
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }

    /// Waits for a step; `None` if its budget was used up before it ended.
    pub(super) async fn bound<F: Future>(&self, step: F) -> Option<F::Output> {
        let mut step = pin!(step);
        tokio::select! {
            biased;
            done = &mut step => Some(done),
            // The bytes that were read may have been enough.
            () = self.exhausted() => step.as_mut().now_or_never(),
        }
    }

    async fn exhausted(&self) {
        while !self.state().is_exhausted {
            self.refused.notified().await;
        }
    }

    /// Returns the number of bytes that may be read now. If none are left, the next budget wakes the task.
    fn poll_left(&self, cx: &Context<'_>) -> Poll<usize> {
        let mut state = self.state();
        if state.left > 0 {
            return Poll::Ready(state.left);
        }
        state.is_exhausted = true;
        state.reader = Some(cx.waker().clone());
        self.refused.notify_one();
        Poll::Pending
    }

    fn spend(&self, bytes: usize) {
        let mut state = self.state();
        state.left = state.left.saturating_sub(bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment, so a panic leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that reads within a budget.
#[derive(Debug)]
pub(super) struct BudgetedStream<S> {
    stream: S,
    budget: Arc<ReadBudget>,
}

impl<S> BudgetedStream<S> {
    pub(super) fn new(stream: S, budget: Arc<ReadBudget>) -> Self {
        Self { stream, budget }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BudgetedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = ready!(self.budget.poll_left(cx)).min(buf.remaining());
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(left));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let read = part.filled().len();
        buf.advance(read);
        self.budget.spend(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BudgetedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn reads_up_to_the_budget_and_continues_with_the_next_one() {
        let (client, mut server) = duplex(64);
        let budget = Arc::new(ReadBudget::default());
        let mut stream = BudgetedStream::new(client, Arc::clone(&budget));
        server.write_all(b"0123456789").await.unwrap();
        let mut six = [0; 6];
        budget.set(5);
        assert!(budget.bound(stream.read_exact(&mut six)).await.is_none());
        budget.set(5);
        let read = budget.bound(stream.read_exact(&mut six[..5])).await;
        assert_eq!((read.unwrap().unwrap(), &six[..5]), (5, &b"56789"[..]));
    }

    #[tokio::test]
    async fn step_that_uses_exactly_the_budget_completes() {
        let (client, mut server) = duplex(64);
        let budget = Arc::new(ReadBudget::default());
        let mut stream = BudgetedStream::new(client, Arc::clone(&budget));
        server.write_all(b"01234").await.unwrap();
        budget.set(5);
        let mut five = [0; 5];
        assert!(budget.bound(stream.read_exact(&mut five)).await.is_some());
    }

    #[tokio::test]
    async fn step_that_completed_before_the_budget_ended_counts_as_done() {
        let budget = ReadBudget::default();
        let mut polls = 0;
        // Another task exhausts the budget while this one is polled.
        let step = std::future::poll_fn(|cx| {
            polls += 1;
            let _ = budget.poll_left(cx);
            if polls > 1 { Poll::Ready("done") } else { Poll::Pending }
        });
        assert_eq!(budget.bound(step).await, Some("done"));
    }
}
