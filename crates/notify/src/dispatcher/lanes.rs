//! Whose turn it is: the part of the dispatcher that decides, and does nothing else.
//!
//! Claimed deliveries wait in lanes, one for each endpoint. Lanes stand in line for attempts; who has had one goes to the
//! end. There are three lines, for endpoints that do well (*good*), of which nothing is known (*new*), and that fail or
//! dawdle (*poor*), each with bounds of its own on attempts and on what waits in memory. An attempt that lasts too long makes its
//! lane poor while it goes on, so even endpoints that turn bad all at once hold the places of good ones for no longer
//! than that. Hosts and accounts have gates, at which lanes wait aside without keeping up the line; as they have waited in
//! it before, they come back ahead of it.
//!
//! Nobody may wait at a gate for something that does not happen. So whenever an attempt ends there, or a lane that was let
//! through does not go through after all, others are let through.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::gates::Gates;
use super::lane::{Held, Lane, PerStanding, Place, STANDINGS, Standing};
use super::{Claimed, Limits};
use crate::time::later;

/// An attempt that goes on.
#[derive(Debug)]
struct UnderWay {
    lane: i64,
    host: Arc<str>,
    account: Uuid,
}

/// All lanes.
#[derive(Debug)]
pub(super) struct Lanes<J> {
    pub(super) limits: Limits,
    pub(super) lanes: HashMap<i64, Lane<J>>,
    lines: [VecDeque<i64>; 3],
    /// Lanes that were let through at a gate, ahead of the lines.
    let_through: [VecDeque<i64>; 3],
    pub(super) wanting: [VecDeque<i64>; 3],
    pub(super) hosts: Gates<Arc<str>>,
    accounts: Gates<Uuid>,
    under_way: HashMap<i64, UnderWay>,
    /// When attempts turn slow, in the order in which they were begun.
    slow: VecDeque<(Timestamp, i64)>,
    /// All that waits or is under way, so that nothing is done twice at once.
    pub(super) held: HashSet<i64>,
    attempts: PerStanding,
    pub(super) waiting: PerStanding,
    turn: usize,
    released: Vec<Held<J>>,
    last_ticket: u64,
    /// More lanes than this, and those are forgotten in which nothing goes on.
    pub(super) forget_above: usize,
}

impl<J> Lanes<J> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            hosts: Gates::new(limits.each_host),
            accounts: Gates::new(limits.each_account),
            limits,
            lanes: HashMap::new(),
            lines: Default::default(),
            let_through: Default::default(),
            wanting: Default::default(),
            under_way: HashMap::new(),
            slow: VecDeque::new(),
            held: HashSet::new(),
            attempts: PerStanding::default(),
            waiting: PerStanding::default(),
            turn: 0,
            released: Vec::new(),
            last_ticket: 0,
            forget_above: 0,
        }
    }

    /// A ticket that was not drawn before.
    pub(super) fn ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Puts a lane into its line, if it has something to send and may.
    pub(super) fn line_up(&mut self, id: i64) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        let may = lane.under_way < self.limits.each(lane.standing) && !lane.waiting.is_empty();
        if may && lane.place == Place::Nowhere {
            lane.place = Place::InLine(lane.standing);
            self.lines[lane.standing as usize].push_back(id);
        }
    }

    /// The next delivery to be tried, if one may be.
    pub(super) fn start(&mut self, now: Timestamp) -> Option<Held<J>> {
        for step in 0..STANDINGS.len() {
            let turn = (self.turn + step) % STANDINGS.len();
            while self.has_room(STANDINGS[turn])
                && let Some(id) = self.let_through[turn]
                    .pop_front()
                    .or_else(|| self.lines[turn].pop_front())
            {
                if let Some(held) = self.try_lane(id, STANDINGS[turn], now) {
                    self.turn = turn + 1;
                    return Some(held);
                }
            }
        }
        None
    }

    fn has_room(&self, standing: Standing) -> bool {
        let doubtful = self.attempts[Standing::New] + self.attempts[Standing::Poor];
        self.under_way.len() < self.limits.at_once
            && self.attempts[standing] < self.limits.of_class(standing)
            && (standing == Standing::Good || doubtful < self.limits.doubtful_at_once)
    }

    fn try_lane(&mut self, id: i64, standing: Standing, now: Timestamp) -> Option<Held<J>> {
        let lane = self.lanes.get_mut(&id)?;
        // It has changed lines since it was put here.
        if lane.place != Place::InLine(standing) {
            return None;
        }
        lane.place = Place::Nowhere;
        let first = lane.waiting.front()?;
        let (host, account) = (Arc::clone(&first.claimed.host), first.claimed.account);
        let (at_host, at_account) = (self.hosts.room(&host) == 0, self.accounts.room(&account) == 0);
        if at_host || at_account {
            lane.place = Place::AtGate;
            let drawn = lane.ticket;
            let ticket = drawn.unwrap_or_else(|| self.ticket());
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.ticket = Some(ticket);
            }
            if at_host {
                self.hosts.park(&host, standing, ticket, id);
            } else {
                self.accounts.park(&account, standing, ticket, id);
            }
            // It may have been let through at the other gate.
            self.admit(&host, account);
            return None;
        }
        let held = lane.waiting.pop_front()?;
        self.waiting[standing] -= 1;
        let key = held.claimed.key;
        let in_time = later(now, self.limits.longest_attempt) <= held.until;
        if in_time {
            lane.under_way += 1;
            lane.ticket = None;
            self.attempts[standing] += 1;
            self.hosts.enter(&host);
            self.accounts.enter(&account);
            self.slow.push_back((later(now, self.limits.slow_after), key));
            let (lane, host) = (id, Arc::clone(&host));
            self.under_way.insert(key, UnderWay { lane, host, account });
        }
        self.leave_row(&host);
        self.admit(&host, account);
        self.line_up(id);
        self.want(id);
        if in_time {
            return Some(held);
        }
        self.release(held);
        None
    }

    /// Lets lanes back into line that wait at gates where there is room.
    fn admit(&mut self, host: &Arc<str>, account: Uuid) {
        for standing in STANDINGS {
            let mut room = self.hosts.room(host);
            while room > 0
                && let Some(id) = self.hosts.next(host, standing)
            {
                room -= usize::from(self.let_through(id, standing, |to| to.host == *host));
            }
            let mut room = self.accounts.room(&account);
            while room > 0
                && let Some(id) = self.accounts.next(&account, standing)
            {
                room -= usize::from(self.let_through(id, standing, |to| to.account == account));
            }
        }
    }

    /// Lets a lane back into line, ahead of it. Whether it will come through the same gate from the line of this
    /// standing; if it will not, its place is another's.
    fn let_through(&mut self, id: i64, standing: Standing, comes: impl Fn(&Claimed<J>) -> bool) -> bool {
        let each = self.limits.each(standing);
        let Some(lane) = self.lanes.get_mut(&id) else {
            return false;
        };
        if lane.place != Place::AtGate {
            return false;
        }
        lane.place = Place::Nowhere;
        if lane.standing != standing || lane.under_way >= each || lane.waiting.is_empty() {
            self.line_up(id);
            return false;
        }
        lane.place = Place::InLine(standing);
        self.let_through[standing as usize].push_back(id);
        lane.waiting.front().is_some_and(|first| comes(&first.claimed))
    }

    /// Takes note that a delivery to a host waits no more.
    fn leave_row(&mut self, host: &Arc<str>) {
        self.hosts.remove_row(host);
        self.admit_wanting(host);
    }

    /// Takes note that an attempt has ended, and how.
    pub(super) fn finish(&mut self, key: i64, took: SignedDuration, succeeded: bool) {
        let Some(attempt) = self.under_way.remove(&key) else {
            return;
        };
        self.held.remove(&key);
        self.hosts.leave(&attempt.host);
        self.accounts.leave(&attempt.account);
        // Who waits at the gate comes before who has just had an attempt.
        if let Some(lane) = self.lanes.get_mut(&attempt.lane) {
            lane.under_way -= 1;
            self.attempts[lane.standing] -= 1;
        }
        self.admit(&attempt.host, attempt.account);
        let is_good = succeeded && took < self.limits.slow_after;
        self.stand(attempt.lane, if is_good { Standing::Good } else { Standing::Poor });
        self.line_up(attempt.lane);
        self.want(attempt.lane);
        self.admit_wanting(&attempt.host);
    }

    /// Takes note of the attempts that have become slow by now.
    pub(super) fn note_slow(&mut self, now: Timestamp) {
        while self.next_slow().is_some_and(|at| at <= now)
            && let Some((_, key)) = self.slow.pop_front()
        {
            if let Some(attempt) = self.under_way.get(&key) {
                self.stand(attempt.lane, Standing::Poor);
            }
        }
    }

    /// When the next attempt becomes slow.
    pub(super) fn next_slow(&mut self) -> Option<Timestamp> {
        while let Some((at, key)) = self.slow.front() {
            if self.under_way.contains_key(key) {
                return Some(*at);
            }
            self.slow.pop_front();
        }
        None
    }

    /// Moves a lane to another standing, with all that it counts for.
    fn stand(&mut self, id: i64, standing: Standing) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        let before = std::mem::replace(&mut lane.standing, standing);
        if before == standing {
            return;
        }
        for (count, of_lane) in [
            (&mut self.attempts, lane.under_way),
            (&mut self.waiting, lane.waiting.len()),
        ] {
            count[before] -= of_lane;
            count[standing] += of_lane;
        }
        let first = lane.waiting.front().map(|first| &first.claimed);
        let first = first.map(|first| (Arc::clone(&first.host), first.account));
        let first = first.filter(|_| matches!(lane.place, Place::InLine(_)));
        let host = lane.host.clone().filter(|_| matches!(lane.wanting, Place::InLine(_)));
        for place in [&mut lane.place, &mut lane.wanting] {
            if matches!(place, Place::InLine(_)) {
                *place = Place::Nowhere;
            }
        }
        // What waits for it goes back rather than take the room of others.
        while self.waiting[standing] > self.limits.waiting_of_class(standing)
            && let Some(lane) = self.lanes.get_mut(&id)
            && let Some(held) = lane.waiting.pop_back()
        {
            self.waiting[standing] -= 1;
            self.leave_row(&held.claimed.host);
            self.release(held);
        }
        self.line_up(id);
        self.want(id);
        // If it has left a line, that must not cost those a place who wait at its gate.
        let Some(lane) = self.lanes.get(&id) else { return };
        let (is_in_line, is_wanting) = (lane.place != Place::Nowhere, lane.wanting != Place::Nowhere);
        if let Some((host, account)) = first.filter(|_| !is_in_line) {
            self.admit(&host, account);
        }
        if let Some(host) = host.filter(|_| !is_wanting) {
            self.admit_wanting(&host);
        }
    }

    /// Gives back a delivery that does not wait any more.
    pub(super) fn release(&mut self, held: Held<J>) {
        self.held.remove(&held.claimed.key);
        self.released.push(held);
    }

    /// Gives back what has waited so long that its claim will end before an attempt would.
    pub(super) fn release_stale(&mut self, now: Timestamp) {
        let limit = later(now, self.limits.longest_attempt);
        self.release_if(|held| held.until < limit);
    }

    /// Gives back all that waits.
    pub(super) fn release_all(&mut self) {
        self.release_if(|_| true);
    }

    fn release_if(&mut self, goes: impl Fn(&Held<J>) -> bool) {
        let mut released = Vec::new();
        for lane in self.lanes.values_mut() {
            let (go, stay): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut lane.waiting).into_iter().partition(&goes);
            self.waiting[lane.standing] -= go.len();
            lane.waiting = stay;
            released.extend(go);
        }
        for held in released {
            self.leave_row(&held.claimed.host);
            let (host, account) = (Arc::clone(&held.claimed.host), held.claimed.account);
            self.release(held);
            self.admit(&host, account);
        }
    }

    /// What goes back untried.
    pub(super) fn take_released(&mut self) -> Vec<Held<J>> {
        std::mem::take(&mut self.released)
    }

    /// How many claimed deliveries wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.0.iter().sum()
    }
}
