//! Discards the unread rest of a request body before the response.
//!
//! Some requests are refused before their body is read (rate limit, missing credentials). On HTTP/1 the unread body precedes the
//! next request, so the connection must close after the response. A client that is still sending then sees a closed connection
//! instead of the error. To avoid that, the rest is read first if it is small, arrives soon, and was not announced with `Expect`.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http::{Version, header};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;

/// The maximum that is read before the response, in bytes: more than any API request needs. Beyond it, the connection is closed.
const MAX_UNREAD_BYTES: usize = 64 * 1024;
/// The time limit for reading the rest.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// Receives the unread rest of a body.
pub(super) struct UnreadBody(Option<oneshot::Receiver<Incoming>>);

/// Wraps a request's body, so that its unread rest can be recovered.
pub(super) fn track(request: Request<Incoming>) -> (Request, UnreadBody) {
    let expects_continue = request.headers().contains_key(header::EXPECT);
    if request.version() >= Version::HTTP_2 || expects_continue || request.body().is_end_stream() {
        return (request.map(Body::new), UnreadBody(None));
    }
    let (back, rest) = oneshot::channel();
    let request = request.map(|body| {
        Body::new(TrackedBody {
            body: Some(body),
            back: Some(back),
        })
    });
    (request, UnreadBody(Some(rest)))
}

impl UnreadBody {
    /// Reads and discards the unread rest. Returns `false` if some of it remains.
    pub(super) async fn read(self) -> bool {
        let Some(mut body) = self.0.and_then(|mut rest| rest.try_recv().ok()) else {
            return true;
        };
        if body.size_hint().lower() > MAX_UNREAD_BYTES as u64 {
            return false;
        }
        let all = async {
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                read += frame.data_ref().map_or(0, Bytes::len);
                if read > MAX_UNREAD_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(READ_TIMEOUT, all).await.unwrap_or(false)
    }
}

/// A body whose unread rest is sent back when it is dropped.
struct TrackedBody {
    body: Option<Incoming>,
    back: Option<oneshot::Sender<Incoming>>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(rest), Some(back)) = (rest, self.back.take()) {
            // The receiver is gone if the connection has ended.
            drop(back.send(rest));
        }
    }
}
