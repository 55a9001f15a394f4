//! Responses without a parsed request: for clients with too many connections, and for invalid HTTP.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use metrics::counter;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::REFUSAL_TIMEOUT;
use crate::error::ApiError;
use crate::layers::observe;
use crate::state::App;

/// The maximum input of a refused request that is read and discarded, in bytes.
const MAX_UNREAD_BYTES: u64 = 64 * 1024;

/// The minimum time between two warnings about too many connections.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Writes responses without a parsed request.
#[derive(Clone, Debug)]
pub(super) struct RawResponder {
    app: App,
    warned_at: Arc<Mutex<Option<Instant>>>,
}

impl RawResponder {
    pub(super) fn new(app: App) -> Self {
        Self {
            app,
            warned_at: Arc::default(),
        }
    }

    /// Logs a warning about an address with too many connections, at most once per [`WARNING_INTERVAL`].
    pub(super) fn warn(&self, address: IpAddr) {
        let mut warned_at = self.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
        if warned_at.is_some_and(|at| at.elapsed() < WARNING_INTERVAL) {
            return;
        }
        *warned_at = Some(Instant::now());
        tracing::warn!(
            %address,
            "connections beyond server.max_connections_per_address are refused; if this address is your proxy, add it to \
             server.trusted_proxies"
        );
    }

    /// Returns a complete response with `Connection: close`, and counts it in the metrics.
    pub(super) fn write(&self, status: StatusCode, error: &ApiError) -> Vec<u8> {
        let body = error.to_json().to_string();
        let id = observe::new_id(&self.app);
        let labels = [
            ("method", "other".to_owned()),
            ("route", "unmatched".to_owned()),
            ("status", status.as_u16().to_string()),
        ];
        counter!("http_requests_total", &labels).increment(1);
        let id = id.to_str().unwrap_or_default();
        tracing::info!(
            request_id = id,
            status = status.as_u16(),
            "connection or request refused before it was parsed"
        );
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n\
             x-request-id: {id}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }

    /// Responds on a connection without reading a request, and closes it so that the client receives the response.
    pub(super) async fn respond(&self, mut stream: TcpStream, error: &ApiError) {
        let response = self.write(error.status(), error);
        let sent = async {
            stream.write_all(&response).await?;
            stream.shutdown().await?;
            // If input is unread at the close, the client may lose the response.
            let (mut rest, mut sink) = (stream.take(MAX_UNREAD_BYTES), tokio::io::sink());
            tokio::io::copy(&mut rest, &mut sink).await
        };
        // A client that does not read it in time gets no response.
        let _: Result<_, _> = timeout(REFUSAL_TIMEOUT, sent).await;
    }
}
