//! Tests with a full disk: writes get 503, changes are all or nothing, and the log is not flooded.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use program::{HttpResponse, RunningService, TestSetup, request};
use serde_json::{Value, json};
use sqlx::Connection;
use testkit::Database;

/// The size limit of a file, in blocks of 512 or 1,024 bytes: enough for SQLite's shared index, and for a few pages of its
/// write-ahead log.
const FILE_SIZE_LIMIT_BLOCKS: u32 = 64;

/// The number of alerts that are deleted to reach the limit.
const OTHER_ALERTS: u32 = 40;

/// How many deletions in a row must have failed.
const FAILED_DELETIONS: u32 = 8;

/// A database with an account, alerts and an access token.
struct Fixture {
    setup: TestSetup,
    /// A key that may write alerts.
    key: String,
    /// An access token of the account.
    token: String,
    alert: String,
    /// More alerts, to fill the disk by deleting them.
    other_alerts: Vec<String>,
    database: Database,
}

impl Fixture {
    fn new(database: Database) -> Self {
        // Otherwise requests are logged, and the unread pipe of the log would fill up.
        let setup = TestSetup::new()
            .set("DATABASE__URL", database.url())
            // Access tokens are valid for this address only, and the port changes with each start.
            .set("SERVER__PUBLIC_URL", "https://alerts.example.com")
            .set("LOG__LEVEL", "warn");
        let key = setup.operator_key();
        let service = setup.serve();
        let stock =
            json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}], "quotes": [{"symbol": "AAPL", "price": 100}]});
        service.post("/api/v1/market/ingest", &key, &stock).data();
        let login = json!({"email": "op@example.com", "password": "correct horse"}).to_string();
        let login = request(&service.address, "POST", "/api/v1/auth/login", &key, &login).data();
        let alert = service.post("/api/v1/alerts", &key, &price_above(200)).data();
        let other_alerts = (0..OTHER_ALERTS).map(|number| {
            let other = service.post("/api/v1/alerts", &key, &price_above(300 + number)).data();
            other["id"].as_str().unwrap().to_owned()
        });
        let other_alerts = other_alerts.collect();
        assert!(service.stop().success());
        Self {
            other_alerts,
            setup,
            token: login["access_token"].as_str().unwrap().to_owned(),
            alert: alert["id"].as_str().unwrap().to_owned(),
            key,
            database,
        }
    }

    /// Starts the service on a full disk.
    fn serve_on_full_disk(&self) -> RunningService {
        if self.database.is_postgres() {
            let service = self.setup.serve();
            self.run_sql(SIMULATE_FULL_DISK_SQL);
            return service;
        }
        let mut command = Command::new("sh");
        let limited = format!("trap '' XFSZ; ulimit -f {FILE_SIZE_LIMIT_BLOCKS}; exec \"$0\" serve");
        self.setup.prepare(command.args(["-c", &limited, program::BINARY]));
        let service = RunningService::start(command);
        // The write-ahead log takes a few pages before it is full: first too few for an alert, then too few for a deletion. Deletions
        // differ by a page or two, so the log is full once one after the other has failed.
        let is_full = |threshold| {
            service
                .post("/api/v1/alerts", &self.key, &price_above(threshold))
                .status
                == 503
        };
        assert!((1_000..2_000).any(is_full));
        let is_full = |alert: &String| -> bool {
            let path = format!("/api/v1/alerts/{alert}");
            send(&service, "DELETE", &path, &self.key, &json!({})).1.status == 503
        };
        let mut failed = 0;
        assert!(self.other_alerts.iter().any(|alert| {
            failed = if is_full(alert) { failed + 1 } else { 0 };
            failed == FAILED_DELETIONS
        }));
        service
    }

    /// Frees the disk space.
    fn free_disk(&self) {
        if self.database.is_postgres() {
            self.run_sql("DROP FUNCTION disk_is_full CASCADE");
        }
    }

    fn run_sql(&self, sql: &'static str) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let mut link = sqlx::PgConnection::connect(self.database.url()).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut link).await.unwrap();
            link.close().await.unwrap();
        });
    }
}

/// Triggers that fail as PostgreSQL does when a table cannot grow. The last statements of both deletions write to
/// these tables.
const SIMULATE_FULL_DISK_SQL: &str = "
    CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_1 BEFORE INSERT OR UPDATE OR DELETE ON history FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();
    CREATE TRIGGER full_2 BEFORE INSERT OR UPDATE OR DELETE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();";

fn price_above(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

/// Sends a request. Also returns the response's headers in lower case.
fn send(service: &RunningService, method: &str, path: &str, credential: &str, body: &Value) -> (String, HttpResponse) {
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let (address, body) = (&service.address, body.to_string());
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {credential}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let response = HttpResponse {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        text: body.to_owned(),
    };
    (head.to_lowercase(), response)
}

#[track_caller]
fn assert_unavailable((head, response): (String, HttpResponse)) {
    assert_eq!(response.status, 503, "{response:?}");
    assert!(head.contains("retry-after: 5"), "{head}");
    let body: Value = serde_json::from_str(&response.text).unwrap();
    assert_eq!(body["error"]["code"], "SERVICE_UNAVAILABLE");
}

fn on_both_databases(test: impl Fn(Fixture)) {
    test(Fixture::new(Database::sqlite()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(Database::postgres());
    test(Fixture::new(database));
}

#[test]
fn deletions_on_a_full_disk_are_503_and_change_nothing() {
    on_both_databases(|fixture| {
        let service = fixture.serve_on_full_disk();
        let alert = format!("/api/v1/alerts/{}", fixture.alert);
        let delete = json!({"confirmation": "DELETE"});
        for _ in 0..2 {
            assert_unavailable(send(&service, "DELETE", &alert, &fixture.key, &json!({})));
            assert_unavailable(send(
                &service,
                "DELETE",
                "/api/v1/user/account",
                &fixture.token,
                &delete,
            ));
        }
        let read = service.get(&alert, &fixture.key).data();
        assert_eq!((&read["status"], &read["threshold"]), (&json!("active"), &json!(200)));
        assert!(service.stop().success());

        fixture.free_disk();
        let service = fixture.setup.serve();
        assert_eq!(service.get(&alert, &fixture.key).data()["status"], "active");
        let history = service.get(&format!("{alert}/history"), &fixture.key).data();
        assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
        let session = send(&service, "GET", "/api/v1/user/session", &fixture.token, &json!({})).1;
        assert!(session.text.contains("op@example.com"), "{session:?}");
        assert_eq!(send(&service, "DELETE", &alert, &fixture.key, &json!({})).1.status, 200);
        assert_eq!(
            send(&service, "DELETE", "/api/v1/user/account", &fixture.token, &delete)
                .1
                .status,
            200
        );
        assert!(service.stop().success());
    });
}

#[test]
fn full_disk_does_not_flood_the_log() {
    on_both_databases(|fixture| {
        let mut service = fixture.serve_on_full_disk();
        for _ in 0..50 {
            assert_unavailable(send(
                &service,
                "POST",
                "/api/v1/alerts",
                &fixture.key,
                &price_above(9_000),
            ));
        }
        service.signal("TERM");
        let mut log = String::new();
        service.stderr.read_to_string(&mut log).unwrap();
        let failed = log
            .lines()
            .filter(|line| line.contains("the database is not available"))
            .count();
        assert!(failed >= 1, "{log}");
        // One line for the writes, and one for each other failing component. The number of counting lines depends on
        // the duration.
        let lines = log
            .lines()
            .filter(|line| !line.contains("the same line was repeated"))
            .count();
        assert!(lines <= 15, "{lines} lines: {log}");
        assert!(log.contains("the same line was repeated"), "{log}");
    });
}
