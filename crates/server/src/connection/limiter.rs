//! Connection limits: in total and for each client, with a few connections reserved for health checks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::layers::client::client_network;
use crate::settings::TrustedProxy;

/// The number of connections that a client may have above its limit, for health checks only. A health probe may come from the
/// address of a client that is at its limit.
const MAX_HEALTH_CONNECTIONS_OVER_LIMIT: usize = 8;

/// The connection limits of one listener.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLimiter {
    all: Arc<Semaphore>,
    /// Permits for connections that serve health checks only.
    for_health: Arc<Semaphore>,
    clients: Arc<ClientCounts>,
}

/// The permitted use of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConnectionUse {
    /// All routes.
    Any,
    /// Health checks only, because all other connections are taken.
    HealthWhenFull,
    /// Health checks only, because the client is at its limit.
    HealthOverClientLimit,
}

/// The permit of a connection. Dropping it releases the connection's capacity.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    _counted: Option<CountedConnection>,
}

/// The error for a client at its limit, including the connections for health checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyConnections;

/// Capacity for the next connection, from any client.
#[derive(Debug)]
pub(super) enum AcceptPermit {
    /// For all routes.
    Any(OwnedSemaphorePermit),
    /// For health checks only.
    Health(OwnedSemaphorePermit),
}

impl ConnectionLimiter {
    /// Creates limits of `total` connections, `per_client` for each client, and `for_health` in addition for health checks.
    /// Trusted proxies have no limit per client, because each represents many clients.
    pub(super) fn new(total: usize, per_client: usize, for_health: usize, proxies: Vec<TrustedProxy>) -> Self {
        Self {
            all: Arc::new(Semaphore::new(total)),
            for_health: Arc::new(Semaphore::new(for_health)),
            clients: Arc::new(ClientCounts {
                per_client,
                proxies,
                counts: Mutex::default(),
            }),
        }
    }

    /// Waits until a connection can be accepted. It never returns `None`, because the semaphores are not closed.
    pub(super) async fn acquire(&self) -> Option<AcceptPermit> {
        let (all, for_health) = (Arc::clone(&self.all), Arc::clone(&self.for_health));
        tokio::select! {
            biased;
            permit = all.acquire_owned() => permit.ok().map(AcceptPermit::Any),
            permit = for_health.acquire_owned() => permit.ok().map(AcceptPermit::Health),
        }
    }

    /// Admits a connection from `client` and returns its permitted use.
    ///
    /// # Errors
    /// [`TooManyConnections`], if the client is at its limit.
    pub(super) fn admit(
        &self,
        permit: AcceptPermit,
        client: IpAddr,
    ) -> Result<(ConnectionPermit, ConnectionUse), TooManyConnections> {
        let (counted, is_over_limit) = ClientCounts::count(&self.clients, client)?;
        let (permit, allowed_use) = match (permit, is_over_limit) {
            (AcceptPermit::Any(permit), false) => (permit, ConnectionUse::Any),
            // A permit for all routes may have become free while this one waited for a connection.
            (AcceptPermit::Health(permit), false) => match Arc::clone(&self.all).try_acquire_owned() {
                Ok(unrestricted) => (unrestricted, ConnectionUse::Any),
                Err(_) => (permit, ConnectionUse::HealthWhenFull),
            },
            (AcceptPermit::Health(permit), true) => (permit, ConnectionUse::HealthOverClientLimit),
            (AcceptPermit::Any(_), true) => {
                let permit = Arc::clone(&self.for_health).try_acquire_owned();
                (
                    permit.map_err(|_| TooManyConnections)?,
                    ConnectionUse::HealthOverClientLimit,
                )
            }
        };
        let permit = ConnectionPermit {
            _permit: permit,
            _counted: counted,
        };
        Ok((permit, allowed_use))
    }
}

/// The number of connections of each client.
#[derive(Debug)]
struct ClientCounts {
    per_client: usize,
    proxies: Vec<TrustedProxy>,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

impl ClientCounts {
    /// Counts a connection. Returns its guard, and whether the client is above its limit.
    fn count(clients: &Arc<Self>, address: IpAddr) -> Result<(Option<CountedConnection>, bool), TooManyConnections> {
        if clients.proxies.iter().any(|proxy| proxy.contains(address)) {
            return Ok((None, false));
        }
        let client = client_network(address);
        let mut counts = clients.counts();
        let count = counts.entry(client).or_default();
        if *count >= clients.per_client.saturating_add(MAX_HEALTH_CONNECTIONS_OVER_LIMIT) {
            return Err(TooManyConnections);
        }
        *count += 1;
        let is_over_limit = *count > clients.per_client;
        drop(counts);
        let counted = CountedConnection {
            clients: Arc::clone(clients),
            client,
        };
        Ok((Some(counted), is_over_limit))
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Each change is a single operation, so a panic leaves the map consistent.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A counted connection of a client. Dropping it decrements the count.
#[derive(Debug)]
struct CountedConnection {
    clients: Arc<ClientCounts>,
    client: IpAddr,
}

impl Drop for CountedConnection {
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

    fn take(
        limiter: &ConnectionLimiter,
        address: &str,
    ) -> Option<Result<(ConnectionPermit, ConnectionUse), TooManyConnections>> {
        let permit = limiter.acquire().now_or_never()??;
        Some(limiter.admit(permit, address.parse().unwrap()))
    }

    fn may(
        taken: &Option<Result<(ConnectionPermit, ConnectionUse), TooManyConnections>>,
    ) -> Option<Result<ConnectionUse, TooManyConnections>> {
        taken
            .as_ref()
            .map(|taken| taken.as_ref().map(|(_, may)| *may).map_err(|error| *error))
    }

    #[test]
    fn limit_applies_to_each_client_separately() {
        let limiter = ConnectionLimiter::new(10, 2, 0, Vec::new());
        let first = take(&limiter, "192.0.2.1");
        let second = take(&limiter, "::ffff:192.0.2.1");
        assert_eq!(may(&second), Some(Ok(ConnectionUse::Any)));
        assert_eq!(may(&take(&limiter, "192.0.2.1")), Some(Err(TooManyConnections)));
        let other = take(&limiter, "192.0.2.2");
        assert_eq!(may(&other), Some(Ok(ConnectionUse::Any)));
        drop(first);
        assert_eq!(may(&take(&limiter, "192.0.2.1")), Some(Ok(ConnectionUse::Any)));
    }

    #[test]
    fn trusted_proxy_has_no_client_limit() {
        let limiter = ConnectionLimiter::new(4, 1, 0, vec!["10.0.0.0/8".parse().unwrap()]);
        let taken: Vec<_> = (0..4).map(|_| take(&limiter, "10.0.0.7")).collect();
        assert!(taken.iter().all(|taken| may(taken) == Some(Ok(ConnectionUse::Any))));
        assert_eq!(may(&take(&limiter, "10.0.0.7")), None, "the total limit still applies");
    }

    #[test]
    fn client_at_its_limit_can_still_check_health() {
        let limiter = ConnectionLimiter::new(10, 1, MAX_HEALTH_CONNECTIONS_OVER_LIMIT + 1, Vec::new());
        let _first = take(&limiter, "192.0.2.1");
        let health: Vec<_> = (0..MAX_HEALTH_CONNECTIONS_OVER_LIMIT)
            .map(|_| take(&limiter, "192.0.2.1"))
            .collect();
        assert!(
            health
                .iter()
                .all(|taken| may(taken) == Some(Ok(ConnectionUse::HealthOverClientLimit)))
        );
        assert_eq!(may(&take(&limiter, "192.0.2.1")), Some(Err(TooManyConnections)));
        assert_eq!(may(&take(&limiter, "192.0.2.2")), Some(Ok(ConnectionUse::Any)));
        drop(health);
        assert_eq!(
            may(&take(&limiter, "192.0.2.1")),
            Some(Ok(ConnectionUse::HealthOverClientLimit))
        );
    }

    #[test]
    fn health_connections_remain_when_all_others_are_taken() {
        let limiter = ConnectionLimiter::new(1, 5, 1, Vec::new());
        let first = take(&limiter, "192.0.2.1");
        let health = take(&limiter, "192.0.2.1");
        let expected = (Some(Ok(ConnectionUse::Any)), Some(Ok(ConnectionUse::HealthWhenFull)));
        assert_eq!((may(&first), may(&health)), expected);
        assert_eq!(may(&take(&limiter, "192.0.2.1")), None);
        drop(health);
        let waiting = limiter.acquire().now_or_never().flatten().unwrap();
        drop(first);
        let (_permit, allowed_use) = limiter.admit(waiting, "192.0.2.1".parse().unwrap()).unwrap();
        assert_eq!(
            allowed_use,
            ConnectionUse::Any,
            "an unrestricted permit became free before the connection arrived"
        );
    }
}
