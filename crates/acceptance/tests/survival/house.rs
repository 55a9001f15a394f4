//! One or two programs on a database, the workers, and the comparison of what is with what must be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acceptance::world::{ALL_SCOPES, ingest};
use acceptance::{Client, Server, Setup};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng};
use serde_json::json;

use crate::audit::{self, Books, Shown};
use crate::model::{State, Status, dollars};
use crate::post::{self, Post, Tally};
use crate::worker::{Worker, below};

const WORKERS: u64 = 4;
const START_PRICE: i64 = 1_000_000;
/// A round's programs are killed after at most so long.
const LONGEST_LIFE_MS: u64 = 600;
/// One that is killed while it starts, after at most so long.
const LONGEST_BIRTH_MS: u64 = 300;

pub(crate) struct House {
    setup: Setup,
    key: String,
    programs: Vec<Server>,
    workers: Vec<Worker>,
    post: Post,
    received: Tally,
    rounds: u32,
    stillborn: u32,
}

impl House {
    pub(crate) async fn open(setup: Setup, programs: usize) -> Self {
        setup
            .create_user("operator@example.com", "premium", &["--operator"])
            .await;
        let key = setup.create_key("operator@example.com", Some(ALL_SCOPES)).await;
        let mut started = Vec::new();
        for _ in 0..programs {
            started.push(setup.start().await);
        }
        let post = Post::open(&started[0].anybody().with_key(&key)).await;
        let house = Self {
            setup,
            key,
            programs: started,
            workers: (0..WORKERS).map(|number| Worker::new(number, START_PRICE)).collect(),
            post,
            received: Tally::default(),
            rounds: 0,
            stillborn: 0,
        };
        let symbols: Vec<_> = house.workers.iter().map(|worker| worker.symbol.clone()).collect();
        let stocks: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": symbol}))
            .collect();
        let quotes: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "price": dollars(START_PRICE)}))
            .collect();
        for program in house.clients() {
            ingest(&program, json!({"stocks": stocks, "quotes": quotes})).await;
        }
        house
    }

    fn clients(&self) -> Vec<Client> {
        let client = |program: &Server| program.anybody().with_key(&self.key);
        self.programs.iter().map(client).collect()
    }

    pub(crate) fn logs(&self) -> String {
        let tail = |program: &Server| {
            let log = program.log();
            let lines: Vec<_> = log.lines().rev().take(15).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        self.programs.iter().map(tail).collect::<Vec<_>>().join("\n---\n")
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.workers.iter().map(|worker| worker.acknowledged).sum()
    }

    pub(crate) fn firings(&self) -> usize {
        let alerts = self.workers.iter().flat_map(|worker| &worker.alerts);
        alerts
            .filter_map(|alert| alert.may_be.first())
            .map(|state| state.fired.len())
            .sum()
    }

    pub(crate) fn tally(&self) -> String {
        format!(
            "{} kills ({} more while starting), {} acknowledged requests, {} alerts, {} firings; \
             at two receivers {} deliveries in {} requests, {} of them duplicates of what had been taken",
            self.rounds,
            self.stillborn,
            self.acknowledged(),
            self.workers.iter().map(|worker| worker.alerts.len()).sum::<usize>(),
            self.firings(),
            self.received.deliveries,
            self.received.requests,
            self.received.duplicates,
        )
    }

    /// Works, kills, starts again and compares; answers what is not as it must be.
    pub(crate) async fn round(&mut self, chance: &mut ChaCha8Rng) -> Vec<String> {
        self.rounds += 1;
        self.post.change_mood(chance);
        let stop = Arc::new(AtomicBool::new(false));
        let mut working = tokio::task::JoinSet::new();
        for worker in std::mem::take(&mut self.workers) {
            let own = ChaCha8Rng::seed_from_u64(chance.next_u64());
            working.spawn(worker.work(self.clients(), own, Arc::clone(&stop)));
        }
        // The instant of the kill is the experiment's variable.
        tokio::time::sleep(Duration::from_millis(20 + below(chance, LONGEST_LIFE_MS))).await;
        // Of two programs, sometimes only one dies.
        let killed = if self.programs.len() == 2 && below(chance, 3) > 0 {
            1
        } else {
            self.programs.len()
        };
        let mut survivors = Vec::new();
        for (place, program) in self.programs.drain(..).enumerate() {
            if place < killed {
                program.kill().await;
            } else {
                survivors.push(program);
            }
        }
        stop.store(true, Ordering::Relaxed);
        self.workers = working.join_all().await;
        self.workers.sort_by(|one, other| one.symbol.cmp(&other.symbol));
        self.programs = survivors;
        for _ in 0..killed {
            self.start(chance).await;
        }
        let mut faults: Vec<_> = self
            .workers
            .iter_mut()
            .flat_map(|worker| worker.faults.drain(..))
            .collect();
        faults.extend(self.compare().await);
        faults
    }

    /// Starts a program; sometimes it is killed while it starts, and started again.
    async fn start(&mut self, chance: &mut ChaCha8Rng) {
        while below(chance, 5) == 0 {
            let launched = self.setup.launch();
            tokio::time::sleep(Duration::from_millis(below(chance, LONGEST_BIRTH_MS))).await;
            launched.kill().await;
            self.stillborn += 1;
        }
        self.programs.push(self.setup.start().await);
    }

    async fn books(&self) -> Books {
        audit::written(self.setup.database(), self.setup.database_url()).await
    }

    /// What the API and the database show of one moment.
    async fn look(&self, client: &Client) -> (Vec<Shown>, Books) {
        loop {
            let before = audit::shown(client).await;
            let books = self.books().await;
            if audit::shown(client).await == before {
                return (before, books);
            }
        }
    }

    /// Compares everything, whichever program is asked, and takes over what was in doubt.
    async fn compare(&mut self) -> Vec<String> {
        let mut faults = Vec::new();
        let clients = self.clients();
        for worker in &mut self.workers {
            let answer = clients[0].get(&format!("/stocks/{}", worker.symbol)).await.ok(200);
            let price = audit::price(&answer.data()["last_price"]);
            // Two programs each know their own last price; one of them may have missed the one that was not answered.
            if !worker.prices.contains(&price) {
                faults.push(format!(
                    "{} is at {price}; it may only be at {:?}",
                    worker.symbol, worker.prices
                ));
            } else if clients.len() == 1 {
                worker.prices = BTreeSet::from([price]);
            }
        }
        let received = self.post.received();
        let (shown, books) = self.look(clients.last().unwrap()).await;
        let written = &books.alerts;
        let triggered: usize = written.values().map(|alert| alert.fired.len()).sum();
        if i64::try_from(triggered) != Ok(books.events) {
            faults.push(format!("{triggered} firings, but {} events", books.events));
        }
        for received in &received {
            faults.extend(post::compare(received, &books.firings).1);
        }
        let mut unknown: Vec<_> = shown.iter().collect();
        for worker in &mut self.workers {
            for alert in &mut worker.alerts {
                let found = unknown.iter().position(|shown| match &alert.id {
                    Some(id) => shown.id == *id,
                    None => shown.note == alert.note,
                });
                let shown = found.map(|place| unknown.swap_remove(place));
                if let Some(shown) = shown {
                    alert.id = Some(shown.id.clone());
                    let condition = if alert.above { "price_above" } else { "price_below" };
                    if (shown.symbol.as_str(), shown.condition.as_str(), shown.note)
                        != (alert.symbol.as_str(), condition, alert.note)
                    {
                        faults.push(format!("{shown:?} was made as {alert:?}"));
                    }
                }
                let written = alert
                    .id
                    .as_ref()
                    .and_then(|id| written.get(id))
                    .cloned()
                    .unwrap_or_default();
                let state = State {
                    status: match (shown, written.last_status.as_str()) {
                        (Some(shown), _) => shown.status,
                        (None, "") => Status::Absent,
                        (None, _) => Status::Deleted,
                    },
                    threshold: shown.map_or(alert.may_be.first().unwrap().threshold, |shown| shown.threshold),
                    fired: written.fired.clone(),
                };
                if !written.last_status.is_empty() && Status::read(&written.last_status) != state.status {
                    faults.push(format!("{:?} is {state:?}, its history says {written:?}", alert.id));
                }
                if i64::try_from(written.fired.len()) != Ok(written.events) {
                    faults.push(format!(
                        "{:?} fired {:?} with {} events",
                        alert.id, written.fired, written.events
                    ));
                }
                if let Err(fault) = alert.seen(&state, &worker.prices) {
                    faults.push(format!("{:?} {fault}", alert.id));
                }
            }
            worker.alerts.retain(|alert| !alert.is(Status::Absent));
        }
        faults.extend(unknown.iter().map(|shown| format!("nobody made {shown:?}")));
        faults
    }

    /// Compares once more, and every firing with the history that the API shows.
    pub(crate) async fn last_look(&mut self) -> Vec<String> {
        let mut faults = self.compare().await;
        let client = self.clients().remove(0);
        faults.extend(self.last_deliveries(&client).await);
        for alert in self.workers.iter().flat_map(|worker| &worker.alerts) {
            let path = format!("/alerts/{}/history?limit=200", alert.id.as_ref().unwrap());
            let history = client.get(&path).await.ok(200);
            let fired = history
                .items()
                .iter()
                .rev()
                .filter(|entry| entry["action_type"] == "triggered");
            let prices: Vec<_> = fired.map(|entry| audit::price(&entry["trigger_price"])).collect();
            if alert.may_be.iter().all(|state| state.fired != prices) {
                faults.push(format!(
                    "{:?} fired at {prices:?}; it may only be {:?}",
                    alert.id, alert.may_be
                ));
            }
        }
        faults
    }
    /// Every firing must have arrived at each receiver.
    async fn last_deliveries(&mut self, client: &Client) -> Vec<String> {
        self.post.all_delivered(client).await;
        let firings = self.books().await.firings;
        let mut faults = self.post.reported(client, &firings).await;
        for received in self.post.received() {
            let (tally, more) = post::compare_all(&received, &firings);
            self.received += tally;
            faults.extend(more);
        }
        faults
    }
}
