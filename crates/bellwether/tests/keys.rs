//! The key of the database's secrets: a wrong or lost key stops the start, and a rotation is complete or has no effect.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::PathBuf;

use program::{Answer, Done, Running, Setup, ask};
use serde_json::{Value, json};
use sqlx::Connection;
use testkit::Database;

const OTHER_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";
const SECRET: &str = "a secret of the operator";

/// A database with a secret in it, and the key file that it is sealed with.
struct World {
    setup: Setup,
    key: String,
    database: Database,
}

impl World {
    /// A world whose secrets are sealed with `auth.secret_key`, or else with a key file.
    fn new(database: Database, secret_key: Option<&str>) -> Self {
        let mut setup = Setup::new()
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
        let world = Self { setup, key, database };
        let service = world.setup.serve();
        // A secret, a former secret, and an email in the outbox.
        let hook = json!({"url": "http://127.0.0.1:18099/", "events": ["alert.triggered"]});
        let hook = service.post("/api/v1/webhooks", &world.key, &hook).data();
        assert_eq!(rotate_secret(&service, &world.key, &hook).status, 200);
        let ann = json!({"email": "ann@example.com", "password": "correct horse"});
        assert_eq!(
            ask(
                &service.address,
                "POST",
                "/api/v1/auth/register",
                &world.key,
                &ann.to_string()
            )
            .status,
            201
        );
        assert!(service.stop().success());
        world
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

    /// The message of a start that must not succeed.
    fn refused(&self) -> String {
        let done = self.setup.run(&["serve"]);
        assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
        assert!(!done.stdout.contains("listens"), "{}", done.stdout);
        done.stderr
    }

    fn rotate(&self, args: &[&str]) -> Done {
        self.setup.run(&[&["admin", "rotate-key"], args].concat())
    }

    /// Starts the service, and returns whether the webhook is active.
    fn starts(&self) -> bool {
        let service = self.setup.serve();
        let hooks = service.get("/api/v1/webhooks", &self.key).data();
        assert!(service.stop().success());
        hooks[0]["is_active"] == json!(true)
    }

    /// Removes the key check value, as in a database of an earlier version: the next start tries to open all secrets.
    fn forget_check(&self) {
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

fn rotate_secret(service: &Running, key: &str, hook: &Value) -> Answer {
    let path = format!("/api/v1/webhooks/{}/rotate-secret", hook["id"].as_str().unwrap());
    service.post(&path, key, &json!({}))
}

fn on_both(test: impl Fn(Database)) {
    test(Database::sqlite());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(Database::postgres());
    test(database);
}

#[test]
fn another_key_file_stops_the_start_and_names_the_way_out() {
    on_both(|database| {
        let world = World::new(database, None);
        let right = world.read();
        fs::write(world.file(), OTHER_KEY).unwrap();
        let said = world.refused();
        for part in [
            "another key",
            "bellwether.key",
            "backup",
            "rotate-key --discard-unreadable",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains(&right) && !said.contains(OTHER_KEY), "{said}");
        fs::write(world.file(), &right).unwrap();
        assert!(world.starts());
    });
}

#[test]
fn another_secret_key_stops_the_start_and_names_the_setting() {
    let world = World::new(Database::sqlite(), Some(SECRET));
    let done = world
        .setup
        .command(&["serve"])
        .env("BELLWETHER_AUTH__SECRET_KEY", "another secret of the operator")
        .output();
    let done: Done = done.unwrap().into();
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    assert!(
        done.stderr.contains("auth.secret_key") && !done.stderr.contains(SECRET),
        "{}",
        done.stderr
    );
    assert!(world.starts());
}

#[test]
fn a_lost_key_file_stops_the_start_and_no_new_one_is_made() {
    on_both(|database| {
        let world = World::new(database, None);
        let right = world.read();
        fs::remove_file(world.file()).unwrap();
        let said = world.refused();
        assert!(said.contains("is missing") && said.contains("backup"), "{said}");
        assert!(!world.file().exists());
        fs::write(world.file(), right).unwrap();
        assert!(world.starts());
    });
}

#[test]
fn administrators_commands_with_another_key_are_refused() {
    let world = World::new(Database::sqlite(), None);
    fs::write(world.file(), OTHER_KEY).unwrap();
    let done = world
        .setup
        .run(&["admin", "set-plan", "--email", "op@example.com", "--plan", "basic"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("another key"), "{}", done.stderr);
}

#[test]
fn a_rotation_seals_everything_with_a_new_key_and_keeps_the_former_one_for_backups() {
    on_both(|database| {
        let world = World::new(database, None);
        let before = world.read();
        let done = world.rotate(&["--json"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let counted: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(counted["discarded"], 0);
        assert!(counted["sealed"].as_u64().unwrap() >= 3, "{counted}");
        let after = world.read();
        assert_ne!(before, after);
        assert_eq!(
            fs::read_to_string(world.file().with_extension("key.former"))
                .unwrap()
                .trim(),
            before
        );
        assert!(!world.next_file().exists());
        assert!(world.starts());
        fs::write(world.file(), &before).unwrap();
        assert!(world.refused().contains("another key"));
        // Nothing opens with the former key any more, and everything with the new one.
        world.forget_check();
        assert!(
            world
                .refused()
                .contains("secrets in the database are sealed with another key")
        );
        fs::write(world.file(), after).unwrap();
        assert!(world.starts());
    });
}

#[test]
fn a_rotation_is_refused_while_the_service_runs() {
    on_both(|database| {
        let world = World::new(database, None);
        let before = world.read();
        let service = world.setup.serve();
        let done = world.rotate(&[]);
        assert_eq!(done.code, Some(1), "{}", done.stdout);
        assert!(done.stderr.contains("stop the service"), "{}", done.stderr);
        assert_eq!(service.get("/api/v1/webhooks", &world.key).status, 200);
        assert!(service.stop().success());
        assert_eq!(world.read(), before);
        assert!(!world.next_file().exists());
        assert!(world.starts());
    });
}

#[test]
fn a_rotation_that_was_cut_off_before_the_database_was_sealed_anew_leaves_the_former_key() {
    let world = World::new(Database::sqlite(), None);
    let right = world.read();
    // The new key is staged before anything is sealed with it.
    fs::write(world.next_file(), OTHER_KEY).unwrap();
    assert!(world.starts());
    assert_eq!(world.read(), right);
    assert!(!world.next_file().exists());
}

#[test]
fn a_rotation_that_was_cut_off_after_the_database_was_sealed_anew_is_finished_by_the_next_start() {
    on_both(|database| {
        let world = World::new(database, None);
        let before = world.read();
        assert_eq!(world.rotate(&[]).code, Some(0));
        let after = world.read();
        // The database is sealed with the new key, which still has its staging name.
        fs::write(world.next_file(), &after).unwrap();
        fs::write(world.file(), &before).unwrap();
        assert!(world.starts());
        assert_eq!(world.read(), after);
        assert!(!world.next_file().exists());
    });
}

#[test]
fn an_operators_own_secret_is_rotated_to_one_from_a_file() {
    let world = World::new(Database::sqlite(), Some(SECRET));
    let done = world.rotate(&[]);
    assert_eq!(done.code, Some(2), "{}", done.stdout);
    assert!(done.stderr.contains("--new-key-file"), "{}", done.stderr);
    let file = world.setup.path().join("new");
    fs::write(&file, "short\n").unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(world.rotate(&["--new-key-file", file]).code, Some(2));
    fs::write(file, "the next secret of the operator\n").unwrap();
    let done = world.rotate(&["--new-key-file", file]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("Set auth.secret_key"), "{}", done.stderr);
    assert!(world.refused().contains("auth.secret_key"));
    let World { setup, key, database } = world;
    let setup = setup.set("AUTH__SECRET_KEY", "the next secret of the operator");
    assert!(World { setup, key, database }.starts());
}

#[test]
fn with_a_lost_key_what_nobody_can_read_is_discarded_and_webhooks_are_switched_off() {
    on_both(|database| {
        let world = World::new(database, None);
        fs::remove_file(world.file()).unwrap();
        let refused = world.rotate(&[]);
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        assert!(refused.stderr.contains("--discard-unreadable"), "{}", refused.stderr);
        let done = world.rotate(&["--discard-unreadable", "--json"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let counted: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(counted["sealed"], 0);
        assert!(counted["discarded"].as_u64().unwrap() >= 3, "{counted}");
        let service = world.setup.serve();
        let hooks = service.get("/api/v1/webhooks", &world.key).data();
        assert_eq!(hooks[0]["is_active"], json!(false));
        assert_eq!(
            rotate_secret(&service, &world.key, &hooks[0]).status,
            200,
            "its owner can have another secret"
        );
    });
}

#[test]
fn a_database_from_before_key_checks_is_checked_by_what_is_sealed_in_it() {
    let world = World::new(Database::sqlite(), None);
    let right = world.read();
    world.forget_check();
    fs::write(world.file(), OTHER_KEY).unwrap();
    let said = world.refused();
    assert!(
        said.contains("secrets in the database are sealed with another key"),
        "{said}"
    );
    fs::remove_file(world.file()).unwrap();
    let said = world.refused();
    assert!(said.contains("is missing") && !world.file().exists(), "{said}");
    fs::write(world.file(), &right).unwrap();
    assert!(world.starts());
    // Now there is a check value, so the key is known even where nothing is sealed.
    fs::write(world.file(), OTHER_KEY).unwrap();
    assert!(world.refused().contains("another key"));
}
