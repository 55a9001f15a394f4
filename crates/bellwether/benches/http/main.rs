//! Load benchmarks of the program over HTTP.
//!
//! ```sh
//! cargo bench -p bellwether --bench http
//! cargo bench -p bellwether --bench http -- lists deliveries
//! ```
//!
//! | name | measures |
//! |---|---|
//! | `lists` | the processor time of `GET /alerts`, against a bare answer of as many bytes |
//! | `creates` | the processor time and the rate of `POST /alerts`, against a bare handler |
//! | `ingest` | the processor time of a pushed quote that fires nothing |
//! | `deliveries` | the processor time from a quote to a settled delivery, against bare hyper that signs and posts |
//! | `delays` | the time from a quote to an accepted message, for each type of channel, against local servers |
//! | `logins` | the latency of `GET /healthz` while 200 clients sign in; the duration of failed sign-ins with and without an account |
//! | `cluster` | the time from the creation of an alert that holds to its firing, with two evaluators, on PostgreSQL and NATS |
//! | `storm` | the latency of `GET /alerts` while 100,000 alerts fire |
//!
//! Processor time is that of the program's process. Contenders run in turn, in separate processes, so that a ratio compares the same
//! minutes of the same machine.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a failing benchmark may panic"
)]

mod bare;
mod bare_sender;
mod cluster;
mod creates;
mod delays;
mod deliveries;
mod goal;
mod ingest;
mod lists;
mod load;
mod logins;
mod program;
mod receiver;
mod services;
mod storm;

use program::Program;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["bare"] => return bare::serve(),
        ["send", port, body_bytes, count] => return bare_sender::send(port, body_bytes, count),
        _ if !arguments.contains(&"--bench") => return,
        _ => {}
    }
    let names: Vec<&str> = arguments
        .into_iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let is_wanted = |name: &str| names.is_empty() || names.contains(&name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let program = Program::start().await;
        if is_wanted("logins") {
            logins::logins(&program).await;
        }
        if is_wanted("lists") {
            lists::lists(&program).await;
        }
        if is_wanted("creates") {
            creates::creates(&program).await;
        }
        if is_wanted("ingest") {
            ingest::quiet_quotes(&program).await;
        }
        if is_wanted("deliveries") {
            deliveries::deliveries(&program).await;
        }
        if is_wanted("delays") {
            delays::delays().await;
        }
        if is_wanted("cluster") {
            cluster::created_to_judged().await;
        }
        if is_wanted("storm") {
            storm::storm(&program).await;
        }
    });
}
