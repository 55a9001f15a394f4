//! A program under load, and its processor time.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use testkit::thread_times;

/// The pause before a push is sent again.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A running program and the key of one of its accounts. It is killed when the last client is dropped.
pub(crate) struct Program {
    process: Arc<Process>,
    key: String,
}

struct Process {
    child: Child,
    base: String,
    client: reqwest::Client,
    folder: Option<TempDir>,
    /// Further environment variables, also of its administration.
    variables: Vec<(String, String)>,
}

impl Program {
    /// Starts Bellwether on an empty SQLite database, with pushed data and a market that is always open.
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts it with further environment variables.
    pub(crate) async fn start_with(variables: &[(&str, &str)]) -> Self {
        let program = Self::serve(variables);
        let key = program.create_account("bench@example.com", &["--operator"], &["market:write", "outbox:read"]);
        let program = Self { key, ..program };
        // In a cluster, the evaluators may not have shared the stocks yet.
        let quote = serde_json::json!({"quotes": [{"symbol": "AAPL", "price": 100}]});
        while !program.accepts(&quote).await {
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
        program
    }

    /// Starts it without an account.
    pub(crate) fn serve(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bellwether(folder.path());
        command.envs(variables.iter().copied());
        command.arg("serve").stdout(Stdio::piped()).stderr(Stdio::null());
        Self::from_command(command, Some(folder), variables)
    }

    /// Starts a program that prints its URL.
    pub(crate) fn bare(command: Command) -> Self {
        Self::from_command(command, None, &[])
    }

    fn from_command(command: Command, folder: Option<TempDir>, variables: &[(&str, &str)]) -> Self {
        let (child, base) = start_and_read_url(command);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let process = Process {
            child,
            base,
            client,
            folder,
            variables: variables
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        };
        Self {
            process: Arc::new(process),
            key: String::new(),
        }
    }

    /// Returns a client with a new account.
    pub(crate) fn account(&self, email: &str) -> Self {
        Self {
            process: Arc::clone(&self.process),
            key: self.create_account(email, &[], &[]),
        }
    }

    /// Returns a client of an account that has signed in.
    pub(crate) async fn signed_in(&self, email: &str) -> Self {
        let body = serde_json::json!({"email": email, "password": "correct horse"});
        let login = self.request(Method::POST, "/api/v1/auth/login").json(&body);
        let answer: Value = login.send().await.unwrap().json().await.unwrap();
        Self {
            process: Arc::clone(&self.process),
            key: answer["data"]["access_token"].as_str().unwrap().to_owned(),
        }
    }

    /// Creates a premium account, and returns a key for alerts, stocks, webhooks and the given scopes.
    fn create_account(&self, email: &str, options: &[&str], scopes: &[&str]) -> String {
        let folder = self.process.folder.as_ref().unwrap().path();
        let admin = |arguments: &[&str]| {
            let output = bellwether(folder)
                .envs(self.process.variables.iter().map(|(name, value)| (name, value)))
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
            email,
            "--password",
            "correct horse",
            "--plan",
            "premium",
        ];
        admin(&[&account[..], options].concat());
        let usual = [
            "alerts:read",
            "alerts:write",
            "stocks:read",
            "webhooks:read",
            "webhooks:write",
        ];
        let scopes = [&usual[..], scopes].concat().join(",");
        let key = admin(&["create-key", "--email", email, "--name", "bench", "--scopes", &scopes]);
        key["api_key"].as_str().unwrap().to_owned()
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let Process { client, base, .. } = &*self.process;
        client.request(method, format!("{base}{path}")).bearer_auth(&self.key)
    }

    pub(crate) fn get(&self, path: &str) -> impl Future<Output = ()> + use<> {
        read(self.request(Method::GET, path))
    }

    /// Reads a list that has not changed since it had an entity tag.
    pub(crate) fn get_unchanged(&self, path: &str, tag: &str) -> impl Future<Output = ()> + use<> {
        let request = self.request(Method::GET, path).header("If-None-Match", tag);
        async move {
            assert_eq!(request.send().await.unwrap().status(), 304);
        }
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> impl Future<Output = ()> + use<> {
        read(self.request(Method::POST, path).json(body))
    }

    /// Posts and returns the response.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Value {
        let response = self.request(Method::POST, path).json(body).send().await.unwrap();
        response.error_for_status().unwrap().json().await.unwrap()
    }

    pub(crate) async fn get_json(&self, path: &str) -> Value {
        self.request(Method::GET, path)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    /// Returns the length of a response's body, and its entity tag.
    pub(crate) async fn body_and_tag(&self, path: &str) -> (usize, String) {
        let response = self.request(Method::GET, path).send().await.unwrap();
        let tag = response.headers()["etag"].to_str().unwrap().to_owned();
        (response.bytes().await.unwrap().len(), tag)
    }

    /// Signs in from behind a proxy, with any result.
    pub(crate) fn login(&self, body: &Value, address: Ipv4Addr) -> impl Future<Output = ()> + use<> {
        let Process { client, base, .. } = &*self.process;
        let request = client
            .post(format!("{base}/api/v1/auth/login"))
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

    /// Pushes market data. Returns whether it was accepted: not if it has to be sent again.
    async fn accepts(&self, body: &Value) -> bool {
        let request = self.request(Method::POST, "/api/v1/market/ingest").json(body);
        let response = request.send().await.unwrap();
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            return false;
        }
        response.error_for_status().unwrap();
        true
    }

    /// Returns the total number of items on all pages.
    pub(crate) async fn count(&self, path: &str) -> u64 {
        let answer = self.get_json(path).await;
        answer["meta"]["pagination"]["total"].as_u64().unwrap()
    }

    /// Returns the processor time of this program in microseconds per request that `work` makes.
    pub(crate) async fn cpu_micros_per_request(&self, work: impl Future<Output = usize>) -> f64 {
        let process = self.process.child.id().to_string();
        let before = thread_times(&process);
        let requests = work.await;
        let after = thread_times(&process);
        let used = after
            .into_iter()
            .map(|(thread, time)| time.saturating_sub(before.get(&thread).copied().unwrap_or_default()));
        used.sum::<Duration>().as_secs_f64() * 1e6 / requests as f64
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request and reads the response.
async fn read(request: reqwest::RequestBuilder) {
    let response = request.send().await.unwrap().error_for_status().unwrap();
    response.bytes().await.unwrap();
}

fn bellwether(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command
        .current_dir(folder)
        .env("BELLWETHER_SERVER__LISTEN", "127.0.0.1:0")
        .env("BELLWETHER_SERVER__TRUSTED_PROXIES", "127.0.0.1")
        .env("BELLWETHER_MARKET__SOURCE", "push")
        .env("BELLWETHER_MARKET__ALWAYS_OPEN", "true")
        .env("BELLWETHER_LIMITS__PREMIUM_PER_HOUR", "100000000")
        .env("BELLWETHER_NOTIFICATIONS__BURST_LIMIT", "1000000")
        .env("BELLWETHER_WEBHOOKS__ALLOW_PRIVATE_CIDRS", "127.0.0.0/8");
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
