//! # Refusing port: a local port on which every connection is refused

use std::net::SocketAddr;
use tokio::net::TcpSocket;

/// A port on `127.0.0.1` that refuses connections until this value is dropped.
///
/// The socket is bound but does not listen. A port that was bound and released could be taken by a test that runs at
/// the same time, and then a connection would succeed.
pub struct RefusingPort {
    socket: TcpSocket,
}

impl RefusingPort {
    /// Takes a free port.
    #[must_use]
    pub fn bind() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        Self { socket }
    }

    /// The address with the port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use tokio::net::TcpStream;

    use super::RefusingPort;

    #[tokio::test]
    async fn refusing_port_refuses_connections() {
        let port = RefusingPort::bind();
        let error = TcpStream::connect(port.address()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}
