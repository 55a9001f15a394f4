//! A folder of files of alerts, and the program in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use acceptance::TestEnvironment;
use acceptance::program::{binary, command_without_settings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// A folder with files of alerts and a config folder, for one account.
pub(crate) struct Repository {
    folder: TempDir,
    url: String,
    key: String,
}

/// The output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// Asserts the exit code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Returns the JSON lines.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }
}

impl Repository {
    /// Creates an empty folder for the operator of an environment.
    pub(crate) async fn new(env: &TestEnvironment) -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            url: env.server.origin.clone(),
            key: env.operator_key().await,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Writes a file of alerts: each is a text such as `{name: dip, symbol: AAPL, when: price < 180}`.
    pub(crate) fn write_alerts(&self, alerts: &[&str]) {
        let items: String = alerts.iter().map(|alert| format!("  - {alert}\n")).collect();
        self.write("alerts.yaml", &format!("version: 1\nalerts:\n{items}"));
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Returns a command in the folder, without the address and the key.
    pub(crate) fn command_without_key(&self, arguments: &[&str]) -> Command {
        let mut command = command_without_settings(self.folder.path(), arguments);
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_without_key(arguments);
        command
            .env("BELLWETHER_API_KEY", &self.key)
            .env("BELLWETHER_URL", &self.url);
        command
    }

    /// Runs the program with the address and the key.
    pub(crate) async fn run(&self, arguments: &[&str]) -> CommandOutput {
        output_of(self.command(arguments)).await
    }

    /// Runs a command of a shell in which the program is on the path, as the pipeline of a repository named `example` does.
    pub(crate) async fn shell(&self, script: &str) -> CommandOutput {
        let program = binary();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let mut command = Command::new("bash");
        command
            .args(["-e", "-c", script])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env("PATH", path)
            .env("BELLWETHER_API_KEY", &self.key)
            .env("BELLWETHER_URL", &self.url)
            .env("SOURCE", "example");
        output_of(command).await
    }

    /// Starts the program with the address and the key.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Logs in: the key is a line of standard input.
    pub(crate) async fn log_in(&self) -> CommandOutput {
        let mut command = self.command_without_key(&["login", "--url", &self.url]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("{}\n", self.key).as_bytes()).await.unwrap();
        drop(input);
        output(child.wait_with_output().await.unwrap())
    }

    /// Applies the file `alerts.yaml` as the source `team`.
    pub(crate) async fn apply(&self, more: &[&str]) -> CommandOutput {
        let arguments = ["apply", "-f", "alerts.yaml", "--source", "team", "--yes"];
        self.run(&[&arguments[..], more].concat()).await
    }

    /// Plans the file `alerts.yaml` as the source `team`.
    pub(crate) async fn plan(&self, more: &[&str]) -> CommandOutput {
        let arguments = ["plan", "-f", "alerts.yaml", "--source", "team"];
        self.run(&[&arguments[..], more].concat()).await
    }
}

pub(crate) async fn output_of(mut command: Command) -> CommandOutput {
    output(command.output().await.unwrap())
}

fn output(output: std::process::Output) -> CommandOutput {
    CommandOutput {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the alerts of the operator: name, symbol and status, in the order of names; `-` for one without a name.
pub(crate) async fn alerts(env: &TestEnvironment) -> Vec<(String, Value)> {
    let listed = env.operator.get("/alerts?limit=100").await.expect_ok(200);
    let mut alerts: Vec<_> = listed
        .items()
        .iter()
        .map(|alert| {
            let name = alert["managed_by"]["name"].as_str().unwrap_or("-");
            (name.to_owned(), alert.clone())
        })
        .collect();
    alerts.sort_by(|one, other| one.0.cmp(&other.0));
    alerts
}

pub(crate) async fn names(env: &TestEnvironment) -> Vec<String> {
    alerts(env).await.into_iter().map(|(name, _)| name).collect()
}

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}
