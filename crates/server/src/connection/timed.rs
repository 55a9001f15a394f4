//! A stream that looks at the clock.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::settings::Timeouts;

/// What happens on a connection: known to those who answer requests, looked at by the stream.
#[derive(Debug, Default)]
pub(super) struct Activity {
    under_way: AtomicUsize,
    begun: AtomicUsize,
    is_left_unread: AtomicBool,
}

/// A request that is under way until this is dropped.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Activity>);

impl Activity {
    /// A request begins: its head has been read.
    pub(super) fn begin(activity: &Arc<Self>) -> UnderWay {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        activity.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(Arc::clone(activity))
    }

    /// Records that the client may still be sending input that is not read. The connection is closed after this response.
    pub(super) fn leave_unread(&self) {
        self.is_left_unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_left_unread(&self) -> bool {
        self.is_left_unread.load(Ordering::Relaxed)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream on which a client may not wait for ever: neither in the middle of a request's head, nor between requests, nor
/// with its hands in its pockets while it is written to. What it takes longer over ends in
/// [`TimedOut`](io::ErrorKind::TimedOut).
///
/// While a request is under way, reading is not timed here: whoever reads its body does that.
#[derive(Debug)]
pub(super) struct Timed<S> {
    stream: S,
    timeouts: Timeouts,
    activity: Arc<Activity>,
    /// How many requests had begun when the stream was last looked at.
    seen: usize,
    read: Deadline,
    /// Whether a part of a head has come.
    in_head: bool,
    /// Whether it is HTTP/2, where frames come between requests and hyper sees to it that the other side is alive.
    is_http2: bool,
    has_read: bool,
    write: Deadline,
}

/// A deadline that can be set, and that wakes the task when it passes.
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

    /// Sets it, unless it is set. Ready when it has passed.
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

impl<S> Timed<S> {
    pub(super) fn new(stream: S, timeouts: Timeouts, activity: Arc<Activity>) -> Self {
        Self {
            stream,
            timeouts,
            activity,
            seen: 0,
            read: Deadline::unset(),
            in_head: false,
            is_http2: false,
            has_read: false,
            write: Deadline::unset(),
        }
    }

    /// Forgets the head whose request has begun.
    fn look(&mut self) {
        let begun = self.activity.begun.load(Ordering::Relaxed);
        if begun != self.seen {
            self.seen = begun;
            self.in_head = false;
            self.read.clear();
        }
    }

    fn came(&mut self, bytes: &[u8]) {
        if !self.has_read {
            self.has_read = true;
            self.is_http2 = bytes.starts_with(b"PRI ");
        }
        // While a request is under way, what comes is its body, or a head that waits for its turn behind it.
        let is_of_body = self.is_under_way();
        // Only the first part of a head sets the deadline anew; those that drip in after it do not.
        if !self.in_head && !self.is_http2 && !is_of_body {
            self.in_head = true;
            self.read.clear();
        }
    }

    fn is_under_way(&self) -> bool {
        self.activity.under_way.load(Ordering::Relaxed) > 0
    }

    /// Whether what comes is only read and dropped, which [`Lingering`](super::linger::Lingering) bounds.
    fn is_drained(&self) -> bool {
        !self.is_http2 && self.activity.is_left_unread()
    }

    fn poll_read_deadline(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_under_way() || self.is_drained() {
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

    /// Passes on what became of a write, and lets nobody keep one waiting for too long.
    fn poll_written<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write.clear();
            return written;
        }
        ready!(self.write.poll_after(self.timeouts.write, cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.look();
        let before = buf.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            Poll::Ready(result) => {
                let came = buf.filled().get(before..).unwrap_or_default();
                if !came.is_empty() {
                    this.came(came);
                }
                Poll::Ready(result)
            }
            Poll::Pending => this.poll_read_deadline(cx).map(Err),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.poll_written(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.poll_written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.poll_written(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.poll_written(shut, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{advance, timeout};

    use super::*;

    fn timed() -> (Timed<DuplexStream>, DuplexStream, Arc<Activity>) {
        let (ours, theirs) = duplex(16);
        let activity = Arc::new(Activity::default());
        (
            Timed::new(ours, Timeouts::default(), Arc::clone(&activity)),
            theirs,
            activity,
        )
    }

    const S: Duration = Duration::from_secs(1);

    /// How long it takes until reading ends.
    async fn ends_after(stream: &mut Timed<DuplexStream>) -> Option<Duration> {
        let begun = Instant::now();
        let mut buffer = [0; 16];
        match timeout(S * 1000, stream.read(&mut buffer)).await {
            Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => Some(begun.elapsed()),
            _ => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_is_asked_ends() {
        let (mut stream, _theirs, _) = timed();
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_in_ends() {
        let (mut stream, mut theirs, _) = timed();
        let mut buffer = [0; 16];
        for _ in 0..3 {
            theirs.write_all(b"G").await.unwrap();
            stream.read_exact(&mut buffer[..1]).await.unwrap();
            let waiting = timeout(S * 3, stream.read(&mut buffer));
            assert!(waiting.await.is_err(), "still waiting");
        }
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().headers - S * 9));
    }

    #[tokio::test(start_paused = true)]
    async fn while_a_request_is_under_way_reading_is_not_timed_and_afterwards_it_is_idle() {
        let (mut stream, mut theirs, activity) = timed();
        let mut buffer = [0; 16];
        theirs.write_all(b"GET /").await.unwrap();
        stream.read_exact(&mut buffer[..5]).await.unwrap();
        let request = Activity::begin(&activity);
        assert_eq!(ends_after(&mut stream).await, None);
        drop(request);
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_apart_from_its_head_leaves_the_connection_idle_and_a_next_head_does_not() {
        let (mut stream, mut theirs, activity) = timed();
        let mut buffer = [0; 16];
        theirs.write_all(b"POST /").await.unwrap();
        stream.read_exact(&mut buffer[..6]).await.unwrap();
        let request = Activity::begin(&activity);
        theirs.write_all(b"{}").await.unwrap();
        stream.read_exact(&mut buffer[..2]).await.unwrap();
        drop(request);
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().idle));
        theirs.write_all(b"G").await.unwrap();
        stream.read_exact(&mut buffer[..1]).await.unwrap();
        assert_eq!(ends_after(&mut stream).await, Some(Timeouts::default().headers));
    }

    #[tokio::test(start_paused = true)]
    async fn input_that_is_only_drained_is_not_timed_as_a_head() {
        let (mut stream, mut theirs, activity) = timed();
        activity.leave_unread();
        let mut buffer = [0; 16];
        theirs.write_all(b"rest").await.unwrap();
        stream.read_exact(&mut buffer[..4]).await.unwrap();
        assert_eq!(ends_after(&mut stream).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_its_answer_is_let_go() {
        let (mut stream, _theirs, _) = timed();
        let begun = Instant::now();
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed(), Timeouts::default().write);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_its_answer_slowly_gets_it() {
        let (mut stream, mut theirs, _) = timed();
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 16];
            for _ in 0..4 {
                advance(S * 20).await;
                theirs.read_exact(&mut buffer).await.unwrap();
            }
        });
        stream.write_all(&[0; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
