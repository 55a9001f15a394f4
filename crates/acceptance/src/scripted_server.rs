//! A local HTTP server that records its requests and responds as a script says. Tests use it as a webhook receiver, an SMS
//! provider and a proxy.

use std::collections::{BTreeMap, VecDeque};
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

/// The behaviour of the server for one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Responds with a status, additional headers and a body.
    Respond(u16, Vec<(&'static str, String)>, String),
    /// Responds with 200 after a duration. Until then the request is in progress.
    RespondAfter(Duration),
    /// Closes the connection without a response.
    CloseConnection,
    /// Resets the connection (TCP RST).
    ResetConnection,
    /// Sends nothing and keeps the connection open.
    Hang,
    /// Sends one byte every 500 ms.
    SendSlowly,
    /// Responds with 200 and a body of 100 MiB.
    SendHugeBody,
}

impl Behaviour {
    /// Responds with a status and an empty body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self::Respond(status, Vec::new(), String::new())
    }

    /// Returns the status of an immediate response.
    const fn response_status(&self) -> Option<u16> {
        match self {
            Self::Respond(status, ..) => Some(*status),
            Self::RespondAfter(_) | Self::SendHugeBody => Some(200),
            Self::CloseConnection | Self::ResetConnection | Self::Hang | Self::SendSlowly => None,
        }
    }
}

/// A request that the server received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedRequest {
    /// Time at which the request was complete.
    pub at: Timestamp,
    /// The request line: method, path and version.
    pub line: String,
    /// Headers; the names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text. Bytes that are no text are replaced.
    pub body: String,
    /// The status of the response, if the server sent one. The sender may have been killed before it read the response.
    pub response_status: Option<u16>,
}

impl RecordedRequest {
    /// Returns a header.
    ///
    /// # Panics
    /// If the header is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(found, _)| found == name);
        let found = found.map(|(_, value)| value.as_str());
        found.unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }

    /// Returns the body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// Returns the delivery id from the header `X-Service-Delivery`.
    ///
    /// # Panics
    /// If the header is missing.
    #[must_use]
    pub fn id(&self) -> String {
        self.header("x-service-delivery").to_owned()
    }
}

/// Numbers of requests in progress: now, and at most.
#[derive(Clone, Copy, Debug, Default)]
struct InProgress {
    now: usize,
    max: usize,
}

impl InProgress {
    fn begin(&mut self) {
        self.now += 1;
        self.max = self.max.max(self.now);
    }
}

#[derive(Debug)]
struct SharedState {
    received: Mutex<Vec<RecordedRequest>>,
    /// All requests with [`Behaviour::RespondAfter`], and those of each request line.
    in_progress: Mutex<(InProgress, BTreeMap<String, InProgress>)>,
    connections: AtomicUsize,
    /// Behaviours of the next requests; the last one repeats.
    script: Mutex<VecDeque<Behaviour>>,
}

/// A local HTTP server with scripted behaviour.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<SharedState>,
    task: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    /// Starts a server that responds with 200 to every request.
    pub async fn start() -> Self {
        Self::with_script(vec![Behaviour::status(200)]).await
    }

    /// Starts a server that applies these behaviours in turn and repeats the last one.
    pub async fn with_script(script: Vec<Behaviour>) -> Self {
        Self::listen(script, None).await
    }

    /// Starts a TLS server with a self-signed certificate.
    ///
    /// # Panics
    /// If the certificate cannot be generated.
    pub async fn with_self_signed_certificate() -> Self {
        let generated = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(generated.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![generated.cert.der().clone()], key);
        let tls = TlsAcceptor::from(Arc::new(config.unwrap()));
        Self::listen(vec![Behaviour::status(200)], Some(tls)).await
    }

    async fn listen(script: Vec<Behaviour>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(SharedState {
            received: Mutex::default(),
            in_progress: Mutex::default(),
            connections: AtomicUsize::new(0),
            script: Mutex::new(script.into()),
        });
        let task_state = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                task_state.connections.fetch_add(1, Ordering::Relaxed);
                let (shared, tls) = (Arc::clone(&task_state), tls.clone());
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

    /// Returns the address that the server listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT/hook`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns the number of accepted connections, including failed ones.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Replaces the script: the server applies this behaviour to all further requests.
    ///
    /// # Panics
    /// If the lock is poisoned.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        *self.shared.script.lock().unwrap() = VecDeque::from([behaviour]);
    }

    /// Returns the received requests, oldest first.
    ///
    /// # Panics
    /// If the lock is poisoned.
    #[must_use]
    pub fn received(&self) -> Vec<RecordedRequest> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Returns the highest numbers of requests with [`Behaviour::RespondAfter`] that were in progress at the same time: of all, and of one
    /// path.
    ///
    /// # Panics
    /// If the lock is poisoned.
    #[must_use]
    pub fn max_in_progress(&self) -> (usize, usize) {
        let (all, by_line) = &*self.shared.in_progress.lock().unwrap();
        let max_of_path = by_line.values().map(|of_line| of_line.max).max();
        (all.max, max_of_path.unwrap_or_default())
    }

    /// Waits until at least `number` requests have arrived, and returns all of them.
    ///
    /// # Panics
    /// If they do not arrive in time.
    pub async fn wait_for_requests(&self, number: usize) -> Vec<RecordedRequest> {
        wait_for(&format!("{number} deliveries"), || async {
            Some(self.received()).filter(|received| received.len() >= number)
        })
        .await
    }
}

/// A connection with or without TLS.
trait Connection: AsyncRead + AsyncWrite + Unpin + Send {
    /// Returns the underlying TCP connection.
    fn tcp(&self) -> &TcpStream;
}

impl Connection for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Connection for tokio_rustls::server::TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve(mut stream: impl Connection, shared: Arc<SharedState>) {
    let mut buffer = Vec::new();
    while let Some(mut request) = read_request(&mut stream, &mut buffer).await {
        let behaviour = {
            let mut script = shared.script.lock().unwrap();
            let next = script.front().cloned().unwrap_or(Behaviour::status(200));
            if script.len() > 1 {
                script.pop_front();
            }
            next
        };
        request.response_status = behaviour.response_status();
        let line = request.line.clone();
        shared.received.lock().unwrap().push(request);
        if let Behaviour::RespondAfter(duration) = behaviour {
            hold(&shared, line, duration).await;
        }
        if !apply_behaviour(&mut stream, behaviour).await {
            return;
        }
    }
}

/// Counts a request as in progress for a duration. The count ends before the response, after which its sender may begin the next one.
async fn hold(shared: &SharedState, line: String, duration: Duration) {
    let change = |change: fn(&mut InProgress)| {
        let (all, by_line) = &mut *shared.in_progress.lock().unwrap();
        change(all);
        change(by_line.entry(line.clone()).or_default());
    };
    change(InProgress::begin);
    tokio::time::sleep(duration).await;
    change(|of| of.now -= 1);
}

/// Reads the next request; `None` at the end of the connection.
async fn read_request(stream: &mut impl Connection, buffer: &mut Vec<u8>) -> Option<RecordedRequest> {
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
    let body = String::from_utf8_lossy(&buffer[head_end + 4..end]).into_owned();
    buffer.drain(..end);
    Some(RecordedRequest {
        at: now(),
        line,
        headers,
        body,
        response_status: None,
    })
}

/// Applies a behaviour; returns false if the connection is closed.
async fn apply_behaviour(stream: &mut impl Connection, behaviour: Behaviour) -> bool {
    match behaviour {
        Behaviour::Respond(status, headers, body) => {
            let mut response = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                response.push_str(&format!("{name}: {value}\r\n"));
            }
            response.push_str("\r\n");
            response.push_str(&body);
            stream.write_all(response.as_bytes()).await.is_ok()
        }
        Behaviour::RespondAfter(_) => {
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(response).await.is_ok()
        }
        Behaviour::CloseConnection => false,
        Behaviour::ResetConnection => {
            stream.tcp().set_zero_linger().unwrap();
            false
        }
        Behaviour::Hang => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            false
        }
        Behaviour::SendSlowly => {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".iter().cycle() {
                if stream.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            false
        }
        Behaviour::SendHugeBody => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n";
            let mut is_open = stream.write_all(head).await.is_ok();
            for _ in 0..1_600 {
                is_open = is_open && stream.write_all(&[b'x'; 65_536]).await.is_ok();
            }
            false
        }
    }
}
