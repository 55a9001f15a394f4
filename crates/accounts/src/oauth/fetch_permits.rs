//! Concurrency limit for fetches of client metadata documents.
//!
//! A slow server can hold a permit for seconds. So each server host and each client address has at most two permits at
//! a time, and the total is limited too.

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

/// Maximum number of concurrent fetches.
const MAX_CONCURRENT_FETCHES: usize = 16;
/// Maximum number of concurrent fetches per server host, and per client address.
const MAX_FETCHES_PER_HOST_OR_ADDRESS: usize = 2;

/// Permits in use.
#[derive(Debug, Default)]
pub(super) struct FetchPermits(Mutex<PermitCounts>);

#[derive(Debug, Default)]
struct PermitCounts {
    all: usize,
    hosts: HashMap<String, usize>,
    addresses: HashMap<IpAddr, usize>,
}

/// A permit, returned when dropped.
#[derive(Debug)]
pub(super) struct FetchPermit<'a> {
    permits: &'a FetchPermits,
    host: String,
    address: IpAddr,
}

impl FetchPermits {
    /// Acquires a permit to fetch from `host` for a request from `address`, a client address or network. Returns `None`
    /// if none is free.
    pub(super) fn acquire(&self, host: &str, address: IpAddr) -> Option<FetchPermit<'_>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = counts.hosts.get(host).copied().unwrap_or_default();
        let of_address = counts.addresses.get(&address).copied().unwrap_or_default();
        if counts.all >= MAX_CONCURRENT_FETCHES
            || of_host >= MAX_FETCHES_PER_HOST_OR_ADDRESS
            || of_address >= MAX_FETCHES_PER_HOST_OR_ADDRESS
        {
            return None;
        }
        counts.all += 1;
        counts.hosts.insert(host.to_owned(), of_host + 1);
        counts.addresses.insert(address, of_address + 1);
        Some(FetchPermit {
            permits: self,
            host: host.to_owned(),
            address,
        })
    }
}

impl Drop for FetchPermit<'_> {
    fn drop(&mut self) {
        let mut counts = self.permits.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all = counts.all.saturating_sub(1);
        decrement(&mut counts.hosts, &self.host);
        decrement(&mut counts.addresses, &self.address);
    }
}

/// Decrements a count and removes it at zero.
fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    #[test]
    fn address_has_at_most_two_permits() {
        let permits = FetchPermits::default();
        let mut held: Vec<_> = (0..20)
            .filter_map(|number| permits.acquire(&format!("{number}.example"), client(1)))
            .collect();
        assert_eq!(held.len(), MAX_FETCHES_PER_HOST_OR_ADDRESS);
        assert!(permits.acquire("app.example", client(2)).is_some());
        held.pop();
        assert!(permits.acquire("app.example", client(1)).is_some());
    }

    #[test]
    fn host_has_at_most_two_permits() {
        let permits = FetchPermits::default();
        let held: Vec<_> = (0..20)
            .filter_map(|number| permits.acquire("app.example", client(number)))
            .collect();
        assert_eq!(held.len(), MAX_FETCHES_PER_HOST_OR_ADDRESS);
        assert!(permits.acquire("other.example", client(1)).is_some());
        drop(held);
        assert!(permits.acquire("app.example", client(1)).is_some());
    }

    #[test]
    fn total_is_limited_and_returned_permits_leave_no_counts() {
        let permits = FetchPermits::default();
        let held: Vec<_> = (0..20)
            .filter_map(|number| permits.acquire(&format!("{number}.example"), client(number)))
            .collect();
        assert_eq!(held.len(), MAX_CONCURRENT_FETCHES);
        drop(held);
        let counts = permits.0.lock().unwrap();
        assert!(counts.all == 0 && counts.hosts.is_empty() && counts.addresses.is_empty());
    }
}
