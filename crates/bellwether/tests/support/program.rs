//! The program as a process: started with settings, asked over HTTP, told to stop.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_bellwether");

/// A folder with a database in it, and the settings that a program is started with.
pub(crate) struct Setup {
    pub(crate) dir: TempDir,
    settings: Vec<(String, String)>,
}

impl Setup {
    /// A fresh SQLite database, any free port, and a market that never closes and takes what is pushed to it.
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

    /// A command of the program, in the folder and with nothing else from the environment.
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

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().unwrap().into()
    }

    /// An administrator's command with `--json`.
    pub(crate) fn admin(&self, args: &[&str]) -> Value {
        let done = self.run(&[&["admin"], args, &["--json"]].concat());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }

    /// An operator's account, and a key of it for everything that a test needs.
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

    /// Starts the service and waits until it says where it listens.
    pub(crate) fn serve(&self) -> Running {
        Running::start(self.command(&["serve"]))
    }
}

/// What a command that has ended said.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The service at work. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    /// What it says on standard output after that.
    pub(crate) stdout: BufReader<std::process::ChildStdout>,
    pub(crate) stderr: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("bellwether listens on http://") else {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            panic!("it does not listen: {line:?} {said}");
        };
        Self {
            address: address.to_owned(),
            child,
            stdout,
            stderr,
        }
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for a line of its log that has `text` in it.
    pub(crate) fn log_with(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "it never said {text:?}");
        }
        line
    }

    /// Waits until it has ended.
    pub(crate) fn ended(mut self) -> ExitStatus {
        // Its log must be read, or it waits for a reader.
        std::io::copy(&mut self.stderr, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap()
    }

    /// Tells it to stop and waits until it has.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal("TERM");
        self.ended()
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> Answer {
        ask(&self.address, "GET", path, key, "")
    }

    pub(crate) fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        ask(&self.address, "POST", path, key, &body.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    /// The payload of a success.
    pub(crate) fn data(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        let answer: Value = serde_json::from_str(&self.text).unwrap();
        answer["data"].clone()
    }
}

/// Asks over a connection of its own.
pub(crate) fn ask(address: &str, method: &str, path: &str, key: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(stream, "{}\r\n{body}", head(address, method, path, key, length)).unwrap();
    answer(stream)
}

/// The head of a request, but for the empty line at its end.
fn head(address: &str, method: &str, path: &str, key: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n"
    )
}

/// Begins a request and waits until the service waits for its body.
pub(crate) fn begin(address: &str, path: &str, key: &str, length: usize) -> TcpStream {
    const GO_ON: &str = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{}Expect: 100-continue\r\n\r\n",
        head(address, "POST", path, key, length)
    )
    .unwrap();
    let mut said = vec![0; GO_ON.len()];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), GO_ON);
    stream
}

/// Reads an answer to the end of the connection.
pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        text: body.to_owned(),
    }
}

/// The folder that the program is in.
pub(crate) fn binary_dir() -> PathBuf {
    Path::new(BINARY).parent().unwrap().to_owned()
}
