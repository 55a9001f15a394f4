//! Relays between a node and its servers, which can be cut as a network can: the connections stay open, and nothing arrives. What was sent
//! meanwhile arrives afterwards, as after a repetition by TCP.

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use url::Url;

use crate::database::{self, Database};

const NATS_PORT: u16 = 4222;

/// A relay to one server.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The server's URL, through the relay.
    pub(crate) url: String,
    is_cut: watch::Sender<bool>,
    accepting: AbortHandle,
    _folder: Option<TempDir>,
}

impl Relay {
    /// Starts a relay to the primary of a database.
    pub(crate) async fn to_database(database: &Database) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(database.socket().borrow().file_name().unwrap());
        let (listener, target) = (UnixListener::bind(&own).unwrap(), database.socket());
        Self::start(database::url(&own), Some(folder), |is_cut| async move {
            while let Ok((client, _)) = listener.accept().await {
                let target = target.borrow().clone();
                let to_server = async move || UnixStream::connect(target).await.ok();
                tokio::spawn(connect(client, to_server, is_cut.clone()));
            }
        })
    }

    /// Starts a relay to a NATS server.
    pub(crate) async fn to_nats(url: &str) -> Self {
        let mut through: Url = url.parse().unwrap();
        let target = (
            through.host_str().unwrap().to_owned(),
            through.port().unwrap_or(NATS_PORT),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        through.set_host(Some("127.0.0.1")).unwrap();
        through.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        Self::start(through.into(), None, |is_cut| async move {
            while let Ok((client, _)) = listener.accept().await {
                let target = target.clone();
                let to_server = async move || TcpStream::connect(target).await.ok();
                tokio::spawn(connect(client, to_server, is_cut.clone()));
            }
        })
    }

    fn start<Accepting>(
        url: String,
        folder: Option<TempDir>,
        accept: impl FnOnce(watch::Receiver<bool>) -> Accepting,
    ) -> Self
    where
        Accepting: Future<Output = ()> + Send + 'static,
    {
        let is_cut = watch::Sender::new(false);
        let accepting = tokio::spawn(accept(is_cut.subscribe()));
        Self {
            url,
            is_cut,
            accepting: accepting.abort_handle(),
            _folder: folder,
        }
    }

    /// Cuts the relay, or ends the cut.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.is_cut.send_replace(is_cut);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Relays a connection in both directions, until one side has ended it.
async fn connect<Client, Server>(
    client: Client,
    to_server: impl AsyncFnOnce() -> Option<Server>,
    mut is_cut: watch::Receiver<bool>,
) where
    Client: AsyncRead + AsyncWrite,
    Server: AsyncRead + AsyncWrite,
{
    let _ = is_cut.wait_for(|is_cut| !is_cut).await;
    let Some(server) = to_server().await else { return };
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    tokio::select! {
        () = copy(from_client, to_server, is_cut.clone()) => {}
        () = copy(from_server, to_client, is_cut) => {}
    }
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut is_cut: watch::Receiver<bool>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        // An end of the connection does not arrive through a cut either. The wait fails only if the relay has ended.
        let is_over = is_cut.wait_for(|is_cut| !is_cut).await.is_err();
        if is_over || read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
