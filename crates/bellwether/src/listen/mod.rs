//! A small webhook receiver for trying things out. It accepts deliveries, verifies their signatures and reports them.
//!
//! It verifies both formats of the service's own signature and Standard Webhooks ([`check`]). `bellwether listen`
//! prints the deliveries, and the demo shows them beside the firings. It is not meant for production: it accepts
//! bodies of up to [`MAX_BODY_BYTES`] by POST at any path, and stores nothing.

pub mod check;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::routing::post;
use http::StatusCode;
use notify::signature::SigningSecret;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::SystemClock;
pub use check::{ReceivedDelivery, SignatureCheck};

/// The maximum size of a body; larger ones are rejected. A delivery has a few hundred bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The maximum number of received deliveries that wait to be read.
const MAX_QUEUED_DELIVERIES: usize = 1024;

/// A running receiver.
#[derive(Debug)]
pub struct WebhookReceiver {
    address: SocketAddr,
    received: mpsc::Receiver<ReceivedDelivery>,
    secret: watch::Sender<Option<SigningSecret>>,
    stop: CancellationToken,
    _task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
struct Shared {
    deliveries: mpsc::Sender<ReceivedDelivery>,
    secret: watch::Receiver<Option<SigningSecret>>,
    status: StatusCode,
}

impl WebhookReceiver {
    /// Starts listening.
    ///
    /// # Errors
    /// If the address is in use.
    pub async fn start(address: SocketAddr, secret: Option<SigningSecret>, status: StatusCode) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}; choose another port with --port"))?;
        let address = listener.local_addr().context("cannot read the bound address")?;
        let (deliveries, received) = mpsc::channel(MAX_QUEUED_DELIVERIES);
        let (secret, secret_receiver) = watch::channel(secret);
        let shared = Shared {
            deliveries,
            secret: secret_receiver,
            status,
        };
        let router = Router::new().fallback(post(receive)).with_state(Arc::new(shared));
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

    /// Returns the address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the secret for verifying deliveries from now on.
    pub fn set_secret(&self, secret: SigningSecret) {
        self.secret.send_replace(Some(secret));
    }

    /// Waits for the next delivery.
    pub async fn next(&mut self) -> Option<ReceivedDelivery> {
        self.received.recv().await
    }

    /// Returns a delivery that has already arrived.
    pub fn try_next(&mut self) -> Option<ReceivedDelivery> {
        self.received.try_recv().ok()
    }

    /// Stops accepting connections.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

async fn receive(State(shared): State<Arc<Shared>>, request: Request<Body>) -> StatusCode {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE;
    };
    let secret = shared.secret.borrow().clone();
    let delivery = ReceivedDelivery::verify(&parts.headers, &body, secret.as_ref(), clock::Clock::now(&SystemClock));
    // A slow reader loses deliveries; the sender must not wait for it.
    if shared.deliveries.try_send(delivery).is_err() {
        tracing::warn!("a delivery was received but not shown: too many are waiting");
    }
    shared.status
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn posted_delivery_is_answered_and_reported() {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut receiver = WebhookReceiver::start(any_port, None, StatusCode::ACCEPTED)
            .await
            .unwrap();
        let url = format!("http://{}/any/path", receiver.address());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        // A browser sends GET.
        assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
        let answer = client.post(url).body(r#"{"event":"x"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 202);
        let delivery = receiver.next().await.unwrap();
        assert_eq!(delivery.body["event"], "x");
        assert_eq!(
            (delivery.service, delivery.standard),
            (SignatureCheck::NotSigned, SignatureCheck::NotSigned)
        );
    }
}
