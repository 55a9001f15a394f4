//! Shared helpers: a manual clock, a fake resolver and policies.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

use clock::{Clock, Sleep};
use jiff::{SignedDuration, Timestamp};
use notify::address::{ResolveFuture, Resolver, UrlPolicy};
use tokio::sync::watch;

pub(crate) mod client_fixture;
pub(crate) mod dispatcher_fixture;
pub(crate) mod outbox;
pub(crate) mod random;
pub(crate) mod receiver;

/// A clock that only moves when the test advances it.
#[derive(Debug)]
pub(crate) struct ManualTime(watch::Sender<Timestamp>);

impl ManualTime {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(at("2026-03-06T14:30:00Z")))
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.0.send_modify(|now| *now = now.saturating_add(by).unwrap());
    }
}

impl Clock for ManualTime {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let mut time = self.0.subscribe();
        Box::pin(async move {
            let _ = time.wait_for(|now| *now >= at).await;
        })
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A resolver with configurable addresses.
#[derive(Debug, Default)]
pub(crate) struct FakeResolver {
    addresses: Mutex<HashMap<String, Vec<IpAddr>>>,
    /// The names that were looked up.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl FakeResolver {
    pub(crate) fn of(names: &[(&str, &[&str])]) -> Self {
        let all = Self::default();
        for (name, addresses) in names {
            all.set(name, addresses);
        }
        all
    }

    pub(crate) fn set(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        self.addresses.lock().unwrap().insert(name.to_owned(), addresses);
    }
}

impl Resolver for FakeResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(name.to_owned());
            let found = self.addresses.lock().unwrap().get(name).cloned();
            found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        })
    }
}

/// Returns a policy that permits these ranges.
pub(crate) fn policy_allowing(ranges: &[&str]) -> UrlPolicy {
    UrlPolicy::new(ranges.iter().map(|range| range.parse().unwrap()).collect())
}

/// Maximum number of sleeps at the same instant before a test fails.
const MAX_SLEEPS_PER_INSTANT: usize = 100_000;

/// The clock of Tokio. With a paused runtime, it advances whenever all tasks are idle.
///
/// A busy loop is never idle, so time would not advance. This clock detects that.
#[derive(Debug)]
pub(crate) struct TokioTime {
    started: tokio::time::Instant,
    started_at: Timestamp,
    sleeps: Mutex<(Timestamp, usize)>,
}

impl TokioTime {
    pub(crate) fn new() -> Self {
        Self {
            started: tokio::time::Instant::now(),
            started_at: at("2026-03-06T14:30:00Z"),
            sleeps: Mutex::default(),
        }
    }

    fn sleeps_again(&self, now: Timestamp) {
        let mut sleeps = self.sleeps.lock().unwrap();
        let before = if sleeps.0 == now { sleeps.1 } else { 0 };
        *sleeps = (now, before + 1);
        assert!(before < MAX_SLEEPS_PER_INSTANT, "a busy loop");
    }
}

impl Clock for TokioTime {
    fn now(&self) -> Timestamp {
        let since = SignedDuration::try_from(self.started.elapsed()).unwrap();
        self.started_at.saturating_add(since).unwrap()
    }

    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let now = self.now();
        self.sleeps_again(now);
        let left = at.duration_since(now);
        Box::pin(tokio::time::sleep(left.try_into().unwrap_or_default()))
    }
}
