//! # Connections: limits, timeouts and graceful shutdown
//!
//! Each connection costs memory and a file descriptor, so each step has a time limit:
//!
//! | step | limit set by |
//! |---|---|
//! | the head of a request, from its first byte | [`TimeoutStream`] |
//! | the body of a request | `crate::body` |
//! | the handler | `crate::layers::guard` |
//! | writing the response | [`TimeoutStream`] |
//! | an idle connection | [`TimeoutStream`] |
//!
//! The number of connections is limited, in total and for each client (`limiter.rs`). A connection beyond its client's limit gets
//! 429 and is closed. If health checks are on this listener, a few connections are reserved for them. A client at its limit can
//! still check health. When all other connections are taken, health checks work and other requests get 503. If health checks
//! have a separate listener, further connections wait in the kernel's queue.
//!
//! Invalid HTTP gets an error envelope (`head.rs`, `parse_errors.rs`). A connection is closed so that the client receives the
//! last response (`linger.rs`).
//!
//! On shutdown the server accepts no new connections, closes idle ones and finishes requests in progress. Requests that
//! outlast `timeouts.drain` are aborted.

pub(crate) mod head;
mod limiter;
mod linger;
mod parse_errors;
mod raw_response;
pub mod shutdown_signal;
mod timeout_stream;
mod unread_body;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderValue, Version, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use metrics::{counter, gauge};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::error::{ApiError, ApiErrorCode};
use crate::layers::client::Peer;
use crate::router;
use crate::settings::Timeouts;
use crate::state::App;
use limiter::{ConnectionLimiter, ConnectionUse};
use linger::LingeringStream;
use parse_errors::ParseErrorStream;
use raw_response::RawResponder;
use shutdown_signal::ShutdownSignal;
use timeout_stream::{ConnectionActivity, TimeoutStream};

/// The listeners of the server.
#[derive(Debug)]
pub struct Listeners {
    /// The listener of the API.
    pub api: TcpListener,
    /// The listener of `/healthz`, `/readyz` and `/metrics`. Without it, these routes are on the API's listener.
    pub ops: Option<TcpListener>,
}

/// The result of a shutdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShutdownReport {
    /// The number of connections that were aborted because their requests took longer than `timeouts.drain`.
    pub aborted_connections: usize,
}

/// The maximum size of a request head.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
const MAX_HTTP2_STREAMS: u32 = 200;
/// The delay after a failed accept, which happens when the process has too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The maximum number of connections to the operators' listener.
const MAX_OPS_CONNECTIONS: usize = 100;
/// The maximum number of connections to the operators' listener from one address.
const MAX_OPS_CONNECTIONS_PER_ADDRESS: usize = 50;
/// The number of connections that are reserved for health checks, if these are on the API's listener.
const RESERVED_HEALTH_CONNECTIONS: usize = 32;
/// The time limit of a connection that is reserved for health checks.
const HEALTH_CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of concurrent 429 responses to clients with too many connections. Beyond it, connections are closed
/// without a response.
const MAX_CONCURRENT_REFUSALS: usize = 64;
/// The time limit of such a response.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until `stop` is cancelled and the requests in progress are finished or aborted.
pub async fn serve(app: &App, listeners: Listeners, stop: CancellationToken) -> ShutdownReport {
    let settings = app.settings();
    let proxies = &settings.trusted_proxies;
    let reserved_for_health = if listeners.ops.is_some() {
        0
    } else {
        RESERVED_HEALTH_CONNECTIONS
    };
    let (max_connections, max_per_client) = (settings.max_connections, settings.max_connections_per_address);
    let server = ConnectionServer {
        builder: builder(&settings.timeouts),
        timeouts: settings.timeouts,
        limiter: ConnectionLimiter::new(max_connections, max_per_client, reserved_for_health, proxies.clone()),
        responder: RawResponder::new(app.clone()),
        refusal_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_REFUSALS)),
        stop,
        abort: CancellationToken::new(),
        connections: TaskTracker::new(),
    };
    let routers = Routers {
        any: router::router(app, listeners.ops.is_none()),
        when_full: router::health_router(app, service_full_error()),
        over_client_limit: router::health_router(app, client_limit_error()),
    };
    let api = server.accept(listeners.api, routers);
    // Operators must be able to connect when all other connections are taken.
    let ops_server = ConnectionServer {
        limiter: ConnectionLimiter::new(MAX_OPS_CONNECTIONS, MAX_OPS_CONNECTIONS_PER_ADDRESS, 0, proxies.clone()),
        ..server.clone()
    };
    let ops = async {
        if let Some(listener) = listeners.ops {
            let any = router::ops_router(app);
            let routers = Routers {
                when_full: any.clone(),
                over_client_limit: any.clone(),
                any,
            };
            ops_server.accept(listener, routers).await;
        }
    };
    tokio::join!(api, ops);
    server.drain().await
}

#[derive(Clone)]
struct ConnectionServer {
    builder: Arc<auto::Builder<TokioExecutor>>,
    timeouts: Timeouts,
    limiter: ConnectionLimiter,
    responder: RawResponder,
    refusal_permits: Arc<Semaphore>,
    stop: CancellationToken,
    abort: CancellationToken,
    connections: TaskTracker,
}

/// The routers of a connection, by its permitted use.
#[derive(Clone)]
struct Routers {
    any: Router,
    when_full: Router,
    over_client_limit: Router,
}

fn service_full_error() -> ApiError {
    let message = "all connections of this service are in use; try again in a few seconds";
    ApiError::new(ApiErrorCode::ServiceUnavailable, message).retry_after(2)
}

fn client_limit_error() -> ApiError {
    let message = "too many connections from your address; close some, or use one connection for several requests";
    ApiError::new(ApiErrorCode::RateLimited, message).retry_after(1)
}

fn builder(timeouts: &Timeouts) -> Arc<auto::Builder<TokioExecutor>> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // hyper counts from the end of the previous request, so its timeout is the idle timeout.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.idle)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(timeouts.headers)
        .keep_alive_timeout(timeouts.headers)
        .max_concurrent_streams(MAX_HTTP2_STREAMS);
    Arc::new(builder)
}

impl ConnectionServer {
    async fn accept(&self, listener: TcpListener, routers: Routers) {
        loop {
            let permit = tokio::select! {
                () = self.stop.cancelled() => return,
                permit = self.limiter.acquire() => permit,
            };
            let Some(permit) = permit else { return };
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => match self.limiter.admit(permit, peer.ip()) {
                    Ok((permit, allowed_use)) => {
                        let connection = self.clone().connection(stream, peer, allowed_use, &routers);
                        self.connections.spawn(async move {
                            gauge!("http_connections").increment(1);
                            connection.await;
                            gauge!("http_connections").decrement(1);
                            drop(permit);
                        });
                    }
                    Err(limiter::TooManyConnections) => self.refuse(stream, peer),
                },
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Responds 429 to a client with too many connections.
    fn refuse(&self, stream: TcpStream, peer: SocketAddr) {
        counter!("http_connections_refused_total").increment(1);
        self.responder.warn(peer.ip());
        let Ok(permit) = Arc::clone(&self.refusal_permits).try_acquire_owned() else {
            return;
        };
        let (responder, stop) = (self.responder.clone(), self.stop.clone());
        self.connections.spawn(async move {
            let error = client_limit_error();
            tokio::select! {
                () = stop.cancelled() => {}
                () = responder.respond(stream, &error) => {}
            }
            drop(permit);
        });
    }

    fn connection(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        allowed_use: ConnectionUse,
        routers: &Routers,
    ) -> impl Future<Output = ()> + Send + use<> {
        let router = match allowed_use {
            ConnectionUse::Any => routers.any.clone(),
            ConnectionUse::HealthWhenFull => routers.when_full.clone(),
            ConnectionUse::HealthOverClientLimit => routers.over_client_limit.clone(),
        };
        if allowed_use == ConnectionUse::HealthOverClientLimit {
            self.responder.warn(peer.ip());
        }
        async move {
            match allowed_use {
                ConnectionUse::Any => self.serve_connection(stream, peer, allowed_use, router).await,
                ConnectionUse::HealthWhenFull | ConnectionUse::HealthOverClientLimit => {
                    let served = self.serve_connection(stream, peer, allowed_use, router);
                    // Without a request by then, the permit is released.
                    let _: Result<(), _> = tokio::time::timeout(HEALTH_CONNECTION_TIMEOUT, served).await;
                }
            }
        }
    }

    async fn serve_connection(self, stream: TcpStream, peer: SocketAddr, allowed_use: ConnectionUse, router: Router) {
        // Without it, small responses wait for the client's acknowledgement of the previous one.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let activity = Arc::new(ConnectionActivity::default());
        let stream = TimeoutStream::new(stream, self.timeouts, Arc::clone(&activity));
        let stream = LingeringStream::new(stream, Arc::clone(&activity), self.timeouts.body);
        let stream = ParseErrorStream::new(stream, self.responder, Arc::clone(&activity));
        let shutdown = ShutdownSignal(self.stop.clone());
        let service =
            service_fn(move |request| respond(router.clone(), peer, allowed_use, &activity, &shutdown, request));
        let connection = self.builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = connection => ended,
                    () = self.abort.cancelled() => return,
                }
            }
        };
        if let Err(error) = ended {
            // Clients disconnect and send invalid data. This needs no attention of an operator.
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn drain(self) -> ShutdownReport {
        self.connections.close();
        if tokio::time::timeout(self.timeouts.drain, self.connections.wait())
            .await
            .is_ok()
        {
            return ShutdownReport { aborted_connections: 0 };
        }
        let aborted_connections = self.connections.len();
        tracing::warn!(
            connections = aborted_connections,
            "requests outlasted the shutdown timeout and were aborted"
        );
        self.abort.cancel();
        self.connections.wait().await;
        ShutdownReport { aborted_connections }
    }
}

fn respond(
    router: Router,
    peer: SocketAddr,
    allowed_use: ConnectionUse,
    activity: &Arc<ConnectionActivity>,
    shutdown: &ShutdownSignal,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> + Send + use<> {
    let active_request = ConnectionActivity::begin(activity);
    let activity = Arc::clone(activity);
    let is_http1 = request.version() < Version::HTTP_2;
    let ambiguous_head = head::check(request.version(), request.headers()).err();
    let (mut request, unread) = unread_body::track(request);
    request.extensions_mut().insert(Peer(peer));
    request.extensions_mut().insert(shutdown.clone());
    if let Some(ambiguous_head) = ambiguous_head {
        request.extensions_mut().insert(ambiguous_head);
    }
    async move {
        let mut response = router.oneshot(request).await?;
        // The end of the body after an ambiguous head is unknown.
        let has_unread_input = ambiguous_head.is_some() || !unread.read().await;
        if has_unread_input {
            activity.mark_unread();
        }
        if is_http1 && (has_unread_input || allowed_use != ConnectionUse::Any) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        // A request is active until the last frame of its response is handed to hyper.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _ = &active_request;
                frame
            }))
        }))
    }
}
