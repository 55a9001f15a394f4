//! Connection setup: TCP, TLS and the WebSocket handshake.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::Url;

use super::StreamError;
use crate::provider::http::{AdapterSetup, AdapterSetupError, tls};

/// A byte stream: TCP, or TLS over TCP.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// A WebSocket connection.
pub(super) type Socket = WebSocketStream<Box<dyn ByteStream>>;

/// Opens WebSocket connections to a provider.
#[derive(Clone)]
pub struct WebSocketConnector {
    tls: TlsConnector,
    timeout: Duration,
    max_message_bytes: usize,
}

impl fmt::Debug for WebSocketConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebSocketConnector")
    }
}

impl WebSocketConnector {
    /// Creates a connector with the timeout of `setup` that accepts messages of at most `max_message_bytes`.
    ///
    /// # Errors
    /// [`AdapterSetupError`] if TLS cannot be set up.
    pub fn new(setup: &AdapterSetup, max_message_bytes: usize) -> Result<Self, AdapterSetupError> {
        Ok(Self {
            tls: TlsConnector::from(Arc::new(tls::config(&setup.clock)?)),
            timeout: setup.timeout,
            max_message_bytes,
        })
    }

    /// Opens a connection. The error is the provider's reason, or `None` if the connection failed without one.
    pub(super) async fn connect(&self, url: &Url) -> Result<Socket, Option<StreamError>> {
        let connected = tokio::time::timeout(self.timeout, self.handshake(url)).await;
        connected.unwrap_or(Err(None))
    }

    async fn handshake(&self, url: &Url) -> Result<Socket, Option<StreamError>> {
        let host = url.host_str().ok_or(None)?;
        let is_secure = url.scheme() == "wss";
        let port = url.port().unwrap_or(if is_secure { 443 } else { 80 });
        // A URL encloses an IPv6 address in brackets; a socket address does not.
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let tcp = TcpStream::connect((name, port)).await.map_err(|_| None)?;
        // Messages are small and rare, so Nagle's algorithm gains nothing.
        tcp.set_nodelay(true).map_err(|_| None)?;
        let transport: Box<dyn ByteStream> = if is_secure {
            let name = ServerName::try_from(name.to_owned()).map_err(|_| None)?;
            Box::new(self.tls.connect(name, tcp).await.map_err(|_| None)?)
        } else {
            Box::new(tcp)
        };
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(self.max_message_bytes);
        config.max_frame_size = Some(self.max_message_bytes);
        let upgraded = tokio_tungstenite::client_async_with_config(url.as_str(), transport, Some(config)).await;
        match upgraded {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(response)) => Err(error_for_status(response.status().as_u16())),
            Err(_) => Err(None),
        }
    }
}

/// Maps the HTTP status of a refused WebSocket handshake to an error.
const fn error_for_status(status: u16) -> Option<StreamError> {
    match status {
        401 => Some(StreamError::Unauthorized),
        403 => Some(StreamError::Forbidden),
        429 => Some(StreamError::TooManyConnections),
        _ => None,
    }
}
