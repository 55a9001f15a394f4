//! Relays between a node and its servers, which can be cut as a network can, in both directions or in one: the connections stay open, and
//! nothing arrives. What was sent meanwhile arrives afterwards, as after a repetition by TCP. Connections can also be lost, as those to a
//! machine that vanishes: they stay open, and nothing arrives any more.

use std::path::PathBuf;
use std::pin::pin;

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use url::Url;

const NATS_PORT: u16 = 4222;
const POSTGRES_PORT: u16 = 5432;

/// The direction in which a relay forwards nothing. No new connection is made in any case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cut {
    /// Both directions.
    BothWays,
    /// From the node to the server. The node receives what the server sends.
    ToServer,
    /// From the server to the node. The server receives what the node sends.
    FromServer,
}

/// A relay to one server. It accepts no more connections when it is dropped.
#[derive(Debug)]
pub struct Relay {
    url: String,
    cut: watch::Sender<Option<Cut>>,
    /// The number of times that all connections were lost.
    losses: watch::Sender<u64>,
    accepting: AbortHandle,
    /// The folder of the relay's own socket.
    _folder: Option<TempDir>,
}

impl Relay {
    /// Starts a relay to the database of a URL on a PostgreSQL server that listens on a port or on a socket.
    ///
    /// # Panics
    /// If the URL is invalid, or the relay cannot listen.
    pub async fn to_postgres(url: &str) -> Self {
        let options: PgConnectOptions = url.parse().unwrap();
        let Some(folder) = options.get_socket() else {
            return Self::to_port(url.parse().unwrap(), POSTGRES_PORT).await;
        };
        let socket = folder.join(format!(".s.PGSQL.{}", options.get_port()));
        Self::to_postgres_socket(url, watch::Sender::new(socket).subscribe())
    }

    /// Starts a relay to the database of a URL on the PostgreSQL server whose socket is the present value of `socket`. New connections follow
    /// its changes, for example to the next primary.
    ///
    /// # Panics
    /// If the URL is invalid, or the relay cannot listen.
    #[must_use]
    pub fn to_postgres_socket(url: &str, socket: watch::Receiver<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(socket.borrow().file_name().unwrap());
        let listener = UnixListener::bind(&own).unwrap();
        let options: PgConnectOptions = url.parse().unwrap();
        let through = options.socket(folder.path()).to_url_lossy().into();
        Self::start(through, Some(folder), |state| async move {
            while let Ok((client, _)) = listener.accept().await {
                let target = socket.borrow().clone();
                let to_server = async move || UnixStream::connect(target).await.ok();
                tokio::spawn(connect(client, to_server, state.clone()));
            }
        })
    }

    /// Starts a relay to a NATS server by its URL.
    ///
    /// # Panics
    /// If the URL is invalid, or the relay cannot listen.
    pub async fn to_nats(url: &str) -> Self {
        Self::to_port(url.parse().unwrap(), NATS_PORT).await
    }

    /// Starts a relay to the host and port of a URL.
    async fn to_port(mut url: Url, default_port: u16) -> Self {
        let target = (url.host_str().unwrap().to_owned(), url.port().unwrap_or(default_port));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        Self::start(url.into(), None, |state| async move {
            while let Ok((client, _)) = listener.accept().await {
                let target = target.clone();
                let to_server = async move || TcpStream::connect(target).await.ok();
                tokio::spawn(connect(client, to_server, state.clone()));
            }
        })
    }

    fn start<Accepting>(url: String, folder: Option<TempDir>, accept: impl FnOnce(RelayState) -> Accepting) -> Self
    where
        Accepting: Future<Output = ()> + Send + 'static,
    {
        let (cut, losses) = (watch::Sender::new(None), watch::Sender::new(0));
        let state = RelayState {
            cut: cut.subscribe(),
            losses: losses.subscribe(),
        };
        let accepting = tokio::spawn(accept(state));
        Self {
            url,
            cut,
            losses,
            accepting: accepting.abort_handle(),
            _folder: folder,
        }
    }

    /// Returns the server's URL, through the relay.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the relay, or ends the cut with `None`.
    pub fn set_cut(&self, cut: Option<Cut>) {
        self.cut.send_replace(cut);
    }

    /// Loses all connections that are open now. New ones are made.
    pub fn lose_connections(&self) {
        self.losses.send_modify(|losses| *losses += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The state of a relay, as its connections see it.
#[derive(Clone)]
struct RelayState {
    cut: watch::Receiver<Option<Cut>>,
    losses: watch::Receiver<u64>,
}

/// Relays a connection in both directions, until one side has ended it.
async fn connect<Client, Server>(
    client: Client,
    to_server: impl AsyncFnOnce() -> Option<Server>,
    RelayState { mut cut, mut losses }: RelayState,
) where
    Client: AsyncRead + AsyncWrite,
    Server: AsyncRead + AsyncWrite,
{
    let _ = cut.wait_for(Option::is_none).await;
    let losses_before = *losses.borrow();
    let Some(server) = to_server().await else { return };
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    let mut copying = pin!(async {
        tokio::select! {
            () = copy(from_client, to_server, Cut::ToServer, cut.clone()) => {}
            () = copy(from_server, to_client, Cut::FromServer, cut) => {}
        }
    });
    let lost = async {
        // Fails only if the relay has ended. Its connections remain.
        if losses.wait_for(|losses| *losses != losses_before).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        // `copying` has the connection, which stays open.
        () = lost => std::future::pending().await,
        () = &mut copying => {}
    }
}

/// Copies one direction of a connection, which `own_cut` cuts.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    own_cut: Cut,
    mut cut: watch::Receiver<Option<Cut>>,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        let forwards = |cut: &Option<Cut>| cut.is_none_or(|cut| cut != own_cut && cut != Cut::BothWays);
        // Fails only if the relay has ended.
        let is_over = cut.wait_for(forwards).await.is_err();
        if is_over || read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    // The end of the connection does not arrive through a cut either.
    let _ = cut.wait_for(Option::is_none).await;
}
