//! Whose turn it is: the part of the dispatcher that decides, and does nothing else.
//!
//! Claimed deliveries wait in lanes, one for each endpoint. Lanes stand in line for attempts; who has had one goes to the
//! end. There are three lines, for endpoints that do well (*good*), of which nothing is known (*new*), and that fail or
//! dawdle (*poor*), each with bounds of its own on attempts and on what waits in memory. An attempt that lasts too long makes its
//! lane poor while it goes on, so even endpoints that turn bad all at once hold the places of good ones for no longer
//! than that. Hosts and accounts have gates, at which lanes wait aside without keeping up the line.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::Limits;
use super::gates::Gates;
use super::lane::{Held, Lane, PerStanding, Place, STANDINGS, Standing};
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
}

impl<J> Lanes<J> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            hosts: Gates::new(limits.each_host),
            accounts: Gates::new(limits.each_account),
            limits,
            lanes: HashMap::new(),
            lines: Default::default(),
            wanting: Default::default(),
            under_way: HashMap::new(),
            slow: VecDeque::new(),
            held: HashSet::new(),
            attempts: PerStanding::default(),
            waiting: PerStanding::default(),
            turn: 0,
            released: Vec::new(),
        }
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
                && let Some(id) = self.lines[turn].pop_front()
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
        if !self.hosts.is_open(&host) {
            lane.place = Place::AtGate;
            self.hosts.park(&host, id);
            self.admit(&host, account);
            return None;
        }
        if !self.accounts.is_open(&account) {
            lane.place = Place::AtGate;
            self.accounts.park(&account, id);
            self.admit(&host, account);
            return None;
        }
        let held = lane.waiting.pop_front()?;
        self.waiting[standing] -= 1;
        self.leave_row(&host);
        let key = held.claimed.key;
        let in_time = later(now, self.limits.longest_attempt) <= held.until;
        if in_time {
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.under_way += 1;
            }
            self.attempts[standing] += 1;
            self.hosts.enter(&host);
            self.accounts.enter(&account);
            self.slow.push_back((later(now, self.limits.slow_after), key));
            let lane = id;
            self.under_way.insert(
                key,
                UnderWay {
                    lane,
                    host: Arc::clone(&host),
                    account,
                },
            );
        }
        self.line_up(id);
        self.want(id);
        self.admit(&host, account);
        if in_time {
            return Some(held);
        }
        self.release(held);
        None
    }

    /// Lets lanes back into line that waited at gates where there is room now.
    fn admit(&mut self, host: &Arc<str>, account: Uuid) {
        loop {
            let mut admitted = self.hosts.admitted(host);
            admitted.extend(self.accounts.admitted(&account));
            let mut in_line = admitted.is_empty();
            for id in admitted {
                if let Some(lane) = self.lanes.get_mut(&id).filter(|lane| lane.place == Place::AtGate) {
                    lane.place = Place::Nowhere;
                }
                self.line_up(id);
                in_line |= self.lanes.get(&id).is_some_and(|lane| lane.place != Place::Nowhere);
            }
            // Lanes from which everything was taken back leave their places to others.
            if in_line {
                return;
            }
        }
    }

    /// Takes note that a delivery to a host waits no more.
    fn leave_row(&mut self, host: &Arc<str>) {
        for id in self.hosts.remove_row(host) {
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.is_wanting = false;
            }
            self.want(id);
        }
    }

    /// Takes note that an attempt has ended, and how.
    pub(super) fn finish(&mut self, key: i64, took: SignedDuration, succeeded: bool) {
        let Some(attempt) = self.under_way.remove(&key) else {
            return;
        };
        self.held.remove(&key);
        self.hosts.leave(&attempt.host);
        self.accounts.leave(&attempt.account);
        if let Some(lane) = self.lanes.get_mut(&attempt.lane) {
            lane.under_way -= 1;
            self.attempts[lane.standing] -= 1;
            let is_good = succeeded && took < self.limits.slow_after;
            self.stand(attempt.lane, if is_good { Standing::Good } else { Standing::Poor });
        }
        self.line_up(attempt.lane);
        self.want(attempt.lane);
        self.admit(&attempt.host, attempt.account);
    }

    /// Takes note of the attempts that have become slow, and says when the next one does.
    pub(super) fn note_slow(&mut self, now: Timestamp) -> Option<Timestamp> {
        while let Some((at, key)) = self.slow.front() {
            let lane = self.under_way.get(key).map(|attempt| attempt.lane);
            if lane.is_some() && *at > now {
                return Some(*at);
            }
            self.slow.pop_front();
            if let Some(lane) = lane {
                self.stand(lane, Standing::Poor);
            }
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
        if matches!(lane.place, Place::InLine(_)) {
            lane.place = Place::Nowhere;
        }
        lane.is_wanting = false;
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
