//! Look-ups of names: shared, and bounded for each account.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use notify::address::{LookupOwner, MAX_LOOKUPS_PER_ACCOUNT, NameLookups, Resolve, Resolving};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// A resolver whose look-ups wait until the test lets them end.
#[derive(Debug)]
struct Held {
    /// How often each name was looked up.
    begun: watch::Sender<HashMap<String, usize>>,
    release: Semaphore,
}

impl Held {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            begun: watch::Sender::default(),
            release: Semaphore::new(0),
        })
    }

    fn count(&self) -> usize {
        self.begun.borrow().values().sum()
    }

    /// Waits until so many look-ups have begun.
    async fn begun(&self, count: usize) {
        let mut begun = self.begun.subscribe();
        let begun = begun.wait_for(|begun| begun.values().sum::<usize>() >= count);
        let begun = tokio::time::timeout(Duration::from_secs(120), begun).await;
        begun.expect("they begin").unwrap();
    }
}

impl Resolve for Held {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            self.begun
                .send_modify(|begun| *begun.entry(name.to_owned()).or_default() += 1);
            self.release.acquire().await.unwrap().forget();
            if name.starts_with("missing") {
                return Err(io::ErrorKind::NotFound.into());
            }
            assert!(!name.starts_with("broken"), "a fault of the resolver");
            Ok(vec![IpAddr::from([93, 184, 216, 34])])
        })
    }
}

fn account(number: u128) -> LookupOwner {
    LookupOwner::Account(Uuid::from_u128(number))
}

fn ask(lookups: &NameLookups, name: &str, owner: LookupOwner) -> JoinHandle<io::Result<Vec<IpAddr>>> {
    let (lookups, name) = (lookups.clone(), name.to_owned());
    tokio::spawn(async move { lookups.resolve(&name, owner).await })
}

/// Lets everything that can go on do so. There is one thread, and nothing but tasks.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_all_who_ask_meanwhile() {
    let held = Held::new();
    let lookups = NameLookups::new(Arc::clone(&held) as Arc<dyn Resolve>);
    let asked: Vec<_> = (0..50)
        .map(|number| ask(&lookups, "hooks.example", account(number % 7)))
        .collect();
    settle().await;
    assert_eq!(held.count(), 1);
    held.release.add_permits(1);
    for answer in asked {
        assert_eq!(answer.await.unwrap().unwrap().len(), 1);
    }
    let again = ask(&lookups, "hooks.example", account(1));
    held.release.add_permits(1);
    again.await.unwrap().unwrap();
    assert_eq!(held.count(), 2, "an answer is not kept");
}

#[tokio::test]
async fn everybody_learns_that_a_name_is_not_found() {
    let held = Held::new();
    let lookups = NameLookups::new(Arc::clone(&held) as Arc<dyn Resolve>);
    let asked = [1, 2].map(|number| ask(&lookups, "missing.example", account(number)));
    held.release.add_permits(1);
    for answer in asked {
        assert_eq!(answer.await.unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn an_account_with_slow_names_keeps_only_itself_waiting() {
    let held = Held::new();
    let lookups = NameLookups::new(Arc::clone(&held) as Arc<dyn Resolve>);
    let slow: Vec<_> = (0..=MAX_LOOKUPS_PER_ACCOUNT)
        .map(|number| ask(&lookups, &format!("slow{number}.example"), account(1)))
        .collect();
    settle().await;
    assert_eq!(held.count(), MAX_LOOKUPS_PER_ACCOUNT);
    let other = ask(&lookups, "hooks.example", account(2));
    held.begun(MAX_LOOKUPS_PER_ACCOUNT + 1).await;
    // A caller that joins another one's look-up needs no permit.
    let joins = ask(&lookups, "hooks.example", account(1));
    settle().await;
    held.release.add_permits(slow.len() + 1);
    for answer in slow.into_iter().chain([other, joins]) {
        answer.await.unwrap().unwrap();
    }
    assert_eq!(held.count(), MAX_LOOKUPS_PER_ACCOUNT + 2);
}

#[tokio::test]
async fn a_lookup_counts_until_it_ends_even_if_nobody_waits_for_it() {
    let held = Held::new();
    let lookups = NameLookups::new(Arc::clone(&held) as Arc<dyn Resolve>);
    for number in 0..MAX_LOOKUPS_PER_ACCOUNT {
        let asked = ask(&lookups, &format!("slow{number}.example"), account(1));
        held.begun(number + 1).await;
        asked.abort();
    }
    let next = ask(&lookups, "next.example", account(1));
    settle().await;
    assert_eq!(held.count(), MAX_LOOKUPS_PER_ACCOUNT);
    held.release.add_permits(1);
    held.begun(MAX_LOOKUPS_PER_ACCOUNT + 1).await;
    held.release.add_permits(MAX_LOOKUPS_PER_ACCOUNT);
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_resolver_that_panics_fails_that_lookup_and_no_later_one() {
    let held = Held::new();
    let lookups = NameLookups::new(Arc::clone(&held) as Arc<dyn Resolve>);
    for _ in 0..=MAX_LOOKUPS_PER_ACCOUNT {
        held.release.add_permits(1);
        let broken = ask(&lookups, "broken.example", account(1)).await.unwrap();
        assert!(broken.is_err());
    }
}
