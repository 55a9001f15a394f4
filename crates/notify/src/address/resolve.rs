//! Looking names up.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

/// What [`Resolve`] answers.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Who knows the addresses of names.
pub trait Resolve: Send + Sync + fmt::Debug {
    /// The addresses of a name, the better ones first. It is never asked for what is an address itself.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// Threads for names that were found before ...
const KNOWN_AT_ONCE: usize = 32;
/// ... and for those that were not.
const OTHERS_AT_ONCE: usize = 96;
/// A look-up that gets no thread within this time has failed.
const MAX_WAIT_FOR_THREAD: Duration = Duration::from_secs(5);
/// So many names are remembered as found.
const REMEMBERED: usize = 16_384;

/// The machine's own resolver.
///
/// It holds a thread for each name that it looks up, for as long as name servers let it wait, and giving up waiting does
/// not free the thread. So the threads are counted; and names that were found before have some to themselves, so that a
/// thousand names whose servers are dead keep nobody waiting whose name is well known.
#[derive(Debug)]
pub struct SystemResolver {
    known: Arc<Semaphore>,
    others: Arc<Semaphore>,
    found: Mutex<HashSet<String>>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            known: Arc::new(Semaphore::new(KNOWN_AT_ONCE)),
            others: Arc::new(Semaphore::new(OTHERS_AT_ONCE)),
            found: Mutex::default(),
        }
    }
}

impl SystemResolver {
    fn threads(&self, name: &str) -> Arc<Semaphore> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(if found.contains(name) {
            &self.known
        } else {
            &self.others
        })
    }

    fn remember(&self, name: &str, was_found: bool) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if !was_found {
            found.remove(name);
        } else if !found.contains(name) {
            if found.len() >= REMEMBERED {
                found.clear();
            }
            found.insert(name.to_owned());
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let thread = tokio::time::timeout(MAX_WAIT_FOR_THREAD, self.threads(name).acquire_owned()).await?;
            let thread = thread.map_err(io::Error::other)?;
            let owned = name.to_owned();
            let looked_up = tokio::task::spawn_blocking(move || {
                let _thread = thread;
                let addresses = (owned.as_str(), 0).to_socket_addrs()?;
                Ok(addresses.map(|address| address.ip()).collect::<Vec<_>>())
            });
            let found = looked_up.await.map_err(io::Error::other).flatten();
            self.remember(name, found.is_ok());
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_that_were_found_have_threads_to_themselves() {
        let resolver = SystemResolver::default();
        resolver.remember("known.example", true);
        assert!(Arc::ptr_eq(&resolver.threads("known.example"), &resolver.known));
        assert!(Arc::ptr_eq(&resolver.threads("other.example"), &resolver.others));
        resolver.remember("known.example", false);
        assert!(Arc::ptr_eq(&resolver.threads("known.example"), &resolver.others));
    }

    #[tokio::test]
    async fn the_machine_knows_localhost() {
        let resolver = SystemResolver::default();
        let found = resolver.resolve("localhost").await.unwrap();
        assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty());
        assert!(Arc::ptr_eq(&resolver.threads("localhost"), &resolver.known));
    }
}
