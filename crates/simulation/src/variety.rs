//! Steps that only some plans have: a second session, options, crossings, acknowledgements, watchlists, a mail server and an upgrade. They
//! are drawn apart from the other steps, so that the plans of odd seeds, which have none of them, stay as they are.

use std::ops::Range;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::disk::Ending;
use crate::former_schema::FORMER_VERSIONS;
use crate::model::{Change, Cooldown, Split};
use crate::plan::{Action, BASIC_USER, PlannedStep, STOCKS, USERS, Upgrade, behaviour};

/// The first version of the schema whose tables hold everything that the model checks: 37 added emails of bursts.
const FIRST_VERSION_WITH_ALL_RECORDS: i64 = 37;

/// Draws the variety of a plan.
pub(crate) struct Variety {
    random: ChaCha8Rng,
    pub(crate) has_night: bool,
    has_options: bool,
    /// Draws which alerts wait for a crossing, if some do.
    crossings: Option<ChaCha8Rng>,
    /// Draws which alerts have a cooldown, if some do.
    cooldowns: Option<ChaCha8Rng>,
    /// Draws which alerts wait for two quotes or for a hold, or fire once a day, if some do.
    further_options: Option<ChaCha8Rng>,
    /// Draws which alerts are snoozed, if some are.
    snoozes: Option<ChaCha8Rng>,
    has_acknowledgements: bool,
    has_watchlists: bool,
    pub(crate) has_mail_server: bool,
    /// Draws the upgrade, if there is one.
    upgrades: Option<ChaCha8Rng>,
}

impl Variety {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xA11_5EED);
        let is_various = seed.is_multiple_of(2);
        let mut draws = || random.random_range(0..2) == 0 && is_various;
        let (has_night, has_options) = (draws(), draws());
        let (has_acknowledgements, has_watchlists) = (draws(), draws());
        let drawn_apart = |key: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed ^ key);
            (is_various && random.random_range(0..2) == 0).then_some(random)
        };
        Self {
            crossings: drawn_apart(0xC_5EED).filter(|_| !has_night),
            cooldowns: drawn_apart(0xD_5EED),
            further_options: drawn_apart(0xB_5EED),
            snoozes: drawn_apart(0x5_5EED),
            has_mail_server: drawn_apart(0xE_5EED).is_some(),
            upgrades: drawn_apart(0xF_5EED),
            random,
            has_night,
            has_options,
            has_acknowledgements,
            has_watchlists,
        }
    }

    /// Adds to the steps of a plan, of which the first ones create alerts. Returns the splits between its sessions.
    pub(crate) fn add_to(&mut self, steps: &mut Vec<PlannedStep>, first: usize) -> [Option<Split>; STOCKS] {
        let splits = if self.has_night {
            self.add_night(steps, first)
        } else {
            [None; STOCKS]
        };
        if self.has_options {
            // An alert that has reached its limit of firings is activated, so that it fires as often again.
            for slot in self.add_options(steps) {
                let change = Change::Activate;
                self.insert(steps, first..steps.len(), Action::Change { slot, change });
            }
        }
        if let Some(random) = &mut self.crossings {
            add_crossings(steps, random);
        }
        if let Some(random) = &mut self.cooldowns {
            add_cooldowns(steps, random);
        }
        if let Some(random) = &mut self.further_options {
            add_further_options(steps, random, self.has_night);
        }
        if let Some(random) = &mut self.snoozes {
            let created = add_snoozes(steps, random);
            for _ in 0..random.random_range(0..8) {
                let position = random.random_range(first..steps.len());
                let slot = random.random_range(0..created);
                let gap_ms = random.random_range(0..50);
                let action = Action::Snooze { slot };
                steps.insert(position, PlannedStep { gap_ms, action });
            }
        }
        if self.has_acknowledgements {
            for _ in 0..self.random.random_range(1..10) {
                let user = self.random.random_range(0..USERS);
                let place = self.random.random_range(0..3);
                self.insert(steps, first..steps.len(), Action::Acknowledge { user, place });
            }
        }
        if self.has_watchlists {
            for _ in 0..self.random.random_range(2..20) {
                // The watchlists of other plans have alerts of the analyst.
                let user = BASIC_USER;
                let stock = self.random.random_range(0..STOCKS);
                let is_added = self.random.random_range(0..2) == 0;
                self.insert(steps, first..steps.len(), Action::Watch { user, stock, is_added });
            }
        }
        if self.has_mail_server {
            for _ in 0..self.random.random_range(0..7) {
                let behaviour = behaviour(&mut self.random);
                self.insert(steps, first..steps.len(), Action::MailServer(behaviour));
            }
        }
        splits
    }

    /// Draws the upgrade.
    pub(crate) fn upgrade(&mut self) -> Option<Upgrade> {
        let random = self.upgrades.as_mut()?;
        let process = random.random_range(0..3);
        // Before the first start there are accounts, webhooks and prices only.
        let holds = |version: &i64| process == 0 || *version >= FIRST_VERSION_WITH_ALL_RECORDS;
        let versions: Vec<i64> = FORMER_VERSIONS.into_iter().filter(holds).collect();
        let endings = [Ending::Kill, Ending::PowerCut];
        let from = *versions.choose(random)?;
        // The changes of the disk with which an update ends, and some more.
        let operations = if from < FIRST_VERSION_WITH_ALL_RECORDS { 140 } else { 65 };
        Some(Upgrade {
            process,
            from,
            ending: endings
                .choose(random)
                .filter(|_| random.random_range(0..3) > 0)
                .map(|ending| (*ending, random.random_range(0..operations))),
        })
    }

    /// Inserts a step at a random position of a range.
    fn insert(&mut self, steps: &mut Vec<PlannedStep>, range: Range<usize>, action: Action) {
        let position = self.random.random_range(range);
        let gap_ms = self.random.random_range(0..50);
        steps.insert(position, PlannedStep { gap_ms, action });
    }

    /// Draws splits, and inserts their deliveries before and after the night.
    fn add_night(&mut self, steps: &mut Vec<PlannedStep>, first: usize) -> [Option<Split>; STOCKS] {
        let splits = std::array::from_fn(|_| match self.random.random_range(0..3) {
            0 => Some(Split::TwoForOne),
            1 => Some(Split::OneForTwo),
            _ => None,
        });
        self.insert(steps, first + 2..steps.len(), Action::Night);
        for (stock, _) in splits.iter().enumerate().filter(|(_, split)| split.is_some()) {
            for _ in 0..self.random.random_range(0..4) {
                self.insert(steps, first..steps.len(), Action::Split { stock });
            }
        }
        splits
    }

    /// Gives options to some alerts. Returns those with a limit of firings.
    fn add_options(&mut self, steps: &mut [PlannedStep]) -> Vec<usize> {
        let mut limited = Vec::new();
        for step in steps {
            let Action::Create {
                slot,
                wanted,
                expires_after_ms,
                ..
            } = &mut step.action
            else {
                continue;
            };
            if wanted.returns_at.is_some() && self.random.random_range(0..2) == 0 {
                wanted.max_firings = Some(self.random.random_range(1..4));
                limited.push(*slot);
            }
            if self.random.random_range(0..4) == 0 {
                *expires_after_ms = Some(self.random.random_range(500..60_000));
            }
        }
        limited
    }
}

/// Lets some alerts wait for a crossing, of those without a level of return, which a crossing cannot have. Some prices reach their thresholds
/// exactly.
fn add_crossings(steps: &mut [PlannedStep], random: &mut ChaCha8Rng) {
    let mut thresholds = Vec::new();
    for step in &mut *steps {
        if let Action::Create { wanted, .. } = &mut step.action
            && wanted.returns_at.is_none()
        {
            wanted.is_crossing = random.random_range(0..2) == 0;
            thresholds.extend(wanted.is_crossing.then_some((wanted.stock, wanted.threshold)));
        }
    }
    for step in steps {
        if let Action::Quote { stock, price, .. } = &mut step.action
            && random.random_range(0..6) == 0
            && let Some(threshold) = thresholds.choose(random)
        {
            (*stock, *price) = *threshold;
        }
    }
}

/// Gives a cooldown to some alerts.
fn add_cooldowns(steps: &mut [PlannedStep], random: &mut ChaCha8Rng) {
    for step in &mut *steps {
        if let Action::Create { wanted, .. } = &mut step.action
            && random.random_range(0..2) == 0
        {
            let refires = random.random_range(0..3) == 0 && !wanted.is_crossing;
            wanted.cooldown = Some(Cooldown::Minute { refires });
            // One that fires again and again has a limit, so that it comes to an end.
            if refires {
                wanted.max_firings = Some(random.random_range(2..4));
            }
        }
    }
    add_waits(steps, random);
}

/// Lets some alerts fire once a day, and some that fire once wait for two quotes in a row or for a hold.
fn add_further_options(steps: &mut [PlannedStep], random: &mut ChaCha8Rng, has_night: bool) {
    for step in &mut *steps {
        let Action::Create { wanted, .. } = &mut step.action else {
            continue;
        };
        let option = random.random_range(0..3);
        if wanted.is_crossing || wanted.cooldown.is_some() {
            continue;
        }
        if option == 0 {
            wanted.cooldown = Some(Cooldown::UntilMidnight);
        } else if wanted.returns_at.is_none() && !has_night {
            // The model does not know whether a first quote or a hold goes on in the next session.
            wanted.needs_two_quotes = option == 1;
            wanted.must_hold = option == 2;
        }
    }
    add_waits(steps, random);
}

/// Lets some steps wait for about a minute.
fn add_waits(steps: &mut [PlannedStep], random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        let position = random.random_range(0..steps.len());
        steps[position].gap_ms = random.random_range(55_000..70_000);
    }
}

/// Lets some alerts begin with a snooze: those that are rules without it, too, as a snooze that is over is left out. Returns the number of
/// alerts.
fn add_snoozes(steps: &mut [PlannedStep], random: &mut ChaCha8Rng) -> usize {
    let mut created = 0;
    for step in &mut *steps {
        created += usize::from(matches!(step.action, Action::Create { .. }));
        if let Action::Create {
            wanted, snoozed_for_ms, ..
        } = &mut step.action
            && (wanted.is_crossing
                || wanted.needs_two_quotes
                || wanted.must_hold
                || wanted.returns_at.is_some()
                || wanted.cooldown.is_some())
            && random.random_range(0..2) == 0
        {
            *snoozed_for_ms = Some(random.random_range(500..60_000));
        }
    }
    add_waits(steps, random);
    created
}
