//! Runs `bellwether replay` on a temporary data folder.

#![allow(dead_code, reason = "each test file uses only a part of it")]
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

pub(crate) mod program;
pub(crate) mod providers;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary data folder with an alerts file.
pub(crate) struct ReplayCase {
    dir: TempDir,
    args: Vec<String>,
}

/// The output of a replay.
pub(crate) struct ReplayOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) firings: Vec<Value>,
    pub(crate) stderr: String,
}

impl ReplayCase {
    /// Creates a case with these alerts and no data.
    pub(crate) fn new(alerts: &str) -> Self {
        let case = Self {
            dir: TempDir::new().unwrap(),
            args: Vec::new(),
        };
        fs::create_dir_all(case.data().join("bars")).unwrap();
        fs::write(case.alerts(), alerts).unwrap();
        case
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn alerts(&self) -> PathBuf {
        self.dir.path().join("alerts.json")
    }

    /// Adds a file to the data folder.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.data().join(name), content).unwrap();
        self
    }

    /// Adds daily bars, given without a header.
    pub(crate) fn bars(self, rows: &str) -> Self {
        self.file(
            "bars/daily.csv",
            format!("symbol,date,open,high,low,close,volume\n{rows}\n"),
        )
    }

    /// Adds command line arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    pub(crate) fn run(&self) -> ReplayOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
        command
            .arg("replay")
            .arg("--data")
            .arg(self.data())
            .arg("--alerts")
            .arg(self.alerts())
            .args(&self.args);
        replay_output(&command.output().unwrap())
    }
}

pub(crate) fn replay_output(output: &Output) -> ReplayOutput {
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    ReplayOutput {
        code: output.status.code(),
        firings: stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        stdout,
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

impl ReplayOutput {
    /// Returns `alert_index@time` of each firing.
    pub(crate) fn fired(&self) -> Vec<String> {
        let line = |firing: &Value| format!("{}@{}", firing["alert_index"], firing["time"].as_str().unwrap());
        self.firings.iter().map(line).collect()
    }

    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Returns the message of a run that failed without a panic.
    pub(crate) fn failure(self) -> String {
        assert_eq!(self.code, Some(1), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.firings.is_empty());
        self.stderr
    }
}
