//! Opens TCP connections, as a port: a simulation replaces the network.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The bytes of a connection, in both directions.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> ByteStream for S {}

/// The future of [`Dialer::dial`].
pub type DialFuture = Pin<Box<dyn Future<Output = io::Result<Box<dyn ByteStream>>> + Send>>;

/// Opens TCP connections.
pub trait Dialer: Send + Sync + fmt::Debug {
    /// Opens a connection.
    fn dial(&self, address: SocketAddr) -> DialFuture;
}

/// Opens TCP connections of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dialer for TcpDialer {
    fn dial(&self, address: SocketAddr) -> DialFuture {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // Requests are small and must not wait for more data.
            let _ = stream.set_nodelay(true);
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}
