//! What is claimed next: lanes in which something is due stand in line for that, too.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::lane::{Held, Lane, Place, STANDINGS, Standing};
use super::lanes::Lanes;
use super::{ClaimOrder, Claimed};
use crate::time::later;

/// So many lanes are claimed from at a time.
const LANES_AT_ONCE: usize = 512;
/// More lanes than this, and those are forgotten in which nothing goes on. All that is lost is how they did.
const REMEMBERED: usize = 65_536;

impl<J> Lanes<J> {
    /// Takes note that a lane has something due.
    pub(super) fn is_due(&mut self, lane: i64) {
        if self.lanes.len() > self.forget_above.max(REMEMBERED) && !self.lanes.contains_key(&lane) {
            self.lanes.retain(|_, lane| !lane.is_idle());
            // If something goes on in most of them, they need not all be gone through for each one more.
            self.forget_above = self.lanes.len().saturating_mul(2);
        }
        let found = self.lanes.entry(lane).or_insert_with(Lane::new);
        found.has_due = true;
        found.due_again |= found.is_claiming;
        self.want(lane);
    }

    /// Puts a lane among those to claim from, if there is something to claim and room for it.
    pub(super) fn want(&mut self, id: i64) {
        self.stand_to_claim(id, false);
    }

    fn stand_to_claim(&mut self, id: i64, is_let_through: bool) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        let standing = lane.standing;
        let wants = match standing {
            Standing::Poor => lane.waiting.is_empty() && lane.under_way < self.limits.each(Standing::Poor),
            standing => lane.waiting.len() <= self.limits.waiting_for(standing) / 2,
        };
        if !wants || !lane.has_due || lane.wanting != Place::Nowhere || lane.is_claiming {
            return;
        }
        // Where others wait, one waits behind them, or they would wait for ever.
        let full = lane.host.clone().filter(|host| {
            self.hosts.room_for_rows(host) == 0 || (!is_let_through && self.hosts.has_wanting(host, standing))
        });
        if let Some(host) = full {
            self.wait_to_claim(id, &host);
            return;
        }
        lane.wanting = Place::InLine(standing);
        self.wanting[standing as usize].push_back(id);
    }

    /// Lets a lane wait at its host's gate until fewer deliveries to the host wait.
    fn wait_to_claim(&mut self, id: i64, host: &Arc<str>) {
        let next = self.ticket();
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        let ticket = *lane.wanting_ticket.get_or_insert(next);
        lane.wanting = Place::AtGate;
        self.hosts.park_wanting(host, lane.standing, ticket, id);
    }

    /// Lets lanes claim that wait at a host's gate, if few enough deliveries wait there. To be called whenever fewer wait,
    /// and when somebody who was let through has claimed, as that may have brought nothing.
    pub(super) fn admit_wanting(&mut self, host: &Arc<str>) {
        for standing in STANDINGS {
            let mut room = self.hosts.room_to_claim(host);
            while room > 0
                && let Some(id) = self.hosts.next_wanting(host, standing)
            {
                let Some(lane) = self.lanes.get_mut(&id).filter(|lane| lane.wanting == Place::AtGate) else {
                    continue;
                };
                lane.wanting = Place::Nowhere;
                self.stand_to_claim(id, true);
                let lane = self.lanes.get(&id).filter(|lane| lane.host.as_ref() == Some(host));
                room -= usize::from(lane.is_some_and(|lane| lane.wanting == Place::InLine(standing)));
            }
        }
    }

    /// What to claim for endpoints of a standing; `None`, if there is nothing or no room.
    pub(super) fn order(
        &mut self,
        standing: Standing,
        now: Timestamp,
        lease: impl FnOnce() -> i64,
    ) -> Option<ClaimOrder> {
        let most = self.limits.waiting_of_class(standing);
        let room = most.saturating_sub(self.waiting[standing]);
        if room == 0 || room < most / 8 {
            return None;
        }
        let lanes = self.wanting_lanes(standing, room.min(LANES_AT_ONCE));
        if lanes.is_empty() {
            return None;
        }
        let each = (room / lanes.len()).clamp(1, self.limits.waiting_for(standing).max(1));
        Some(ClaimOrder {
            most_of_each: u32::try_from(each).unwrap_or(u32::MAX),
            most: u32::try_from(room).unwrap_or(u32::MAX),
            lanes,
            now,
            until: later(now, self.limits.lease),
            lease: lease(),
        })
    }

    fn wanting_lanes(&mut self, standing: Standing, most: usize) -> Vec<i64> {
        let each = self.limits.waiting_for(standing);
        let mut expected: HashMap<Arc<str>, usize> = HashMap::new();
        let mut lanes = Vec::new();
        while lanes.len() < most
            && let Some(id) = self.wanting[standing as usize].pop_front()
        {
            // It may have come to stand elsewhere since it was put here.
            let lane = self.lanes.get_mut(&id);
            let Some(lane) = lane.filter(|lane| lane.wanting == Place::InLine(standing)) else {
                continue;
            };
            if let Some(host) = lane.host.clone() {
                let expected = expected.entry(Arc::clone(&host)).or_default();
                let room = self.hosts.room_for_rows(&host).saturating_sub(*expected);
                // What is more than there is room for would go back at once. One lane may always claim, or none would.
                if room == 0 || (room < each && *expected > 0) {
                    self.wait_to_claim(id, &host);
                    continue;
                }
                *expected += each;
            }
            lane.wanting = Place::Nowhere;
            lane.wanting_ticket = None;
            lane.is_claiming = true;
            lane.due_again = false;
            lanes.push(id);
        }
        lanes
    }

    /// Takes in what a claim has brought.
    pub(super) fn claimed(&mut self, order: &ClaimOrder, claimed: Vec<Claimed<J>>) {
        let all_of_it = claimed.len() >= usize::try_from(order.most).unwrap_or(usize::MAX);
        let mut brought: HashMap<i64, u32> = HashMap::new();
        let let_through = self.hosts_of(order);
        for claimed in claimed {
            *brought.entry(claimed.lane).or_default() += 1;
            self.take_in(Held {
                claimed,
                lease: order.lease,
                until: order.until,
            });
        }
        for id in &order.lanes {
            let Some(lane) = self.lanes.get_mut(id) else { continue };
            let full = brought.get(id).is_some_and(|brought| *brought >= order.most_of_each);
            lane.is_claiming = false;
            lane.has_due = lane.due_again || full || all_of_it;
            self.want(*id);
        }
        for host in let_through {
            self.admit_wanting(&host);
        }
    }

    /// Where the lanes of an order led when it was given.
    fn hosts_of(&self, order: &ClaimOrder) -> HashSet<Arc<str>> {
        let lanes = order.lanes.iter().filter_map(|id| self.lanes.get(id));
        lanes.filter_map(|lane| lane.host.clone()).collect()
    }

    fn take_in(&mut self, held: Held<J>) {
        // What is still here was claimed before, and that claim has ended. The attempt that goes on will be settled.
        if !self.held.insert(held.claimed.key) {
            return;
        }
        let (id, host) = (held.claimed.lane, Arc::clone(&held.claimed.host));
        let lane = self.lanes.entry(id).or_insert_with(Lane::new);
        lane.host = Some(Arc::clone(&host));
        // Where too much waits already, it goes back; from now on one knows where the lane leads.
        if self.hosts.room_for_rows(&host) == 0 {
            lane.due_again = true;
            self.release(held);
            return;
        }
        lane.waiting.push_back(held);
        self.waiting[lane.standing] += 1;
        self.hosts.add_row(&host);
        self.line_up(id);
    }

    /// Takes note that a claim has failed.
    pub(super) fn claim_failed(&mut self, order: &ClaimOrder) {
        for id in &order.lanes {
            if let Some(lane) = self.lanes.get_mut(id) {
                lane.is_claiming = false;
            }
            self.want(*id);
        }
        for host in self.hosts_of(order) {
            self.admit_wanting(&host);
        }
    }
}
