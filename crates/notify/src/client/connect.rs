//! Makes connections, to permitted addresses only.
//!
//! A host name is resolved once, its IP addresses are checked, and the connection goes to a permitted IP address. A second lookup
//! could return other addresses (DNS rebinding), so there is none. IP addresses in a URL are checked in the same way.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use super::pool::Connection;
use super::read_budget::{BudgetedStream, MAX_HEAD_BYTES, ReadBudget};
use super::{TlsFailure, WebhookOutcome, tls};
use crate::address::{ByteStream, Dialer, Host, LookupOwner, NameLookups, TargetUrl, UrlPolicy};
use clock::Clock;

/// Maximum number of IP addresses of a host that are tried.
const MAX_ADDRESSES_TRIED: usize = 6;
/// Delay before the next IP address is tried in parallel ("Connection Attempt Delay" in RFC 8305).
const CONNECTION_ATTEMPT_DELAY: Duration = Duration::from_millis(250);

pub(super) struct Connector {
    pub(super) rules: UrlPolicy,
    pub(super) lookups: NameLookups,
    pub(super) dialer: Arc<dyn Dialer>,
    pub(super) tls: TlsConnector,
    pub(super) time: Arc<dyn Clock>,
}

impl Connector {
    /// Connects to a receiver. All connections are made here.
    pub(super) async fn connect_to(
        &self,
        target: &TargetUrl,
        owner: LookupOwner,
    ) -> Result<Connection, WebhookOutcome> {
        let addresses = match target.host() {
            Host::Address(address) => vec![*address],
            Host::Localhost => Host::LOCALHOST.to_vec(),
            Host::Name(name) => {
                let found = self.lookups.resolve(name, owner).await;
                found.map_err(|_| WebhookOutcome::NameNotFound)?
            }
        };
        if addresses.is_empty() {
            return Err(WebhookOutcome::NameNotFound);
        }
        let mut addresses = self.rules.permitted_addresses(target, &addresses);
        if addresses.is_empty() {
            return Err(WebhookOutcome::AddressRefused);
        }
        addresses.truncate(MAX_ADDRESSES_TRIED);
        let stream = self.connect(&addresses, target.port()).await?;
        let budget = Arc::new(ReadBudget::default());
        budget.set(MAX_HEAD_BYTES);
        let stream = BudgetedStream::new(stream, Arc::clone(&budget));
        if !target.is_https() {
            return handshake(stream, budget).await;
        }
        let name = match target.host() {
            Host::Address(address) => ServerName::IpAddress((*address).into()),
            Host::Localhost | Host::Name(_) => {
                let name = ServerName::try_from(target.host_text().to_owned());
                name.map_err(|_| WebhookOutcome::TlsFailed(TlsFailure::WrongName))?
            }
        };
        let connected = budget.bound(self.tls.connect(name, stream)).await;
        let connected = connected.ok_or(WebhookOutcome::TlsFailed(TlsFailure::Handshake))?;
        handshake(
            connected.map_err(|error| WebhookOutcome::TlsFailed(tls::failure(&error)))?,
            budget,
        )
        .await
    }

    /// Returns a connection to the first address that responds.
    async fn connect(&self, addresses: &[IpAddr], port: u16) -> Result<Box<dyn ByteStream>, WebhookOutcome> {
        let mut addresses = addresses.iter();
        let mut connecting = FuturesUnordered::new();
        loop {
            if let Some(address) = addresses.next() {
                connecting.push(self.dialer.dial(SocketAddr::new(*address, port)));
            }
            if connecting.is_empty() {
                return Err(WebhookOutcome::ConnectionFailed);
            }
            let more = addresses.len() > 0;
            tokio::select! {
                biased;
                connected = connecting.next() => match connected {
                    Some(Ok(stream)) => return Ok(stream),
                    Some(Err(error)) if is_out_of_files(&error) => return Err(WebhookOutcome::InternalError),
                    _ => {}
                },
                () = self.time.sleep(CONNECTION_ATTEMPT_DELAY), if more => {}
            }
        }
    }
}

/// Starts HTTP/1.1 on a connection, driven by a separate task.
async fn handshake<S>(stream: S, budget: Arc<ReadBudget>) -> Result<Connection, WebhookOutcome>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| WebhookOutcome::ConnectionLost)?;
    // The sender receives the errors of the connection.
    let task = tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(Connection::new(sender, task.abort_handle(), budget))
}

/// Returns whether a connection failed because this process or machine has too many open files, and not because of the receiver.
fn is_out_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}
