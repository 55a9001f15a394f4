//! Runs the program as a process: commands, the service, HTTP requests and signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_bellwether");

/// A temporary folder with a database, and the settings for the program.
pub(crate) struct TestSetup {
    pub(crate) dir: TempDir,
    settings: Vec<(String, String)>,
}

impl TestSetup {
    /// Settings with a new SQLite database, a free port, and a market that is always open and gets pushed data.
    pub(crate) fn new() -> Self {
        Self {
            dir: TempDir::new().unwrap(),
            settings: Vec::new(),
        }
        .set("SERVER__LISTEN", "127.0.0.1:0")
        .set("MARKET__ALWAYS_OPEN", "true")
    }

    pub(crate) fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.settings.push((format!("BELLWETHER_{name}"), value.into()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns a command of the program in the folder, without other `BELLWETHER_` variables.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        self.prepare(command.args(args));
        command
    }

    pub(crate) fn prepare(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("BELLWETHER_") {
                command.env_remove(name);
            }
        }
        command
            .envs(self.settings.iter().cloned())
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        self.command(args).output().unwrap().into()
    }

    /// Runs an admin command with `--json`.
    pub(crate) fn admin(&self, args: &[&str]) -> Value {
        let done = self.run(&[&["admin"], args, &["--json"]].concat());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }

    /// Creates an operator account and a key with the scopes that tests need.
    pub(crate) fn operator_key(&self) -> String {
        self.admin(&[
            "create-user",
            "--email",
            "op@example.com",
            "--password",
            "correct horse",
            "--plan",
            "premium",
            "--operator",
        ]);
        let scopes = "alerts:read,alerts:write,stocks:read,market:write";
        let key = self.admin(&[
            "create-key",
            "--email",
            "op@example.com",
            "--name",
            "test",
            "--scopes",
            scopes,
        ]);
        key["api_key"].as_str().unwrap().to_owned()
    }

    /// Starts the service and waits until it prints its address.
    pub(crate) fn serve(&self) -> RunningService {
        RunningService::start(self.command(&["serve"]))
    }
}

/// The output of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running service. It is killed when it is dropped.
pub(crate) struct RunningService {
    child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    /// Standard output after the first line.
    pub(crate) stdout: BufReader<std::process::ChildStdout>,
    pub(crate) stderr: BufReader<ChildStderr>,
}

impl RunningService {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("bellwether listens on http://") else {
            let mut output = String::new();
            stderr.read_to_string(&mut output).unwrap();
            panic!("the service does not listen: {line:?} {output}");
        };
        Self {
            address: address.to_owned(),
            child,
            stdout,
            stderr,
        }
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for a log line that contains `text`.
    pub(crate) fn wait_for_log(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(
                self.stderr.read_line(&mut line).unwrap() > 0,
                "the log never contained {text:?}"
            );
        }
        line
    }

    /// Waits until the process has ended.
    pub(crate) fn wait(mut self) -> ExitStatus {
        // The log is drained, because a full pipe would block the process.
        std::io::copy(&mut self.stderr, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap()
    }

    /// Sends `SIGTERM` and waits until the process has ended.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> HttpResponse {
        request(&self.address, "GET", path, key, "")
    }

    pub(crate) fn post(&self, path: &str, key: &str, body: &Value) -> HttpResponse {
        request(&self.address, "POST", path, key, &body.to_string())
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl HttpResponse {
    /// Returns the payload of a successful response.
    pub(crate) fn data(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        let response: Value = serde_json::from_str(&self.text).unwrap();
        response["data"].clone()
    }
}

/// Sends a request on a new connection.
pub(crate) fn request(address: &str, method: &str, path: &str, key: &str, body: &str) -> HttpResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(stream, "{}\r\n{body}", head(address, method, path, key, length)).unwrap();
    read_response(stream)
}

/// Returns the headers of a request, without the final empty line.
fn head(address: &str, method: &str, path: &str, key: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n"
    )
}

/// Starts a request and waits until the service waits for its body.
pub(crate) fn begin(address: &str, path: &str, key: &str, length: usize) -> TcpStream {
    const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{}Expect: 100-continue\r\n\r\n",
        head(address, "POST", path, key, length)
    )
    .unwrap();
    let mut output = vec![0; CONTINUE.len()];
    stream.read_exact(&mut output).unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), CONTINUE);
    stream
}

/// Reads a response until the connection closes.
pub(crate) fn read_response(mut stream: TcpStream) -> HttpResponse {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no response: {text:?}"));
    HttpResponse {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        text: body.to_owned(),
    }
}

/// Returns the folder of the program.
pub(crate) fn binary_dir() -> PathBuf {
    Path::new(BINARY).parent().unwrap().to_owned()
}
