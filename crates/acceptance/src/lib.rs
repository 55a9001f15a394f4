//! # The program as its users meet it
//!
//! The tests of this room know nothing of the house. They start the real program, on SQLite and on PostgreSQL, speak HTTP
//! with it as any client would, and compare what it does with what its documentation promises. What lies here is what
//! they share:
//!
//! * [`program`]: finds or builds the binary, gives it a database and settings, starts it, kills it.
//! * [`client`]: sends requests. Every [`Answer`] is checked for what holds of *all* answers (the
//!   envelope, its headers, the form of numbers, instants and ids), so that no test has to.
//! * [`world`]: a running program with an operator who feeds it market data, and accounts.
//! * [`market`]: invented bars and counts.
//! * [`raw`]: sends bytes that are no requests.
//! * [`receiver`]: a receiver of webhooks that behaves as it is told.
//! * [`mail`]: a mail server.
//! * [`clock`]: what day it is in New York, and waiting for something with a deadline.
//!
//! `BELLWETHER_BIN` names the program to test; without it, it is built.

#![allow(
    clippy::unwrap_used,
    reason = "everything here is part of a test, and a test may fail so"
)]

pub mod client;
pub mod clock;
pub mod mail;
pub mod market;
pub mod program;
pub mod raw;
pub mod receiver;
mod shape;
pub mod tools;
pub mod world;

pub use client::{Answer, Client};
pub use mail::{Mail, MailServer};
pub use program::{Database, Server, Setup};
pub use receiver::{Behaviour, Received, Receiver};
pub use world::World;

/// Makes two tests of each of the named `async fn(Setup)`, one for each database.
#[macro_export]
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test($crate::Setup::on($crate::Database::Sqlite).await).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test($crate::Setup::on($crate::Database::Postgres).await).await;
                }
            )+
        }
    };
}
