//! A PostgreSQL server for one test, whose connections the test cuts and which it crashes.

use std::process::Command;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::survival::worker::random_below;

/// Maximum number of times that the connections are cut in a round.
const MAX_CUTS: u64 = 3;
/// Maximum time between two cuts, in milliseconds.
const MAX_PAUSE_MS: u64 = 100;

/// A running server, stopped and removed on drop.
pub(crate) struct PostgresServer {
    /// The folder in which the script that starts and stops the server remembers it.
    state: TempDir,
    url: String,
    /// Number of crashes.
    pub(crate) crashes: u32,
    /// Number of times that all connections were cut.
    pub(crate) cuts: u32,
}

impl PostgresServer {
    pub(crate) fn start() -> Self {
        let state = TempDir::new().unwrap();
        let url = run_script(&state, &["start"]);
        Self {
            state,
            url,
            crashes: 0,
            cuts: 0,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Crashes the server, or cuts its connections one or more times. Returns when it accepts connections.
    pub(crate) async fn fail(&mut self, rng: &mut ChaCha8Rng) {
        if random_below(rng, 3) == 0 {
            self.crashes += 1;
            self.crash();
            return;
        }
        for _ in 0..=random_below(rng, MAX_CUTS) {
            self.cuts += 1;
            self.cut_connections().await;
            // The times of the cuts are random variables of the experiment.
            tokio::time::sleep(Duration::from_millis(random_below(rng, MAX_PAUSE_MS))).await;
        }
    }

    /// Ends all processes of the server at once and starts it again, so that it recovers from its log.
    fn crash(&self) {
        let folder = std::fs::read_to_string(self.state.path().join("folder")).unwrap();
        let folder = folder.trim();
        let (data, log) = (format!("--pgdata={folder}/data"), format!("--log={folder}/log"));
        let restart = [
            "run",
            "pg_ctl",
            &data,
            &log,
            "--mode=immediate",
            "--wait",
            "--silent",
            "restart",
        ];
        // Other tasks of the thread go on meanwhile.
        tokio::task::block_in_place(|| run_script(&self.state, &restart));
    }

    async fn cut_connections(&self) {
        let mut connection = PgConnection::connect(&self.url).await.unwrap();
        let sql = "SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        run_script(&self.state, &["stop"]);
    }
}

/// Runs the script that manages the server. Returns what it prints.
fn run_script(state: &TempDir, arguments: &[&str]) -> String {
    let output = Command::new(acceptance::tools::repository_root().join("scripts/postgres-for-tests"))
        .args(arguments)
        .env("BELLWETHER_TEST_POSTGRES_STATE", state.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
