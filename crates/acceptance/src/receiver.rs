//! A receiver of webhooks: an HTTP server on this machine that writes down what it gets, and behaves as it is told.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::clock::{now, wait_for};

/// What the receiver does with a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// It answers with a status, more headers and a body.
    Answers(u16, Vec<(&'static str, String)>, String),
    /// It closes the connection without a word.
    Closes,
    /// It resets the connection.
    Resets,
    /// It says nothing, for ever.
    Hangs,
    /// It sends a byte each half second.
    Drips,
    /// It answers 200 with an endless body.
    Floods,
}

impl Behaviour {
    /// It answers with a status and nothing else.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self::Answers(status, Vec::new(), String::new())
    }

    /// The status that it answers with at once.
    const fn answers(&self) -> Option<u16> {
        match self {
            Self::Answers(status, ..) => Some(*status),
            Self::Floods => Some(200),
            Self::Closes | Self::Resets | Self::Hangs | Self::Drips => None,
        }
    }
}

/// A request that was received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// When it was complete.
    pub at: Timestamp,
    /// Method, path and version.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Byte for byte.
    pub body: String,
    /// The status that it was answered with, if it was. Whoever sent it need not have lived to see it.
    pub answered: Option<u16>,
}

impl Received {
    /// A header that is there.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(found, _)| found == name);
        let found = found.map(|(_, value)| value.as_str());
        found.unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The delivery's id.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn id(&self) -> String {
        self.header("x-service-delivery").to_owned()
    }
}

#[derive(Debug)]
struct Shared {
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    /// What it does next; the last stays.
    script: Mutex<VecDeque<Behaviour>>,
}

/// A receiver of webhooks.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// One that takes everything.
    pub async fn start() -> Self {
        Self::that(vec![Behaviour::status(200)]).await
    }

    /// One that does these things in turn, and the last from then on.
    pub async fn that(script: Vec<Behaviour>) -> Self {
        Self::listen(script, None).await
    }

    /// One that speaks TLS, with a certificate that nobody but itself vouches for.
    ///
    /// # Panics
    /// If there can be no certificate.
    pub async fn with_its_own_certificate() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key);
        let tls = TlsAcceptor::from(Arc::new(config.unwrap()));
        Self::listen(vec![Behaviour::status(200)], Some(tls)).await
    }

    async fn listen(script: Vec<Behaviour>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            script: Mutex::new(script.into()),
        });
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                of_task.connections.fetch_add(1, Ordering::Relaxed);
                let (shared, tls) = (Arc::clone(&of_task), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, shared).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, shared).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, shared, task }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT/hook`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// How many connections came to it, whatever came of them.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// From now on it does this.
    ///
    /// # Panics
    /// Never.
    pub fn becomes(&self, behaviour: Behaviour) {
        *self.shared.script.lock().unwrap() = VecDeque::from([behaviour]);
    }

    /// What it has received, oldest first.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Waits until it has received so many requests, and answers them all.
    ///
    /// # Panics
    /// If they do not come.
    pub async fn wait_for(&self, number: usize) -> Vec<Received> {
        wait_for(&format!("{number} deliveries"), || async {
            Some(self.received()).filter(|received| received.len() >= number)
        })
        .await
    }
}

/// A connection, plain or not.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    /// The connection under it.
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for tokio_rustls::server::TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve(mut stream: impl Wire, shared: Arc<Shared>) {
    let mut buffer = Vec::new();
    while let Some(mut request) = read(&mut stream, &mut buffer).await {
        let behaviour = {
            let mut script = shared.script.lock().unwrap();
            let next = script.front().cloned().unwrap_or(Behaviour::status(200));
            if script.len() > 1 {
                script.pop_front();
            }
            next
        };
        request.answered = behaviour.answers();
        shared.received.lock().unwrap().push(request);
        if !behave(&mut stream, behaviour).await {
            return;
        }
    }
}

/// Reads one request, if there is one more.
async fn read(stream: &mut impl Wire, buffer: &mut Vec<u8>) -> Option<Received> {
    let head_end = loop {
        if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer[..head_end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let end = head_end + 4 + length;
    while buffer.len() < end {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(buffer[head_end + 4..end].to_vec()).ok()?;
    buffer.drain(..end);
    Some(Received {
        at: now(),
        line,
        headers,
        body,
        answered: None,
    })
}

/// Does what it is to do; false if the connection is over.
async fn behave(stream: &mut impl Wire, behaviour: Behaviour) -> bool {
    match behaviour {
        Behaviour::Answers(status, headers, body) => {
            let mut answer = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                answer.push_str(&format!("{name}: {value}\r\n"));
            }
            answer.push_str("\r\n");
            answer.push_str(&body);
            stream.write_all(answer.as_bytes()).await.is_ok()
        }
        Behaviour::Closes => false,
        Behaviour::Resets => {
            stream.tcp().set_zero_linger().unwrap();
            false
        }
        Behaviour::Hangs => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            false
        }
        Behaviour::Drips => {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".iter().cycle() {
                if stream.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            false
        }
        Behaviour::Floods => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n";
            let mut is_open = stream.write_all(head).await.is_ok();
            for _ in 0..1_600 {
                is_open = is_open && stream.write_all(&[b'x'; 65_536]).await.is_ok();
            }
            false
        }
    }
}
