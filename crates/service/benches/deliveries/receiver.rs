//! The receivers: a separate process with one thread, so that their cost is not measured.
//!
//! It listens on one port for each receiver, accepts every request, and counts. A control port returns the counts.

use std::cell::RefCell;
use std::collections::HashSet;
use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use uuid::Uuid;

use crate::system::RealClock;

/// The counts of received deliveries.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct DeliveryCounts {
    /// Requests.
    pub(crate) received: usize,
    /// Distinct deliveries.
    pub(crate) distinct: usize,
    /// Connections.
    pub(crate) connections: usize,
    /// The time of the first request, in microseconds since 1970.
    pub(crate) first_us: Option<i64>,
}

#[derive(Default)]
struct Counts {
    tally: DeliveryCounts,
    ids: HashSet<Uuid>,
}

/// A running receiver process. It ends when this value is dropped.
pub(crate) struct ReceiverProcess {
    child: Child,
    control: u16,
    ports: Vec<u16>,
    scheme: &'static str,
    client: reqwest::Client,
}

impl ReceiverProcess {
    /// Starts a process with `receivers` receivers; with TLS if there is a folder with a certificate.
    pub(crate) fn start(receivers: usize, certificate: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("sink").arg(receivers.to_string()).args(certificate);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        let mut ports = line.split_whitespace().map(|port| port.parse().unwrap());
        Self {
            child,
            control: ports.next().unwrap(),
            ports: ports.collect(),
            scheme: if certificate.is_some() { "https" } else { "http" },
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    /// Returns `count` URLs, spread over the receivers.
    pub(crate) fn urls(&self, count: usize) -> Vec<String> {
        let ports = self.ports.iter().cycle().take(count);
        ports
            .enumerate()
            .map(|(number, port)| format!("{}://127.0.0.1:{port}/hooks/{number}", self.scheme))
            .collect()
    }

    /// Returns the counts since the last call.
    pub(crate) async fn tally(&self) -> DeliveryCounts {
        let url = format!("http://127.0.0.1:{}/", self.control);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }
}

impl Drop for ReceiverProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates an authority and a certificate for 127.0.0.1, and returns the authority.
pub(crate) fn certify(folder: &Path) -> CertificateDer<'static> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    fs::write(folder.join("certificate"), certificate.der()).unwrap();
    fs::write(folder.join("key"), key.serialize_der()).unwrap();
    authority.der().clone()
}

/// Runs the receiver process until the parent process has ended.
pub(crate) fn serve(receivers: usize, certificate: Option<&Path>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let tls = certificate.map(acceptor);
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let counts = Rc::new(RefCell::new(Counts::default()));
        let mut ports = Vec::new();
        for number in 0..=receivers {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            ports.push(listener.local_addr().unwrap().port().to_string());
            let is_control = number == 0;
            let tls = tls.clone().filter(|_| !is_control);
            tokio::task::spawn_local(listen(listener, tls, Rc::clone(&counts), is_control));
        }
        println!("{}", ports.join(" "));
        let (gone, is_gone) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            drop(gone);
        });
        let _ = is_gone.await;
    });
}

fn acceptor(folder: &Path) -> TlsAcceptor {
    let certificate = fs::read(folder.join("certificate")).unwrap();
    let key = PrivateKeyDer::Pkcs8(fs::read(folder.join("key")).unwrap().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn listen(listener: TcpListener, tls: Option<TlsAcceptor>, counts: Rc<RefCell<Counts>>, is_control: bool) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = stream.set_nodelay(true);
        let counts = Rc::clone(&counts);
        let tls = tls.clone();
        tokio::task::spawn_local(async move {
            if is_control {
                serve_counts(stream, counts).await;
                return;
            }
            counts.borrow_mut().tally.connections += 1;
            match tls {
                None => accept_deliveries(stream, counts).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        accept_deliveries(stream, counts).await;
                    }
                }
            }
        });
    }
}

/// Accepts deliveries.
async fn accept_deliveries(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, counts: Rc<RefCell<Counts>>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let now = RealClock.micros();
        let counts = Rc::clone(&counts);
        async move {
            let id = request.headers().get("webhook-id").and_then(|id| id.to_str().ok());
            let id = id.and_then(|id| id.parse::<Uuid>().ok());
            let is_read = request.into_body().collect().await.is_ok();
            let mut answer = Response::new(Empty::<Bytes>::new());
            match id {
                Some(id) if is_read => {
                    let mut counts = counts.borrow_mut();
                    counts.tally.first_us.get_or_insert(now);
                    counts.tally.received += 1;
                    counts.tally.distinct += usize::from(counts.ids.insert(id));
                }
                _ => *answer.status_mut() = StatusCode::BAD_REQUEST,
            }
            Ok::<_, Infallible>(answer)
        }
    });
    // A client may disconnect at any time.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Returns the counts, and resets them.
async fn serve_counts(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, counts: Rc<RefCell<Counts>>) {
    let service = service_fn(move |_: Request<Incoming>| {
        let counts = std::mem::take(&mut *counts.borrow_mut());
        let text = serde_json::to_string(&counts.tally).unwrap();
        async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(text)))) }
    });
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
