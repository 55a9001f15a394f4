//! A delayed close of the connection, so that the client receives the last response.
//!
//! If the server closes a connection while the client still sends, the connection is reset. The client then loses the response
//! that it has not read yet: it sees a broken pipe instead of 413. So if a part of the request is unread, the server first closes
//! its sending half only. It reads and discards further input until the client closes its half, within limits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::timeout_stream::ConnectionActivity;

/// The maximum input that is read and discarded, in bytes: twice the largest request body in the default configuration.
const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;

/// A stream whose shutdown waits until the client closes its half, if a part of the request is unread.
#[derive(Debug)]
pub(super) struct LingeringStream<S> {
    stream: S,
    activity: Arc<ConnectionActivity>,
    timeout: Duration,
    close_state: CloseState,
}

#[derive(Debug)]
enum CloseState {
    NotYet,
    Reading { left: usize, until: Pin<Box<Sleep>> },
    Done,
}

impl<S> LingeringStream<S> {
    /// Wraps a stream. Its shutdown waits at most `timeout`.
    pub(super) fn new(stream: S, activity: Arc<ConnectionActivity>, timeout: Duration) -> Self {
        Self {
            stream,
            activity,
            timeout,
            close_state: CloseState::NotYet,
        }
    }
}

impl<S: AsyncRead + Unpin> LingeringStream<S> {
    /// Discards input. Ready when the client has closed its half, or a limit is reached.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let CloseState::Reading { left, until } = &mut self.close_state else {
            return Poll::Ready(());
        };
        let mut piece = [0; 8 * 1024];
        while *left > 0 && until.as_mut().poll(cx).is_pending() {
            let mut buf = ReadBuf::new(&mut piece);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf));
            if read.is_err() || buf.filled().is_empty() {
                break;
            }
            *left = left.saturating_sub(buf.filled().len());
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LingeringStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
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

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if matches!(this.close_state, CloseState::NotYet) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.close_state = if this.activity.has_unread_input() {
                CloseState::Reading {
                    left: MAX_DISCARDED_BYTES,
                    until: Box::pin(sleep_until(Instant::now() + this.timeout)),
                }
            } else {
                CloseState::Done
            };
        }
        ready!(this.poll_discard(cx));
        this.close_state = CloseState::Done;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    fn lingering(has_unread_input: bool) -> (LingeringStream<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(1_024);
        let activity = Arc::new(ConnectionActivity::default());
        if has_unread_input {
            activity.mark_unread();
        }
        (LingeringStream::new(ours, activity, TIMEOUT), theirs)
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_still_sends_receives_the_response() {
        let (mut stream, mut theirs) = lingering(true);
        let client = tokio::spawn(async move {
            theirs.write_all(&[b'x'; 100_000]).await.unwrap();
            let mut response = String::new();
            theirs.read_to_string(&mut response).await.unwrap();
            response
        });
        stream.write_all(b"413").await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(client.await.unwrap(), "413");
    }

    #[tokio::test(start_paused = true)]
    async fn connection_closes_after_the_timeout() {
        let (mut stream, theirs) = lingering(true);
        let started = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(started.elapsed(), TIMEOUT);
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn fully_read_request_closes_immediately() {
        let (mut stream, _theirs) = lingering(false);
        let started = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}
