//! The HTTP server and its listening addresses.

use std::io;
use std::net::SocketAddr;

use anyhow::Context;
use foundation::{Ports, Role};
use server::{App, Listeners, McpConfig, ShutdownReport, Timeouts, TrustedProxy, TrustedProxyError};
use service::Service;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::metering::Metering;
use crate::settings::{self, ServerConfig, Settings};

/// Bound addresses that do not accept requests yet.
#[derive(Debug)]
pub(super) struct BoundListeners {
    api: (TcpListener, SocketAddr),
    ops: Option<(TcpListener, SocketAddr)>,
}

impl BoundListeners {
    pub(super) async fn bind(server: &ServerConfig) -> anyhow::Result<Self> {
        let ops = match server.ops_listen {
            Some(address) => Some(bind(address, "server.ops_listen").await?),
            None => None,
        };
        Ok(Self {
            api: bind(server.listen, "server.listen").await?,
            ops,
        })
    }

    /// Returns the bound address of the API.
    pub(super) fn address(&self) -> SocketAddr {
        self.api.1
    }
}

async fn bind(address: SocketAddr, setting: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{address} is already in use; stop the other program, or choose another address with {setting}"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}; see {setting}")),
    })?;
    let bound = listener.local_addr().context("cannot read the bound address")?;
    Ok((listener, bound))
}

/// The running HTTP server.
#[derive(Debug)]
pub(super) struct HttpServer {
    address: SocketAddr,
    ops_address: Option<SocketAddr>,
    stop: CancellationToken,
    ended: watch::Receiver<Option<ShutdownReport>>,
}

impl HttpServer {
    /// Starts to accept requests.
    pub(super) fn start(
        listeners: BoundListeners,
        settings: &Settings,
        service: &Service,
        ports: &Ports,
        metering: Metering,
        demo_account: Option<&str>,
    ) -> anyhow::Result<Self> {
        let BoundListeners {
            api: (api, address),
            ops,
        } = listeners;
        let (ops, ops_address) = ops.unzip();
        let dependencies = server::AppDependencies {
            service: service.clone(),
            clock: std::sync::Arc::clone(&ports.clock),
            random: std::sync::Arc::clone(&ports.random),
            metrics: std::sync::Arc::new(move || metering.render()),
        };
        let config = server::HttpConfig {
            demo_account: demo_account.map(str::to_owned),
            ..http_config(settings)?
        };
        let app = App::new(dependencies, config);
        let stop = CancellationToken::new();
        let (ended_sender, ended) = watch::channel(None);
        let token = stop.clone();
        // If this task panics, the sender is dropped, which also notifies the receivers.
        tokio::spawn(async move {
            ended_sender.send_replace(Some(server::serve(&app, Listeners { api, ops }, token).await));
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

    /// Waits until the server ends without a shutdown.
    pub(super) async fn failed(&self) -> anyhow::Error {
        // An end and a panic have the same meaning here.
        let _ = self.ended.clone().wait_for(Option::is_some).await;
        anyhow::anyhow!("the HTTP server ended unexpectedly; see the log")
    }

    /// Stops accepting requests, and waits until the running ones are answered or aborted.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.stop.cancel();
        let ended = self.ended.wait_for(Option::is_some).await;
        ended.map(|_| ()).context("the HTTP server failed; see the log")
    }
}

/// Converts the settings of the HTTP server.
fn http_config(settings: &Settings) -> anyhow::Result<server::HttpConfig> {
    let server = &settings.server;
    let proxies = server.trusted_proxies.iter().map(|network| network.to_string().parse());
    let trusted_proxies: Result<Vec<TrustedProxy>, TrustedProxyError> = proxies.collect();
    Ok(server::HttpConfig {
        limits: rate_limits(&settings.limits),
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
        mcp: McpConfig {
            allowed_hosts: settings.mcp.allowed_hosts.iter().map(ToString::to_string).collect(),
            allowed_origins: settings.mcp.allowed_origins.iter().map(ToString::to_string).collect(),
        },
        cron_secret: settings
            .operator
            .cron_secret
            .as_ref()
            .map(|secret| service::cron::CronSecret::new(secret.expose())),
        demo_account: None,
        effective_settings: settings.to_toml(),
        serves_api: settings.cluster.roles.has(Role::Api),
    })
}

fn rate_limits(limits: &settings::LimitsConfig) -> server::RateLimits {
    server::RateLimits {
        basic_per_hour: limits.basic_per_hour.get(),
        premium_per_hour: limits.premium_per_hour.get(),
        webhook_test_per_minute: limits.webhook_test_per_minute.get(),
        login_per_minute: limits.login_per_minute.get(),
        register_per_hour: limits.register_per_hour.get(),
        guest_alerts_per_hour: limits.guest_alerts_per_hour.get(),
        ..server::RateLimits::default()
    }
}
