//! The settings of a node of a cluster, checked by the program when it starts.

use std::fs;

use crate::support::program::TestSetup;

/// Settings of a node whose database cannot be reached.
fn node() -> TestSetup {
    TestSetup::new()
        .set("CLUSTER__NATS_URLS", "nats://127.0.0.1:1")
        .set("CLUSTER__NODE_ID", "one")
        .set("AUTH__SECRET_KEY", "a secret that is long enough")
        .set("SERVER__PUBLIC_URL", "https://alerts.example.com")
        .set("DATABASE__URL", "postgres://bw@127.0.0.1:1/bw")
}

/// Asserts that `serve` exits with 1 before it opens the database.
fn assert_fails(setup: &TestSetup, message: &str) {
    let done = setup.run(&["serve"]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains(message), "{}", done.stderr);
    assert!(!done.stderr.contains("cannot open the database"), "{}", done.stderr);
    assert_eq!(fs::read_dir(setup.path()).unwrap().count(), 0);
}

/// Asserts that `serve` exits with 2.
fn assert_refused(setup: &TestSetup, args: &[&str], message: &str) {
    let done = setup.run(&[&["serve"], args].concat());
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains(message), "{}", done.stderr);
}

/// Asserts that `serve` accepts the settings: it gets as far as the database.
fn assert_accepted(setup: &TestSetup, args: &[&str]) {
    let done = setup.run(&[&["serve"], args].concat());
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("cannot open the database"), "{}", done.stderr);
}

#[test]
fn node_without_a_compulsory_setting_exits_with_1_and_names_it() {
    assert_accepted(&node(), &[]);
    assert_fails(
        &node().set("AUTH__SECRET_KEY", ""),
        "auth.secret_key must be set to the same secret",
    );
    assert_fails(
        &node().set("SERVER__PUBLIC_URL", ""),
        "server.public_url must be set to the URL",
    );
    assert_fails(
        &node().set("DATABASE__URL", ""),
        "database.url must be set to the cluster's database, postgres://",
    );
}

#[test]
fn unknown_roles_exit_with_2() {
    let known = r#"must be a list (in a file ["...", "..."], in a variable separated by commas), each one of "api", "evaluator""#;
    assert_refused(&node(), &["--roles", "api,worker"], known);
    assert_refused(&node(), &["--roles", ""], "--roles");
    assert_refused(
        &node().set("CLUSTER__ROLES", "worker"),
        &[],
        "BELLWETHER_CLUSTER__ROLES",
    );
    let setup = node();
    fs::write(setup.path().join("bw.toml"), "[cluster]\nroles = [\"worker\"]\n").unwrap();
    assert_refused(&setup, &["--config", "bw.toml"], "setting cluster.roles (in bw.toml)");
}

#[test]
fn roles_of_the_command_line_override_those_of_the_settings() {
    assert_accepted(&node(), &["--roles", "api,evaluator"]);
    assert_accepted(&node().set("CLUSTER__ROLES", "feed"), &["--roles", "jobs"]);
    let without_nats = || node().set("CLUSTER__NATS_URLS", "").set("CLUSTER__ROLES", "feed");
    assert_accepted(&without_nats(), &["--roles", "api,evaluator,dispatcher,feed,jobs"]);
    assert_refused(
        &without_nats(),
        &[],
        "must be all roles unless cluster.nats_urls is set",
    );
    assert_refused(
        &TestSetup::new(),
        &["--roles", "api"],
        "(from the command line, --roles)",
    );
}

#[test]
fn lease_must_be_longer_than_the_standby_waits() {
    let message = "less than cluster.lease_ttl";
    assert_refused(&node().set("CLUSTER__STANDBY_DELAY", "3s"), &[], message);
    assert_accepted(&node().set("CLUSTER__STANDBY_DELAY", "2999ms"), &[]);
}

#[test]
fn passwords_of_nats_are_masked() {
    let setup = node().set("CLUSTER__NATS_URLS", "nats://bw:hunter2@a,nats://bw:hunter2@b");
    let done = setup.run(&["config"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("nats://bw:********@b"), "{}", done.stdout);
    assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
}
