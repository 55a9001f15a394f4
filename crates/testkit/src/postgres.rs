//! Databases on a PostgreSQL server.

mod template;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::OnceLock;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const URL_VARIABLE: &str = "BELLWETHER_TEST_POSTGRES_URL";

/// A server on which databases can be created.
struct Server {
    options: PgConnectOptions,
    /// Held while this process runs, so that the private server keeps running.
    _in_use: Option<File>,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let (url, in_use) = match std::env::var(URL_VARIABLE) {
            Ok(url) if !url.is_empty() => (url, None),
            _ => private_server(),
        };
        Server {
            options: PgConnectOptions::from_str(&url).unwrap_or_else(|error| panic!("{URL_VARIABLE}: {error}")),
            _in_use: in_use,
        }
    })
}

/// Starts the server that all test processes share, or finds it running.
fn private_server() -> (String, Option<File>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let state = root.join(target).join("postgres-for-tests");
    std::fs::create_dir_all(&state).unwrap();
    let users = File::options()
        .create(true)
        .append(true)
        .open(state.join("users"))
        .unwrap();
    users.lock_shared().unwrap();
    let started = Command::new(root.join("scripts/postgres-for-tests"))
        .args(["start", "--until-idle"])
        .env("BELLWETHER_TEST_POSTGRES_STATE", &state)
        .output()
        .unwrap_or_else(|error| {
            panic!("scripts/postgres-for-tests does not run ({error}); set {URL_VARIABLE} instead")
        });
    assert!(
        started.status.success(),
        "there is no PostgreSQL to test with: {}",
        String::from_utf8_lossy(&started.stderr)
    );
    (
        String::from_utf8(started.stdout).unwrap().trim().to_owned(),
        Some(users),
    )
}

/// Creates an empty database and returns its name and URL.
pub(crate) async fn create_empty() -> (String, String) {
    match copy("template0").await {
        Ok(created) => created,
        Err(error) => panic!("the user of {URL_VARIABLE} must be allowed to create databases: {error}"),
    }
}

/// Creates a database with the tables of this checkout and returns its name and URL.
pub(crate) async fn create() -> (String, String) {
    let template = template::name();
    let is_missing = |error: &sqlx::Error| {
        error
            .as_database_error()
            .is_some_and(|error| error.code() == Some("3D000".into()))
    };
    match copy(&template).await {
        Err(error) if is_missing(&error) => {}
        created => return created.unwrap_or_else(|error| panic!("{template} cannot be copied: {error}")),
    }
    // The migrations need a task that is not sent to another thread.
    let name = template.clone();
    std::thread::spawn(|| crate::run(template::create(name, server().options.clone())))
        .join()
        .unwrap();
    copy(&template).await.unwrap()
}

/// Copies a database and returns the name and the URL of the copy.
async fn copy(template: &str) -> Result<(String, String), sqlx::Error> {
    let server = server();
    let mut connection = server
        .options
        .connect()
        .await
        .unwrap_or_else(|error| panic!("the server of {URL_VARIABLE} cannot be reached: {error}"));
    let (id,): (String,) = sqlx::query_as("SELECT REPLACE(CAST(gen_random_uuid() AS TEXT), '-', '')")
        .fetch_one(&mut connection)
        .await?;
    let name = format!("bellwether_test_{id}");
    // `WAL_LOG`, the default, writes each page to the log and takes twice the processor time. PostgreSQL 14 has no choice.
    let strategy = match connection.server_version_num() {
        Some(150_000..) => "STRATEGY FILE_COPY",
        _ => "",
    };
    sqlx::query(AssertSqlSafe(format!(
        "CREATE DATABASE {name} TEMPLATE {template} {strategy}"
    )))
    .execute(&mut connection)
    .await?;
    connection.close().await?;
    let url = server.options.clone().database(&name).to_url_lossy().to_string();
    Ok((name, url))
}

/// Drops a database, even if clients are connected.
pub(crate) fn remove(name: &str) {
    let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    let removing = std::thread::spawn(|| {
        crate::run(async {
            if let Ok(mut connection) = server().options.connect().await {
                // A database that remains is a nuisance, but does not fail the test.
                let _ = sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await;
            }
        });
    });
    let _ = removing.join();
}
