//! # Connections: accepted, allowed so much time, and let go
//!
//! A connection costs memory and a file descriptor for as long as the client pleases, unless somebody looks at the clock.
//! Here that is done at each step: the first byte of a request must be followed by its whole head soon ([`Timed`]), a body
//! must end in time (`crate::body`), an answer must be made in time (`crate::layers::guard`) and taken in time
//! ([`Timed`]), and a connection on which nothing is asked is closed after a while. There are only so many connections at
//! once; who comes beyond that waits in the kernel's queue.
//!
//! When told to stop, nothing new is accepted, idle connections are closed, requests under way are answered; what is
//! not done after a while is cut off.

mod timed;
mod unread;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use metrics::gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::app::{self, App};
use crate::layers::client::Peer;
use crate::settings::Timeouts;
use timed::{Activity, Timed};

/// Where requests come in.
#[derive(Debug)]
pub struct Listeners {
    /// For the API.
    pub api: TcpListener,
    /// For `/healthz`, `/readyz` and `/metrics`; without it they are beside the API.
    pub ops: Option<TcpListener>,
}

/// How the server ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// How many connections were cut off, because their requests took longer than `timeouts.drain`.
    pub cut_off: usize,
}

/// The largest head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
const MAX_HTTP2_STREAMS: u32 = 200;
/// How long nothing is accepted after accepting failed, which is when there are too many open files.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Serves until `stop` is cancelled and what was under way then is answered.
pub async fn serve(app: &App, listeners: Listeners, stop: CancellationToken) -> Ended {
    let has_ops = listeners.ops.is_some();
    let server = Server {
        builder: builder(&app.settings().timeouts),
        timeouts: app.settings().timeouts,
        permits: Arc::new(Semaphore::new(app.settings().max_connections)),
        stop,
        cut_off: CancellationToken::new(),
        connections: TaskTracker::new(),
    };
    let api = server.accept(listeners.api, app::router(app, !has_ops));
    // Operators must get in also when all other connections are taken.
    let for_ops = Server {
        permits: Arc::new(Semaphore::new(MAX_OPS_CONNECTIONS)),
        ..server.clone()
    };
    let ops = async {
        if let Some(listener) = listeners.ops {
            for_ops.accept(listener, app::ops_router(app)).await;
        }
    };
    tokio::join!(api, ops);
    server.drain().await
}

/// That the server is told to stop, for those whose answers take long: they had better come to an end.
#[derive(Clone, Debug)]
pub struct Stopping(pub CancellationToken);

const MAX_OPS_CONNECTIONS: usize = 100;

#[derive(Clone)]
struct Server {
    builder: Arc<auto::Builder<TokioExecutor>>,
    timeouts: Timeouts,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
    cut_off: CancellationToken,
    connections: TaskTracker,
}

fn builder(timeouts: &Timeouts) -> Arc<auto::Builder<TokioExecutor>> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // hyper counts from the end of the request before, so its timeout is the one of idle connections.
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

impl Server {
    async fn accept(&self, listener: TcpListener, router: Router) {
        loop {
            let permit = tokio::select! {
                () = self.stop.cancelled() => return,
                permit = Arc::clone(&self.permits).acquire_owned() => permit,
            };
            // The semaphore is never closed.
            let Ok(permit) = permit else { return };
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let connection = self.clone().connection(stream, peer, router.clone());
                    self.connections.spawn(async move {
                        gauge!("http_connections").increment(1);
                        connection.await;
                        gauge!("http_connections").decrement(1);
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                }
            }
        }
    }

    async fn connection(self, stream: TcpStream, peer: SocketAddr, router: Router) {
        // Without it, small answers wait for the client's acknowledgement of the one before.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let activity = Arc::new(Activity::default());
        let stream = Timed::new(stream, self.timeouts, Arc::clone(&activity));
        let stopping = Stopping(self.stop.clone());
        let service = service_fn(move |request| answer(router.clone(), peer, &activity, &stopping, request));
        let connection = self.builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = connection => ended,
                    () = self.cut_off.cancelled() => return,
                }
            }
        };
        if let Err(error) = ended {
            // Clients go away and send nonsense; that is nothing to wake an operator for.
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn drain(self) -> Ended {
        self.connections.close();
        if tokio::time::timeout(self.timeouts.drain, self.connections.wait())
            .await
            .is_ok()
        {
            return Ended { cut_off: 0 };
        }
        let cut_off = self.connections.len();
        tracing::warn!(connections = cut_off, "requests took too long to end and were cut off");
        self.cut_off.cancel();
        self.connections.wait().await;
        Ended { cut_off }
    }
}

fn answer(
    router: Router,
    peer: SocketAddr,
    activity: &Arc<Activity>,
    stopping: &Stopping,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> + Send + use<> {
    let under_way = Activity::begin(activity);
    let (mut request, unread) = unread::watched(request);
    request.extensions_mut().insert(Peer(peer));
    request.extensions_mut().insert(stopping.clone());
    async move {
        let response = router.oneshot(request).await?;
        unread.read().await;
        // A request is under way until the last of its answer is handed on.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _ = &under_way;
                frame
            }))
        }))
    }
}
