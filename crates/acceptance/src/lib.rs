//! # Black-box acceptance tests
//!
//! The tests of this crate do not depend on the crates of the service. They start the real program on SQLite and on PostgreSQL,
//! send HTTP requests as any client does, and compare the behaviour with the documentation. This library holds the shared test
//! support:
//!
//! * [`program`]: finds or builds the binary, configures it with a database and settings, starts and kills it.
//! * [`client`]: sends requests. Every [`CheckedResponse`] is checked for the rules of *all* responses (envelope, headers, format
//!   of numbers, timestamps and ids), so the tests do not repeat these checks.
//! * [`environment`]: a running service with an operator who pushes market data, and accounts.
//! * [`market`]: generated bars and mention counts.
//! * [`raw_http`]: sends arbitrary bytes over TCP.
//! * [`scripted_server`]: an HTTP server with scripted behaviour, for webhooks, SMS and proxies.
//! * [`mail`]: an SMTP server.
//! * [`clock`]: the current date in New York, and waiting with a deadline.
//! * [`relay`]: a relay between a node and PostgreSQL or NATS, which can be cut.
//! * [`tools`]: third-party programs that some tests need.
//!
//! `BELLWETHER_BIN` names the binary to test. Without it, the tests build the binary.
//!
//! Functions of this crate panic if the service does not behave as expected, because each is a step of a test.

#![allow(
    clippy::unwrap_used,
    reason = "this crate is test support, and a panic fails the test"
)]

pub mod client;
pub mod clock;
pub mod environment;
pub mod mail;
pub mod market;
pub mod program;
pub mod raw_http;
pub mod relay;
pub mod scripted_server;
pub mod tools;
mod value_format;

pub use client::{ApiClient, CheckedResponse};
pub use environment::TestEnvironment;
pub use mail::{MailServer, ReceivedMail};
pub use program::{DatabaseKind, RunningService, ServiceSetup};
pub use relay::{Cut, Relay};
pub use scripted_server::{Behaviour, RecordedRequest, ScriptedServer};

/// Generates two tests for each listed `async fn(ServiceSetup)`: one on SQLite and one on PostgreSQL.
#[macro_export]
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test($crate::ServiceSetup::on($crate::DatabaseKind::Sqlite).await).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test($crate::ServiceSetup::on($crate::DatabaseKind::Postgres).await).await;
                }
            )+
        }
    };
}
