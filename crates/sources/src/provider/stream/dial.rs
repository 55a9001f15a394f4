//! Connecting.

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

use super::StreamFault;
use crate::provider::http::{Setup, SetupError, tls};

/// Something that bytes come and go by.
pub(super) trait Line: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Line for T {}

/// A connection.
pub(super) type Socket = WebSocketStream<Box<dyn Line>>;

/// Connects to a provider.
#[derive(Clone)]
pub struct Dial {
    tls: TlsConnector,
    deadline: Duration,
    most_message_bytes: usize,
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

impl Dial {
    /// Connects within the deadline of `setup`, and takes messages of at most `most_message_bytes`.
    ///
    /// # Errors
    /// [`SetupError`] when TLS cannot be set up.
    pub fn new(setup: &Setup, most_message_bytes: usize) -> Result<Self, SetupError> {
        Ok(Self {
            tls: TlsConnector::from(Arc::new(tls::config(&setup.clock)?)),
            deadline: setup.deadline,
            most_message_bytes,
        })
    }

    /// A connection; `None` as the error where there was none, or what the provider complains of.
    pub(super) async fn connect(&self, url: &Url) -> Result<Socket, Option<StreamFault>> {
        let connected = tokio::time::timeout(self.deadline, self.shake_hands(url)).await;
        connected.unwrap_or(Err(None))
    }

    async fn shake_hands(&self, url: &Url) -> Result<Socket, Option<StreamFault>> {
        let host = url.host_str().ok_or(None)?;
        let is_secure = url.scheme() == "wss";
        let port = url.port().unwrap_or(if is_secure { 443 } else { 80 });
        // An address of version 6 stands in brackets in a URL, and nowhere else.
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let tcp = TcpStream::connect((name, port)).await.map_err(|_| None)?;
        // Subscriptions are small and few; waiting to send more at once gains nothing.
        tcp.set_nodelay(true).map_err(|_| None)?;
        let line: Box<dyn Line> = if is_secure {
            let name = ServerName::try_from(name.to_owned()).map_err(|_| None)?;
            Box::new(self.tls.connect(name, tcp).await.map_err(|_| None)?)
        } else {
            Box::new(tcp)
        };
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(self.most_message_bytes);
        config.max_frame_size = Some(self.most_message_bytes);
        let shaken = tokio_tungstenite::client_async_with_config(url.as_str(), line, Some(config)).await;
        match shaken {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(answer)) => Err(fault_of(answer.status().as_u16())),
            Err(_) => Err(None),
        }
    }
}

/// What a status means that comes instead of a WebSocket.
const fn fault_of(status: u16) -> Option<StreamFault> {
    match status {
        401 => Some(StreamFault::Unauthorized),
        403 => Some(StreamFault::Forbidden),
        429 => Some(StreamFault::Crowded),
        _ => None,
    }
}
