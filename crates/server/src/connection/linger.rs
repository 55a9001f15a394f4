//! A delayed close of the connection, so that the client receives the last response.
//!
//! A connection that is closed while the client still sends is reset, and the client loses the response that it has not read
//! yet: it sees a broken pipe instead of 413. So if a part of the request was not read, only the sending half is closed at
//! first. Further input is read and discarded until the client closes its half, within limits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::timed::Activity;

/// The maximum input that is read and discarded: twice the largest body that is accepted by default.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A stream whose shutdown waits until the client closes its half, if a part of the request was not read.
#[derive(Debug)]
pub(super) struct Lingering<S> {
    stream: S,
    activity: Arc<Activity>,
    time: Duration,
    closing: Closing,
}

#[derive(Debug)]
enum Closing {
    NotYet,
    Reading { left: usize, until: Pin<Box<Sleep>> },
    Done,
}

impl<S> Lingering<S> {
    /// Wraps a stream. Its shutdown waits at most `time`.
    pub(super) fn new(stream: S, activity: Arc<Activity>, time: Duration) -> Self {
        Self {
            stream,
            activity,
            time,
            closing: Closing::NotYet,
        }
    }
}

impl<S: AsyncRead + Unpin> Lingering<S> {
    /// Ready when the client has closed its half, or a limit is reached.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Closing::Reading { left, until } = &mut self.closing else {
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

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
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
        if matches!(this.closing, Closing::NotYet) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.closing = if this.activity.is_left_unread() {
                Closing::Reading {
                    left: MAX_BYTES,
                    until: Box::pin(sleep_until(Instant::now() + this.time)),
                }
            } else {
                Closing::Done
            };
        }
        ready!(this.poll_rest(cx));
        this.closing = Closing::Done;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const TIME: Duration = Duration::from_secs(20);

    fn lingering(is_left_unread: bool) -> (Lingering<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(1_024);
        let activity = Arc::new(Activity::default());
        if is_left_unread {
            activity.leave_unread();
        }
        (Lingering::new(ours, activity, TIME), theirs)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_still_sends_gets_its_answer_before_the_connection_ends() {
        let (mut stream, mut theirs) = lingering(true);
        let client = tokio::spawn(async move {
            theirs.write_all(&[b'x'; 100_000]).await.unwrap();
            let mut answer = String::new();
            theirs.read_to_string(&mut answer).await.unwrap();
            answer
        });
        stream.write_all(b"413").await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(client.await.unwrap(), "413");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_ends_is_let_go_after_a_while() {
        let (mut stream, theirs) = lingering(true);
        let begun = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(begun.elapsed(), TIME);
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_read_to_its_end_is_closed_at_once() {
        let (mut stream, _theirs) = lingering(false);
        let begun = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
