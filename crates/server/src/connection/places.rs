//! Limits of connections: in all, for each client, and a few that are reserved for health checks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::settings::TrustedProxy;

/// Connections that a client may have beyond its share, for health checks only: probes may come from the address of a client that
/// holds all it may.
const HEALTH_BEYOND_SHARE: usize = 8;

/// The places of one listener.
#[derive(Clone, Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// Places in which only health is answered.
    for_health: Arc<Semaphore>,
    clients: Arc<Clients>,
}

/// The permitted use of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// Everything.
    Any,
    /// Health checks: all other places are taken.
    HealthWhenFull,
    /// Health checks: the client has its share of the other places.
    HealthBeyondShare,
}

/// A place that a connection holds until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _counted: Option<Counted>,
}

/// The client has as many connections as it may have, also for health checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooMany;

/// A place for the next connection, from any client.
#[derive(Debug)]
pub(super) enum FreePlace {
    /// For everything.
    Any(OwnedSemaphorePermit),
    /// For health checks.
    Health(OwnedSemaphorePermit),
}

impl Places {
    /// `in_all` places, of which each client may have `of_each`, and `for_health` besides. Trusted proxies have no limit of their
    /// own: each stands for many clients.
    pub(super) fn new(in_all: usize, of_each: usize, for_health: usize, proxies: Vec<TrustedProxy>) -> Self {
        Self {
            all: Arc::new(Semaphore::new(in_all)),
            for_health: Arc::new(Semaphore::new(for_health)),
            clients: Arc::new(Clients {
                of_each,
                proxies,
                counts: Mutex::default(),
            }),
        }
    }

    /// Waits until a connection can be accepted. `None` never comes: the semaphores are not closed.
    pub(super) async fn free(&self) -> Option<FreePlace> {
        let (all, for_health) = (Arc::clone(&self.all), Arc::clone(&self.for_health));
        tokio::select! {
            biased;
            permit = all.acquire_owned() => permit.ok().map(FreePlace::Any),
            permit = for_health.acquire_owned() => permit.ok().map(FreePlace::Health),
        }
    }

    /// Gives a connection from `client` a place.
    ///
    /// # Errors
    /// [`TooMany`], if the client has as many connections as it may have.
    pub(super) fn take(&self, free: FreePlace, client: IpAddr) -> Result<(Place, Use), TooMany> {
        let (counted, is_beyond) = Clients::count(&self.clients, client)?;
        let (permit, may) = match (free, is_beyond) {
            (FreePlace::Any(permit), false) => (permit, Use::Any),
            // While this one waited for a connection, a better place may have become free.
            (FreePlace::Health(permit), false) => match Arc::clone(&self.all).try_acquire_owned() {
                Ok(better) => (better, Use::Any),
                Err(_) => (permit, Use::HealthWhenFull),
            },
            (FreePlace::Health(permit), true) => (permit, Use::HealthBeyondShare),
            (FreePlace::Any(_), true) => {
                let permit = Arc::clone(&self.for_health).try_acquire_owned();
                (permit.map_err(|_| TooMany)?, Use::HealthBeyondShare)
            }
        };
        let place = Place {
            _permit: permit,
            _counted: counted,
        };
        Ok((place, may))
    }
}

/// The number of connections of each client.
#[derive(Debug)]
struct Clients {
    of_each: usize,
    proxies: Vec<TrustedProxy>,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

impl Clients {
    /// Counts a connection, and tells whether it is beyond the client's share.
    fn count(clients: &Arc<Self>, address: IpAddr) -> Result<(Option<Counted>, bool), TooMany> {
        if clients.proxies.iter().any(|proxy| proxy.contains(address)) {
            return Ok((None, false));
        }
        let client = client(address);
        let mut counts = clients.counts();
        let count = counts.entry(client).or_default();
        if *count >= clients.of_each.saturating_add(HEALTH_BEYOND_SHARE) {
            return Err(TooMany);
        }
        *count += 1;
        let is_beyond = *count > clients.of_each;
        drop(counts);
        let counted = Counted {
            clients: Arc::clone(clients),
            client,
        };
        Ok((Some(counted), is_beyond))
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Every change is a single one, so a panic leaves nothing half done.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the client of an address: an IPv4 address itself, or the /64 network of an IPv6 address, all of which one machine has.
fn client(address: IpAddr) -> IpAddr {
    const HOST_BITS: u32 = 64;
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> HOST_BITS << HOST_BITS).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// A connection of a client that is counted until this is dropped.
#[derive(Debug)]
struct Counted {
    clients: Arc<Clients>,
    client: IpAddr,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.clients.counts();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn take(places: &Places, address: &str) -> Option<Result<(Place, Use), TooMany>> {
        let free = places.free().now_or_never()??;
        Some(places.take(free, address.parse().unwrap()))
    }

    fn may(taken: &Option<Result<(Place, Use), TooMany>>) -> Option<Result<Use, TooMany>> {
        taken
            .as_ref()
            .map(|taken| taken.as_ref().map(|(_, may)| *may).map_err(|error| *error))
    }

    #[test]
    fn one_client_has_its_places_and_others_have_theirs() {
        let places = Places::new(10, 2, 0, Vec::new());
        let first = take(&places, "192.0.2.1");
        let second = take(&places, "::ffff:192.0.2.1");
        assert_eq!(may(&second), Some(Ok(Use::Any)));
        assert_eq!(may(&take(&places, "192.0.2.1")), Some(Err(TooMany)));
        let other = take(&places, "192.0.2.2");
        assert_eq!(may(&other), Some(Ok(Use::Any)));
        drop(first);
        assert_eq!(may(&take(&places, "192.0.2.1")), Some(Ok(Use::Any)));
    }

    #[test]
    fn a_network_of_64_bits_is_one_client_with_ipv6() {
        let places = Places::new(10, 1, 0, Vec::new());
        let _first = take(&places, "2001:db8:0:1::1");
        assert_eq!(may(&take(&places, "2001:db8:0:1:ffff::2")), Some(Err(TooMany)));
        assert_eq!(may(&take(&places, "2001:db8:0:2::1")), Some(Ok(Use::Any)));
    }

    #[test]
    fn a_trusted_proxy_is_not_counted_as_one_client() {
        let places = Places::new(4, 1, 0, vec!["10.0.0.0/8".parse().unwrap()]);
        let taken: Vec<_> = (0..4).map(|_| take(&places, "10.0.0.7")).collect();
        assert!(taken.iter().all(|taken| may(taken) == Some(Ok(Use::Any))));
        assert_eq!(
            may(&take(&places, "10.0.0.7")),
            None,
            "but the places in all are counted"
        );
    }

    #[test]
    fn a_client_that_has_its_share_can_still_check_health() {
        let places = Places::new(10, 1, HEALTH_BEYOND_SHARE + 1, Vec::new());
        let _first = take(&places, "192.0.2.1");
        let health: Vec<_> = (0..HEALTH_BEYOND_SHARE).map(|_| take(&places, "192.0.2.1")).collect();
        assert!(
            health
                .iter()
                .all(|taken| may(taken) == Some(Ok(Use::HealthBeyondShare)))
        );
        assert_eq!(may(&take(&places, "192.0.2.1")), Some(Err(TooMany)));
        assert_eq!(may(&take(&places, "192.0.2.2")), Some(Ok(Use::Any)));
        drop(health);
        assert_eq!(may(&take(&places, "192.0.2.1")), Some(Ok(Use::HealthBeyondShare)));
    }

    #[test]
    fn when_all_places_are_taken_those_for_health_are_left() {
        let places = Places::new(1, 5, 1, Vec::new());
        let first = take(&places, "192.0.2.1");
        let health = take(&places, "192.0.2.1");
        let expected = (Some(Ok(Use::Any)), Some(Ok(Use::HealthWhenFull)));
        assert_eq!((may(&first), may(&health)), expected);
        assert_eq!(may(&take(&places, "192.0.2.1")), None);
        drop(health);
        let waiting = places.free().now_or_never().flatten().unwrap();
        drop(first);
        let (_place, may) = places.take(waiting, "192.0.2.1".parse().unwrap()).unwrap();
        assert_eq!(may, Use::Any, "a better place became free before the connection came");
    }
}
