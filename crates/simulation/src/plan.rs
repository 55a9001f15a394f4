//! The plan of a simulation: its steps, drawn from the seed before it runs, so that steps can be left out.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::disk::{DiskFault, DiskFaultKind, Ending};
use crate::model::{BASIC_QUOTA, Cents, Change, Split, WantedAlert};
use crate::network::{Behaviour, RECEIVERS};
use crate::variety::Variety;

/// The number of accounts that create alerts: one on the premium plan, one on the basic plan.
pub(crate) const USERS: usize = 2;
/// The user on the basic plan, which limits the number of active alerts.
pub(crate) const BASIC_USER: usize = 1;
/// The number of stocks.
pub(crate) const STOCKS: usize = 3;
/// The price of every stock at the start.
pub(crate) const FIRST_PRICE: Cents = 10_000;
/// Prices and thresholds differ at most by this from the first price.
const MAX_MOVE: Cents = 300;

/// A step.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedStep {
    /// The time since the step before, in milliseconds.
    pub(crate) gap_ms: u64,
    pub(crate) action: Action,
}

/// An action of a user, of the market, or of the world.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// A user creates an alert. The slot is its number in later steps.
    Create {
        slot: usize,
        user: usize,
        wanted: WantedAlert,
        /// The time from now to its expiry, in milliseconds.
        expires_after_ms: Option<u64>,
        /// The length of its snooze, in milliseconds.
        snoozed_for_ms: Option<u64>,
    },
    /// A user creates a reminder for a time from now, in milliseconds.
    Remind { slot: usize, user: usize, after_ms: u64 },
    /// The owner of an alert changes it.
    Change { slot: usize, change: Change },
    /// The owner of an alert snoozes it.
    Snooze { slot: usize },
    /// A user tries to read and change an alert of another account.
    Trespass { slot: usize },
    /// A source sends a quote.
    Quote {
        stock: usize,
        price: Cents,
        /// The age of the quote in milliseconds, if it names its time. A quote that is older than another one is late.
        age_ms: Option<u64>,
        /// Whether it is sent twice.
        is_doubled: bool,
    },
    /// A user acknowledges a firing: the newest one, or one at a later place of the list.
    Acknowledge { user: usize, place: usize },
    /// A user adds a stock to the watchlist, or removes it.
    Watch { user: usize, stock: usize, is_added: bool },
    /// A source delivers the split of a stock, if it has one.
    Split { stock: usize },
    /// The machine is switched off until the second session, half an hour after its open.
    Night,
    /// The process ends after a number of changes of the disk, or a time later at the latest. If `start_operations` is set, the next
    /// process ends during its start, too.
    End {
        ending: Ending,
        operations: u64,
        within_ms: u64,
        start_operations: Option<u64>,
    },
    /// The disk fails for a while.
    DiskFails(DiskFault),
    /// The clock of the machine is stepped.
    StepClock(SignedDuration),
    /// The clock of the machine gains this many microseconds per second.
    Drift(i64),
    /// A receiver changes its behaviour.
    Receiver { receiver: usize, behaviour: Behaviour },
    /// The mail server changes its behaviour.
    MailServer(Behaviour),
}

/// A first start of the present release on tables of a former version.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Upgrade {
    /// The number of the process that finds the former version of the schema.
    pub(crate) process: u32,
    /// The version of the schema that it finds.
    pub(crate) from: i64,
    /// How it ends, after a number of changes of the disk.
    pub(crate) ending: Option<(Ending, u64)>,
}

/// All steps of a simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationPlan {
    /// The seed of everything else that is random.
    pub seed: u64,
    /// The splits of the stocks between the two sessions. Levels and prices of the steps are those of old shares.
    pub(crate) splits: [Option<Split>; STOCKS],
    /// Whether the service has a mail server. Otherwise it keeps its emails for the operator.
    pub(crate) has_mail_server: bool,
    /// The upgrade, if there is one.
    pub(crate) upgrade: Option<Upgrade>,
    /// The steps.
    pub steps: Vec<PlannedStep>,
}

impl SimulationPlan {
    /// Draws the plan of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut variety = Variety::of(seed);
        let mut planner = Planner {
            has_even_levels: variety.has_night,
            // Some simulations have many faults, some have none.
            fault_percent: [0, 4, 10, 25][random.random_range(0..4)],
            // Some have so many alerts that the quota is reached.
            has_many_alerts: random.random_range(0..5) == 0,
            slots: Vec::new(),
            thresholds: BTreeSet::new(),
            random,
        };
        let count = planner.random.random_range(15..70);
        let created_first = if planner.has_many_alerts { BASIC_QUOTA - 2 } else { 4 };
        let mut steps: Vec<PlannedStep> = (0..created_first).map(|_| planner.step_of(Planner::create)).collect();
        steps.extend((0..count).map(|_| planner.step()));
        let splits = variety.add_to(&mut steps, created_first);
        Self {
            seed,
            splits,
            has_mail_server: variety.has_mail_server,
            upgrade: variety.upgrade(),
            steps,
        }
    }
}

struct Planner {
    random: ChaCha8Rng,
    fault_percent: u32,
    has_many_alerts: bool,
    /// Whether levels are even, so that splits round none.
    has_even_levels: bool,
    /// The owner of each alert.
    slots: Vec<usize>,
    /// The thresholds so far. Alerts of one account with the same one would be taken for one alert.
    thresholds: BTreeSet<Cents>,
}

impl Planner {
    fn step(&mut self) -> PlannedStep {
        let is_fault = self.random.random_range(0..100) < self.fault_percent;
        self.step_of(if is_fault { Self::fault } else { Self::ordinary })
    }

    fn step_of(&mut self, action: fn(&mut Self) -> Action) -> PlannedStep {
        let gap_ms = match self.random.random_range(0..100) {
            0..45 => 0,
            45..75 => self.random.random_range(1..30),
            75..96 => self.random.random_range(500..3_000),
            _ => self.random.random_range(10_000..90_000),
        };
        let action = action(self);
        PlannedStep { gap_ms, action }
    }

    fn price(&mut self) -> Cents {
        FIRST_PRICE + self.random.random_range(-MAX_MOVE..=MAX_MOVE)
    }

    fn create(&mut self) -> Action {
        let user = if self.has_many_alerts {
            BASIC_USER
        } else {
            self.random.random_range(0..USERS)
        };
        self.slots.push(user);
        Action::Create {
            slot: self.slots.len() - 1,
            user,
            wanted: self.wanted(),
            expires_after_ms: None,
            snoozed_for_ms: None,
        }
    }

    fn wanted(&mut self) -> WantedAlert {
        let is_above = self.random.random_range(0..2) == 0;
        let threshold = self.threshold();
        let repeats = self.random.random_range(0..4) == 0;
        let distance = self.random.random_range(1..MAX_MOVE);
        let returns_at = self.level(if is_above {
            threshold - distance
        } else {
            threshold + distance
        });
        WantedAlert {
            stock: self.random.random_range(0..STOCKS),
            is_above,
            is_crossing: false,
            needs_two_quotes: false,
            must_hold: false,
            threshold,
            returns_at: repeats.then_some(returns_at).filter(|level| *level != threshold),
            cooldown: None,
            snoozed_until: None,
            moment: None,
            max_firings: None,
            expires_at: None,
        }
    }

    const fn level(&self, price: Cents) -> Cents {
        if self.has_even_levels { price / 2 * 2 } else { price }
    }

    fn threshold(&mut self) -> Cents {
        // Some levels are out of reach, so that an account can have many active alerts.
        let is_far = self.has_many_alerts && self.random.random_range(0..4) > 0;
        loop {
            let far = if is_far { 3_000 } else { 0 };
            let price = self.price();
            let threshold = self.level(price + far);
            if self.thresholds.insert(threshold) {
                return threshold;
            }
        }
    }

    fn ordinary(&mut self) -> Action {
        let slot = self.random.random_range(0..self.slots.len().max(1));
        let creates = if self.has_many_alerts { 45 } else { 15 };
        if self.random.random_range(0..100) < creates {
            return self.create();
        }
        if self.random.random_range(0..25) == 0 {
            let user = self.random.random_range(0..USERS);
            self.slots.push(user);
            return Action::Remind {
                slot: self.slots.len() - 1,
                user,
                after_ms: self.random.random_range(500..60_000),
            };
        }
        let change = match self.random.random_range(0..100) {
            0..15 => Change::Edit(self.threshold()),
            15..25 => Change::Pause,
            25..42 => Change::Activate,
            42..47 => Change::Delete,
            47..50 => return Action::Trespass { slot },
            _ => {
                let stock = self.random.random_range(0..STOCKS);
                return Action::Quote {
                    stock,
                    price: self.price(),
                    age_ms: self.age_ms(),
                    is_doubled: self.random.random_range(0..15) == 0,
                };
            }
        };
        Action::Change { slot, change }
    }

    fn age_ms(&mut self) -> Option<u64> {
        match self.random.random_range(0..10) {
            0 => Some(0),
            1 => Some(self.random.random_range(1..5_000)),
            _ => None,
        }
    }

    fn fault(&mut self) -> Action {
        match self.random.random_range(0..100) {
            0..40 => self.end(),
            40..55 => {
                let kinds = [DiskFaultKind::Failing, DiskFaultKind::Full];
                Action::DiskFails(DiskFault {
                    after: self.random.random_range(0..40),
                    lasts: self.random.random_range(1..30),
                    kind: *kinds.choose(&mut self.random).unwrap_or(&DiskFaultKind::Full),
                })
            }
            55..65 => {
                let steps = [1_000, 2_000, 9_000, 61_000, 600_000];
                let by = *steps.choose(&mut self.random).unwrap_or(&1_000);
                let is_back = self.random.random_range(0..2) == 0;
                Action::StepClock(SignedDuration::from_millis(if is_back { -by } else { by }))
            }
            65..70 => Action::Drift(self.random.random_range(-20_000..20_000)),
            _ => Action::Receiver {
                receiver: self.random.random_range(0..RECEIVERS),
                behaviour: behaviour(&mut self.random),
            },
        }
    }

    fn end(&mut self) -> Action {
        let endings = [Ending::Kill, Ending::PowerCut];
        let is_in_start = self.random.random_range(0..6) == 0;
        Action::End {
            ending: *endings.choose(&mut self.random).unwrap_or(&Ending::Kill),
            operations: self.random.random_range(0..60),
            within_ms: self.random.random_range(0..2_000),
            start_operations: is_in_start.then(|| self.random.random_range(0..20)),
        }
    }
}

/// Draws the behaviour of a receiver or of the mail server.
pub(crate) fn behaviour(random: &mut ChaCha8Rng) -> Behaviour {
    match random.random_range(0..8) {
        0 => Behaviour::Accepts(0),
        1 => Behaviour::Accepts(random.random_range(1..9_000)),
        2 => Behaviour::Refuses(*[500, 503, 429, 400].choose(random).unwrap_or(&500)),
        3 => Behaviour::LosesResponse,
        4 => Behaviour::NeverResponds,
        5 => Behaviour::RefusesConnections,
        6 => Behaviour::Unreachable,
        _ => Behaviour::HasNoName,
    }
}
