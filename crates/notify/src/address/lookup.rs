//! DNS lookups, shared between callers and limited per account.
//!
//! A lookup holds a thread until its name server responds. So there is one lookup for each name at a time, and callers with
//! the same name share its result. An account has a maximum of concurrent lookups, so that its slow name servers delay its own
//! deliveries only. A lookup counts until it ends, even if all callers were cancelled.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::Shared;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use uuid::Uuid;

use super::Resolver;

/// Maximum number of concurrent lookups for one account.
pub const MAX_LOOKUPS_PER_ACCOUNT: usize = 4;
/// Maximum number of concurrent lookups for all requests without an account.
const MAX_ANONYMOUS_LOOKUPS: usize = 16;

/// The party that a lookup counts for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LookupOwner {
    /// An account, for its webhooks.
    Account(Uuid),
    /// A client that has not signed in.
    Anonymous,
}

impl LookupOwner {
    const fn max_lookups(self) -> usize {
        match self {
            Self::Account(_) => MAX_LOOKUPS_PER_ACCOUNT,
            Self::Anonymous => MAX_ANONYMOUS_LOOKUPS,
        }
    }
}

type LookupResult = Result<Arc<[IpAddr]>, io::ErrorKind>;
type Running = Shared<Pin<Box<dyn Future<Output = LookupResult> + Send>>>;

/// DNS lookups with a resolver.
#[derive(Clone, Debug)]
pub struct NameLookups {
    resolver: Arc<dyn Resolver>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    running: HashMap<String, Running>,
    /// Owners with running or waiting lookups.
    owners: HashMap<LookupOwner, Arc<Semaphore>>,
}

impl NameLookups {
    /// Creates lookups with this resolver.
    #[must_use]
    pub fn new(resolver: Arc<dyn Resolver>) -> Self {
        Self {
            resolver,
            state: Arc::default(),
        }
    }

    /// Returns the addresses of a name, the better ones first. Waits while the owner has too many concurrent lookups.
    ///
    /// # Errors
    /// The resolver's error.
    pub async fn resolve(&self, name: &str, owner: LookupOwner) -> io::Result<Vec<IpAddr>> {
        let running = self.lock().running.get(name).cloned();
        let running = match running {
            Some(running) => running,
            None => {
                let permit = self.permit(owner).await?;
                self.start(name, permit)
            }
        };
        let addresses = running.await?;
        Ok(addresses.to_vec())
    }

    async fn permit(&self, owner: LookupOwner) -> io::Result<Permit> {
        let semaphore = {
            let mut state = self.lock();
            let semaphore = state.owners.entry(owner);
            Arc::clone(semaphore.or_insert_with(|| Arc::new(Semaphore::new(owner.max_lookups()))))
        };
        let forget = ForgetOwner {
            state: Arc::clone(&self.state),
            owner,
        };
        Ok(Permit {
            _permit: semaphore.acquire_owned().await.map_err(io::Error::other)?,
            _forget: forget,
        })
    }

    /// Starts a lookup, unless another caller has started one of that name meanwhile.
    fn start(&self, name: &str, permit: Permit) -> Running {
        let mut state = self.lock();
        if let Some(running) = state.running.get(name) {
            let running = running.clone();
            drop(state);
            drop(permit);
            return running;
        }
        let (send, receive) = oneshot::channel();
        let result = receive.map(|result| result.unwrap_or(Err(io::ErrorKind::Other)));
        let running: Running = (Box::pin(result) as Pin<Box<dyn Future<Output = LookupResult> + Send>>).shared();
        state.running.insert(name.to_owned(), running.clone());
        drop(state);
        let end = EndLookup {
            state: Arc::clone(&self.state),
            name: name.to_owned(),
        };
        let resolver = Arc::clone(&self.resolver);
        tokio::spawn(async move {
            let found = resolver.resolve(&end.name).await;
            // A later caller starts a new lookup.
            drop(end);
            drop(permit);
            // All callers may have been cancelled.
            let _ = send.send(found.map(Arc::from).map_err(|error| error.kind()));
        });
        running
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Every change is a single insertion or removal, so a panic leaves nothing half done.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The permission for one lookup of an owner. The fields are dropped in this order.
struct Permit {
    _permit: OwnedSemaphorePermit,
    _forget: ForgetOwner,
}

/// Removes an owner without lookups on drop. Also dropped when a caller is cancelled while it waits for a permit.
struct ForgetOwner {
    state: Arc<Mutex<State>>,
    owner: LookupOwner,
}

impl Drop for ForgetOwner {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        // Each permit and each waiting caller has a handle.
        if state
            .owners
            .get(&self.owner)
            .is_some_and(|owner| Arc::strong_count(owner) == 1)
        {
            state.owners.remove(&self.owner);
        }
    }
}

/// Removes a lookup from the running ones on drop, even if the resolver panics.
struct EndLookup {
    state: Arc<Mutex<State>>,
    name: String,
}

impl Drop for EndLookup {
    fn drop(&mut self) {
        lock(&self.state).running.remove(&self.name);
    }
}
