//! The rules of the house that a machine can check: which room may know which, and how large a room may get.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// For each room, the only rooms it may depend on. ARCHITECTURE.md says why.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("market", &[]),
    ("testkit", &[]),
    ("contract", &[]),
    ("acceptance", &["testkit", "contract"]),
    ("alerts", &["market"]),
    ("analyst", &["market", "alerts"]),
    ("paper", &["market"]),
    ("sources", &["market"]),
    ("store", &["market", "alerts"]),
    ("notify", &["market", "alerts"]),
    (
        "service",
        &["market", "alerts", "analyst", "paper", "store", "sources", "notify"],
    ),
    ("server", &["market", "alerts", "service"]),
    (
        "bellwether",
        &["market", "alerts", "sources", "store", "notify", "service", "server"],
    ),
];

/// What the pure rooms must not depend on: anything that reads a clock, a network, a database or chance by itself.
const PURE_ROOMS: &[&str] = &["market", "alerts", "analyst", "paper"];
const NOT_PURE: &[&str] = &["tokio", "axum", "hyper", "reqwest", "sqlx", "rand", "chrono", "tracing"];

/// More lines than this, and a file is cut.
const MAX_LINES: usize = 450;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each room with the names of what it depends on, tests and benches left out.
fn rooms() -> Vec<(String, BTreeSet<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let normal = dependencies.filter(|dependency| dependency["kind"] != "dev");
            (
                text(&package["name"]),
                normal.map(|dependency| text(&dependency["name"])).collect(),
            )
        })
        .collect()
}

#[test]
fn each_room_knows_only_the_rooms_it_may_know() {
    let rooms = rooms();
    let names: BTreeSet<_> = rooms.iter().map(|(name, _)| name.clone()).collect();
    for (room, dependencies) in &rooms {
        let may_know = MAY_KNOW.iter().find(|(name, _)| name == room);
        let (_, may_know) =
            may_know.unwrap_or_else(|| panic!("{room} is not in MAY_KNOW; add it here and to ARCHITECTURE.md"));
        for known in dependencies.intersection(&names) {
            assert!(may_know.contains(&known.as_str()), "{room} must not know {known}");
        }
    }
}

#[test]
fn the_pure_rooms_have_no_io_no_clock_and_no_chance() {
    for (room, dependencies) in rooms().iter().filter(|(name, _)| PURE_ROOMS.contains(&name.as_str())) {
        let found: Vec<_> = NOT_PURE.iter().filter(|name| dependencies.contains(**name)).collect();
        assert!(found.is_empty(), "{room} depends on {found:?}");
    }
}

#[test]
fn no_source_file_is_longer_than_one_can_see() {
    let mut folders = vec![root().join("crates")];
    let mut long = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let lines = std::fs::read_to_string(&path).unwrap().lines().count();
                if lines > MAX_LINES {
                    long.push(format!("{} has {lines} lines", path.display()));
                }
            }
        }
    }
    assert!(long.is_empty(), "cut these files (over {MAX_LINES} lines): {long:#?}");
}
