//! Whose turn it is to have a document fetched.
//!
//! Whoever lets a fetch hang holds its turn for seconds. So nobody has more than two at once: neither what is fetched from one
//! host, nor what is fetched for one client address. All together are bounded besides.

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

/// So many turns there are.
const AT_ONCE: usize = 16;
/// So many turns one host has, and so many one client address.
const EACH: usize = 2;

/// Turns that are taken.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    hosts: HashMap<String, usize>,
    addresses: HashMap<IpAddr, usize>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    host: String,
    address: IpAddr,
}

impl Turns {
    /// Takes a turn, if there is one, for what is on `host` and was asked for from `address`, which is a client's or its network.
    pub(super) fn take(&self, host: &str, address: IpAddr) -> Option<Turn<'_>> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = taken.hosts.get(host).copied().unwrap_or_default();
        let of_address = taken.addresses.get(&address).copied().unwrap_or_default();
        if taken.all >= AT_ONCE || of_host >= EACH || of_address >= EACH {
            return None;
        }
        taken.all += 1;
        taken.hosts.insert(host.to_owned(), of_host + 1);
        taken.addresses.insert(address, of_address + 1);
        Some(Turn {
            turns: self,
            host: host.to_owned(),
            address,
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut taken = self.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all = taken.all.saturating_sub(1);
        give_back(&mut taken.hosts, &self.host);
        give_back(&mut taken.addresses, &self.address);
    }
}

/// One fewer; whoever has none is not kept.
fn give_back<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
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
    fn one_address_has_two_turns_and_leaves_the_others_theirs() {
        let turns = Turns::default();
        let mut held: Vec<_> = (0..20)
            .filter_map(|number| turns.take(&format!("{number}.example"), client(1)))
            .collect();
        assert_eq!(held.len(), EACH);
        assert!(turns.take("app.example", client(2)).is_some());
        held.pop();
        assert!(turns.take("app.example", client(1)).is_some());
    }

    #[test]
    fn one_host_has_two_turns_whoever_asks_for_it() {
        let turns = Turns::default();
        let held: Vec<_> = (0..20)
            .filter_map(|number| turns.take("app.example", client(number)))
            .collect();
        assert_eq!(held.len(), EACH);
        assert!(turns.take("other.example", client(1)).is_some());
        drop(held);
        assert!(turns.take("app.example", client(1)).is_some());
    }

    #[test]
    fn all_together_have_so_many_and_what_is_given_back_leaves_nothing() {
        let turns = Turns::default();
        let held: Vec<_> = (0..20)
            .filter_map(|number| turns.take(&format!("{number}.example"), client(number)))
            .collect();
        assert_eq!(held.len(), AT_ONCE);
        drop(held);
        let taken = turns.0.lock().unwrap();
        assert!(taken.all == 0 && taken.hosts.is_empty() && taken.addresses.is_empty());
    }
}
