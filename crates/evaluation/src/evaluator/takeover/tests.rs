#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use ::alerts::request::{ParseContext, parse_create};
use ::alerts::transition::{self, HistoryStatus, OwnerVerification, PriceAvailability, StatusChange};
use ::alerts::{HistoryAction, Plan};
use ::market::Calendar;
use clock::ManualClock;
use foundation::vault::Vault;
use foundation::{Network, Ports, Random};
use jiff::tz::TimeZone;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use store::model::{Account, AccountId, AlertOwner, Epoch, HistoryRow, NodeId, Profile, ScopeRole, StoredAlert};
use store::{Store, StoreOptions, UnitOfWork};
use testkit::{Database, on_both_databases};
use uuid::Uuid;

use super::*;
use crate::EvaluationConfig;
use crate::evaluator::sharded::ShardedEvaluation;

/// More stocks than shards whose alerts are read at once.
const STOCKS: u8 = 100;

fn now() -> Timestamp {
    "2024-03-08T16:00:00Z".parse().unwrap()
}

fn account() -> Account {
    Account {
        id: AccountId(Uuid::from_u128(1)),
        email: "ann@example.com".to_owned(),
        password_hash: None,
        full_name: None,
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
        time_zone: "UTC".to_owned(),
        created_at: now(),
        profile: Profile::default(),
    }
}

/// Adds an active alert on a stock.
async fn add_alert(unit: &mut UnitOfWork, stock: u8) -> Result<(), StoreError> {
    let context = ParseContext {
        now: now(),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    let request = json!({"symbol": format!("S{stock}"), "condition": "price_above", "threshold": 200});
    let request = parse_create(&request, &context).unwrap();
    let id = AlertId(Uuid::from_u128(1_000 + u128::from(stock)));
    let (verified, price) = (OwnerVerification::Verified, PriceAvailability::Unknown);
    let alert = transition::create(request, id, verified, price, now()).unwrap().alert;
    let created = HistoryRow {
        alert: id,
        symbol: alert.symbol,
        entry: StatusChange {
            action: HistoryAction::Created,
            previous_status: None,
            new_status: HistoryStatus::Of(alert.status),
        },
        at: now(),
        price: None,
        details: None,
    };
    let alert = StoredAlert {
        alert,
        owner: AlertOwner::Account(account().id),
        created_by: None,
        role: ScopeRole::Single,
        managed_by: None,
    };
    unit.insert_alert(&alert, &created).await
}

/// Starts an evaluator of a node that holds no shard yet, on a database with an active alert on each stock.
async fn evaluator_of_a_node(database: &Database) -> Evaluator {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    let filled = store.commit((), |(), unit| {
        Box::pin(async {
            unit.insert_account(&account()).await?;
            for stock in 0..STOCKS {
                add_alert(unit, stock).await?;
            }
            Ok(())
        })
    });
    filled.await.unwrap();
    let clock = Arc::new(ManualClock::new(now()));
    let ports = Ports {
        store,
        clock: clock.clone(),
        random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)))),
        vault: Arc::new(Vault::new(b"a key for tests")),
        network: Network::new(clock),
    };
    let settings = EvaluationConfig {
        calendar: Calendar::nyse(),
        engine: ::alerts::engine::EngineConfig::default(),
        benchmark: "SPY".parse().unwrap(),
        missing_feeds: Vec::new(),
        follow_every: SignedDuration::from_secs(1),
        compare_every: SignedDuration::from_mins(5),
    };
    let node = ShardedEvaluation::new(NodeId(Uuid::from_u128(2)), SignedDuration::from_secs(1));
    Evaluator::new(&ports, &settings, Arc::default(), Some(Arc::new(node)))
}

fn armed(evaluator: &Evaluator) -> usize {
    evaluator.read(|engine| engine.armed_alerts())
}

fn all_shards() -> Vec<ShardState> {
    let states = Shard::all().map(|shard| ShardState {
        shard,
        owner: None,
        standby: None,
        is_standby_ready: false,
        epoch: Epoch(1),
        clock: None,
    });
    states.collect()
}

on_both_databases! {
    async fn read_arms_the_alerts_of_all_shards(database) {
        let evaluator = evaluator_of_a_node(database).await;
        let load = evaluator.sharded.as_ref().unwrap().held.begin_load(Shard::all());
        evaluator.load_shards(&all_shards(), load).await.unwrap();
        assert_eq!(armed(&evaluator), usize::from(STOCKS));
    }

    async fn read_arms_nothing_of_shards_that_were_lost_and_held_again_since(database) {
        let evaluator = evaluator_of_a_node(database).await;
        let held = &evaluator.sharded.as_ref().unwrap().held;
        let (states, shards) = (all_shards(), Shard::all().collect());
        let first = held.begin_load(Shard::all());
        evaluator.load_shards(&states[..128], first).await.unwrap();
        evaluator.lose_shards(&shards);
        assert_eq!(armed(&evaluator), 0);
        let second = held.begin_load(Shard::all());
        evaluator.load_shards(&states[128..], first).await.unwrap();
        assert!(!held.end_load(Shard(0), first) && armed(&evaluator) == 0);
        evaluator.load_shards(&states, second).await.unwrap();
        assert!(held.end_load(Shard(0), second));
        assert_eq!(armed(&evaluator), usize::from(STOCKS));
    }
}
