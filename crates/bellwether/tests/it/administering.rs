//! Tests of `bellwether admin` and `bellwether config`: output, refusals and exit codes.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use program::{CommandOutput, TestSetup};

const USER: &[&str] = &[
    "create-user",
    "--email",
    "ann@example.com",
    "--password",
    "correct horse",
];

#[test]
fn user_is_printed_without_password() {
    let user = TestSetup::new().admin(&[USER, &["--plan", "early_bird", "--verified"]].concat());
    let keys: Vec<_> = user.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        ["id", "email", "plan", "is_operator", "is_verified", "created_at"]
    );
    assert_eq!(
        (&user["plan"], &user["is_operator"], &user["is_verified"]),
        (&"early_bird".into(), &false.into(), &true.into())
    );
}

#[test]
fn key_is_printed_with_its_scopes() {
    let setup = TestSetup::new();
    setup.admin(USER);
    let key = setup.admin(&[
        "create-key",
        "--email",
        "ann@example.com",
        "--name",
        "laptop",
        "--scopes",
        "alerts:read, stocks:read",
    ]);
    let keys: Vec<_> = key.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "id",
            "name",
            "key_prefix",
            "scopes",
            "rate_limit_tier",
            "created_at",
            "api_key"
        ]
    );
    assert_eq!(key["scopes"], serde_json::json!(["alerts:read", "stocks:read"]));
    assert_eq!(key["rate_limit_tier"], "basic");
    assert!(
        key["api_key"]
            .as_str()
            .unwrap()
            .starts_with(key["key_prefix"].as_str().unwrap())
    );
}

#[test]
fn only_the_key_is_on_standard_output() {
    let setup = TestSetup::new();
    setup.admin(USER);
    let done = setup.run(&["admin", "create-key", "--email", "ann@example.com", "--name", "laptop"]);
    let key = done.stdout.strip_suffix('\n').unwrap();
    assert!(key.starts_with("sk_") && key.len() == 67, "{key}");
    assert!(
        done.stderr.contains("webhooks:write") && !done.stderr.contains("market:write"),
        "{}",
        done.stderr
    );
}

#[test]
fn changed_plan_is_printed() {
    let setup = TestSetup::new();
    setup.admin(USER);
    let user = setup.admin(&["set-plan", "--email", "ann@example.com", "--plan", "premium"]);
    assert_eq!(user["plan"], "premium");
}

#[test]
fn failures_exit_with_1_and_the_reason() {
    let setup = TestSetup::new();
    setup.admin(USER);
    let refused = |args: &[&str], why: &str| {
        let done = setup.run(&[&["admin"], args].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(
            done.stderr.starts_with("error: ") && done.stderr.contains(why),
            "{}",
            done.stderr
        );
    };
    refused(USER, "already has an account");
    refused(
        &["create-user", "--email", "bob@example.com", "--password", "short"],
        "password",
    );
    refused(
        &["create-user", "--email", "bob", "--password", "correct horse"],
        "email",
    );
    refused(
        &["set-plan", "--email", "nobody@example.com", "--plan", "basic"],
        "account",
    );
    refused(
        &["create-key", "--email", "nobody@example.com", "--name", "x"],
        "account",
    );
    // Only operators may push market data.
    refused(
        &[
            "create-key",
            "--email",
            "ann@example.com",
            "--name",
            "x",
            "--scopes",
            "market:write",
        ],
        "operator",
    );
}

#[test]
fn wrong_usage_exits_with_2_and_names_allowed_values() {
    let setup = TestSetup::new();
    for (args, allowed) in [
        (
            &["admin", "set-plan", "--email", "a@b.c", "--plan", "gold"][..],
            "basic, premium, early_bird",
        ),
        (
            &[
                "admin",
                "create-key",
                "--email",
                "a@b.c",
                "--name",
                "x",
                "--scopes",
                "all",
            ],
            "alerts:read, alerts:write",
        ),
        (&["admin"], "create-user"),
        (&["serve", "--port", "1"], "unexpected argument '--port'"),
        (&["demo", "--for", "0"], "1.."),
        (&["demo", "--year", "--dir", "x"], "cannot be used with"),
        (&["config", "--config", "no-such.toml"], "no-such.toml"),
        (
            &[
                "replay",
                "--data",
                "d",
                "--alerts",
                "a",
                "--from",
                "2024-02-01",
                "--to",
                "2024-01-01",
            ],
            "swap them",
        ),
    ] {
        let done = setup.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(allowed), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn password_is_read_from_stdin_or_a_variable() {
    let setup = TestSetup::new();
    let create = |email: &str, variable: &str, input: &str| -> CommandOutput {
        let mut command = setup.command(&["admin", "create-user", "--email", email, "--password", "-"]);
        command.env("BELLWETHER_PASSWORD", variable).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    };
    assert_eq!(create("a@example.com", "", "correct horse\n").code, Some(0));
    assert_eq!(create("b@example.com", "correct horse", "").code, Some(0));
    assert_eq!(create("c@example.com", "", "short\n").code, Some(1));
    let nothing = create("d@example.com", "", "");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("BELLWETHER_PASSWORD"), "{}", nothing.stderr);
}

#[test]
fn config_prints_effective_settings_with_masked_secrets() {
    let setup = TestSetup::new().set("AUTH__SECRET_KEY", "a secret that is long enough");
    fs::write(setup.path().join("mine.toml"), "[market]\nseed = 11\n").unwrap();
    let done = setup.run(&["config", "--config", "mine.toml"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stdout.contains("seed = 11") && done.stdout.contains("secret_key = \"********\""),
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains("long enough"));
}
