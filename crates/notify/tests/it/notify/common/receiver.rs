//! HTTP receivers on this machine with scripted behaviour.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::Clock;
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::ManualTime;

/// The behaviour of a receiver for a request.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    /// Responds with these bytes, and accepts the next request.
    Answers(String),
    /// Responds with these bytes, and closes the connection.
    AnswersAndCloses(String),
    /// Reads the request, and closes the connection.
    Closes,
    /// Reads the request, and resets the connection.
    Resets,
    /// Reads the request, and never responds.
    Hangs,
    /// Sends one byte per second.
    Drips(String),
    /// Responds with 200 and a body of this size.
    Floods(usize),
    /// Sends these bytes repeatedly, until the client stops reading.
    Repeats(String),
}

/// Returns a complete response.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub(crate) fn ok() -> Behaviour {
    Behaviour::Answers(answer("200 OK", "", "ok"))
}

/// A received request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    pub(crate) headers: HashMap<String, String>,
    /// The body as text. Bytes that are no text are replaced.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

/// The events that a receiver has recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    pub(crate) connections: usize,
    pub(crate) requests: Vec<Received>,
    /// Number of bytes sent one per second.
    pub(crate) drips: usize,
    /// Number of closed connections.
    pub(crate) closed: usize,
    /// Number of bytes of large bodies that the client has read.
    pub(crate) flooded: usize,
}

/// A server on this machine.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    pub(crate) seen: watch::Receiver<ReceivedRequest>,
}

struct Server {
    behaviours: Mutex<Vec<Behaviour>>,
    time: Arc<ManualTime>,
    seen: watch::Sender<ReceivedRequest>,
}

impl Receiver {
    /// Starts a receiver with one behaviour per request. Later requests repeat the last one.
    pub(crate) async fn start(time: &Arc<ManualTime>, behaviours: &[Behaviour]) -> Self {
        Self::serve(time, behaviours, None).await
    }

    /// Starts a receiver with TLS.
    pub(crate) async fn start_tls(time: &Arc<ManualTime>, behaviours: &[Behaviour], tls: TlsAcceptor) -> Self {
        Self::serve(time, behaviours, Some(tls)).await
    }

    async fn serve(time: &Arc<ManualTime>, behaviours: &[Behaviour], tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, seen) = watch::channel(ReceivedRequest::default());
        let server = Arc::new(Server {
            behaviours: Mutex::new(behaviours.iter().rev().cloned().collect()),
            time: Arc::clone(time),
            seen: sender,
        });
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                server.seen.send_modify(|seen| seen.connections += 1);
                let (server, tls) = (Arc::clone(&server), tls.clone());
                tokio::spawn(async move {
                    let _ = server.connection(stream, tls).await;
                    server.seen.send_modify(|seen| seen.closed += 1);
                });
            }
        });
        Self { address, seen }
    }

    /// Returns the URL of this receiver with the given host.
    pub(crate) fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}/hook?a=1", self.address.port())
    }

    /// Waits until the recorded events match a condition.
    pub(crate) async fn until(&self, condition: impl Fn(&ReceivedRequest) -> bool) -> ReceivedRequest {
        let mut seen = self.seen.clone();
        // With a paused clock, the limit is only reached when all tasks are idle.
        let waited = tokio::time::timeout(testkit::HANG_LIMIT, seen.wait_for(|seen| condition(seen))).await;
        waited.expect("the receiver records it").unwrap().clone()
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.seen.borrow().requests.clone()
    }
}

impl Server {
    async fn connection(&self, stream: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<()> {
        let Some(tls) = tls else {
            return self.requests(stream, TcpStream::set_zero_linger).await;
        };
        self.requests(tls.accept(stream).await?, |stream| stream.get_ref().0.set_zero_linger())
            .await
    }

    async fn requests<S>(&self, mut stream: S, reset: impl Fn(&S) -> io::Result<()>) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut buffer = Vec::new();
        while let Some(request) = request(&mut stream, &mut buffer).await? {
            self.seen.send_modify(|seen| seen.requests.push(request));
            let behaviour = {
                let mut behaviours = self.behaviours.lock().unwrap();
                let last = behaviours.len() == 1;
                if last {
                    behaviours.last().cloned()
                } else {
                    behaviours.pop()
                }
            };
            match behaviour.unwrap() {
                Behaviour::Answers(text) => stream.write_all(text.as_bytes()).await?,
                Behaviour::AnswersAndCloses(text) => {
                    stream.write_all(text.as_bytes()).await?;
                    return stream.shutdown().await;
                }
                Behaviour::Closes => return stream.shutdown().await,
                Behaviour::Resets => return reset(&stream),
                Behaviour::Hangs => pending().await,
                Behaviour::Drips(text) => {
                    for byte in text.bytes() {
                        stream.write_all(&[byte]).await?;
                        // The test may advance the clock as soon as it sees this.
                        let second = self.time.sleep(Duration::from_secs(1));
                        self.seen.send_modify(|seen| seen.drips += 1);
                        second.await;
                    }
                }
                Behaviour::Repeats(text) => loop {
                    stream.write_all(text.as_bytes()).await?;
                },
                Behaviour::Floods(bytes) => {
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
                    stream.write_all(head.as_bytes()).await?;
                    for _ in 0..bytes / 65_536 {
                        stream.write_all(&[b'x'; 65_536]).await?;
                        self.seen.send_modify(|seen| seen.flooded += 65_536);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads a request; `None` at the end of the connection.
async fn request<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut Vec<u8>) -> io::Result<Option<Received>> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break buffer.drain(..end + 4).collect::<Vec<_>>();
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8(head).unwrap();
    let (line, rest) = head.split_once("\r\n").unwrap();
    let headers = rest.lines().filter_map(|line| line.split_once(": "));
    let headers: HashMap<_, _> = headers
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while buffer.len() < length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let bytes: Vec<u8> = buffer.drain(..length).collect();
    Ok(Some(Received {
        line: line.to_owned(),
        headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
        bytes,
    }))
}

/// A certificate authority that clients under test can trust.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn root(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// Returns a TLS server with a certificate for these names, valid in these years.
    pub(crate) fn server(&self, names: &[&str], years: [i32; 2]) -> TlsAcceptor {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(years[0], 1, 1);
        params.not_after = rcgen::date_time_ymd(years[1], 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = config
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        TlsAcceptor::from(Arc::new(config.unwrap()))
    }
}
