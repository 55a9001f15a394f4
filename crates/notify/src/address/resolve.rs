//! DNS resolvers.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

/// The future of [`Resolver::resolve`].
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// A DNS resolver.
pub trait Resolver: Send + Sync + fmt::Debug {
    /// Returns the IP addresses of a name, the preferred ones first. It is never called with an IP address.
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a>;
}

/// Maximum number of threads for names that were resolved before.
const MAX_THREADS_FOR_KNOWN_NAMES: usize = 32;
/// Maximum number of threads for all other names.
const MAX_THREADS_FOR_OTHER_NAMES: usize = 96;
/// A lookup that gets no thread within this time fails.
const MAX_WAIT_FOR_THREAD: Duration = Duration::from_secs(5);
/// Maximum number of names that are remembered as resolved.
const MAX_KNOWN_NAMES: usize = 16_384;

/// The resolver of the operating system.
///
/// Each lookup blocks a thread until the name server responds, even if the caller stops waiting. So the number of threads is limited.
/// Names that were resolved before have separate threads, so that a thousand names with dead name servers do not delay them.
#[derive(Debug)]
pub struct SystemResolver {
    known: Arc<Semaphore>,
    others: Arc<Semaphore>,
    found: Mutex<HashSet<String>>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            known: Arc::new(Semaphore::new(MAX_THREADS_FOR_KNOWN_NAMES)),
            others: Arc::new(Semaphore::new(MAX_THREADS_FOR_OTHER_NAMES)),
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
            if found.len() >= MAX_KNOWN_NAMES {
                found.clear();
            }
            found.insert(name.to_owned());
        }
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
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
    async fn resolved_names_have_separate_threads() {
        let resolver = SystemResolver::default();
        resolver.remember("known.example", true);
        assert!(Arc::ptr_eq(&resolver.threads("known.example"), &resolver.known));
        assert!(Arc::ptr_eq(&resolver.threads("other.example"), &resolver.others));
        resolver.remember("known.example", false);
        assert!(Arc::ptr_eq(&resolver.threads("known.example"), &resolver.others));
    }

    #[tokio::test]
    async fn system_resolver_resolves_localhost() {
        let resolver = SystemResolver::default();
        let found = resolver.resolve("localhost").await.unwrap();
        assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty());
        assert!(Arc::ptr_eq(&resolver.threads("localhost"), &resolver.known));
    }
}
