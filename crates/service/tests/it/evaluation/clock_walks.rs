//! Random walks of the clock: steps of a second to two days in both directions, with restarts and the beginning of
//! daylight saving time, while quotes arrive. A naive oracle predicts the fired alerts.

use std::collections::{BTreeMap, BTreeSet};

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, Plan, Status};
use clock::Clock;
use foundation::Actor;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::calendar::new_york_date;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::json;

use crate::support::{TestApp, above, at, on_each_database};

on_each_database! {
    clock_walk_1_fires_alerts_once_and_reports_blind_ones
    clock_walk_2_fires_alerts_once_and_reports_blind_ones
    clock_walk_3_fires_alerts_once_and_reports_blind_ones
    clock_walk_4_fires_alerts_once_and_reports_blind_ones
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
    /// The session of the last accepted observation, by stock.
    observed_in: [Option<Date>; STOCKS.len()],
}

impl Oracle {
    /// Returns the alerts that a price fires.
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

    /// Whether an alert may fire without a new observation, by the last price of the present session.
    fn may_fire(&self, id: AlertId, now: Timestamp) -> bool {
        let (stock, threshold) = self.waiting[&id];
        let session = self.calendar.session_at(now);
        let price = session.and_then(|session| self.prices.get(&(stock, session.date)));
        price.is_some_and(|&price| price >= threshold)
    }

    /// Whether a stock's last observation is of a session that has not begun.
    fn is_in_future(&self, stock: usize, now: Timestamp) -> bool {
        let session = self.observed_in[stock].and_then(|date| self.calendar.session(date));
        session.is_some_and(|session| session.open > now)
    }
}

struct Walk {
    app: TestApp,
    ann: Actor,
    oracle: Oracle,
    chance: ChaCha20Rng,
    daily: AlertId,
    made: u32,
}

impl Walk {
    async fn begin(app: TestApp, seed: u64) -> Self {
        // The Friday before daylight saving time begins.
        let ann = app.ann(Plan::Premium).await;
        for stock in STOCKS {
            app.quote(stock, 100.0).await;
        }
        let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
        let daily = app.create(&ann, body).await.stored.alert.id;
        Self {
            oracle: Oracle {
                calendar: Calendar::nyse(),
                waiting: BTreeMap::new(),
                fired: BTreeSet::new(),
                prices: (0..STOCKS.len())
                    .map(|stock| ((stock, new_york_date(app.clock.now())), 10_000))
                    .collect(),
                observed_in: [Some(new_york_date(app.clock.now())); STOCKS.len()],
            },
            ann,
            app,
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
        // All alerts are different.
        self.made += 1;
        let cents = 10_000 + 100 * u32::try_from(self.pick(20)).unwrap() + self.made % 100;
        let body = above(STOCKS[stock], f64::from(cents) / 100.0);
        if let Ok(service::alerts::Created::New(made)) = self.app.service.alerts.create_alert(&self.ann, &body).await {
            self.oracle.waiting.insert(made.stored.alert.id, (stock, cents));
        }
    }

    async fn quote(&mut self) {
        let stock = self.pick(STOCKS.len());
        let cents = 9_900 + 100 * u32::try_from(self.pick(16)).unwrap();
        let now = self.app.clock.now();
        // Every quote must be accepted.
        self.app.quote(STOCKS[stock], f64::from(cents) / 100.0).await;
        self.oracle.observe(stock, cents, now);
    }

    fn step_clock(&mut self) {
        let seconds = STEPS_S[self.pick(STEPS_S.len())];
        let forward = self.pick(2) == 0;
        let now = self.app.clock.now();
        let step = SignedDuration::from_secs(if forward { seconds } else { -seconds });
        // Within two weeks around the change to daylight saving time.
        let then = (now + step).clamp(at("2024-03-04T05:00:00Z"), at("2024-03-16T05:00:00Z"));
        self.app.clock.step_to(then);
    }

    /// Sets the clock to a session in these weeks.
    fn go_to_a_session(&mut self) {
        let days = ["05", "07", "08", "11", "12", "14"];
        let day = days[self.pick(days.len())];
        let minutes = i64::try_from(self.pick(300)).unwrap();
        let then = at(&format!("2024-03-{day}T15:00:00Z")) + SignedDuration::from_mins(minutes);
        self.app.clock.step_to(then);
    }

    async fn check(&mut self) {
        self.app.service.evaluate().await.unwrap();
        let now = self.app.clock.now();
        for (id, (stock, cents)) in self.oracle.waiting.clone() {
            let alert = self.app.service.alerts.alert(&self.ann, id).await.unwrap();
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
            assert_eq!(self.app.status(&self.ann, id).await, Status::Triggered);
        }
        let mut fired: BTreeMap<AlertId, usize> = BTreeMap::new();
        let mut days = BTreeSet::new();
        for event in self.app.events(&self.ann).await {
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
            app: self.app.restarted().await,
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
        // In the end every remaining alert is evaluated.
        self.app.clock.step_to(at("2024-03-14T15:00:00Z"));
        for (stock, symbol) in STOCKS.iter().enumerate() {
            let now = self.app.clock.now();
            self.app.quote(symbol, 200.0).await;
            self.oracle.observe(stock, 20_000, now);
        }
        assert!(self.oracle.waiting.is_empty());
        self.check().await;
    }
}

async fn clock_walk_1_fires_alerts_once_and_reports_blind_ones(app: TestApp) {
    Walk::begin(app, 1).await.walk().await;
}

async fn clock_walk_2_fires_alerts_once_and_reports_blind_ones(app: TestApp) {
    Walk::begin(app, 2).await.walk().await;
}

async fn clock_walk_3_fires_alerts_once_and_reports_blind_ones(app: TestApp) {
    Walk::begin(app, 3).await.walk().await;
}

async fn clock_walk_4_fires_alerts_once_and_reports_blind_ones(app: TestApp) {
    Walk::begin(app, 4).await.walk().await;
}
