//! What a request still has to say when its answer is there.
//!
//! Who is refused (too often, without a key) is refused before the body is read. On HTTP/1 that body stands between the answer
//! and the next request, so the connection is closed after the answer; and a client that is still sending, or has its next
//! request ready, is told of a closed connection instead of why it was refused. So the rest is read first, if it is small, comes
//! soon, and the client did not ask whether to send it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http::{Version, header};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;

/// The maximum read before the response: more than any request of the API needs. After more, the connection is closed.
const MOST_BYTES: usize = 64 * 1024;
/// So long it is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Gets back what of a body nobody has read.
pub(super) struct Unread(Option<oneshot::Receiver<Incoming>>);

/// A request of which the unread rest of the body can be had back.
pub(super) fn watched(request: Request<Incoming>) -> (Request, Unread) {
    let is_asking = request.headers().contains_key(header::EXPECT);
    if request.version() >= Version::HTTP_2 || is_asking || request.body().is_end_stream() {
        return (request.map(Body::new), Unread(None));
    }
    let (back, rest) = oneshot::channel();
    let request = request.map(|body| {
        Body::new(Watched {
            body: Some(body),
            back: Some(back),
        })
    });
    (request, Unread(Some(rest)))
}

impl Unread {
    /// Reads the unread rest. Returns `false` if something is left.
    pub(super) async fn read(self) -> bool {
        let Some(mut body) = self.0.and_then(|mut rest| rest.try_recv().ok()) else {
            return true;
        };
        if body.size_hint().lower() > MOST_BYTES as u64 {
            return false;
        }
        let all = async {
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                read += frame.data_ref().map_or(0, Bytes::len);
                if read > MOST_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(PATIENCE, all).await.unwrap_or(false)
    }
}

/// A body that is given back when nobody wants to read it any more.
struct Watched {
    body: Option<Incoming>,
    back: Option<oneshot::Sender<Incoming>>,
}

impl HttpBody for Watched {
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

impl Drop for Watched {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(rest), Some(back)) = (rest, self.back.take()) {
            // Nobody waits for it if the connection has gone.
            drop(back.send(rest));
        }
    }
}
