//! DNS lookups: shared between callers, and limited per account.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use notify::address::{LookupOwner, MAX_LOOKUPS_PER_ACCOUNT, NameLookups, ResolveFuture, Resolver};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// A resolver whose lookups wait until the test releases them.
#[derive(Debug)]
struct BlockedResolver {
    /// Number of lookups per name.
    begun: watch::Sender<HashMap<String, usize>>,
    release: Semaphore,
}

impl BlockedResolver {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            begun: watch::Sender::default(),
            release: Semaphore::new(0),
        })
    }

    fn count(&self) -> usize {
        self.begun.borrow().values().sum()
    }

    /// Waits until `count` lookups have started.
    async fn begun(&self, count: usize) {
        let mut begun = self.begun.subscribe();
        let begun = begun.wait_for(|begun| begun.values().sum::<usize>() >= count);
        let begun = tokio::time::timeout(Duration::from_secs(120), begun).await;
        begun.expect("the lookups start").unwrap();
    }
}

impl Resolver for BlockedResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            self.begun
                .send_modify(|begun| *begun.entry(name.to_owned()).or_default() += 1);
            self.release.acquire().await.unwrap().forget();
            if name.starts_with("missing") {
                return Err(io::ErrorKind::NotFound.into());
            }
            assert!(!name.starts_with("broken"), "a failure of the resolver");
            Ok(vec![IpAddr::from([93, 184, 216, 34])])
        })
    }
}

fn account(number: u128) -> LookupOwner {
    LookupOwner::Account(Uuid::from_u128(number))
}

fn lookup(lookups: &NameLookups, name: &str, owner: LookupOwner) -> JoinHandle<io::Result<Vec<IpAddr>>> {
    let (lookups, name) = (lookups.clone(), name.to_owned());
    tokio::spawn(async move { lookups.resolve(&name, owner).await })
}

/// Lets all tasks proceed as far as they can. The runtime has one thread.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn concurrent_lookups_of_a_name_are_shared() {
    let resolver = BlockedResolver::new();
    let lookups = NameLookups::new(Arc::clone(&resolver) as Arc<dyn Resolver>);
    let callers: Vec<_> = (0..50)
        .map(|number| lookup(&lookups, "hooks.example", account(number % 7)))
        .collect();
    settle().await;
    assert_eq!(resolver.count(), 1);
    resolver.release.add_permits(1);
    for answer in callers {
        assert_eq!(answer.await.unwrap().unwrap().len(), 1);
    }
    let again = lookup(&lookups, "hooks.example", account(1));
    resolver.release.add_permits(1);
    again.await.unwrap().unwrap();
    assert_eq!(resolver.count(), 2, "a result is not cached");
}

#[tokio::test]
async fn not_found_is_returned_to_all_callers() {
    let resolver = BlockedResolver::new();
    let lookups = NameLookups::new(Arc::clone(&resolver) as Arc<dyn Resolver>);
    let callers = [1, 2].map(|number| lookup(&lookups, "missing.example", account(number)));
    resolver.release.add_permits(1);
    for answer in callers {
        assert_eq!(answer.await.unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn slow_names_of_an_account_do_not_delay_other_accounts() {
    let resolver = BlockedResolver::new();
    let lookups = NameLookups::new(Arc::clone(&resolver) as Arc<dyn Resolver>);
    let slow: Vec<_> = (0..=MAX_LOOKUPS_PER_ACCOUNT)
        .map(|number| lookup(&lookups, &format!("slow{number}.example"), account(1)))
        .collect();
    settle().await;
    assert_eq!(resolver.count(), MAX_LOOKUPS_PER_ACCOUNT);
    let other = lookup(&lookups, "hooks.example", account(2));
    resolver.begun(MAX_LOOKUPS_PER_ACCOUNT + 1).await;
    // A caller that joins a running lookup needs no permit.
    let joins = lookup(&lookups, "hooks.example", account(1));
    settle().await;
    resolver.release.add_permits(slow.len() + 1);
    for answer in slow.into_iter().chain([other, joins]) {
        answer.await.unwrap().unwrap();
    }
    assert_eq!(resolver.count(), MAX_LOOKUPS_PER_ACCOUNT + 2);
}

#[tokio::test]
async fn cancelled_lookup_counts_until_it_ends() {
    let resolver = BlockedResolver::new();
    let lookups = NameLookups::new(Arc::clone(&resolver) as Arc<dyn Resolver>);
    for number in 0..MAX_LOOKUPS_PER_ACCOUNT {
        let callers = lookup(&lookups, &format!("slow{number}.example"), account(1));
        resolver.begun(number + 1).await;
        callers.abort();
    }
    let next = lookup(&lookups, "next.example", account(1));
    settle().await;
    assert_eq!(resolver.count(), MAX_LOOKUPS_PER_ACCOUNT);
    resolver.release.add_permits(1);
    resolver.begun(MAX_LOOKUPS_PER_ACCOUNT + 1).await;
    resolver.release.add_permits(MAX_LOOKUPS_PER_ACCOUNT);
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn resolver_panic_fails_that_lookup_only() {
    let resolver = BlockedResolver::new();
    let lookups = NameLookups::new(Arc::clone(&resolver) as Arc<dyn Resolver>);
    for _ in 0..=MAX_LOOKUPS_PER_ACCOUNT {
        resolver.release.add_permits(1);
        let broken = lookup(&lookups, "broken.example", account(1)).await.unwrap();
        assert!(broken.is_err());
    }
}
