//! Responses to requests that hyper cannot parse.
//!
//! hyper responds to such a request itself, with a status and an empty body, and has no hook for it. This module recognises
//! hyper's response when it is written, and replaces it by one with an envelope and a request id. All other responses already
//! have a request id (`crate::layers::observe`), so none of them is mistaken for hyper's.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::raw_response::RawResponder;
use super::timeout_stream::ConnectionActivity;
use crate::error::{ApiError, ApiErrorCode};

/// The maximum length of hyper's own responses, in bytes.
const MAX_HYPER_RESPONSE_BYTES: usize = 256;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A stream that replaces hyper's own error responses by responses with an envelope.
#[derive(Debug)]
pub(super) struct ParseErrorStream<S> {
    stream: S,
    responder: RawResponder,
    activity: Arc<ConnectionActivity>,
    /// The replacement for hyper's response, and the number of its bytes already written.
    replacement: Option<(Vec<u8>, usize)>,
}

impl<S> ParseErrorStream<S> {
    pub(super) fn new(stream: S, responder: RawResponder, activity: Arc<ConnectionActivity>) -> Self {
        Self {
            stream,
            responder,
            activity,
            replacement: None,
        }
    }

    /// Returns the replacement for hyper's response.
    fn replace(&self, status: StatusCode) -> Vec<u8> {
        // Further input of the client is not read.
        self.activity.mark_unread();
        self.responder.write(status, &error(status))
    }
}

impl<S: AsyncWrite + Unpin> ParseErrorStream<S> {
    /// Writes the replacement, and then reports the `taken` bytes of hyper's response as written.
    fn poll_replacement(&mut self, taken: usize, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while let Some((bytes, written)) = &mut self.replacement {
            let rest = bytes.get(*written..).unwrap_or_default();
            if rest.is_empty() {
                self.replacement = None;
                break;
            }
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            *written += count;
        }
        Poll::Ready(Ok(taken))
    }
}

/// Returns the position of hyper's own response in the bytes that are written, and its status.
fn find_hyper_response(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    if !bytes.ends_with(HEAD_END) {
        return None;
    }
    let from = bytes.len().saturating_sub(MAX_HYPER_RESPONSE_BYTES);
    let last = bytes.get(from..)?;
    // hyper uses the version of the request, or 1.0.
    let is_status = |ten: &[u8]| ten == b"HTTP/1.1 4" || ten == b"HTTP/1.0 4";
    let start = last.windows(10).rposition(is_status)?;
    let head = std::str::from_utf8(last.get(start..)?).ok()?;
    let is_bare = head.find("\r\n\r\n")? + HEAD_END.len() == head.len()
        && head.contains("\r\ncontent-length: 0\r\n")
        && !head.contains("\r\nx-request-id: ");
    let status = StatusCode::from_bytes(head.as_bytes().get(9..12)?).ok()?;
    is_bare.then_some((from + start, status))
}

fn error(status: StatusCode) -> ApiError {
    let message = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "the headers exceed 64 KiB or a count of 100; send fewer or shorter headers"
        }
        StatusCode::URI_TOO_LONG => "the path and query are too long; send long data in the body",
        _ => "this is not a valid HTTP request; check the request line and the headers",
    };
    ApiError::new(ApiErrorCode::BadRequest, message)
}

impl<S: AsyncRead + Unpin> AsyncRead for ParseErrorStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ParseErrorStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.replacement.is_some() {
            return this.poll_replacement(buf.len(), cx);
        }
        match find_hyper_response(buf) {
            None => Pin::new(&mut this.stream).poll_write(cx, buf),
            Some((0, status)) => {
                this.replacement = Some((this.replace(status), 0));
                this.poll_replacement(buf.len(), cx)
            }
            // Write the bytes before it first.
            Some((start, _)) => {
                let before = buf.get(..start).unwrap_or_default();
                Pin::new(&mut this.stream).poll_write(cx, before)
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = bufs.iter().filter(|buf| !buf.is_empty());
        match (filled.next(), filled.next()) {
            // hyper's own response has no body, so it is the only buffer.
            (Some(only), None) => self.poll_write(cx, only),
            _ => Pin::new(&mut self.stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYPER_RESPONSE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                        date: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\n";

    #[test]
    fn recognises_hypers_response_alone_and_after_another_response() {
        let found = |text: &str| find_hyper_response(text.as_bytes()).map(|(start, status)| (start, status.as_u16()));
        assert_eq!(found(HYPER_RESPONSE), Some((0, 431)));
        let before = format!(
            "HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\ncontent-length: 1000\r\n\r\n{}",
            "x".repeat(1_000)
        );
        assert_eq!(found(&format!("{before}{HYPER_RESPONSE}")), Some((before.len(), 431)));
        assert_eq!(found(&HYPER_RESPONSE.replace("HTTP/1.1", "HTTP/1.0")), Some((0, 431)));
    }

    #[test]
    fn other_responses_are_not_recognised() {
        for text in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nx-request-id: a\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nx-request-id: a\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nx-request-id: a\r\ncontent-length: 9\r\n\r\n",
            &format!("{HYPER_RESPONSE}{{}}"),
            &HYPER_RESPONSE[..HYPER_RESPONSE.len() - 2],
        ] {
            assert_eq!(find_hyper_response(text.as_bytes()), None, "{text}");
        }
    }
}
