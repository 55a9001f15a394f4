//! A small receiver of webhooks, to try things out with: it takes what comes, verifies it, and tells what it got.
//!
//! It verifies as a receiver should ([`check`]): both of the service's own forms, and Standard Webhooks. `bellwether listen`
//! prints what it tells, the demo shows it beside what fired. It is no server for the world: it listens where it is told,
//! takes bodies of up to [`MAX_BODY_BYTES`] by POST at any path, and keeps nothing.

pub mod check;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::routing::post;
use http::StatusCode;
use notify::signature::Secret;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::SystemClock;
pub use check::{Checked, Verdict};

/// Larger bodies are refused; a delivery has a few hundred bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// So many deliveries wait to be told.
const MAX_WAITING: usize = 1024;

/// A receiver at work.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    received: mpsc::Receiver<Checked>,
    secret: watch::Sender<Option<Secret>>,
    stop: CancellationToken,
    _task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
struct Shared {
    told: mpsc::Sender<Checked>,
    secret: watch::Receiver<Option<Secret>>,
    answers: StatusCode,
}

impl Receiver {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the address is taken.
    pub async fn start(address: SocketAddr, secret: Option<Secret>, answers: StatusCode) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}; choose another port with --port"))?;
        let address = listener.local_addr().context("cannot learn the address")?;
        let (told, received) = mpsc::channel(MAX_WAITING);
        let (secret, known) = watch::channel(secret);
        let shared = Shared {
            told,
            secret: known,
            answers,
        };
        let router = Router::new().fallback(post(take)).with_state(Arc::new(shared));
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
                tracing::error!(%error, "the receiver has failed");
            }
        });
        Ok(Self {
            address,
            received,
            secret,
            stop,
            _task: AbortOnDropHandle::new(task),
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What deliveries are verified with from now on.
    pub fn expect(&self, secret: Secret) {
        self.secret.send_replace(Some(secret));
    }

    /// The next delivery.
    pub async fn next(&mut self) -> Option<Checked> {
        self.received.recv().await
    }

    /// A delivery that has come already.
    pub fn try_next(&mut self) -> Option<Checked> {
        self.received.try_recv().ok()
    }

    /// Takes no more connections.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

async fn take(State(shared): State<Arc<Shared>>, request: Request<Body>) -> StatusCode {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE;
    };
    let secret = shared.secret.borrow().clone();
    let checked = Checked::of(
        &parts.headers,
        &body,
        secret.as_ref(),
        sources::Clock::now(&SystemClock),
    );
    // Who does not read what is told finds out later that some is missing; the sender is not to wait for them.
    if shared.told.try_send(checked).is_err() {
        tracing::warn!("a delivery was taken and not shown: too many wait");
    }
    shared.answers
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn what_is_posted_is_answered_and_told() {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut receiver = Receiver::start(anywhere, None, StatusCode::ACCEPTED).await.unwrap();
        let url = format!("http://{}/any/path", receiver.address());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        // As a browser would look.
        assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
        let answer = client.post(url).body(r#"{"event":"x"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 202);
        let told = receiver.next().await.unwrap();
        assert_eq!(told.body["event"], "x");
        assert_eq!((told.service, told.standard), (Verdict::NotSigned, Verdict::NotSigned));
    }
}
