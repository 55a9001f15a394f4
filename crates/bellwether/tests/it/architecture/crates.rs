//! Dependencies between the crates.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::architecture::sources::root;

/// For each crate, the only crates of this workspace that it may depend on. ARCHITECTURE.md says why.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("market", &[]),
    ("clock", &[]),
    ("bus", &[]),
    ("testdata", &[]),
    ("testkit", &[]),
    ("contract", &[]),
    ("client", &[]),
    ("alert_files", &["market", "alerts", "client"]),
    ("acceptance", &["testkit", "contract"]),
    ("alerts", &["market"]),
    (
        "simulation",
        &[
            "accounts",
            "alerts",
            "clock",
            "delivery",
            "evaluation",
            "foundation",
            "market",
            "notify",
            "service",
            "store",
            "testkit",
            "watchlist",
        ],
    ),
    ("analyst", &["market", "alerts"]),
    ("paper", &["market"]),
    ("sources", &["clock", "market"]),
    ("store", &["market", "alerts"]),
    ("notify", &["clock", "market", "alerts"]),
    ("foundation", &["clock", "market", "alerts", "store", "notify"]),
    ("delivery", &["clock", "alerts", "store", "notify", "foundation"]),
    (
        "evaluation",
        &[
            "bus",
            "clock",
            "market",
            "alerts",
            "store",
            "sources",
            "notify",
            "foundation",
            "delivery",
        ],
    ),
    (
        "accounts",
        &[
            "clock",
            "market",
            "alerts",
            "store",
            "notify",
            "foundation",
            "delivery",
            "evaluation",
        ],
    ),
    (
        "watchlist",
        &[
            "clock",
            "market",
            "alerts",
            "analyst",
            "paper",
            "store",
            "notify",
            "foundation",
            "evaluation",
        ],
    ),
    (
        "service",
        &[
            "bus",
            "market",
            "alerts",
            "paper",
            "store",
            "sources",
            "notify",
            "foundation",
            "delivery",
            "evaluation",
            "accounts",
            "watchlist",
        ],
    ),
    (
        "web",
        &[
            "market",
            "alerts",
            "accounts",
            "evaluation",
            "delivery",
            "watchlist",
            "service",
        ],
    ),
    (
        "server",
        &[
            "web",
            "clock",
            "market",
            "alerts",
            "foundation",
            "delivery",
            "evaluation",
            "accounts",
            "watchlist",
            "service",
        ],
    ),
    (
        "bellwether",
        &[
            "alert_files",
            "client",
            "bus",
            "clock",
            "market",
            "alerts",
            "sources",
            "store",
            "notify",
            "foundation",
            "delivery",
            "evaluation",
            "accounts",
            "watchlist",
            "service",
            "server",
        ],
    ),
];

/// Crates that do no I/O and read neither a clock nor a random generator.
const PURE_CRATES: &[&str] = &["market", "alerts", "analyst", "paper", "web"];
const IMPURE_DEPENDENCIES: &[&str] = &[
    "tokio", "axum", "hyper", "reqwest", "sqlx", "rusqlite", "rand", "chrono", "tracing",
];

/// Each crate with its dependencies, except those of tests and benches.
fn dependencies() -> Vec<(String, BTreeSet<String>)> {
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
fn crates_depend_only_on_crates_that_are_allowed() {
    let crates = dependencies();
    let names: BTreeSet<_> = crates.iter().map(|(name, _)| name.clone()).collect();
    for (name, dependencies) in &crates {
        let allowed = ALLOWED_DEPENDENCIES.iter().find(|(allowed, _)| allowed == name);
        let (_, allowed) = allowed
            .unwrap_or_else(|| panic!("{name} is not in ALLOWED_DEPENDENCIES; add it here and to ARCHITECTURE.md"));
        for dependency in dependencies.intersection(&names) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn pure_crates_have_no_io_no_clock_and_no_randomness() {
    let crates = dependencies();
    for (name, dependencies) in crates.iter().filter(|(name, _)| PURE_CRATES.contains(&name.as_str())) {
        let found: Vec<_> = IMPURE_DEPENDENCIES
            .iter()
            .filter(|impure| dependencies.contains(**impure))
            .collect();
        assert!(found.is_empty(), "{name} depends on {found:?}");
    }
}
