//! A worker: owns a stock and its alerts, does one thing after the other to them, and keeps book.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acceptance::Client;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Alert, Ask, Price, Said, Status, dollars};

/// Prices stay in this range: 50 to 150 dollars.
const LOWEST: Price = 500_000;
const HIGHEST: Price = 1_500_000;
/// So many alerts are kept that are neither deleted nor triggered.
const ALERTS: usize = 6;

pub(crate) struct Worker {
    pub(crate) symbol: String,
    pub(crate) alerts: Vec<Alert>,
    /// The prices at which the stock may be.
    pub(crate) prices: BTreeSet<Price>,
    /// How many requests were acknowledged.
    pub(crate) acknowledged: u64,
    /// What was answered and must not have been.
    pub(crate) faults: Vec<String>,
    notes: u64,
}

/// A whole number below `limit`.
pub(crate) fn below(chance: &mut ChaCha8Rng, limit: u64) -> u64 {
    chance.next_u64() % limit
}

/// One of several.
pub(crate) fn one_of<'a, T>(chance: &mut ChaCha8Rng, items: &'a [T]) -> &'a T {
    let place = below(chance, u64::try_from(items.len()).unwrap());
    &items[usize::try_from(place).unwrap()]
}

impl Worker {
    pub(crate) fn new(number: u64, price: Price) -> Self {
        Self {
            symbol: format!("W{number}"),
            alerts: Vec::new(),
            prices: BTreeSet::from([price]),
            acknowledged: 0,
            faults: Vec::new(),
            notes: number * 1_000_000,
        }
    }

    /// Does things until it is told to stop or no answer comes. Observations go to all programs, the rest to any.
    pub(crate) async fn work(mut self, programs: Vec<Client>, mut chance: ChaCha8Rng, stop: Arc<AtomicBool>) -> Self {
        while !stop.load(Ordering::Relaxed) && self.faults.is_empty() {
            let one = one_of(&mut chance, &programs).clone();
            let waiting = self.waiting();
            let goes_on = match below(&mut chance, 10) {
                0..=2 if waiting.len() < ALERTS => self.create(&one, &mut chance).await,
                3 if !waiting.is_empty() => {
                    let at = *one_of(&mut chance, &waiting);
                    let threshold = self.level(&mut chance, self.alerts[at].above);
                    self.ask(at, Ask::Edit(threshold), &one).await
                }
                4 if !waiting.is_empty() => {
                    let at = *one_of(&mut chance, &waiting);
                    self.ask(at, Ask::Pause, &one).await
                }
                5 => match self.to_activate() {
                    Some(at) => self.ask(at, Ask::Activate, &one).await,
                    None => true,
                },
                6 if below(&mut chance, 3) == 0 && !waiting.is_empty() => {
                    let at = *one_of(&mut chance, &waiting);
                    self.ask(at, Ask::Delete, &one).await
                }
                _ => self.observe(&programs, &mut chance).await,
            };
            if !goes_on {
                break;
            }
        }
        self
    }

    /// The places of the alerts that may fire some day.
    fn waiting(&self) -> Vec<usize> {
        let known = self.alerts.iter().enumerate().filter(|(_, alert)| alert.id.is_some());
        let waiting = known.filter(|(_, alert)| alert.is(Status::Active) || alert.is(Status::Paused));
        waiting.map(|(place, _)| place).collect()
    }

    /// One that is paused, or triggered and out of reach again, so that it fires when the price comes back.
    fn to_activate(&self) -> Option<usize> {
        self.alerts.iter().rposition(|alert| {
            let out_of_reach = alert.may_be.iter().all(|state| {
                let mut prices = self.prices.iter();
                prices.all(|&price| (price >= state.threshold) != alert.above && price != state.threshold)
            });
            let is_off = alert.is(Status::Paused) || alert.is(Status::Triggered);
            alert.id.is_some() && is_off && out_of_reach
        })
    }

    /// A level that no price there may be has reached, and that no other alert has: two equal alerts would be one.
    fn level(&self, chance: &mut ChaCha8Rng, above: bool) -> Price {
        let states = self.alerts.iter().flat_map(|alert| &alert.may_be);
        let taken: BTreeSet<_> = states.map(|state| state.threshold).collect();
        loop {
            let away = i64::try_from(1 + below(chance, 60_000)).unwrap();
            let level = if above {
                self.prices.last().unwrap() + away
            } else {
                self.prices.first().unwrap() - away
            };
            if !taken.contains(&level) {
                return level;
            }
        }
    }

    async fn create(&mut self, program: &Client, chance: &mut ChaCha8Rng) -> bool {
        let above = below(chance, 2) == 0;
        let threshold = self.level(chance, above);
        self.notes += 1;
        self.alerts.push(Alert::new(&self.symbol, above, self.notes, threshold));
        self.ask(self.alerts.len() - 1, Ask::Create, program).await
    }

    /// Asks something of an alert and writes down the answer; false if none came.
    async fn ask(&mut self, at: usize, ask: Ask, program: &Client) -> bool {
        let alert = &self.alerts[at];
        let path = format!("/alerts/{}", alert.id.as_deref().unwrap_or_default());
        let request = match ask {
            Ask::Create => {
                let threshold = alert.may_be.first().unwrap().threshold;
                let condition = if alert.above { "price_above" } else { "price_below" };
                let body = json!({"symbol": alert.symbol, "condition": condition, "threshold": dollars(threshold),
                    "parameters": {"note": alert.note}});
                program.request(Method::POST, "/alerts").json(&body)
            }
            Ask::Edit(threshold) => program
                .request(Method::PUT, &path)
                .json(&json!({"threshold": dollars(threshold)})),
            Ask::Pause => program.request(Method::POST, &format!("{path}/pause")),
            Ask::Activate => program.request(Method::POST, &format!("{path}/activate")),
            Ask::Delete => program.request(Method::DELETE, &path),
        };
        let answer = request.try_send().await;
        let said = match &answer {
            // 200 would be another alert's.
            Ok(answer) if ask == Ask::Create && answer.status == 201 => Said::Done,
            Ok(answer) if ask != Ask::Create && answer.status == 200 => Said::Done,
            Ok(answer) if answer.status == 422 => Said::Refused,
            Ok(answer) if answer.status == 404 => Said::Missing,
            Ok(answer) => {
                self.faults.push(format!("{ask:?}: {answer}"));
                Said::Nothing
            }
            Err(_) => Said::Nothing,
        };
        let alert = &mut self.alerts[at];
        if let (Ask::Create, Ok(answer)) = (ask, &answer) {
            alert.id = answer.data()["id"].as_str().map(str::to_owned);
        }
        if let Err(fault) = alert.answered(ask, said, &self.prices) {
            self.faults.push(format!("{:?}: {fault}", alert.id));
        }
        self.acknowledged += u64::from(said != Said::Nothing);
        said != Said::Nothing
    }

    /// Lets all programs observe a price at once; false if one did not say that it has.
    async fn observe(&mut self, programs: &[Client], chance: &mut ChaCha8Rng) -> bool {
        let from = *self.prices.first().unwrap();
        let move_by = i64::try_from(below(chance, 80_000)).unwrap() - 40_000;
        let price = (from + move_by).clamp(LOWEST, HIGHEST);
        let batch = json!({"quotes": [{"symbol": self.symbol, "price": dollars(price)}]});
        let mut asked = tokio::task::JoinSet::new();
        for program in programs {
            let request = program.request(Method::POST, "/market/ingest").json(&batch);
            asked.spawn(request.try_send());
        }
        let mut acknowledged = true;
        for answer in asked.join_all().await {
            match answer {
                Ok(answer) if answer.status == 200 && answer.data()["rejected"] == Value::Array(Vec::new()) => {}
                Ok(answer) => self.faults.push(answer.to_string()),
                Err(_) => acknowledged = false,
            }
        }
        if acknowledged {
            self.prices = BTreeSet::from([price]);
            self.acknowledged += 1;
        } else {
            self.prices.insert(price);
        }
        for alert in &mut self.alerts {
            alert.observed(price, acknowledged);
        }
        acknowledged
    }
}
