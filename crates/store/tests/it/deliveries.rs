//! Deliveries: created with their firings, claimed once, settled, tried again.

use jiff::{SignedDuration, Timestamp};
use store::model::{
    AccountId, Attempt, ClaimQuery, ClaimedDelivery, Delivery, DeliveryDecision, DeliveryId, DeliverySettlement,
    DeliveryStatus, DisablePolicy, DisabledReason, DisabledWebhook, EventId, MessageChannel, MessageContent, MessageId,
    NewMessage, PageRequest, SignatureForm, Webhook, WebhookId,
};
use store::{DisabledNotice, Store};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::support::{add_many, at, boxed, pause, transaction, uuid, with_accounts};

const FIVE_DAYS: SignedDuration = SignedDuration::from_hours(120);
const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };

fn webhook(number: u128, account: u128) -> Webhook {
    Webhook {
        id: WebhookId(uuid(0xB000 + number)),
        account: AccountId(uuid(account)),
        url: format!("https://{number}.example.com/hook"),
        events: vec!["alert.triggered".to_owned()],
        is_active: true,
        signature: SignatureForm::Body,
        secret: vec![1, 2, 3],
        created_at: at(0),
        failing_since: None,
        last_success_at: None,
        disabled: None,
    }
}

async fn add(store: &Store, webhook: &Webhook) {
    let webhook = webhook.clone();
    let added = store.write(transaction(move |unit| {
        let webhook = webhook.clone();
        boxed(async move { Ok(unit.insert_webhook(&webhook).await?) })
    }));
    added.await.unwrap();
}

async fn update(store: &Store, webhook: &Webhook) {
    let webhook = webhook.clone();
    let updated = store.write(transaction(move |unit| {
        let webhook = webhook.clone();
        boxed(async move { Ok(unit.update_webhook(&webhook).await?) })
    }));
    updated.await.unwrap();
}

async fn remove(store: &Store, webhook: &Webhook) -> bool {
    let (account, id) = (webhook.account, webhook.id);
    let removed = store.write(transaction(move |unit| {
        boxed(async move { Ok(unit.delete_webhook(account, id, at(500)).await?) })
    }));
    removed.await.unwrap()
}

/// Claims deliveries that are due a number of seconds after the start, for one minute.
pub(crate) async fn claim(store: &Store, seconds: i64, lease: i64, max_per_endpoint: u32) -> Vec<ClaimedDelivery> {
    let now = at(seconds);
    let endpoints = store.pending_delivery_endpoints(0, 100).await.unwrap();
    let query = ClaimQuery {
        endpoints: endpoints
            .iter()
            .filter(|endpoint| endpoint.first_due <= now)
            .map(|endpoint| endpoint.endpoint)
            .collect(),
        max_per_endpoint,
        max_total: 1_000,
        now,
        until: now + SignedDuration::from_secs(60),
        lease,
    };
    store.claim_deliveries(query).await.unwrap()
}

fn settled(claimed: &ClaimedDelivery, at: Timestamp, decision: DeliveryDecision) -> DeliverySettlement {
    let status = match decision {
        DeliveryDecision::Delivered => 204,
        DeliveryDecision::Gone => 410,
        _ => 500,
    };
    DeliverySettlement {
        seq: claimed.seq,
        lease: claimed.lease,
        endpoint: claimed.endpoint,
        url: Some(claimed.url.clone()),
        attempt: (decision != DeliveryDecision::Released).then(|| Attempt {
            at,
            outcome: format!("http_{status}"),
            http_status: Some(status),
            duration_ms: 12,
            response: Some("a\0b".to_owned()),
        }),
        decision,
    }
}

/// The message to the owner. Its id is that of the webhook.
fn notice(webhook: &DisabledWebhook, address: &str) -> Option<NewMessage> {
    Some(NewMessage {
        id: MessageId(webhook.webhook.0),
        channel: MessageChannel::Email,
        kind: "webhook_off",
        recipient: address.to_owned(),
        account: Some(webhook.account),
        content: webhook.url.clone().into_bytes(),
        created_at: at(0),
    })
}

/// The messages that wait for the webhook's owner.
async fn pending_notices(store: &Store, seconds: i64) -> Vec<(uuid::Uuid, Vec<u8>)> {
    let claimed = crate::messages::claim(store, MessageChannel::Email, seconds, 1).await;
    let notices = claimed.into_iter().filter_map(|message| match message.content {
        MessageContent::Sealed(content) => {
            assert_eq!(message.recipient, message.owner.map(|owner| owner.email));
            Some((message.id.0, content))
        }
        MessageContent::Firing(_) => None,
    });
    notices.collect()
}

async fn settle(store: &Store, settlements: Vec<DeliverySettlement>, seconds: i64) -> Vec<(WebhookId, DisabledReason)> {
    let policy = DisablePolicy { failing_for: FIVE_DAYS };
    let disabled = store
        .settle_deliveries(settlements, policy, DisabledNotice::new(notice), at(seconds))
        .await
        .unwrap();
    disabled
        .into_iter()
        .map(|webhook| (webhook.webhook, webhook.reason))
        .collect()
}

async fn deliveries(store: &Store, webhook: &Webhook) -> Vec<Delivery> {
    store.deliveries(webhook.id, None, ALL).await.unwrap().items
}

async fn statuses(store: &Store, webhook: &Webhook) -> Vec<DeliveryStatus> {
    deliveries(store, webhook)
        .await
        .iter()
        .map(|delivery| delivery.status)
        .collect()
}

/// Counts all attempts.
async fn attempts(url: &str) -> i64 {
    let sql = "SELECT COUNT(*) FROM delivery_attempts";
    let (count,): (i64,) = if url.starts_with("postgres") {
        let pool = sqlx::PgPool::connect(url).await.unwrap();
        sqlx::query_as(sql).fetch_one(&pool).await.unwrap()
    } else {
        let pool = sqlx::SqlitePool::connect(url).await.unwrap();
        sqlx::query_as(sql).fetch_one(&pool).await.unwrap()
    };
    count
}

/// A webhook of the first account, and a number of alerts that fired one second apart.
pub(crate) async fn fired(database: &testkit::Database, number: u32) -> (Store, Webhook) {
    let store = with_accounts(database, 1).await;
    let webhook = webhook(1, 1);
    add(&store, &webhook).await;
    let alerts = add_many(&store, number).await;
    let firings = alerts.iter().zip(1..).map(|(alert, seconds)| firing(alert, seconds));
    fire(&store, firings.collect()).await;
    (store, webhook)
}

on_both_databases! {
    async fn firing_creates_one_delivery_per_active_webhook(database) {
        let store = with_accounts(database, 2).await;
        let hooks = [webhook(1, 1), webhook(2, 1), webhook(3, 1), webhook(4, 2), webhook(5, 1)];
        for hook in &hooks {
            add(&store, hook).await;
        }
        update(&store, &Webhook { is_active: false, ..hooks[2].clone() }).await;
        assert!(remove(&store, &hooks[4]).await);
        let alert = add_many(&store, 1).await.remove(0);
        let firing = firing(&alert, 60);
        fire(&store, vec![firing.clone()]).await;
        for (hook, made) in hooks.iter().zip([1, 1, 0, 0, 0]) {
            let found = deliveries(&store, hook).await;
            assert_eq!(found.len(), made, "{}", hook.url);
            for delivery in found {
                assert_eq!(delivery, Delivery {
                    id: DeliveryId::for_event(firing.event, hook.id),
                    alert: alert.alert.id,
                    status: DeliveryStatus::Pending,
                    attempts: vec![],
                    created_at: at(60),
                    next_attempt_at: Some(at(60)),
                });
            }
        }
    }

    async fn rejected_firing_creates_no_delivery(database) {
        let store = with_accounts(database, 1).await;
        add(&store, &webhook(1, 1)).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert!(pause(&store, &alert.alert).await);
        fire(&store, vec![firing(&alert, 60)]).await;
        assert_eq!(deliveries(&store, &webhook(1, 1)).await, []);
    }

    async fn thousands_of_firings_create_as_many_deliveries(database) {
        let (store, webhook) = fired(database, 2_100).await;
        let page = store.deliveries(webhook.id, Some(DeliveryStatus::Pending), ALL).await.unwrap();
        assert_eq!((page.total, page.items.len()), (2_100, 1_000));
        // Newest first.
        assert_eq!(page.items[0].created_at, at(2_100));
    }

    async fn claimed_delivery_is_exclusive_until_lease_ends(database) {
        let (store, hook) = fired(database, 3).await;
        let first = claim(&store, 100, 1, 2).await;
        assert_eq!(first.len(), 2);
        assert_eq!((first[0].created_at, first[1].created_at), (at(1), at(2)));
        assert_eq!(first[0].url, hook.url);
        assert_eq!(first[0].secrets.current, hook.secret);
        assert_eq!(first[0].secrets.former, []);
        assert!(first[0].data.contains("reason"));
        let second = claim(&store, 100, 2, 2).await;
        assert_eq!(second.len(), 1);
        assert_eq!(claim(&store, 159, 3, 2).await, []);
        let ids: Vec<_> = claim(&store, 160, 4, 9).await.iter().map(|claimed| claimed.id).collect();
        let before: Vec<_> = first.iter().chain(&second).map(|claimed| claimed.id).collect();
        assert_eq!(ids, before);
    }

    async fn concurrent_claims_do_not_overlap(database) {
        let (store, _) = fired(database, 64).await;
        let claims = (1..=8).map(|lease| {
            let store = store.clone();
            tokio::spawn(async move { claim(&store, 100, lease, 16).await })
        });
        let mut seen = Vec::new();
        for claimed in futures_util::future::join_all(claims).await {
            seen.extend(claimed.unwrap().into_iter().map(|claimed| claimed.id));
        }
        let number = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), number, "something was claimed twice");
        seen.extend(claim(&store, 100, 9, 64).await.into_iter().map(|claimed| claimed.id));
        assert_eq!(seen.len(), 64);
    }

    async fn settlement_records_attempts(database) {
        let (store, hook) = fired(database, 3).await;
        let claimed = claim(&store, 100, 1, 3).await;
        let disabled = settle(&store, vec![
            settled(&claimed[0], at(100), DeliveryDecision::Delivered),
            settled(&claimed[1], at(100), DeliveryDecision::Retry { at: at(110) }),
            settled(&claimed[2], at(100), DeliveryDecision::Failed),
        ], 101).await;
        assert_eq!(disabled, []);
        use DeliveryStatus::{Delivered, Failed, Pending};
        let found = deliveries(&store, &hook).await;
        let of = |id| found.iter().find(|delivery| delivery.id == id).unwrap();
        assert_eq!(of(claimed[0].id).status, Delivered);
        assert_eq!((of(claimed[1].id).status, of(claimed[1].id).next_attempt_at), (Pending, Some(at(110))));
        assert_eq!((of(claimed[2].id).status, of(claimed[2].id).next_attempt_at), (Failed, None));
        let attempt = &of(claimed[1].id).attempts[0];
        assert_eq!((attempt.at, attempt.http_status, attempt.duration_ms), (at(100), Some(500), 12));
        assert_eq!(attempt.response.as_deref(), Some("a\u{FFFD}b"));

        assert_eq!(claim(&store, 109, 2, 3).await, []);
        let again = claim(&store, 110, 3, 3).await;
        assert_eq!((again[0].id, again[0].tries), (claimed[1].id, 1));
        settle(&store, vec![settled(&again[0], at(110), DeliveryDecision::Delivered)], 111).await;
        let delivery = store.delivery(hook.id, again[0].id).await.unwrap().unwrap();
        assert_eq!((delivery.status, delivery.attempts.len()), (Delivered, 2));
    }

    async fn late_settlement_counts_only_if_delivered(database) {
        let (store, hook) = fired(database, 2).await;
        let late = claim(&store, 100, 1, 2).await;
        let mine = claim(&store, 200, 2, 2).await;
        settle(&store, vec![
            settled(&late[0], at(100), DeliveryDecision::Failed),
            settled(&late[1], at(100), DeliveryDecision::Delivered),
        ], 201).await;
        let now: Vec<_> = deliveries(&store, &hook).await;
        assert_eq!((now[1].status, now[0].status), (DeliveryStatus::Pending, DeliveryStatus::Delivered));
        // It was tried nonetheless.
        assert_eq!(now[1].attempts.len(), 1);
        settle(&store, vec![settled(&mine[1], at(200), DeliveryDecision::Failed)], 202).await;
        assert_eq!(deliveries(&store, &hook).await[0].status, DeliveryStatus::Delivered);
    }

    async fn released_delivery_returns_unchanged(database) {
        let (store, _) = fired(database, 1).await;
        let claimed = claim(&store, 100, 1, 1).await;
        settle(&store, vec![settled(&claimed[0], at(100), DeliveryDecision::Released)], 101).await;
        let again = claim(&store, 101, 2, 1).await;
        assert_eq!((again[0].id, again[0].tries), (claimed[0].id, 0));
    }

    async fn gone_webhook_is_disabled_and_pending_deliveries_fail(database) {
        let (store, hook) = fired(database, 3).await;
        let claimed = claim(&store, 100, 1, 2).await;
        let disabled = settle(&store, vec![settled(&claimed[0], at(100), DeliveryDecision::Gone)], 101).await;
        assert_eq!(disabled, [(hook.id, DisabledReason::Gone)]);
        assert_eq!(statuses(&store, &hook).await, [DeliveryStatus::Failed; 3]);
        let now = store.webhook(hook.account, hook.id).await.unwrap().unwrap();
        assert_eq!((now.is_active, now.disabled), (false, Some((at(101), DisabledReason::Gone))));
        // A second 410 finds the webhook already disabled.
        assert_eq!(settle(&store, vec![settled(&claimed[1], at(102), DeliveryDecision::Gone)], 102).await, []);
        assert_eq!(pending_notices(&store, 103).await, [(hook.id.0, hook.url.into_bytes())]);
    }

    async fn results_of_former_url_do_not_affect_webhook(database) {
        let (store, webhook) = fired(database, 2).await;
        let claimed = claim(&store, 1, 1, 10).await;
        let moved = Webhook { url: "https://elsewhere.example/hook".to_owned(), ..webhook.clone() };
        update(&store, &moved).await;
        let old = claimed.iter().map(|one| settled(one, at(2), DeliveryDecision::Gone)).collect();
        assert!(settle(&store, old, 3).await.is_empty());
        let found = store.webhook(webhook.account, webhook.id).await.unwrap().unwrap();
        assert_eq!((found.is_active, found.failing_since), (true, None));
        let now = DeliverySettlement { url: Some(moved.url), ..settled(&claimed[0], at(4), DeliveryDecision::Gone) };
        assert_eq!(settle(&store, vec![now], 5).await, [(webhook.id, DisabledReason::Gone)]);
    }

    async fn finished_delivery_is_purged_with_all_attempts(database) {
        let url = database.url().to_owned();
        let (store, webhook) = fired(database, 2).await;
        let claimed = claim(&store, 1, 1, 10).await;
        for second in 0..25 {
            let tried = settled(&claimed[0], at(second), DeliveryDecision::Delivered);
            settle(&store, vec![tried], second).await;
        }
        let shown = deliveries(&store, &webhook).await;
        let tried = shown.iter().find(|shown| !shown.attempts.is_empty()).unwrap();
        let times: Vec<_> = tried.attempts.iter().map(|attempt| attempt.at).collect();
        assert_eq!(times, (5..25).map(at).collect::<Vec<_>>());
        // Purges older finished deliveries; the pending one remains.
        assert_eq!(store.purge_deliveries(tried.created_at, 100).await.unwrap(), 0);
        let later = tried.created_at + SignedDuration::from_secs(1);
        assert_eq!(store.purge_deliveries(later, 100).await.unwrap(), 1);
        assert_eq!(statuses(&store, &webhook).await, [DeliveryStatus::Pending]);
        // An attempt of a deleted delivery is not recorded.
        settle(&store, vec![settled(&claimed[0], at(30), DeliveryDecision::Delivered)], 30).await;
        assert_eq!(attempts(&url).await, 0);
    }

    async fn webhook_is_disabled_after_five_days_of_failures(database) {
        let (store, hook) = fired(database, 4).await;
        let claimed = claim(&store, 100, 1, 4).await;
        let fail = |place: usize, seconds| settled(&claimed[place], at(seconds), DeliveryDecision::Failed);
        let five_days = FIVE_DAYS.as_secs();
        assert_eq!(settle(&store, vec![fail(0, 100)], 100).await, []);
        assert_eq!(settle(&store, vec![settled(&claimed[1], at(200), DeliveryDecision::Delivered)], 200).await, []);
        assert_eq!(settle(&store, vec![fail(2, 300)], 300).await, []);
        assert_eq!(settle(&store, vec![fail(3, 300 + five_days)], 299 + five_days).await, []);
        assert_eq!(pending_notices(&store, 300 + five_days).await, []);
        let disabled = settle(&store, vec![fail(3, 300 + five_days)], 300 + five_days).await;
        assert_eq!(disabled, [(hook.id, DisabledReason::Failing)]);
        assert_eq!(pending_notices(&store, 300 + five_days).await, [(hook.id.0, hook.url.into_bytes())]);
    }

    async fn resent_delivery_keeps_its_id(database) {
        let (store, hook) = fired(database, 1).await;
        let claimed = claim(&store, 100, 1, 1).await;
        settle(&store, vec![settled(&claimed[0], at(100), DeliveryDecision::Delivered)], 100).await;
        let (id, of) = (claimed[0].id, hook.id);
        let resend = |of: WebhookId, id: DeliveryId| {
            store.write(transaction(move |unit| boxed(async move { Ok(unit.resend_delivery(of, id, at(300)).await?) })))
        };
        assert!(resend(of, id).await.unwrap());
        assert!(!resend(WebhookId(uuid(7)), id).await.unwrap());
        assert!(!resend(of, DeliveryId(uuid(7))).await.unwrap());
        let again = claim(&store, 300, 2, 1).await;
        assert_eq!((again[0].id, again[0].tries), (id, 0));
    }

    async fn failed_deliveries_since_a_time_are_recovered(database) {
        let (store, hook) = fired(database, 4).await;
        let claimed = claim(&store, 100, 1, 4).await;
        let failed = claimed[..3].iter().map(|claimed| settled(claimed, at(100), DeliveryDecision::Failed));
        let mut all: Vec<_> = failed.collect();
        all.push(settled(&claimed[3], at(100), DeliveryDecision::Delivered));
        settle(&store, all, 100).await;
        let id = hook.id;
        let recovered = store.write(transaction(move |unit| {
            boxed(async move { Ok(unit.recover_deliveries(id, at(2), at(400)).await?) })
        })).await.unwrap();
        assert_eq!(recovered, 2);
        let again = claim(&store, 400, 2, 9).await;
        assert_eq!([again[0].id, again[1].id], [claimed[1].id, claimed[2].id]);
    }

    async fn leases_of_crashed_process_are_released(database) {
        let (store, _) = fired(database, 2).await;
        assert_eq!(claim(&store, 100, 1, 2).await.len(), 2);
        assert_eq!(store.release_all_leases(at(101)).await.unwrap(), 2);
        assert_eq!(claim(&store, 101, 2, 2).await.len(), 2);
    }

    async fn pending_endpoints_are_paged_in_order_with_due_times(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=3 {
            add(&store, &webhook(number, 1)).await;
        }
        let alerts = add_many(&store, 2).await;
        fire(&store, vec![firing(&alerts[0], 60), firing(&alerts[1], 70)]).await;
        let endpoints = store.pending_delivery_endpoints(0, 10).await.unwrap();
        assert_eq!(endpoints.iter().map(|endpoint| endpoint.first_due).collect::<Vec<_>>(), [at(60); 3]);
        let after = store.pending_delivery_endpoints(endpoints[0].endpoint, 1).await.unwrap();
        assert_eq!(after, [endpoints[1]]);
        assert_eq!(store.pending_delivery_endpoints(endpoints[2].endpoint, 10).await.unwrap(), []);
        // One per endpoint.
        let claimed = claim(&store, 100, 1, 1).await;
        assert_eq!(claimed.len(), 3);
        assert!(claimed.iter().all(|claimed| claimed.created_at == at(60)));
    }

    async fn deleted_webhook_has_no_secrets_and_no_deliveries(database) {
        let (store, hook) = fired(database, 1).await;
        assert!(remove(&store, &hook).await);
        assert!(!remove(&store, &hook).await);
        assert_eq!(store.webhook(hook.account, hook.id).await.unwrap(), None);
        assert_eq!(store.webhooks(hook.account).await.unwrap(), []);
        assert_eq!(claim(&store, 100, 1, 1).await, []);
        assert_eq!(statuses(&store, &hook).await, [DeliveryStatus::Failed]);
    }
}

#[test]
fn delivery_id_is_stable_uuid_version_4() {
    let id = |event, webhook| DeliveryId::for_event(EventId(uuid(event)), WebhookId(uuid(webhook))).0;
    assert_eq!(id(1, 2).get_version_num(), 4);
    assert_eq!(id(1, 2), id(1, 2));
    assert_ne!(id(1, 2), id(1, 3));
    assert_ne!(id(1, 2), id(5, 2));
}
