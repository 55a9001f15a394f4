//! Queues: claimed once, settled, tried again. The same tests for webhooks, email, text messages and messages to services.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use store::Store;
use store::model::{
    ClaimQuery, DeliveryResult, DisablePolicy, MessageResult, NewMessage, NotificationChannelType, Queue, Settlement,
    SettlementDecision,
};
use testkit::on_both_databases;
use uuid::Uuid;

use crate::deliveries::{add_webhook, webhook};
use crate::firings::{fire, firing};
use crate::notification_channels::{channel, insert};
use crate::support::{add, alert_of, asked, at, open, uuid, with_accounts};

/// A claimed row of any queue.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ClaimedRow {
    seq: i64,
    id: Uuid,
    lease: i64,
    endpoint: i64,
    tries: u32,
    created_at: Timestamp,
}

macro_rules! claimed_row {
    ($claimed:expr) => {
        ClaimedRow {
            seq: $claimed.seq,
            id: $claimed.id.0,
            lease: $claimed.lease,
            endpoint: $claimed.endpoint,
            tries: $claimed.tries,
            created_at: $claimed.created_at,
        }
    };
}

/// Returns a query for rows that are due a number of seconds after the start, for one minute.
pub(crate) async fn claim_query(
    store: &Store,
    queue: impl Into<Queue>,
    seconds: i64,
    lease: i64,
    max_per_endpoint: u32,
) -> ClaimQuery {
    let now = at(seconds);
    let endpoints = store.pending_endpoints(queue, i64::MIN, 1_000).await.unwrap();
    let due = endpoints.iter().filter(|endpoint| endpoint.first_due <= now);
    ClaimQuery {
        endpoints: due.map(|endpoint| endpoint.endpoint).collect(),
        max_per_endpoint,
        max_total: 1_000,
        now,
        until: now + SignedDuration::from_secs(60),
        lease,
    }
}

async fn claim_some(store: &Store, queue: Queue, seconds: i64, lease: i64, max_per_endpoint: u32) -> Vec<ClaimedRow> {
    let query = claim_query(store, queue, seconds, lease, max_per_endpoint).await;
    match queue {
        Queue::Webhooks => {
            let claimed = store.claim_deliveries(query).await.unwrap();
            claimed.iter().map(|claimed| claimed_row!(claimed)).collect()
        }
        Queue::Messages(channel) => {
            let claimed = store.claim_messages(channel, query, u32::MAX).await.unwrap();
            claimed.iter().map(|claimed| claimed_row!(claimed)).collect()
        }
    }
}

async fn claim(store: &Store, queue: Queue, seconds: i64, lease: i64) -> Vec<ClaimedRow> {
    claim_some(store, queue, seconds, lease, 1_000).await
}

fn settlement<R>(claimed: &ClaimedRow, decision: SettlementDecision, result: R) -> Settlement<R> {
    Settlement {
        seq: claimed.seq,
        lease: claimed.lease,
        decision,
        result,
    }
}

async fn settle(store: &Store, queue: Queue, rows: &[(&ClaimedRow, SettlementDecision)], seconds: i64) {
    match queue {
        Queue::Webhooks => {
            let rows = rows
                .iter()
                .map(|(row, decision)| settlement(row, *decision, DeliveryResult::default()));
            let policy = DisablePolicy {
                failing_for: SignedDuration::from_hours(120),
            };
            let notice = store::DisabledNotice::new(|_, _| None::<NewMessage>);
            let settled = store
                .settle_deliveries(rows.collect(), policy, notice, at(seconds))
                .await;
            assert_eq!(settled.unwrap(), []);
        }
        Queue::Messages(channel) => {
            let rows = rows
                .iter()
                .map(|(row, decision)| settlement(row, *decision, MessageResult::default()));
            store
                .settle_messages(channel, rows.collect(), at(seconds))
                .await
                .unwrap();
        }
    }
}

/// The status of each row of a queue, in order of creation.
async fn statuses(url: &str, queue: Queue) -> Vec<String> {
    let sql = match queue {
        Queue::Webhooks => "SELECT status FROM deliveries ORDER BY seq".to_owned(),
        Queue::Messages(channel) => {
            format!(
                "SELECT status FROM messages WHERE channel = '{}' ORDER BY seq",
                channel.name()
            )
        }
    };
    let sql = sqlx::AssertSqlSafe(sql);
    if url.starts_with("postgres") {
        let pool = sqlx::PgPool::connect(url).await.unwrap();
        sqlx::query_scalar(sql).fetch_all(&pool).await.unwrap()
    } else {
        let pool = sqlx::SqlitePool::connect(url).await.unwrap();
        sqlx::query_scalar(sql).fetch_all(&pool).await.unwrap()
    }
}

/// Returns a store in which every queue has `endpoints` endpoints with `number` rows each, created one second apart.
async fn fired(database: &testkit::Database, endpoints: u128, number: u32) -> Store {
    let store = with_accounts(database, 3 * endpoints).await;
    let mut firings = Vec::new();
    for account in 1..=3 * endpoints {
        // A third of the accounts have a webhook and get email, a third get text messages, and a third have a channel.
        let routing = match (account - 1) / endpoints {
            0 => {
                add_webhook(&store, &webhook(account, account)).await;
                json!({"notification": "email"})
            }
            1 => json!({"notification": "sms"}),
            _ => {
                insert(&store, channel(account, account, NotificationChannelType::Slack)).await;
                json!({"channels": [uuid(account)]})
            }
        };
        for nth in 1..=number {
            let mut parameters = routing.clone();
            parameters["threshold"] = nth.into();
            let id = account * 1_000 + u128::from(nth);
            let alert = alert_of(account, id, asked("AAPL", "price_above", &parameters), 0);
            add(&store, &alert).await;
            firings.push(firing(&alert, i64::from(nth)));
        }
    }
    fire(&store, firings).await;
    store
}

/// The status of a row that was delivered.
fn delivered(queue: Queue) -> &'static str {
    if queue == Queue::Webhooks { "delivered" } else { "sent" }
}

fn ids(claimed: &[ClaimedRow]) -> Vec<Uuid> {
    claimed.iter().map(|claimed| claimed.id).collect()
}

on_both_databases! {
    async fn claimed_row_is_exclusive_until_lease_ends(database) {
        let store = fired(database, 1, 3).await;
        for queue in Queue::ALL {
            let first = claim_some(&store, queue, 100, 1, 2).await;
            let times: Vec<_> = first.iter().map(|claimed| (claimed.created_at, claimed.tries)).collect();
            assert_eq!(times, [(at(1), 0), (at(2), 0)], "{queue:?}");
            let second = claim_some(&store, queue, 100, 2, 2).await;
            assert_eq!(second.len(), 1);
            assert_eq!(claim(&store, queue, 159, 3).await, []);
            // The same ids again.
            let again = ids(&claim(&store, queue, 160, 4).await);
            assert_eq!(again, [ids(&first), ids(&second)].concat(), "{queue:?}");
        }
    }

    async fn concurrent_claims_do_not_overlap(database) {
        let store = fired(database, 1, 64).await;
        let other = open(database).await;
        for queue in Queue::ALL {
            let claims = (1..=8).map(|lease| {
                let store = if lease % 2 == 0 { store.clone() } else { other.clone() };
                tokio::spawn(async move { claim_some(&store, queue, 100, lease, 16).await })
            });
            let mut seen = Vec::new();
            for claimed in futures_util::future::join_all(claims).await {
                seen.extend(ids(&claimed.unwrap()));
            }
            assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "{queue:?}: something was claimed twice");
            seen.extend(ids(&claim(&store, queue, 100, 9).await));
            assert_eq!(seen.len(), 64, "{queue:?}");
        }
    }

    async fn settled_row_is_finished_or_waits(database) {
        let url = database.url().to_owned();
        let store = fired(database, 1, 4).await;
        for queue in Queue::ALL {
            let claimed = claim(&store, queue, 100, 1).await;
            settle(&store, queue, &[
                (&claimed[0], SettlementDecision::Delivered),
                (&claimed[1], SettlementDecision::Failed),
                (&claimed[2], SettlementDecision::Retry { at: at(110) }),
                (&claimed[3], SettlementDecision::Postponed { until: at(120) }),
            ], 101).await;
            let delivered = delivered(queue);
            assert_eq!(statuses(&url, queue).await, [delivered, "failed", "pending", "pending"]);
            assert_eq!(claim(&store, queue, 109, 2).await, []);
            let again = claim(&store, queue, 110, 3).await;
            assert_eq!((ids(&again), again[0].tries), (vec![claimed[2].id], 1), "{queue:?}");
            settle(&store, queue, &[(&again[0], SettlementDecision::Released)], 115).await;
            assert_eq!(claim(&store, queue, 114, 4).await, []);
            let again = claim(&store, queue, 120, 5).await;
            assert_eq!(again.iter().map(|claimed| claimed.tries).collect::<Vec<_>>(), [1, 0], "{queue:?}");
        }
    }

    async fn late_settlement_counts_only_if_delivered(database) {
        let url = database.url().to_owned();
        let store = fired(database, 1, 4).await;
        for queue in Queue::ALL {
            let late = claim(&store, queue, 100, 1).await;
            let mine = claim(&store, queue, 200, 2).await;
            let retry = SettlementDecision::Retry { at: at(205) };
            settle(&store, queue, &[
                (&late[0], SettlementDecision::Failed), (&late[1], SettlementDecision::Delivered), (&late[2], retry), (&late[3], SettlementDecision::Released),
            ], 201).await;
            let delivered = delivered(queue);
            assert_eq!(statuses(&url, queue).await, ["pending", delivered, "pending", "pending"]);
            assert_eq!(claim(&store, queue, 210, 3).await, []);
            settle(&store, queue, &[
                (&mine[0], SettlementDecision::Delivered), (&mine[1], SettlementDecision::Failed), (&mine[2], SettlementDecision::Failed), (&mine[3], SettlementDecision::Failed),
            ], 202).await;
            // A delivered row remains delivered, and a failed one may turn out to be delivered.
            settle(&store, queue, &[(&late[0], SettlementDecision::Failed), (&late[2], SettlementDecision::Delivered)], 203).await;
            assert_eq!(statuses(&url, queue).await, [delivered, delivered, delivered, "failed"], "{queue:?}");
        }
    }

    async fn delivery_wins_over_other_results_of_the_same_row(database) {
        let url = database.url().to_owned();
        let store = fired(database, 1, 1).await;
        for queue in Queue::ALL {
            let late = claim(&store, queue, 100, 1).await;
            let mine = claim(&store, queue, 200, 2).await;
            settle(&store, queue, &[(&mine[0], SettlementDecision::Failed), (&late[0], SettlementDecision::Delivered)], 201).await;
            assert_eq!(statuses(&url, queue).await, [delivered(queue)]);
            assert_eq!(claim(&store, queue, 1_000, 3).await, []);
        }
    }

    async fn leases_of_crashed_process_are_released(database) {
        let store = fired(database, 1, 2).await;
        for queue in Queue::ALL {
            assert_eq!(claim(&store, queue, 100, 1).await.len(), 2);
        }
        assert_eq!(store.release_all_leases(at(101)).await.unwrap(), 8);
        for queue in Queue::ALL {
            assert_eq!(claim(&store, queue, 101, 2).await.len(), 2, "{queue:?}");
        }
    }

    async fn pending_endpoints_are_paged_in_order_with_due_times(database) {
        let store = fired(database, 3, 2).await;
        for queue in Queue::ALL {
            let endpoints = store.pending_endpoints(queue, i64::MIN, 10).await.unwrap();
            assert_eq!(endpoints.iter().map(|endpoint| endpoint.first_due).collect::<Vec<_>>(), [at(1); 3]);
            let after = store.pending_endpoints(queue, endpoints[0].endpoint, 1).await.unwrap();
            assert_eq!(after, [endpoints[1]], "{queue:?}");
            assert_eq!(store.pending_endpoints(queue, endpoints[2].endpoint, 10).await.unwrap(), []);
            // One per endpoint.
            let claimed = claim_some(&store, queue, 100, 1, 1).await;
            assert_eq!(claimed.iter().map(|claimed| claimed.created_at).collect::<Vec<_>>(), [at(1); 3]);
            assert_eq!(claimed.iter().map(|claimed| claimed.endpoint).collect::<HashSet<_>>().len(), 3);
        }
    }

    async fn firing_notifies_the_dispatchers_after_the_commit(database) {
        let store = fired(database, 1, 1).await;
        for queue in Queue::ALL {
            store.wake_handle(queue).notified().await;
            assert_eq!(claim(&store, queue, 60, 1).await.len(), 1);
        }
    }
}
