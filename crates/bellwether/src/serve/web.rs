//! The ways in: the addresses that are listened on, and the server behind them.

use std::io;
use std::net::SocketAddr;

use anyhow::Context;
use server::{App, Ended, Listeners, McpPlaces, Timeouts, TrustedProxy, TrustedProxyError};
use service::{Ports, Service};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::metering::Metering;
use crate::settings::{self, Server, Settings};

/// Addresses that are taken, but nobody answers there yet.
#[derive(Debug)]
pub(super) struct Listening {
    api: (TcpListener, SocketAddr),
    ops: Option<(TcpListener, SocketAddr)>,
}

impl Listening {
    pub(super) async fn at(server: &Server) -> anyhow::Result<Self> {
        let ops = match server.ops_listen {
            Some(address) => Some(listen(address, "server.ops_listen").await?),
            None => None,
        };
        Ok(Self {
            api: listen(server.listen, "server.listen").await?,
            ops,
        })
    }

    /// Where requests will be taken.
    pub(super) fn address(&self) -> SocketAddr {
        self.api.1
    }
}

async fn listen(address: SocketAddr, setting: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{address} is taken by another program; stop that one, or choose another address with {setting}"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}; see {setting}")),
    })?;
    let bound = listener.local_addr().context("cannot learn the address")?;
    Ok((listener, bound))
}

/// The server at work.
#[derive(Debug)]
pub(super) struct Web {
    address: SocketAddr,
    ops_address: Option<SocketAddr>,
    stop: CancellationToken,
    ended: watch::Receiver<Option<Ended>>,
}

impl Web {
    /// Begins to answer.
    pub(super) fn start(
        listening: Listening,
        settings: &Settings,
        service: &Service,
        ports: &Ports,
        metering: Metering,
    ) -> anyhow::Result<Self> {
        let Listening {
            api: (api, address),
            ops,
        } = listening;
        let (ops, ops_address) = ops.unzip();
        let ports = server::Ports {
            service: service.clone(),
            clock: std::sync::Arc::clone(&ports.clock),
            chance: std::sync::Arc::clone(&ports.chance),
            metrics: std::sync::Arc::new(move || metering.render()),
        };
        let app = App::new(ports, server_settings(settings)?);
        let stop = CancellationToken::new();
        let (told, ended) = watch::channel(None);
        let token = stop.clone();
        // If this panics, the sender is dropped, and whoever waits for the end learns of it.
        tokio::spawn(async move {
            told.send_replace(Some(server::serve(&app, Listeners { api, ops }, token).await));
        });
        Ok(Self {
            address,
            ops_address,
            stop,
            ended,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn ops_address(&self) -> Option<SocketAddr> {
        self.ops_address
    }

    /// Waits until the server ends without having been told to.
    pub(super) async fn failed(&self) -> anyhow::Error {
        // Whether it ended or panicked is the same to those who wanted it to serve.
        let _ = self.ended.clone().wait_for(Option::is_some).await;
        anyhow::anyhow!("the HTTP server has ended by itself; the log says why")
    }

    /// Takes no more requests, and waits until those under way are answered or cut off.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.stop.cancel();
        let ended = self.ended.wait_for(Option::is_some).await;
        ended.map(|_| ()).context("the HTTP server failed; the log says why")
    }
}

/// What the settings say about the server.
fn server_settings(settings: &Settings) -> anyhow::Result<server::Settings> {
    let server = &settings.server;
    let proxies = server.trusted_proxies.iter().map(|network| network.to_string().parse());
    let trusted_proxies: Result<Vec<TrustedProxy>, TrustedProxyError> = proxies.collect();
    Ok(server::Settings {
        limits: limits(&settings.limits),
        timeouts: Timeouts {
            headers: server.header_timeout.unsigned_abs(),
            idle: server.idle_timeout.unsigned_abs(),
            body: server.body_timeout.unsigned_abs(),
            request: server.request_timeout.unsigned_abs(),
            write: server.write_timeout.unsigned_abs(),
            drain: server.shutdown_timeout.unsigned_abs(),
        },
        trusted_proxies: trusted_proxies.context("server.trusted_proxies")?,
        max_body_bytes: usize::try_from(server.max_body_bytes.get())?,
        max_ingest_bytes: usize::try_from(server.max_ingest_bytes.get())?,
        max_connections: usize::try_from(server.max_connections.get())?,
        max_connections_per_address: usize::try_from(server.max_connections_per_address.get())?,
        mcp: McpPlaces {
            allowed_hosts: settings.mcp.allowed_hosts.iter().map(ToString::to_string).collect(),
            allowed_origins: settings.mcp.allowed_origins.iter().map(ToString::to_string).collect(),
        },
        cron_secret: settings
            .operator
            .cron_secret
            .as_ref()
            .map(|secret| service::cron::Secret::new(secret.expose())),
    })
}

fn limits(limits: &settings::Limits) -> server::Limits {
    server::Limits {
        basic_per_hour: limits.basic_per_hour.get(),
        premium_per_hour: limits.premium_per_hour.get(),
        webhook_test_per_minute: limits.webhook_test_per_minute.get(),
        login_per_minute: limits.login_per_minute.get(),
        register_per_hour: limits.register_per_hour.get(),
        guest_alerts_per_hour: limits.guest_alerts_per_hour.get(),
        ..server::Limits::default()
    }
}
