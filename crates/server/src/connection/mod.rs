//! # Connections: accepted, allowed so much time, and let go
//!
//! A connection costs memory and a file descriptor for as long as the client pleases, unless somebody looks at the clock.
//! Here that is done at each step: the first byte of a request must be followed by its whole head soon ([`Timed`]), a body
//! must end in time (`crate::body`), an answer must be made in time (`crate::layers::guard`) and taken in time
//! ([`Timed`]), and a connection on which nothing is asked is closed after a while.
//!
//! The number of connections is limited, in all and for each client (`places.rs`). A connection beyond its client's limit gets
//! 429 and is closed. If health checks are on this listener, a few connections are reserved for them: health is answered also to
//! a client at its limit, and also when all other connections are taken; other requests get 503 then. If health checks are on a
//! listener of their own, further connections wait in the kernel's queue.
//!
//! Invalid HTTP is refused with an error envelope (`head.rs`, `parse_errors.rs`). A connection is closed so that the client
//! receives the last response (`linger.rs`).
//!
//! When told to stop, nothing new is accepted, idle connections are closed, requests under way are answered; what is
//! not done after a while is cut off.

mod head;
mod linger;
mod parse_errors;
mod places;
mod refusal;
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

use crate::app::{self, App};
use crate::error::{ApiError, Code};
use crate::layers::client::Peer;
use crate::settings::Timeouts;
pub(crate) use head::BadHead;
use linger::Lingering;
use parse_errors::WholeAnswers;
use places::{Places, Use};
use refusal::Refusals;
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

/// Connections to the operators' listener.
const MAX_OPS_CONNECTIONS: usize = 100;
/// Connections to the operators' listener from one address.
const MAX_OPS_CONNECTIONS_PER_ADDRESS: usize = 50;
/// Connections reserved for health checks, if these are on the listener of the API.
const HEALTH_CONNECTIONS: usize = 32;
/// The time limit of a connection that is reserved for health checks.
const HEALTH_TIME: Duration = Duration::from_secs(2);
/// Responses to clients with too many connections that are written concurrently; beyond that, connections are just closed.
const MAX_REFUSALS: usize = 64;
/// The time limit of such a response.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// Serves until `stop` is cancelled and what was under way then is answered.
pub async fn serve(app: &App, listeners: Listeners, stop: CancellationToken) -> Ended {
    let settings = app.settings();
    let proxies = &settings.trusted_proxies;
    let for_health = if listeners.ops.is_some() { 0 } else { HEALTH_CONNECTIONS };
    let (most, of_each) = (settings.max_connections, settings.max_connections_per_address);
    let server = Server {
        builder: builder(&settings.timeouts),
        timeouts: settings.timeouts,
        places: Places::new(most, of_each, for_health, proxies.clone()),
        refusals: Refusals::new(app.clone()),
        refusing: Arc::new(Semaphore::new(MAX_REFUSALS)),
        stop,
        cut_off: CancellationToken::new(),
        connections: TaskTracker::new(),
    };
    let routers = Routers {
        any: app::router(app, listeners.ops.is_none()),
        when_full: app::health_router(app, service_is_full()),
        beyond_share: app::health_router(app, client_has_too_many()),
    };
    let api = server.accept(listeners.api, routers);
    // Operators must get in also when all other connections are taken.
    let for_ops = Server {
        places: Places::new(MAX_OPS_CONNECTIONS, MAX_OPS_CONNECTIONS_PER_ADDRESS, 0, proxies.clone()),
        ..server.clone()
    };
    let ops = async {
        if let Some(listener) = listeners.ops {
            let any = app::ops_router(app);
            let routers = Routers {
                when_full: any.clone(),
                beyond_share: any.clone(),
                any,
            };
            for_ops.accept(listener, routers).await;
        }
    };
    tokio::join!(api, ops);
    server.drain().await
}

/// That the server is told to stop, for those whose answers take long: they had better come to an end.
#[derive(Clone, Debug)]
pub struct Stopping(pub CancellationToken);

#[derive(Clone)]
struct Server {
    builder: Arc<auto::Builder<TokioExecutor>>,
    timeouts: Timeouts,
    places: Places,
    refusals: Refusals,
    refusing: Arc<Semaphore>,
    stop: CancellationToken,
    cut_off: CancellationToken,
    connections: TaskTracker,
}

/// The routers of a connection, by its permitted use.
#[derive(Clone)]
struct Routers {
    any: Router,
    when_full: Router,
    beyond_share: Router,
}

fn service_is_full() -> ApiError {
    let message = "all connections of this service are taken; try again in a few seconds";
    ApiError::new(Code::ServiceUnavailable, message).retry_after(2)
}

fn client_has_too_many() -> ApiError {
    let message = "there are too many connections from your address; close some, or use one for several requests";
    ApiError::new(Code::RateLimited, message).retry_after(1)
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
    async fn accept(&self, listener: TcpListener, routers: Routers) {
        loop {
            let free = tokio::select! {
                () = self.stop.cancelled() => return,
                free = self.places.free() => free,
            };
            let Some(free) = free else { return };
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => match self.places.take(free, peer.ip()) {
                    Ok((place, may)) => {
                        let connection = self.clone().connection(stream, peer, may, &routers);
                        self.connections.spawn(async move {
                            gauge!("http_connections").increment(1);
                            connection.await;
                            gauge!("http_connections").decrement(1);
                            drop(place);
                        });
                    }
                    Err(places::TooMany) => self.refuse(stream, peer),
                },
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                }
            }
        }
    }

    /// Refuses a connection of a client that has too many.
    fn refuse(&self, stream: TcpStream, peer: SocketAddr) {
        counter!("http_connections_refused_total").increment(1);
        self.refusals.warn(peer.ip());
        let Ok(permit) = Arc::clone(&self.refusing).try_acquire_owned() else {
            return;
        };
        let (refusals, stop) = (self.refusals.clone(), self.stop.clone());
        self.connections.spawn(async move {
            let message =
                "there are too many connections from your address; close some, or use one for several requests";
            let error = ApiError::new(Code::RateLimited, message).retry_after(1);
            tokio::select! {
                () = stop.cancelled() => {}
                () = refusals.answer(stream, &error) => {}
            }
            drop(permit);
        });
    }

    fn connection(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        may: Use,
        routers: &Routers,
    ) -> impl Future<Output = ()> + Send + use<> {
        let router = match may {
            Use::Any => routers.any.clone(),
            Use::HealthWhenFull => routers.when_full.clone(),
            Use::HealthBeyondShare => routers.beyond_share.clone(),
        };
        if may == Use::HealthBeyondShare {
            self.refusals.warn(peer.ip());
        }
        async move {
            match may {
                Use::Any => self.serve_connection(stream, peer, may, router).await,
                Use::HealthWhenFull | Use::HealthBeyondShare => {
                    let served = self.serve_connection(stream, peer, may, router);
                    // Without a request by then, the place is released.
                    let _: Result<(), _> = tokio::time::timeout(HEALTH_TIME, served).await;
                }
            }
        }
    }

    async fn serve_connection(self, stream: TcpStream, peer: SocketAddr, may: Use, router: Router) {
        // Without it, small answers wait for the client's acknowledgement of the one before.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let activity = Arc::new(Activity::default());
        let stream = Timed::new(stream, self.timeouts, Arc::clone(&activity));
        let stream = Lingering::new(stream, Arc::clone(&activity), self.timeouts.body);
        let stream = WholeAnswers::new(stream, self.refusals, Arc::clone(&activity));
        let stopping = Stopping(self.stop.clone());
        let service = service_fn(move |request| answer(router.clone(), peer, may, &activity, &stopping, request));
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
    may: Use,
    activity: &Arc<Activity>,
    stopping: &Stopping,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> + Send + use<> {
    let under_way = Activity::begin(activity);
    let activity = Arc::clone(activity);
    let is_old = request.version() < Version::HTTP_2;
    let bad_head = head::check(request.version(), request.headers()).err();
    let (mut request, unread) = unread::watched(request);
    request.extensions_mut().insert(Peer(peer));
    request.extensions_mut().insert(stopping.clone());
    if let Some(bad_head) = bad_head {
        request.extensions_mut().insert(bad_head);
    }
    async move {
        let mut response = router.oneshot(request).await?;
        // The end of the body of a bad head is unknown.
        let is_left_unread = bad_head.is_some() || !unread.read().await;
        if is_left_unread {
            activity.leave_unread();
        }
        if is_old && (is_left_unread || may != Use::Any) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        // A request is under way until the last of its answer is handed on.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _ = &under_way;
                frame
            }))
        }))
    }
}
