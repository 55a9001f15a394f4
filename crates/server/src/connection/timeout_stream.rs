//! A stream with timeouts for reading and writing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::settings::Timeouts;

/// The activity of a connection. Request handling updates it, and the stream reads it.
#[derive(Debug, Default)]
pub(super) struct ConnectionActivity {
    active: AtomicUsize,
    started: AtomicUsize,
    has_unread_input: AtomicBool,
}

/// A request in progress. Dropping it marks the request as finished.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<ConnectionActivity>);

impl ConnectionActivity {
    /// Records the start of a request, whose head has been read.
    pub(super) fn begin(activity: &Arc<Self>) -> ActiveRequest {
        activity.started.fetch_add(1, Ordering::Relaxed);
        activity.active.fetch_add(1, Ordering::Relaxed);
        ActiveRequest(Arc::clone(activity))
    }

    /// Records that the client may still send input that is not read. The connection is closed after this response.
    pub(super) fn mark_unread(&self) {
        self.has_unread_input.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_unread_input(&self) -> bool {
        self.has_unread_input.load(Ordering::Relaxed)
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream with timeouts for a request head, for an idle connection and for writing without progress. An expired timeout is
/// the error [`TimedOut`](io::ErrorKind::TimedOut).
///
/// While a request is in progress, reading has no timeout here: the reader of the body has one.
#[derive(Debug)]
pub(super) struct TimeoutStream<S> {
    stream: S,
    timeouts: Timeouts,
    activity: Arc<ConnectionActivity>,
    /// The number of started requests at the last read.
    seen_requests: usize,
    read: Deadline,
    /// Whether a part of a request head has been received.
    in_head: bool,
    /// Whether the connection uses HTTP/2, where frames arrive between requests and hyper sends keep-alive pings.
    is_http2: bool,
    has_read: bool,
    write: Deadline,
}

/// A resettable deadline that wakes the task when it passes.
#[derive(Debug)]
struct Deadline {
    sleep: Pin<Box<Sleep>>,
    is_set: bool,
}

impl Deadline {
    fn unset() -> Self {
        Self {
            sleep: Box::pin(sleep_until(Instant::now())),
            is_set: false,
        }
    }

    /// Sets the deadline unless it is set. Ready when it has passed.
    fn poll_after(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_set {
            self.is_set = true;
            self.sleep.as_mut().reset(Instant::now() + time);
        }
        self.sleep.as_mut().poll(cx)
    }

    fn clear(&mut self) {
        self.is_set = false;
    }
}

impl<S> TimeoutStream<S> {
    pub(super) fn new(stream: S, timeouts: Timeouts, activity: Arc<ConnectionActivity>) -> Self {
        Self {
            stream,
            timeouts,
            activity,
            seen_requests: 0,
            read: Deadline::unset(),
            in_head: false,
            is_http2: false,
            has_read: false,
            write: Deadline::unset(),
        }
    }

    /// Resets the read state if a request has started since the last read.
    fn sync_activity(&mut self) {
        let started = self.activity.started.load(Ordering::Relaxed);
        if started != self.seen_requests {
            self.seen_requests = started;
            self.in_head = false;
            self.read.clear();
        }
    }

    fn input_received(&mut self, bytes: &[u8]) {
        if !self.has_read {
            self.has_read = true;
            self.is_http2 = bytes.starts_with(b"PRI ");
        }
        // While a request is in progress, the input is its body, or the head of a pipelined request.
        let is_body = self.has_active_request();
        // Only the first part of a head resets the deadline.
        if !self.in_head && !self.is_http2 && !is_body {
            self.in_head = true;
            self.read.clear();
        }
    }

    fn has_active_request(&self) -> bool {
        self.activity.active.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if input is only discarded, which [`LingeringStream`](super::linger::LingeringStream) limits.
    fn discards_input(&self) -> bool {
        !self.is_http2 && self.activity.has_unread_input()
    }

    fn poll_read_deadline(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.has_active_request() || self.discards_input() {
            self.read.clear();
            return Poll::Pending;
        }
        let time = if self.in_head {
            self.timeouts.headers
        } else {
            self.timeouts.idle
        };
        ready!(self.read.poll_after(time, cx));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    /// Returns the result of a write, or `TimedOut` if it makes no progress for too long.
    fn with_write_deadline<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write.clear();
            return written;
        }
        ready!(self.write.poll_after(self.timeouts.write, cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.sync_activity();
        let before = buf.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            Poll::Ready(result) => {
                let input = buf.filled().get(before..).unwrap_or_default();
                if !input.is_empty() {
                    this.input_received(input);
                }
                Poll::Ready(result)
            }
            Poll::Pending => this.poll_read_deadline(cx).map(Err),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.with_write_deadline(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.with_write_deadline(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.with_write_deadline(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.with_write_deadline(shut, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{advance, timeout};

    use super::*;

    fn timed() -> (TimeoutStream<DuplexStream>, DuplexStream, Arc<ConnectionActivity>) {
        let (ours, theirs) = duplex(16);
        let activity = Arc::new(ConnectionActivity::default());
        (
            TimeoutStream::new(ours, Timeouts::default(), Arc::clone(&activity)),
            theirs,
            activity,
        )
    }

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the time until reading times out.
    async fn ends_after(stream: &mut TimeoutStream<DuplexStream>) -> Option<Duration> {
        let started = Instant::now();
        let mut buffer = [0; 16];
        match timeout(SECOND * 1000, stream.read(&mut buffer)).await {
            Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => Some(started.elapsed()),
            _ => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_times_out() {
        let (mut stream, _theirs, _) = timed();
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
    }

    #[tokio::test(start_paused = true)]
    async fn slow_head_times_out() {
        let (mut stream, mut theirs, _) = timed();
        let mut buffer = [0; 16];
        for _ in 0..3 {
            theirs.write_all(b"G").await.unwrap();
            stream.read_exact(&mut buffer[..1]).await.unwrap();
            let waiting = timeout(SECOND * 3, stream.read(&mut buffer));
            assert!(waiting.await.is_err(), "still waiting");
        }
        assert_eq!(
            ends_after(&mut stream).await,
            Some(Timeouts::default().headers - SECOND * 9)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn read_timeout_is_suspended_during_a_request() {
        let (mut stream, mut theirs, activity) = timed();
        let mut buffer = [0; 16];
        theirs.write_all(b"GET /").await.unwrap();
        stream.read_exact(&mut buffer[..5]).await.unwrap();
        let request = ConnectionActivity::begin(&activity);
        assert_eq!(ends_after(&mut stream).await, None);
        drop(request);
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
    }

    #[tokio::test(start_paused = true)]
    async fn connection_is_idle_after_a_separate_body_and_times_the_next_head() {
        let (mut stream, mut theirs, activity) = timed();
        let mut buffer = [0; 16];
        theirs.write_all(b"POST /").await.unwrap();
        stream.read_exact(&mut buffer[..6]).await.unwrap();
        let request = ConnectionActivity::begin(&activity);
        theirs.write_all(b"{}").await.unwrap();
        stream.read_exact(&mut buffer[..2]).await.unwrap();
        drop(request);
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
        theirs.write_all(b"G").await.unwrap();
        stream.read_exact(&mut buffer[..1]).await.unwrap();
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().headers));
    }

    #[tokio::test(start_paused = true)]
    async fn discarded_input_has_no_head_timeout() {
        let (mut stream, mut theirs, activity) = timed();
        activity.mark_unread();
        let mut buffer = [0; 16];
        theirs.write_all(b"rest").await.unwrap();
        stream.read_exact(&mut buffer[..4]).await.unwrap();
        assert_eq!(ends_after(&mut stream).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_reads_no_response_times_out() {
        let (mut stream, _theirs, _) = timed();
        let started = Instant::now();
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed(), Timeouts::default().write);
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_reads_slowly_receives_the_response() {
        let (mut stream, mut theirs, _) = timed();
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 16];
            for _ in 0..4 {
                advance(SECOND * 20).await;
                theirs.read_exact(&mut buffer).await.unwrap();
            }
        });
        stream.write_all(&[0; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
