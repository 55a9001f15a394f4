//! A webhook receiver that accepts every request and counts.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A running receiver.
pub(crate) struct Receiver {
    port: u16,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: AtomicUsize,
    /// The length of the last body.
    body_bytes: AtomicUsize,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Counts::default());
        tokio::spawn(accept(listener, Arc::clone(&counts)));
        Self { port, counts }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.counts.body_bytes.load(Ordering::Relaxed)
    }

    /// Waits until at least `count` requests have arrived.
    pub(crate) async fn wait_for(&self, count: usize) {
        while self.counts.requests.load(Ordering::Relaxed) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn accept(listener: TcpListener, counts: Arc<Counts>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = stream.set_nodelay(true);
        let counts = Arc::clone(&counts);
        let service = service_fn(move |request: Request<Incoming>| {
            let counts = Arc::clone(&counts);
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                counts.body_bytes.store(body.len(), Ordering::Relaxed);
                counts.requests.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            }
        });
        // A client may disconnect at any time.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
