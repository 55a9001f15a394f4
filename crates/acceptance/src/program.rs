//! The process of the service: finds or builds the binary, configures it, starts and kills it.

mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::sync::watch;

pub use process::{RunningService, StartedProcess};

use crate::TestEnvironment;

/// The kind of database that a service uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatabaseKind {
    /// A SQLite file.
    Sqlite,
    /// A database on a PostgreSQL server.
    Postgres,
}

/// Returns a command that runs the program in a folder, without the settings of the environment.
#[must_use]
pub fn command_without_settings(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BELLWETHER_") {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// A private database and settings, with which a service is started one or more times.
#[derive(Debug)]
pub struct ServiceSetup {
    folder: TempDir,
    database: DatabaseKind,
    /// Removed when the test ends.
    test_database: testkit::Database,
    settings: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl ServiceSetup {
    /// Creates an empty PostgreSQL database and default settings, so that the program creates its tables.
    ///
    /// # Panics
    /// If the database cannot be created.
    pub async fn on_empty_postgres() -> Self {
        Self::with(DatabaseKind::Postgres, testkit::Database::empty_postgres().await)
    }

    /// Uses a PostgreSQL database that exists already, and that the test removes itself, with default settings.
    ///
    /// # Panics
    /// If no folder can be created.
    #[must_use]
    pub fn on_existing_postgres(url: &str) -> Self {
        Self::with(DatabaseKind::Postgres, testkit::Database::existing_postgres(url))
    }

    /// Creates a database without rows and default settings: pushed market data, a market that is always open, and any free port.
    ///
    /// # Panics
    /// If the database cannot be created.
    pub async fn on(database: DatabaseKind) -> Self {
        let test_database = match database {
            DatabaseKind::Sqlite => testkit::Database::sqlite(),
            DatabaseKind::Postgres => testkit::Database::postgres().await,
        };
        Self::with(database, test_database)
    }

    fn with(database: DatabaseKind, test_database: testkit::Database) -> Self {
        let url = test_database.url().to_owned();
        Self {
            folder: TempDir::new().unwrap(),
            database,
            test_database,
            settings: BTreeMap::new(),
            environment: BTreeMap::new(),
        }
        .set("database.url", &url)
        .set("server.listen", "127.0.0.1:0")
        .set("market.source", "push")
        .set("market.always_open", "true")
    }

    /// Adds a setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns the kind of the database.
    #[must_use]
    pub const fn database(&self) -> DatabaseKind {
        self.database
    }

    /// Returns the URL of the database.
    #[must_use]
    pub fn database_url(&self) -> &str {
        self.test_database.url()
    }

    /// Returns a temporary folder that exists until the test ends.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command_without_settings(self.folder.path(), arguments);
        for (name, value) in &self.settings {
            command.env(variable(name), value);
        }
        command.envs(&self.environment);
        command
    }

    /// Runs the program and waits for its exit.
    ///
    /// # Panics
    /// If the binary does not exist.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().await.unwrap()
    }

    /// Runs an `admin` command and returns the JSON that it prints.
    ///
    /// # Panics
    /// If the command fails.
    pub async fn admin(&self, arguments: &[&str]) -> Value {
        let arguments = [&["admin"], arguments, &["--json"]].concat();
        let output = self.run(&arguments).await;
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {stdout:?}{stderr}"))
    }

    /// Creates an account with the password `correct horse`.
    ///
    /// # Panics
    /// If the command fails.
    pub async fn create_user(&self, email: &str, plan: &str, more: &[&str]) {
        let user = [
            "create-user",
            "--email",
            email,
            "--password",
            "correct horse",
            "--plan",
            plan,
            "--verified",
        ];
        let created = self.admin(&[&user, more].concat()).await;
        assert!(created.is_object(), "create-user --json: {created}");
    }

    /// Creates an API key with these scopes, or with all public scopes.
    ///
    /// # Panics
    /// If the command fails.
    pub async fn create_key(&self, email: &str, scopes: Option<&str>) -> String {
        let mut arguments = vec!["create-key", "--email", email, "--name", "acceptance"];
        if let Some(scopes) = scopes {
            arguments.extend(["--scopes", scopes]);
        }
        let created = self.admin(&arguments).await;
        let key = created["api_key"].as_str();
        key.unwrap_or_else(|| panic!("create-key --json has no api_key: {created}"))
            .to_owned()
    }

    /// Starts the service without waiting until it is ready.
    ///
    /// # Panics
    /// If the binary does not exist.
    #[must_use]
    pub fn launch(&self) -> StartedProcess {
        self.launch_with(&["serve"])
    }

    /// Starts the program with a command that listens on a port, without waiting until it is ready.
    ///
    /// # Panics
    /// If the binary does not exist.
    #[must_use]
    pub fn launch_with(&self, arguments: &[&str]) -> StartedProcess {
        self.launch_with_settings(arguments, &[])
    }

    /// As [`launch_with`](Self::launch_with), with further settings: one of several processes on the database.
    ///
    /// # Panics
    /// If the binary does not exist.
    #[must_use]
    pub fn launch_with_settings(&self, arguments: &[&str], settings: &[(&str, &str)]) -> StartedProcess {
        self.launch_with_environment(arguments, settings, &[])
    }

    /// As [`launch_with_settings`](Self::launch_with_settings), with further environment variables.
    ///
    /// # Panics
    /// If the binary does not exist.
    #[must_use]
    pub fn launch_with_environment(
        &self,
        arguments: &[&str],
        settings: &[(&str, &str)],
        environment: &[(&str, &str)],
    ) -> StartedProcess {
        let mut command = self.command(arguments);
        for (name, value) in settings {
            command.env(variable(name), value);
        }
        command.envs(environment.iter().copied());
        let mut child = command.spawn().unwrap();
        let (found, address) = watch::channel(None);
        let log = Arc::new(Mutex::new(String::new()));
        let found = Arc::new(found);
        collect_output(child.stdout.take().unwrap(), &log, &found);
        collect_output(child.stderr.take().unwrap(), &log, &found);
        StartedProcess { child, address, log }
    }

    /// Starts the service and waits until it is ready.
    ///
    /// # Panics
    /// If the service does not become ready.
    pub async fn start(&self) -> RunningService {
        self.launch().wait_until_ready().await
    }

    /// Starts the service with an operator account that has every scope.
    ///
    /// # Panics
    /// If the service does not become ready.
    pub async fn start_environment(self) -> TestEnvironment {
        TestEnvironment::start(self).await
    }
}

/// Returns the environment variable of a setting.
fn variable(setting: &str) -> String {
    format!("BELLWETHER_{}", setting.to_uppercase().replace('.', "__"))
}

/// Appends the lines of an output to the log, and publishes the first address in them.
fn collect_output(
    output: impl AsyncRead + Unpin + Send + 'static,
    log: &Arc<Mutex<String>>,
    found: &Arc<watch::Sender<Option<String>>>,
) {
    let (log, found) = (Arc::clone(log), Arc::clone(found));
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(address) = address_in(&line) {
                found.send_if_modified(|found| found.is_none() && found.replace(address).is_none());
            }
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
}

/// Returns `127.0.0.1:PORT` in a line, if the port is valid.
fn address_in(line: &str) -> Option<String> {
    const HOST: &str = "127.0.0.1:";
    let (_, after) = line.split_once(HOST)?;
    let port: String = after.chars().take_while(char::is_ascii_digit).collect();
    port.parse::<u16>().ok().filter(|&port| port > 0)?;
    Some(format!("{HOST}{port}"))
}

/// Returns the path of the binary: the value of `BELLWETHER_BIN`, or the binary that cargo builds.
///
/// # Panics
/// If the binary cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("BELLWETHER_BIN") {
        Some(named) => {
            std::fs::canonicalize(&named).unwrap_or_else(|error| panic!("BELLWETHER_BIN={}: {error}", named.display()))
        }
        None => build(),
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--package",
            "bellwether",
            "--message-format",
            "json",
        ])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "building the program: {stderr}");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "bellwether")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo builds a program named bellwether")
}
