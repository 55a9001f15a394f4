//! Random walks of the clock: it steps by a second to two days in both directions, over restarts and over the beginning of
//! daylight saving time, while quotes come in. A naive oracle says which alerts have fired.

use std::collections::{BTreeMap, BTreeSet};

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, Plan, Status};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::calendar::new_york_date;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::json;
use service::{Actor, Clock};

use super::support::{World, above, at, on_each_database};

on_each_database! {
    alerts_fire_once_and_none_is_blind_in_silence_on_the_first_walk
    alerts_fire_once_and_none_is_blind_in_silence_on_the_second_walk
    alerts_fire_once_and_none_is_blind_in_silence_on_the_third_walk
    alerts_fire_once_and_none_is_blind_in_silence_on_the_fourth_walk
}

const STOCKS: [&str; 2] = ["AAPL", "KO"];
const STEPS_S: [i64; 9] = [1, 2, 10, 59, 61, 3_600, 20_000, 86_400, 172_800];
const STEPS: usize = 100;

/// The expected state, derived from the actions.
struct Oracle {
    calendar: Calendar,
    /// Price alerts by id: stock and threshold in cents.
    waiting: BTreeMap<AlertId, (usize, u32)>,
    fired: BTreeSet<AlertId>,
    /// The last price of each session, by stock.
    prices: BTreeMap<(usize, Date), u32>,
    /// The session of the last observation that was taken, by stock.
    observed_in: [Option<Date>; STOCKS.len()],
}

impl Oracle {
    /// Which alerts a price fires.
    fn observe(&mut self, stock: usize, cents: u32, now: Timestamp) {
        let Some(session) = self.calendar.session_at(now) else {
            return;
        };
        self.observed_in[stock] = Some(session.date);
        self.prices.insert((stock, session.date), cents);
        let reached = |&(of, threshold): &(usize, u32)| of == stock && cents >= threshold;
        let fired: Vec<AlertId> = self
            .waiting
            .iter()
            .filter(|(_, alert)| reached(alert))
            .map(|(id, _)| *id)
            .collect();
        for id in fired {
            self.waiting.remove(&id);
            assert!(self.fired.insert(id));
        }
    }

    /// Whether an alert may fire without a new observation, by the last price of the session that the clock is in.
    fn may_fire(&self, id: AlertId, now: Timestamp) -> bool {
        let (stock, threshold) = self.waiting[&id];
        let session = self.calendar.session_at(now);
        let price = session.and_then(|session| self.prices.get(&(stock, session.date)));
        price.is_some_and(|&price| price >= threshold)
    }

    /// Whether a stock's last observation was made in a session that has not begun.
    fn is_in_future(&self, stock: usize, now: Timestamp) -> bool {
        let session = self.observed_in[stock].and_then(|date| self.calendar.session(date));
        session.is_some_and(|session| session.open > now)
    }
}

struct Walk {
    world: World,
    ann: Actor,
    oracle: Oracle,
    chance: ChaCha20Rng,
    daily: AlertId,
    made: u32,
}

impl Walk {
    async fn begin(world: World, seed: u64) -> Self {
        // The Friday before daylight saving time begins.
        let ann = world.ann(Plan::Premium).await;
        for stock in STOCKS {
            world.quote(stock, 100.0).await;
        }
        let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
        let daily = world.create(&ann, body).await.stored.alert.id;
        Self {
            oracle: Oracle {
                calendar: Calendar::nyse(),
                waiting: BTreeMap::new(),
                fired: BTreeSet::new(),
                prices: (0..STOCKS.len())
                    .map(|stock| ((stock, new_york_date(world.clock.now())), 10_000))
                    .collect(),
                observed_in: [Some(new_york_date(world.clock.now())); STOCKS.len()],
            },
            ann,
            world,
            chance: ChaCha20Rng::seed_from_u64(seed),
            daily,
            made: 0,
        }
    }

    fn pick(&mut self, below: usize) -> usize {
        let drawn = usize::try_from(self.chance.next_u32()).unwrap();
        drawn % below
    }

    async fn create(&mut self) {
        let stock = self.pick(STOCKS.len());
        // No two alerts are equal.
        self.made += 1;
        let cents = 10_000 + 100 * u32::try_from(self.pick(20)).unwrap() + self.made % 100;
        let body = above(STOCKS[stock], f64::from(cents) / 100.0);
        if let Ok(service::alerts::Created::New(made)) = self.world.service.alerts.create_alert(&self.ann, &body).await
        {
            self.oracle.waiting.insert(made.stored.alert.id, (stock, cents));
        }
    }

    async fn quote(&mut self) {
        let stock = self.pick(STOCKS.len());
        let cents = 9_900 + 100 * u32::try_from(self.pick(16)).unwrap();
        let now = self.world.clock.now();
        // All of it has to be taken.
        self.world.quote(STOCKS[stock], f64::from(cents) / 100.0).await;
        self.oracle.observe(stock, cents, now);
    }

    fn step_clock(&mut self) {
        let seconds = STEPS_S[self.pick(STEPS_S.len())];
        let forward = self.pick(2) == 0;
        let now = self.world.clock.now();
        let step = SignedDuration::from_secs(if forward { seconds } else { -seconds });
        // Within two weeks around the change of clocks.
        let then = (now + step).clamp(at("2024-03-04T05:00:00Z"), at("2024-03-16T05:00:00Z"));
        self.world.clock.step_to(then);
    }

    /// Sets the clock into a session of these weeks.
    fn go_to_a_session(&mut self) {
        let days = ["05", "07", "08", "11", "12", "14"];
        let day = days[self.pick(days.len())];
        let minutes = i64::try_from(self.pick(300)).unwrap();
        let then = at(&format!("2024-03-{day}T15:00:00Z")) + SignedDuration::from_mins(minutes);
        self.world.clock.step_to(then);
    }

    async fn check(&mut self) {
        self.world.service.evaluate().await.unwrap();
        let now = self.world.clock.now();
        for (id, (stock, cents)) in self.oracle.waiting.clone() {
            let alert = self.world.service.alerts.alert(&self.ann, id).await.unwrap();
            if alert.stored.alert.status == Status::Triggered && self.oracle.may_fire(id, now) {
                self.oracle.waiting.remove(&id);
                self.oracle.fired.insert(id);
                continue;
            }
            assert_eq!(alert.stored.alert.status, Status::Active, "{} {cents}", STOCKS[stock]);
            let state = alert.evaluation.unwrap().state;
            let says_future = matches!(
                state,
                EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
            );
            assert_eq!(says_future, self.oracle.is_in_future(stock, now), "at {now}: {state:?}");
        }
        for &id in &self.oracle.fired {
            assert_eq!(self.world.status(&self.ann, id).await, Status::Triggered);
        }
        let mut fired: BTreeMap<AlertId, usize> = BTreeMap::new();
        let mut days = BTreeSet::new();
        for event in self.world.events(&self.ann).await {
            if event.alert == self.daily {
                assert!(days.insert(new_york_date(event.at)), "two reminders for {}", event.at);
            } else {
                *fired.entry(event.alert).or_default() += 1;
            }
        }
        assert!(fired.values().all(|&times| times == 1));
        assert_eq!(fired.len(), self.oracle.fired.len());
    }

    async fn restarted(self) -> Self {
        Self {
            world: self.world.restarted().await,
            ..self
        }
    }

    async fn walk(mut self) {
        for _ in 0..STEPS {
            match self.pick(12) {
                0..3 => self.step_clock(),
                3 => self.go_to_a_session(),
                4..6 => self.create().await,
                6 => {
                    self = self.restarted().await;
                }
                _ => self.quote().await,
            }
            self.check().await;
        }
        // Whatever happened, in the end every alert that is left can see.
        self.world.clock.step_to(at("2024-03-14T15:00:00Z"));
        for (stock, symbol) in STOCKS.iter().enumerate() {
            let now = self.world.clock.now();
            self.world.quote(symbol, 200.0).await;
            self.oracle.observe(stock, 20_000, now);
        }
        assert!(self.oracle.waiting.is_empty());
        self.check().await;
    }
}

async fn alerts_fire_once_and_none_is_blind_in_silence_on_the_first_walk(world: World) {
    Walk::begin(world, 1).await.walk().await;
}

async fn alerts_fire_once_and_none_is_blind_in_silence_on_the_second_walk(world: World) {
    Walk::begin(world, 2).await.walk().await;
}

async fn alerts_fire_once_and_none_is_blind_in_silence_on_the_third_walk(world: World) {
    Walk::begin(world, 3).await.walk().await;
}

async fn alerts_fire_once_and_none_is_blind_in_silence_on_the_fourth_walk(world: World) {
    Walk::begin(world, 4).await.walk().await;
}
