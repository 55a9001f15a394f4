//! What the tests share: a clock that is set by hand and names that resolve to what a test says.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use notify::address::{Resolve, Resolving, UrlRules};
use notify::time::{Sleep, Time};
use tokio::sync::watch;

pub(crate) mod channel;
pub(crate) mod outbox;
pub(crate) mod receiver;
pub(crate) mod world;

/// A clock that stands still until it is set on.
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

impl Time for ManualTime {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
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

/// Names that resolve to what a test says, which may change.
#[derive(Debug, Default)]
pub(crate) struct Names {
    addresses: Mutex<HashMap<String, Vec<IpAddr>>>,
    /// The names that were looked up.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Names {
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

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(name.to_owned());
            let found = self.addresses.lock().unwrap().get(name).cloned();
            found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        })
    }
}

/// Rules that open these ranges.
pub(crate) fn opening(ranges: &[&str]) -> UrlRules {
    UrlRules::new(ranges.iter().map(|range| range.parse().unwrap()).collect())
}

/// So often at most one goes to sleep at the same instant.
const SLEEPS: usize = 100_000;

/// Tokio's clock, which in a test that starts paused goes on by itself whenever nobody has anything to do.
///
/// Who goes round in a circle always has something to do, so time would never go on. Here they are found out.
#[derive(Debug)]
pub(crate) struct TokioTime {
    began: tokio::time::Instant,
    began_at: Timestamp,
    sleeps: Mutex<(Timestamp, usize)>,
}

impl TokioTime {
    pub(crate) fn new() -> Self {
        Self {
            began: tokio::time::Instant::now(),
            began_at: at("2026-03-06T14:30:00Z"),
            sleeps: Mutex::default(),
        }
    }

    fn sleeps_again(&self, now: Timestamp) {
        let mut sleeps = self.sleeps.lock().unwrap();
        let before = if sleeps.0 == now { sleeps.1 } else { 0 };
        *sleeps = (now, before + 1);
        assert!(before < SLEEPS, "somebody goes round in a circle");
    }
}

impl Time for TokioTime {
    fn now(&self) -> Timestamp {
        let since = SignedDuration::try_from(self.began.elapsed()).unwrap();
        self.began_at.saturating_add(since).unwrap()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let now = self.now();
        self.sleeps_again(now);
        let left = at.duration_since(now);
        Box::pin(tokio::time::sleep(left.try_into().unwrap_or_default()))
    }
}
