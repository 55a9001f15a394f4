//! Making connections, to judged addresses only.
//!
//! A name is looked up once; what it resolves to is judged; and what passed is dialled, by its address. So there is no second
//! look-up whose answer could be another one. Addresses that stand in the URL itself go the same way.

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
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::pool::Connection;
use super::read_budget::{Budgeted, MAX_HEAD_BYTES, ReadBudget};
use super::{Outcome, TlsFault, tls};
use crate::address::{Host, LookupOwner, NameLookups, Target, UrlRules};
use crate::time::Time;

/// Of a name's addresses, so many are tried.
const TRIED: usize = 6;
/// An address that does not answer is given so much of a start before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);

pub(super) struct Dialler {
    pub(super) rules: UrlRules,
    pub(super) lookups: NameLookups,
    pub(super) tls: TlsConnector,
    pub(super) time: Arc<dyn Time>,
}

impl Dialler {
    /// Connects to a receiver. This is the only place where a connection is made.
    pub(super) async fn dial(&self, target: &Target, owner: LookupOwner) -> Result<Connection, Outcome> {
        let addresses = match target.host() {
            Host::Address(address) => vec![*address],
            Host::Localhost => Host::LOCALHOST.to_vec(),
            Host::Name(name) => {
                let found = self.lookups.resolve(name, owner).await;
                found.map_err(|_| Outcome::NameNotFound)?
            }
        };
        if addresses.is_empty() {
            return Err(Outcome::NameNotFound);
        }
        let mut addresses = self.rules.dialable(target, &addresses);
        if addresses.is_empty() {
            return Err(Outcome::AddressRefused);
        }
        addresses.truncate(TRIED);
        let stream = self.connect(&addresses, target.port()).await?;
        // Small messages, and nobody to wait for.
        let _ = stream.set_nodelay(true);
        let budget = Arc::new(ReadBudget::default());
        budget.set(MAX_HEAD_BYTES);
        let (read, write) = stream.into_split();
        let stream = tokio::io::join(Budgeted::new(read, Arc::clone(&budget)), write);
        if !target.is_https() {
            return handshake(stream, budget).await;
        }
        let name = match target.host() {
            Host::Address(address) => ServerName::IpAddress((*address).into()),
            Host::Localhost | Host::Name(_) => {
                let name = ServerName::try_from(target.host_text().to_owned());
                name.map_err(|_| Outcome::TlsFailed(TlsFault::WrongName))?
            }
        };
        let connected = budget.bound(self.tls.connect(name, stream)).await;
        let connected = connected.ok_or(Outcome::TlsFailed(TlsFault::Handshake))?;
        handshake(
            connected.map_err(|error| Outcome::TlsFailed(tls::fault(&error)))?,
            budget,
        )
        .await
    }

    /// The first address that answers.
    async fn connect(&self, addresses: &[IpAddr], port: u16) -> Result<TcpStream, Outcome> {
        let mut addresses = addresses.iter();
        let mut connecting = FuturesUnordered::new();
        loop {
            if let Some(address) = addresses.next() {
                connecting.push(TcpStream::connect(SocketAddr::new(*address, port)));
            }
            if connecting.is_empty() {
                return Err(Outcome::ConnectionFailed);
            }
            let more = addresses.len() > 0;
            tokio::select! {
                biased;
                connected = connecting.next() => match connected {
                    Some(Ok(stream)) => return Ok(stream),
                    Some(Err(error)) if is_ours(&error) => return Err(Outcome::Broken),
                    _ => {}
                },
                () = self.time.sleep(HEAD_START), if more => {}
            }
        }
    }
}

/// HTTP/1.1 on a connection, driven by a task of its own.
async fn handshake<S>(stream: S, budget: Arc<ReadBudget>) -> Result<Connection, Outcome>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Outcome::ConnectionLost)?;
    // What goes wrong on the connection, the sender learns.
    let task = tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(Connection::new(sender, task.abort_handle(), budget))
}

/// Whether it is this machine that has run out of something, and not the receiver that is not there: too many files are
/// open, in this process or on this machine.
fn is_ours(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}
