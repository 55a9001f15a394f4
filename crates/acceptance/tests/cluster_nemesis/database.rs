//! A PostgreSQL primary with a synchronous replica, which takes over when the primary is lost.

use std::path::PathBuf;
use std::process::Command;

use acceptance::tools::repository_root;
use tokio::sync::watch;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The servers, and which of them is the primary.
#[derive(Debug)]
pub(crate) struct Database {
    folder: PathBuf,
    socket: watch::Sender<PathBuf>,
}

impl Database {
    /// Starts a primary and a replica.
    pub(crate) fn start() -> Self {
        let folder = PathBuf::from(run(&["start"]).unwrap().trim());
        let socket = folder.join("primary").join(SOCKET);
        Self {
            folder,
            socket: watch::Sender::new(socket),
        }
    }

    /// Returns the socket of the primary, which follows a change.
    pub(crate) fn socket(&self) -> watch::Receiver<PathBuf> {
        self.socket.subscribe()
    }

    /// Returns the URL of the primary.
    pub(crate) fn url(&self) -> String {
        url(&self.socket.borrow())
    }

    /// Ends the primary at once.
    pub(crate) fn kill_primary(&self) {
        self.run("kill-primary").unwrap();
    }

    /// Makes the replica the primary, and leads to it from now on.
    pub(crate) fn promote_replica(&self) {
        self.run("promote").unwrap();
        self.socket.send_replace(self.folder.join("replica").join(SOCKET));
    }

    fn run(&self, command: &str) -> Result<String, String> {
        // Other tasks of the thread go on meanwhile.
        tokio::task::block_in_place(|| run(&[command, self.folder.to_str().unwrap()]))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = run(&["stop", self.folder.to_str().unwrap()]) {
            println!("{error}");
        }
    }
}

/// Returns the URL of a database by its server's socket.
pub(crate) fn url(socket: &std::path::Path) -> String {
    let folder = socket.parent().unwrap().to_str().unwrap();
    format!("postgres://bellwether@localhost/postgres?host={folder}")
}

/// Runs the script that manages the servers. Returns what it prints, or its errors.
fn run(arguments: &[&str]) -> Result<String, String> {
    let script = repository_root().join("scripts/postgres-pair-for-tests");
    let output = Command::new(script).args(arguments).output().unwrap();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("postgres-pair-for-tests {arguments:?}: {errors}"));
    }
    Ok(String::from_utf8(output.stdout).unwrap())
}
