//! A program under load, and its processor time.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A running program. It is killed when it is dropped.
pub(crate) struct Program {
    child: Child,
    base: String,
    key: String,
    client: reqwest::Client,
    folder: Option<TempDir>,
}

impl Program {
    /// Starts Bellwether on an empty SQLite database, with pushed data and a market that is always open.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bellwether(folder.path());
        command.arg("serve").stdout(Stdio::piped()).stderr(Stdio::null());
        let (child, base) = start_and_read_url(command);
        let admin = |arguments: &[&str]| {
            let output = bellwether(folder.path())
                .arg("admin")
                .args(arguments)
                .arg("--json")
                .output()
                .unwrap();
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        let account = [
            "create-user",
            "--email",
            "bench@example.com",
            "--password",
            "correct horse",
            "--plan",
            "premium",
        ];
        admin(&[&account[..], &["--operator"]].concat());
        let scopes = "alerts:read,alerts:write,stocks:read,market:write";
        let key = admin(&[
            "create-key",
            "--email",
            "bench@example.com",
            "--name",
            "bench",
            "--scopes",
            scopes,
        ]);
        let program = Self {
            child,
            base,
            key: key["api_key"].as_str().unwrap().to_owned(),
            client: client(),
            folder: Some(folder),
        };
        program
            .deliver(&serde_json::json!({"quotes": [{"symbol": "AAPL", "price": 100}]}))
            .await;
        program
    }

    /// Starts a program that prints its URL.
    pub(crate) fn bare(command: Command) -> Self {
        let (child, base) = start_and_read_url(command);
        Self {
            child,
            base,
            key: String::new(),
            client: client(),
            folder: None,
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("bellwether.db")
    }

    pub(crate) fn get(&self, path: &str) -> impl Future<Output = ()> + use<> {
        let request = self
            .client
            .get(format!("{}{path}", self.base))
            .header("X-API-Key", &self.key);
        async move {
            let answer = request.send().await.unwrap().error_for_status().unwrap();
            answer.bytes().await.unwrap();
        }
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> impl Future<Output = ()> + use<> {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("X-API-Key", &self.key)
            .json(body);
        async move {
            let answer = request.send().await.unwrap().error_for_status().unwrap();
            answer.bytes().await.unwrap();
        }
    }

    /// Signs in from behind a proxy, with any result.
    pub(crate) fn login(&self, body: &Value, address: Ipv4Addr) -> impl Future<Output = ()> + use<> {
        let request = self
            .client
            .post(format!("{}/api/v1/auth/login", self.base))
            .header("X-Forwarded-For", address.to_string())
            .json(body);
        async move {
            request.send().await.unwrap().bytes().await.unwrap();
        }
    }

    /// Pushes market data and returns the duration.
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    pub(crate) async fn deliver(&self, body: &Value) -> Duration {
        let started = Instant::now();
        self.post("/api/v1/market/ingest", body).await;
        started.elapsed()
    }

    /// Returns the total number of items on all pages.
    pub(crate) async fn count(&self, path: &str) -> u64 {
        let request = self
            .client
            .get(format!("{}{path}", self.base))
            .header("X-API-Key", &self.key);
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["meta"]["pagination"]["total"].as_u64().unwrap()
    }

    /// Returns the processor time of this program in microseconds per request that `work` makes.
    pub(crate) async fn cpu_micros_per_request(&self, work: impl Future<Output = usize>) -> f64 {
        let before = self.cpu_ticks();
        let requests = work.await;
        // A tick is 10 ms on all current Linux systems.
        (self.cpu_ticks() - before) as f64 * 10_000.0 / requests as f64
    }

    /// Returns user plus system time in ticks: fields 14 and 15 of `/proc/PID/stat`.
    fn cpu_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|field| field.parse::<u64>().unwrap())
            .sum()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn bellwether(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command
        .current_dir(folder)
        .env("BELLWETHER_SERVER__LISTEN", "127.0.0.1:0")
        .env("BELLWETHER_SERVER__TRUSTED_PROXIES", "127.0.0.1")
        .env("BELLWETHER_MARKET__SOURCE", "push")
        .env("BELLWETHER_MARKET__ALWAYS_OPEN", "true")
        .env("BELLWETHER_LIMITS__PREMIUM_PER_HOUR", "100000000");
    command
}

/// Starts a program and waits for a line with its URL.
fn start_and_read_url(mut command: Command) -> (Child, String) {
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let base = loop {
        let line = lines.next().expect("the program ended before it listened").unwrap();
        if let Some(at) = line.find("http://") {
            break line[at..].trim().to_owned();
        }
    };
    // The remaining output is drained.
    std::thread::spawn(move || lines.for_each(drop));
    (child, base)
}
