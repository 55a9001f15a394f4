//! A test of the README's first alert: runs its commands as written and compares their output.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::process::Command;

use program::{RunningService, TestSetup, binary_dir};
use serde_json::Value;

const README: &str = include_str!("../../../../README.md");
const SECTION: &str = "## Your first alert";
const ADDRESS: &str = "127.0.0.1:8080";

/// Returns the fenced code blocks of a language in the section.
fn blocks(language: &str) -> Vec<&'static str> {
    let section = README.split(SECTION).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    section
        .split(&fence)
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Removes values that differ between runs. The history entry about the sent mail comes a moment later and may be
/// missing, so it is removed, too.
fn without_chance(mut value: Value) -> Value {
    let entries = value["data"].as_array_mut().unwrap();
    let all = entries.len();
    entries.retain(|entry| entry["action_type"] != "notification_sent");
    let kept = entries.len();
    let total = &mut value["meta"]["pagination"]["total"];
    assert_eq!(*total, all);
    *total = kept.into();
    for entry in value["data"].as_array_mut().unwrap() {
        for key in ["alert_id", "action_timestamp"] {
            entry[key] = "...".into();
        }
    }
    value["meta"]["rate_limit"]["reset"] = 0.into();
    value
}

#[test]
fn first_alert_of_the_readme_fires_as_shown() {
    if !has("curl") || !has("bash") {
        eprintln!("skipped: the README's commands need curl and bash");
        return;
    }
    let shell = blocks("sh");
    let (install, serve, rest) = (shell[0], shell[1], &shell[2..]);
    // The program is already built.
    assert!(install.starts_with("cargo install "), "{install}");

    let setup = TestSetup::new();
    let path = format!("{}:{}", binary_dir().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    setup.prepare(command.args(["-c", &format!("exec env {serve}")]).env("PATH", &path));
    command.env_remove("BELLWETHER_MARKET__ALWAYS_OPEN");
    let service = RunningService::start(command);

    let script = format!("set -euo pipefail\n{}", rest.concat()).replace(ADDRESS, &service.address);
    let mut command = Command::new("bash");
    setup.prepare(command.args(["-c", &script]).env("PATH", &path));
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let history = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    let shown: Value = serde_json::from_str(blocks("json")[0]).unwrap();
    assert_eq!(without_chance(history), without_chance(shown));
}
