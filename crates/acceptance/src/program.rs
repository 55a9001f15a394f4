//! The program: found or built, given a database and settings, started, asked, killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::clock::{HANG_LIMIT, wait_for};
use crate::{Client, World};

/// Which database a program is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Database {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// A database of its own and settings: what a program is started with, once or again and again.
#[derive(Debug)]
pub struct Setup {
    folder: TempDir,
    database: Database,
    /// Goes away when the test is over.
    fresh: testkit::Database,
    settings: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl Setup {
    /// A fresh database, a market that never closes and takes what is pushed to it, and any free port.
    ///
    /// # Panics
    /// If there can be no such database.
    pub async fn on(database: Database) -> Self {
        let fresh = match database {
            Database::Sqlite => testkit::Database::sqlite(),
            Database::Postgres => testkit::Database::postgres().await,
        };
        let url = fresh.url().to_owned();
        Self {
            folder: TempDir::new().unwrap(),
            database,
            fresh,
            settings: BTreeMap::new(),
            environment: BTreeMap::new(),
        }
        .set("database.url", &url)
        .set("server.listen", "127.0.0.1:0")
        .set("market.source", "push")
        .set("market.always_open", "true")
    }

    /// With a setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With a variable in the program's environment.
    #[must_use]
    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Which database it is.
    #[must_use]
    pub const fn database(&self) -> Database {
        self.database
    }

    /// Where the database is.
    #[must_use]
    pub fn database_url(&self) -> &str {
        self.fresh.url()
    }

    /// A folder that is there as long as the test.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("BELLWETHER_") {
                command.env_remove(name);
            }
        }
        for (name, value) in &self.settings {
            let name = name.to_uppercase().replace('.', "__");
            command.env(format!("BELLWETHER_{name}"), value);
        }
        command
            .envs(&self.environment)
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// If there is no such program.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().await.unwrap()
    }

    /// An administrator's command; answers the JSON that it prints.
    ///
    /// # Panics
    /// If it fails.
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

    /// Makes an account.
    ///
    /// # Panics
    /// If that fails.
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
        let made = self.admin(&[&user, more].concat()).await;
        assert!(made.is_object(), "create-user --json: {made}");
    }

    /// Makes an API key with these scopes, or all that are public.
    ///
    /// # Panics
    /// If that fails.
    pub async fn create_key(&self, email: &str, scopes: Option<&str>) -> String {
        let mut arguments = vec!["create-key", "--email", email, "--name", "acceptance"];
        if let Some(scopes) = scopes {
            arguments.extend(["--scopes", scopes]);
        }
        let made = self.admin(&arguments).await;
        let key = made["api_key"].as_str();
        key.unwrap_or_else(|| panic!("create-key --json has no api_key: {made}"))
            .to_owned()
    }

    /// Starts the service, without waiting for it.
    ///
    /// # Panics
    /// If there is no such program.
    #[must_use]
    pub fn launch(&self) -> Launched {
        self.launch_with(&["serve"])
    }

    /// Starts the program with a command that listens, without waiting for it.
    ///
    /// # Panics
    /// If there is no such program.
    #[must_use]
    pub fn launch_with(&self, arguments: &[&str]) -> Launched {
        let mut child = self.command(arguments).spawn().unwrap();
        let (found, address) = watch::channel(None);
        let log = Arc::new(Mutex::new(String::new()));
        let found = Arc::new(found);
        listen(child.stdout.take().unwrap(), &log, &found);
        listen(child.stderr.take().unwrap(), &log, &found);
        Launched { child, address, log }
    }

    /// Starts the program and waits until it is ready.
    ///
    /// # Panics
    /// If it does not become ready.
    pub async fn start(&self) -> Server {
        self.launch().ready().await
    }

    /// Starts the program with an operator who can do everything.
    ///
    /// # Panics
    /// If it does not become ready.
    pub async fn world(self) -> World {
        World::start(self).await
    }
}

/// Reads what the program prints, and the address in it.
fn listen(
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

/// `127.0.0.1:PORT` in a line, if the port is one.
fn address_in(line: &str) -> Option<String> {
    const HOST: &str = "127.0.0.1:";
    let (_, after) = line.split_once(HOST)?;
    let port: String = after.chars().take_while(char::is_ascii_digit).collect();
    port.parse::<u16>().ok().filter(|&port| port > 0)?;
    Some(format!("{HOST}{port}"))
}

/// A program that may not be ready yet.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    address: watch::Receiver<Option<String>>,
    log: Arc<Mutex<String>>,
}

impl Launched {
    /// Kills it, at whatever it is.
    ///
    /// # Panics
    /// If it is no child of this process.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until it has told where it listens: `127.0.0.1:PORT`.
    ///
    /// # Panics
    /// If it ends instead, or takes too long.
    pub async fn address(&mut self) -> String {
        let said = tokio::time::timeout(HANG_LIMIT, self.address.wait_for(Option::is_some)).await;
        let address = match said {
            Ok(Ok(address)) => address.clone(),
            _ => None,
        };
        let Some(address) = address else {
            let status = self.child.try_wait().unwrap();
            panic!("the program ({status:?}) told no address: {}", self.log.lock().unwrap());
        };
        address
    }

    /// Waits until it has ended by itself. Answers its exit code and what it has printed.
    ///
    /// # Panics
    /// If it does not end.
    pub async fn end(mut self) -> (Option<i32>, String) {
        let ended = tokio::time::timeout(HANG_LIMIT, self.child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("it goes on: {}", self.log.lock().unwrap()));
        // What it printed is read by tasks of their own, which end with it.
        while Arc::strong_count(&self.log) > 1 {
            tokio::task::yield_now().await;
        }
        let log = self.log.lock().unwrap().clone();
        (status.unwrap().code(), log)
    }

    /// Waits until it is ready.
    ///
    /// # Panics
    /// If it ends instead, or takes too long.
    pub async fn ready(mut self) -> Server {
        let address = self.address().await;
        let server = Server {
            origin: format!("http://{address}"),
            child: self.child,
            log: self.log,
        };
        let anybody = server.anybody();
        wait_for("being ready", || async {
            let answer = anybody.request_to(reqwest::Method::GET, "/readyz").try_send().await;
            answer.ok().filter(|answer| answer.status == 200)
        })
        .await;
        server
    }
}

/// A program that is ready.
#[derive(Debug)]
pub struct Server {
    /// `http://127.0.0.1:PORT`
    pub origin: String,
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// Somebody whom it does not know.
    #[must_use]
    pub fn anybody(&self) -> Client {
        Client::new(&self.origin)
    }

    /// `127.0.0.1:PORT`
    #[must_use]
    pub fn address(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// What it has printed.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Its process.
    ///
    /// # Panics
    /// If it has ended.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Kills it with SIGKILL and waits until it is gone.
    ///
    /// # Panics
    /// If it is no child of this process.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// The memory that it has now, in KiB.
    ///
    /// # Panics
    /// If the system does not tell.
    #[must_use]
    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// The program: what `BELLWETHER_BIN` names, else what cargo builds.
///
/// # Panics
/// If it cannot be built.
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
