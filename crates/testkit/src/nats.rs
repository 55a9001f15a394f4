//! NATS servers that a test starts, kills and restarts.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::eventually_some;

const BINARY_VARIABLE: &str = "BELLWETHER_TEST_NATS_SERVER";

/// The maximum number of attempts to start a server. Another program may take a free port before the server does.
const MAX_STARTS: usize = 20;

/// A NATS server on a free port of the loopback interface. It is killed when it is dropped.
#[derive(Debug)]
pub struct NatsServer {
    options: ServerOptions,
    process: Child,
    /// The folder of the log.
    folder: TempDir,
}

#[derive(Clone, Debug)]
struct ServerOptions {
    port: u16,
    cluster_port: u16,
    /// The ports of the cluster's other servers, to which this one connects.
    routes: Vec<u16>,
    arguments: Vec<String>,
}

impl NatsServer {
    /// Starts a server.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with further command line arguments.
    pub async fn start_with(arguments: &[&str]) -> Self {
        Self::start_with_routes(arguments, &[]).await
    }

    /// Starts a cluster of servers. They know each other within a second.
    pub async fn start_cluster(size: usize) -> Vec<Self> {
        let mut servers: Vec<Self> = Vec::new();
        while servers.len() < size {
            let routes: Vec<_> = servers.iter().map(|server| server.options.cluster_port).collect();
            servers.push(Self::start_with_routes(&[], &routes).await);
        }
        let ports: Vec<_> = servers.iter().map(|server| server.options.cluster_port).collect();
        for server in &mut servers {
            let own = server.options.cluster_port;
            server.options.routes = ports.iter().copied().filter(|port| *port != own).collect();
        }
        servers
    }

    async fn start_with_routes(arguments: &[&str], routes: &[u16]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut log = String::new();
        for _ in 0..MAX_STARTS {
            let [port, cluster_port] = free_ports();
            let options = ServerOptions {
                port,
                cluster_port,
                routes: routes.to_vec(),
                arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            };
            match launch(&options, folder.path()).await {
                Ok(process) => {
                    return Self {
                        options,
                        process,
                        folder,
                    };
                }
                Err(failure) => log = failure,
            }
        }
        panic!("nats-server does not start: {log}");
    }

    /// The server's URL: `nats://127.0.0.1:4711`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://{}:{}", Ipv4Addr::LOCALHOST, self.options.port)
    }

    /// Kills the server. Its clients notice that their connections are closed.
    pub fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts the server again after [`kill`](Self::kill), with the same URL.
    pub async fn restart(&mut self) {
        self.kill();
        // Until then, another program may have the port.
        self.process = eventually_some("nats-server starts again", async || {
            launch(&self.options, self.folder.path()).await.ok()
        })
        .await;
    }

    /// Stops the server's process, so that it neither responds nor closes its connections.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Continues after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(status.success(), "kill {signal} {id} fails");
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server and waits until it accepts clients. If it ends instead, returns its log.
async fn launch(options: &ServerOptions, folder: &Path) -> Result<Child, String> {
    let path = folder.join("log");
    let log = File::create(&path).unwrap();
    let address = Ipv4Addr::LOCALHOST.to_string();
    let cluster_address = format!("nats://{address}:{}", options.cluster_port);
    let routes = options.routes.iter().map(|port| format!("nats://{address}:{port}"));
    let routes = routes.collect::<Vec<_>>().join(",");
    let port = options.port.to_string();
    let mut command = Command::new(binary());
    command.args(["--addr", &address, "--port", &port, "--server_name", &port]);
    command.args(["--cluster_name", "test", "--cluster", &cluster_address]);
    if !routes.is_empty() {
        command.args(["--routes", &routes]);
    }
    command.args(&options.arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let mut process = command.spawn().unwrap();
    let has_started = eventually_some("nats-server starts or ends", async || {
        if process.try_wait().unwrap().is_some() {
            return Some(false);
        }
        accepts_clients(options.port).await.then_some(true)
    });
    if has_started.await {
        return Ok(process);
    }
    Err(fs::read_to_string(path).unwrap())
}

/// Returns whether a server greets clients at this port.
async fn accepts_clients(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
        return false;
    };
    let mut greeting = [0; 4];
    stream.read_exact(&mut greeting).await.is_ok() && greeting == *b"INFO"
}

fn free_ports() -> [u16; 2] {
    let listeners = [0, 0].map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// The path of the program.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os(BINARY_VARIABLE) {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => find(),
    })
}

fn find() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/nats-for-tests");
    let found = Command::new(script)
        .arg("find")
        .output()
        .unwrap_or_else(|error| panic!("scripts/nats-for-tests does not run ({error}); set {BINARY_VARIABLE} instead"));
    assert!(
        found.status.success(),
        "there is no NATS server to test with; scripts/test installs it: {}",
        String::from_utf8_lossy(&found.stderr)
    );
    PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn restarted_server_has_the_same_url() {
        let mut server = NatsServer::start().await;
        let (url, port) = (server.url(), server.options.port);
        assert_eq!(url, format!("nats://127.0.0.1:{port}"));
        assert!(accepts_clients(port).await);
        server.kill();
        assert!(!accepts_clients(port).await);
        server.restart().await;
        assert!(accepts_clients(port).await);
        assert_eq!(server.url(), url);
    }

    #[tokio::test]
    async fn dropped_server_is_killed() {
        let server = NatsServer::start().await;
        let port = server.options.port;
        drop(server);
        assert!(!accepts_clients(port).await);
    }
}
