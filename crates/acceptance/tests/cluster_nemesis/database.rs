//! A PostgreSQL primary with a synchronous replica, which takes over when the primary is lost, and a disk that can be full. A script makes
//! the replica the primary; with `BELLWETHER_CLUSTER_PATRONI=1` Patroni does.

use std::path::PathBuf;
use std::process::Command;

use acceptance::clock::wait_for;
use acceptance::tools::repository_root;
use sqlx::{Connection, PgConnection};
use tokio::sync::watch;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// Triggers that fail as PostgreSQL does when a table cannot grow, while `test_disk` says that the disk is full.
const PREPARE_DISK: &str = "
    CREATE TABLE test_disk AS SELECT FALSE AS is_full;
    CREATE FUNCTION fail_if_disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF (SELECT is_full FROM test_disk) THEN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
        END IF;
        RETURN NULL;
    END $$;
    DO $$
    DECLARE name TEXT;
    BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'test_disk' LOOP
            EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON %I
                            FOR EACH STATEMENT EXECUTE FUNCTION fail_if_disk_is_full()', name);
        END LOOP;
    END $$";

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

    /// Makes the replica the primary or, with Patroni, waits until it is, and leads to it from now on.
    pub(crate) fn promote_replica(&self) {
        self.run("promote").unwrap();
        self.socket.send_replace(self.folder.join("replica").join(SOCKET));
    }

    /// Makes it possible that the disk is full, once the tables exist.
    pub(crate) async fn prepare_disk(&self) {
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        sqlx::raw_sql(PREPARE_DISK).execute(&mut connection).await.unwrap();
    }

    /// Fills the disk, or makes room on it. Waits for a primary.
    pub(crate) async fn set_disk_full(&self, is_full: bool) {
        wait_for("a primary responds", || async {
            let mut connection = PgConnection::connect(&self.url()).await.ok()?;
            let update = sqlx::query("UPDATE test_disk SET is_full = $1").bind(is_full);
            update.execute(&mut connection).await.ok()
        })
        .await;
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
    let has_patroni = std::env::var("BELLWETHER_CLUSTER_PATRONI").is_ok_and(|value| value == "1");
    let script = if has_patroni {
        "scripts/patroni-for-tests"
    } else {
        "scripts/postgres-pair-for-tests"
    };
    let output = Command::new(repository_root().join(script))
        .args(arguments)
        .output()
        .unwrap();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{script} {arguments:?}: {errors}"));
    }
    Ok(String::from_utf8(output.stdout).unwrap())
}
