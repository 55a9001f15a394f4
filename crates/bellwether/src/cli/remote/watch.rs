//! `bellwether watch`: prints the firings of an account as they come.
//!
//! Each firing has a position in the stream of the server. After the server or the network was gone, a new stream continues after the
//! last one: nothing is lost, and nothing is printed twice.

use std::collections::HashSet;
use std::time::Duration;

use clap::Args;
use client::{Client, ClientError, FiringStream, RemoteFiring, RequestRetryPolicy};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::super::{CommandError, print, say};
use super::connection::{ConnectionArgs, block_on};

/// The pauses while the server cannot be reached.
const RECONNECTION: RequestRetryPolicy = RequestRetryPolicy {
    max_attempts: u32::MAX,
    first_pause: Duration::from_millis(500),
    max_pause: Duration::from_secs(15),
    max_retry_after: Duration::from_secs(3_600),
    repeats_server_errors: true,
};

#[derive(Args, Debug)]
pub(in crate::cli) struct WatchArgs {
    /// Print each firing as a JSON line
    #[arg(long)]
    json: bool,
    /// Begin with the firings since this time, such as 2026-03-02T15:04:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Stop after this number of firings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Prints firings until the command is stopped.
pub(super) fn run(args: &WatchArgs) -> Result<(), CommandError> {
    let client = args.connection.client()?;
    block_on(async {
        let mut firings = WatchedFirings::new(client, args.since);
        let mut printed = 0;
        loop {
            match firings.next().await {
                Ok(firing) => {
                    print(&line(&firing, args.json))?;
                    printed += 1;
                    if args.count.is_some_and(|count| printed >= count) {
                        return Ok(());
                    }
                }
                Err(error) => {
                    if std::mem::take(&mut firings.is_connected) {
                        say!("{error}; trying again");
                    }
                    let pause = RECONNECTION.pause(firings.failures, &error).ok_or(error)?;
                    tokio::time::sleep(pause).await;
                }
            }
        }
    })
}

fn line(firing: &RemoteFiring, is_json: bool) -> String {
    if is_json {
        return format!("{}\n", json!(firing));
    }
    let time = firing
        .timeline
        .committed_at
        .as_ref()
        .unwrap_or(&firing.timeline.received_at);
    format!("{time}  {:6}  {}\n", firing.symbol, firing.reason)
}

/// The firings of an account, across several streams.
struct WatchedFirings {
    client: Client,
    /// The stream, unless it is broken.
    stream: Option<FiringStream>,
    /// The number of failures since the last firing.
    failures: u32,
    /// Whether the user knows of no failure.
    is_connected: bool,
    /// The position after which the next stream begins; `None` before the first one.
    position: Option<i64>,
    /// The instant whose later firings have not been listed yet.
    since: Option<Timestamp>,
    /// The listed firings, newest first. The stream may have the last of them as well.
    listed: Vec<RemoteFiring>,
    listed_ids: HashSet<Uuid>,
}

impl WatchedFirings {
    fn new(client: Client, since: Option<Timestamp>) -> Self {
        Self {
            client,
            stream: None,
            failures: 0,
            is_connected: true,
            position: None,
            since,
            listed: Vec::new(),
            listed_ids: HashSet::new(),
        }
    }

    /// Waits for the next firing. After an error, the next call opens a new stream.
    async fn next(&mut self) -> Result<RemoteFiring, ClientError> {
        let result = self.next_of_stream().await;
        if result.is_ok() {
            self.failures = 0;
        } else {
            self.stream = None;
            self.failures = self.failures.saturating_add(1);
        }
        result
    }

    async fn next_of_stream(&mut self) -> Result<RemoteFiring, ClientError> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream = self.client.firing_stream(self.position).await?;
                if !std::mem::replace(&mut self.is_connected, true) {
                    say!("connected again");
                }
                self.position = Some(stream.position());
                self.stream.insert(stream)
            }
        };
        // Listed after the stream was opened, so that no firing falls between them.
        if let Some(since) = self.since {
            self.listed = self.client.firings(Some(&format!("{since:.3}"))).await?;
            self.listed_ids = self.listed.iter().map(|firing| firing.id).collect();
            self.since = None;
        }
        if let Some(firing) = self.listed.pop() {
            return Ok(firing);
        }
        loop {
            let firing = stream.next().await?;
            self.position = Some(stream.position());
            if !self.listed_ids.remove(&firing.id) {
                return Ok(firing);
            }
        }
    }
}
