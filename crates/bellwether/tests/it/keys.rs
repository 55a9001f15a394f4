//! Tests of the key of the database's secrets: a wrong or lost key stops the start, and a rotation is complete or has
//! no effect.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::fs;
use std::path::PathBuf;

use program::{CommandOutput, HttpResponse, RunningService, TestSetup, request};
use serde_json::{Value, json};
use sqlx::Connection;
use testkit::Database;

const OTHER_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";
const SECRET: &str = "a secret of the operator";

/// A database with secrets, and the key that they are sealed with.
struct Fixture {
    setup: TestSetup,
    key: String,
    database: Database,
}

impl Fixture {
    /// Seals the secrets with `auth.secret_key` if it is given, or else with a key file.
    fn new(database: Database, secret_key: Option<&str>) -> Self {
        let mut setup = TestSetup::new()
            .set("DATABASE__URL", database.url())
            .set("WEBHOOKS__ALLOW_PRIVATE_CIDRS", "127.0.0.0/8");
        if let Some(secret) = secret_key {
            setup = setup.set("AUTH__SECRET_KEY", secret);
        }
        setup.operator_key();
        let scopes = "webhooks:read,webhooks:write";
        let args = [
            "create-key",
            "--email",
            "op@example.com",
            "--name",
            "hooks",
            "--scopes",
            scopes,
        ];
        let key = setup.admin(&args)["api_key"].as_str().unwrap().to_owned();
        let fixture = Self { setup, key, database };
        let service = fixture.setup.serve();
        // A secret, a former secret, and an email in the outbox.
        let hook = json!({"url": "http://127.0.0.1:18099/", "events": ["alert.triggered"]});
        let hook = service.post("/api/v1/webhooks", &fixture.key, &hook).data();
        assert_eq!(rotate_secret(&service, &fixture.key, &hook).status, 200);
        let ann = json!({"email": "ann@example.com", "password": "correct horse"});
        assert_eq!(
            request(
                &service.address,
                "POST",
                "/api/v1/auth/register",
                &fixture.key,
                &ann.to_string()
            )
            .status,
            201
        );
        assert!(service.stop().success());
        fixture
    }

    fn file(&self) -> PathBuf {
        match self.database.file() {
            Some(file) => file.with_file_name("bellwether.key"),
            None => self.setup.path().join("bellwether.key"),
        }
    }

    fn next_file(&self) -> PathBuf {
        self.file().with_extension("key.next")
    }

    fn read(&self) -> String {
        fs::read_to_string(self.file()).unwrap().trim().to_owned()
    }

    /// Returns the error message of a start that must fail.
    fn expect_refused_start(&self) -> String {
        let done = self.setup.run(&["serve"]);
        assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
        assert!(!done.stdout.contains("listens"), "{}", done.stdout);
        done.stderr
    }

    fn run_rotation(&self, args: &[&str]) -> CommandOutput {
        self.setup.run(&[&["admin", "rotate-key"], args].concat())
    }

    /// Starts the service, and returns whether the webhook is active.
    fn start_and_read_webhook(&self) -> bool {
        let service = self.setup.serve();
        let hooks = service.get("/api/v1/webhooks", &self.key).data();
        assert!(service.stop().success());
        hooks[0]["is_active"] == json!(true)
    }

    /// Removes the key check value, as in a database of an earlier version: the next start tries to open all secrets.
    fn delete_key_check(&self) {
        let sql = "DELETE FROM key_check";
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            if self.database.is_postgres() {
                let mut link = sqlx::PgConnection::connect(self.database.url()).await.unwrap();
                sqlx::query(sql).execute(&mut link).await.unwrap();
                link.close().await.unwrap();
            } else {
                let mut link = sqlx::SqliteConnection::connect(self.database.url()).await.unwrap();
                sqlx::query(sql).execute(&mut link).await.unwrap();
                link.close().await.unwrap();
            }
        });
    }
}

fn rotate_secret(service: &RunningService, key: &str, hook: &Value) -> HttpResponse {
    let path = format!("/api/v1/webhooks/{}/rotate-secret", hook["id"].as_str().unwrap());
    service.post(&path, key, &json!({}))
}

fn on_both_databases(test: impl Fn(Database)) {
    test(Database::sqlite());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(Database::postgres());
    test(database);
}

#[test]
fn wrong_key_file_stops_the_start_with_the_fix() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        let right = fixture.read();
        fs::write(fixture.file(), OTHER_KEY).unwrap();
        let output = fixture.expect_refused_start();
        for part in [
            "another key",
            "bellwether.key",
            "backup",
            "rotate-key --discard-unreadable",
        ] {
            assert!(output.contains(part), "{part}: {output}");
        }
        assert!(!output.contains(&right) && !output.contains(OTHER_KEY), "{output}");
        fs::write(fixture.file(), &right).unwrap();
        assert!(fixture.start_and_read_webhook());
    });
}

#[test]
fn wrong_secret_key_stops_the_start_and_names_the_setting() {
    let fixture = Fixture::new(Database::sqlite(), Some(SECRET));
    let done = fixture
        .setup
        .command(&["serve"])
        .env("BELLWETHER_AUTH__SECRET_KEY", "another secret of the operator")
        .output();
    let done: CommandOutput = done.unwrap().into();
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    assert!(
        done.stderr.contains("auth.secret_key") && !done.stderr.contains(SECRET),
        "{}",
        done.stderr
    );
    assert!(fixture.start_and_read_webhook());
}

#[test]
fn missing_key_file_stops_the_start_and_is_not_recreated() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        let right = fixture.read();
        fs::remove_file(fixture.file()).unwrap();
        let output = fixture.expect_refused_start();
        assert!(output.contains("is missing") && output.contains("backup"), "{output}");
        assert!(!fixture.file().exists());
        fs::write(fixture.file(), right).unwrap();
        assert!(fixture.start_and_read_webhook());
    });
}

#[test]
fn admin_commands_with_a_wrong_key_are_refused() {
    let fixture = Fixture::new(Database::sqlite(), None);
    fs::write(fixture.file(), OTHER_KEY).unwrap();
    let done = fixture
        .setup
        .run(&["admin", "set-plan", "--email", "op@example.com", "--plan", "basic"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("another key"), "{}", done.stderr);
}

#[test]
fn rotation_reseals_everything_and_keeps_the_former_key() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        let before = fixture.read();
        let done = fixture.run_rotation(&["--json"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let counted: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(counted["discarded"], 0);
        assert!(counted["sealed"].as_u64().unwrap() >= 3, "{counted}");
        let after = fixture.read();
        assert_ne!(before, after);
        assert_eq!(
            fs::read_to_string(fixture.file().with_extension("key.former"))
                .unwrap()
                .trim(),
            before
        );
        assert!(!fixture.next_file().exists());
        assert!(fixture.start_and_read_webhook());
        fs::write(fixture.file(), &before).unwrap();
        assert!(fixture.expect_refused_start().contains("another key"));
        // The former key decrypts nothing any more, and the new key decrypts everything.
        fixture.delete_key_check();
        assert!(
            fixture
                .expect_refused_start()
                .contains("secrets in the database are sealed with another key")
        );
        fs::write(fixture.file(), after).unwrap();
        assert!(fixture.start_and_read_webhook());
    });
}

#[test]
fn rotation_is_refused_while_the_service_runs() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        let before = fixture.read();
        let service = fixture.setup.serve();
        let done = fixture.run_rotation(&[]);
        assert_eq!(done.code, Some(1), "{}", done.stdout);
        assert!(done.stderr.contains("stop the service"), "{}", done.stderr);
        assert_eq!(service.get("/api/v1/webhooks", &fixture.key).status, 200);
        assert!(service.stop().success());
        assert_eq!(fixture.read(), before);
        assert!(!fixture.next_file().exists());
        assert!(fixture.start_and_read_webhook());
    });
}

#[test]
fn rotation_interrupted_before_sealing_keeps_the_former_key() {
    let fixture = Fixture::new(Database::sqlite(), None);
    let right = fixture.read();
    // The new key is staged before anything is sealed with it.
    fs::write(fixture.next_file(), OTHER_KEY).unwrap();
    assert!(fixture.start_and_read_webhook());
    assert_eq!(fixture.read(), right);
    assert!(!fixture.next_file().exists());
}

#[test]
fn rotation_interrupted_after_sealing_is_finished_at_the_next_start() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        let before = fixture.read();
        assert_eq!(fixture.run_rotation(&[]).code, Some(0));
        let after = fixture.read();
        // The database is sealed with the new key, which still has its staging name.
        fs::write(fixture.next_file(), &after).unwrap();
        fs::write(fixture.file(), &before).unwrap();
        assert!(fixture.start_and_read_webhook());
        assert_eq!(fixture.read(), after);
        assert!(!fixture.next_file().exists());
    });
}

#[test]
fn secret_key_setting_is_rotated_to_one_from_a_file() {
    let fixture = Fixture::new(Database::sqlite(), Some(SECRET));
    let done = fixture.run_rotation(&[]);
    assert_eq!(done.code, Some(2), "{}", done.stdout);
    assert!(done.stderr.contains("--new-key-file"), "{}", done.stderr);
    let file = fixture.setup.path().join("new");
    fs::write(&file, "short\n").unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(fixture.run_rotation(&["--new-key-file", file]).code, Some(2));
    fs::write(file, "the next secret of the operator\n").unwrap();
    let done = fixture.run_rotation(&["--new-key-file", file]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("Set auth.secret_key"), "{}", done.stderr);
    assert!(fixture.expect_refused_start().contains("auth.secret_key"));
    let Fixture { setup, key, database } = fixture;
    let setup = setup.set("AUTH__SECRET_KEY", "the next secret of the operator");
    assert!(Fixture { setup, key, database }.start_and_read_webhook());
}

#[test]
fn discarding_unreadable_secrets_disables_webhooks() {
    on_both_databases(|database| {
        let fixture = Fixture::new(database, None);
        fs::remove_file(fixture.file()).unwrap();
        let refused = fixture.run_rotation(&[]);
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        assert!(refused.stderr.contains("--discard-unreadable"), "{}", refused.stderr);
        let done = fixture.run_rotation(&["--discard-unreadable", "--json"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let counted: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(counted["sealed"], 0);
        assert!(counted["discarded"].as_u64().unwrap() >= 3, "{counted}");
        let service = fixture.setup.serve();
        let hooks = service.get("/api/v1/webhooks", &fixture.key).data();
        assert_eq!(hooks[0]["is_active"], json!(false));
        assert_eq!(
            rotate_secret(&service, &fixture.key, &hooks[0]).status,
            200,
            "its owner can have another secret"
        );
    });
}

#[test]
fn database_without_key_check_is_checked_by_its_sealed_values() {
    let fixture = Fixture::new(Database::sqlite(), None);
    let right = fixture.read();
    fixture.delete_key_check();
    fs::write(fixture.file(), OTHER_KEY).unwrap();
    let output = fixture.expect_refused_start();
    assert!(
        output.contains("secrets in the database are sealed with another key"),
        "{output}"
    );
    fs::remove_file(fixture.file()).unwrap();
    let output = fixture.expect_refused_start();
    assert!(output.contains("is missing") && !fixture.file().exists(), "{output}");
    fs::write(fixture.file(), &right).unwrap();
    assert!(fixture.start_and_read_webhook());
    // Now there is a key check value, so a wrong key is detected even if nothing is sealed.
    fs::write(fixture.file(), OTHER_KEY).unwrap();
    assert!(fixture.expect_refused_start().contains("another key"));
}
