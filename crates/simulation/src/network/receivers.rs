//! The receivers of webhooks.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::time::sleep;

use super::Behaviour;
use crate::disk;
use crate::model::{Cents, Delivered};

/// The number of receivers.
pub(crate) const RECEIVERS: usize = 3;

/// The receivers. They outlive the processes of the service.
#[derive(Debug)]
pub(crate) struct Receivers(Mutex<ReceiversState>);

#[derive(Debug)]
struct ReceiversState {
    behaviours: [Behaviour; RECEIVERS],
    delivered: BTreeSet<Delivered>,
    requests: u64,
    repeated: u64,
}

/// Returns the host name of a receiver.
pub(crate) fn host(receiver: usize) -> String {
    format!("receiver-{receiver}.example")
}

impl Receivers {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(ReceiversState {
            behaviours: [Behaviour::Accepts(0); RECEIVERS],
            delivered: BTreeSet::new(),
            requests: 0,
            repeated: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, ReceiversState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, receiver: usize, behaviour: Behaviour) {
        self.state().behaviours[receiver] = behaviour;
    }

    /// Lets all receivers accept.
    pub(crate) fn heal(&self) {
        self.state().behaviours = [Behaviour::Accepts(0); RECEIVERS];
    }

    pub(super) fn behaviour(&self, receiver: usize) -> Behaviour {
        self.state().behaviours[receiver]
    }

    /// Returns all deliveries.
    pub(crate) fn delivered(&self) -> BTreeSet<Delivered> {
        self.state().delivered.clone()
    }

    /// Returns the number of accepted requests, and how many of them were repetitions.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.requests, state.repeated)
    }

    fn keep(&self, delivered: Delivered) {
        let mut state = self.state();
        state.requests += 1;
        if !state.delivered.insert(delivered) {
            state.repeated += 1;
        }
    }

    /// Handles a request. `None`: the connection is closed without a response.
    async fn handle(&self, receiver: usize, request: Request<Incoming>) -> Option<StatusCode> {
        let body = request.into_body().collect().await.ok()?.to_bytes();
        let behaviour = self.behaviour(receiver);
        if let Behaviour::Accepts(delay) = behaviour {
            sleep(Duration::from_millis(delay)).await;
        }
        if disk::has_ended() {
            return None;
        }
        if let Behaviour::Refuses(status) = behaviour {
            return StatusCode::from_u16(status).ok();
        }
        self.keep(read_delivery(receiver, &body)?);
        match behaviour {
            Behaviour::LosesResponse => None,
            Behaviour::NeverResponds => std::future::pending().await,
            _ => Some(StatusCode::OK),
        }
    }
}

/// Reads the body of a delivery.
fn read_delivery(receiver: usize, body: &[u8]) -> Option<Delivered> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (alert, stock) = (&body["data"]["alert"], &body["data"]["stock"]);
    // An expression compares several values, so the price is that of its stock.
    let value = if alert["condition"] == "expression" {
        &stock["price"]
    } else {
        &alert["triggered_value"]
    };
    Some(Delivered {
        receiver,
        id: text(&body["id"])?,
        alert: text(&alert["id"])?,
        price: value.as_f64().map_or(0, cents),
    })
}

/// Converts dollars with at most two decimals.
pub(crate) fn cents(dollars: f64) -> Cents {
    format!("{:.0}", dollars * 100.0).parse().unwrap_or_default()
}

/// An error that closes a connection without a response.
#[derive(Debug)]
struct NoResponse;

impl std::fmt::Display for NoResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no response")
    }
}

impl std::error::Error for NoResponse {}

impl From<Infallible> for NoResponse {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Serves a connection to a receiver.
pub(super) async fn serve(receivers: Arc<Receivers>, receiver: usize, stream: tokio::io::DuplexStream) {
    let service = service_fn(|request| {
        let receivers = Arc::clone(&receivers);
        async move {
            let status = receivers.handle(receiver, request).await.ok_or(NoResponse)?;
            let mut response = Response::new(Empty::<Bytes>::new());
            *response.status_mut() = status;
            Ok::<_, NoResponse>(response)
        }
    });
    // The date of a response would be that of the machine.
    let mut server = hyper::server::conn::http1::Builder::new();
    server.auto_date_header(false);
    // A connection ends with its service or its client.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
