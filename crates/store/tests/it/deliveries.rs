//! Deliveries: created with their firings, claimed once, settled, tried again.

use jiff::{SignedDuration, Timestamp};
use store::model::{
    AccountId, Attempt, ClaimedDelivery, Delivery, DeliveryId, DeliveryResult, DeliveryStatus, DisablePolicy,
    DisabledReason, DisabledWebhook, EventId, MessageChannel, MessageContent, MessageId, NewMessage, PageRequest,
    Queue, Settlement, SettlementDecision, SignatureForm, Webhook, WebhookId,
};
use store::{DisabledNotice, Store};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::queue::claim_query;
use crate::support::{add_many, at, pause, uuid, with_accounts};

const FIVE_DAYS: SignedDuration = SignedDuration::from_hours(120);
const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };

pub(crate) fn webhook(number: u128, account: u128) -> Webhook {
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

pub(crate) async fn add_webhook(store: &Store, webhook: &Webhook) {
    let added = store.commit(webhook.clone(), |webhook, unit| Box::pin(unit.insert_webhook(webhook)));
    added.await.unwrap();
}

async fn update(store: &Store, webhook: &Webhook) {
    let updated = store.commit(webhook.clone(), |webhook, unit| {
        Box::pin(unit.update_webhook(webhook, at(500)))
    });
    updated.await.unwrap();
}

async fn remove(store: &Store, webhook: &Webhook) -> bool {
    let removed = store.commit(webhook.clone(), |webhook, unit| {
        Box::pin(unit.delete_webhook(webhook.account, webhook.id, at(500)))
    });
    removed.await.unwrap()
}

/// Claims deliveries that are due a number of seconds after the start, for one minute.
pub(crate) async fn claim(store: &Store, seconds: i64, lease: i64, max_per_endpoint: u32) -> Vec<ClaimedDelivery> {
    let query = claim_query(store, Queue::Webhooks, seconds, lease, max_per_endpoint).await;
    store.claim_deliveries(query).await.unwrap()
}

pub(crate) fn settled(
    claimed: &ClaimedDelivery,
    at: Timestamp,
    decision: SettlementDecision,
) -> Settlement<DeliveryResult> {
    let status = match decision {
        SettlementDecision::Delivered => 204,
        SettlementDecision::Gone => 410,
        _ => 500,
    };
    Settlement {
        seq: claimed.seq,
        lease: claimed.lease,
        decision,
        result: DeliveryResult {
            endpoint: claimed.endpoint,
            url: Some(claimed.url.clone()),
            attempt: (decision != SettlementDecision::Released).then(|| Attempt {
                at,
                outcome: format!("http_{status}"),
                http_status: Some(status),
                duration_ms: 12,
                response: Some("a\0b".to_owned()),
            }),
        },
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
        MessageContent::Firing(_) | MessageContent::Firings(_) => None,
    });
    notices.collect()
}

pub(crate) async fn settle(
    store: &Store,
    settlements: Vec<Settlement<DeliveryResult>>,
    seconds: i64,
) -> Vec<(WebhookId, DisabledReason)> {
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
    add_webhook(&store, &webhook).await;
    let alerts = add_many(&store, number).await;
    let firings = alerts.iter().zip(1..).map(|(alert, seconds)| firing(alert, seconds));
    fire(&store, firings.collect()).await;
    (store, webhook)
}

on_both_databases! {
    async fn deliveries_of_an_alert_are_those_of_its_firings(database) {
        let store = with_accounts(database, 2).await;
        let hooks = [webhook(1, 1), webhook(2, 1)];
        for hook in &hooks {
            add_webhook(&store, hook).await;
        }
        let alerts = add_many(&store, 2).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 60)).collect()).await;
        let (owner, stranger) = (AccountId(uuid(1)), AccountId(uuid(2)));
        let [first, second] = [0, 1].map(|place| firing(&alerts[place], 60).event);
        let events = store.events_of_alert(owner, alerts[0].alert.id, 10).await.unwrap();
        assert_eq!(events, [first]);
        assert_eq!(store.events_of_alert(stranger, alerts[0].alert.id, 10).await.unwrap(), []);
        assert_eq!(store.events_of_alert(owner, alerts[0].alert.id, 0).await.unwrap(), []);

        let found = store.deliveries_of_events(hooks[1].id, &events).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, DeliveryId::for_event(first, hooks[1].id));
        assert_eq!(found[0].alert, alerts[0].alert.id);
        assert_eq!(store.deliveries_of_events(hooks[0].id, &[first, second]).await.unwrap().len(), 2);
        let messages = store.receipts_of_events(&events).await.unwrap();
        assert_eq!(messages.len(), 1);
        assert_eq!((messages[0].sent.channel, messages[0].sent.status.as_str()), (MessageChannel::Email, "pending"));
    }

    async fn firing_creates_one_delivery_per_active_webhook(database) {
        let store = with_accounts(database, 2).await;
        let hooks = [webhook(1, 1), webhook(2, 1), webhook(3, 1), webhook(4, 2), webhook(5, 1)];
        for hook in &hooks {
            add_webhook(&store, hook).await;
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
        add_webhook(&store, &webhook(1, 1)).await;
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

    async fn settlement_records_attempts(database) {
        let (store, hook) = fired(database, 3).await;
        let claimed = claim(&store, 100, 1, 3).await;
        assert_eq!((&claimed[0].url, &claimed[0].secrets.current), (&hook.url, &hook.secret));
        assert_eq!(claimed[0].secrets.former, []);
        assert!(claimed[0].data.contains("reason"));
        let disabled = settle(&store, vec![
            settled(&claimed[0], at(100), SettlementDecision::Delivered),
            settled(&claimed[1], at(100), SettlementDecision::Retry { at: at(110) }),
            settled(&claimed[2], at(100), SettlementDecision::Failed),
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
        settle(&store, vec![settled(&again[0], at(110), SettlementDecision::Delivered)], 111).await;
        let delivery = store.delivery(hook.id, again[0].id).await.unwrap().unwrap();
        assert_eq!((delivery.status, delivery.attempts.len()), (Delivered, 2));
    }

    async fn gone_webhook_is_disabled_and_pending_deliveries_fail(database) {
        let (store, hook) = fired(database, 3).await;
        let claimed = claim(&store, 100, 1, 2).await;
        let disabled = settle(&store, vec![settled(&claimed[0], at(100), SettlementDecision::Gone)], 101).await;
        assert_eq!(disabled, [(hook.id, DisabledReason::Gone)]);
        assert_eq!(statuses(&store, &hook).await, [DeliveryStatus::Failed; 3]);
        let now = store.webhook(hook.account, hook.id).await.unwrap().unwrap();
        assert_eq!((now.is_active, now.disabled), (false, Some((at(101), DisabledReason::Gone))));
        // A second 410 finds the webhook already disabled.
        assert_eq!(settle(&store, vec![settled(&claimed[1], at(102), SettlementDecision::Gone)], 102).await, []);
        assert_eq!(pending_notices(&store, 103).await, [(hook.id.0, hook.url.into_bytes())]);
    }

    async fn results_of_former_url_do_not_affect_webhook(database) {
        let (store, webhook) = fired(database, 2).await;
        let claimed = claim(&store, 1, 1, 10).await;
        let moved = Webhook { url: "https://elsewhere.example/hook".to_owned(), ..webhook.clone() };
        update(&store, &moved).await;
        let old = claimed.iter().map(|one| settled(one, at(2), SettlementDecision::Gone)).collect();
        assert!(settle(&store, old, 3).await.is_empty());
        let found = store.webhook(webhook.account, webhook.id).await.unwrap().unwrap();
        assert_eq!((found.is_active, found.failing_since), (true, None));
        let mut now = settled(&claimed[0], at(4), SettlementDecision::Gone);
        now.result.url = Some(moved.url);
        assert_eq!(settle(&store, vec![now], 5).await, [(webhook.id, DisabledReason::Gone)]);
    }

    async fn finished_delivery_is_purged_with_all_attempts(database) {
        let url = database.url().to_owned();
        let (store, webhook) = fired(database, 2).await;
        let claimed = claim(&store, 1, 1, 10).await;
        for second in 0..25 {
            let tried = settled(&claimed[0], at(second), SettlementDecision::Delivered);
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
        settle(&store, vec![settled(&claimed[0], at(30), SettlementDecision::Delivered)], 30).await;
        assert_eq!(attempts(&url).await, 0);
    }

    async fn webhook_is_disabled_after_five_days_of_failures(database) {
        let (store, hook) = fired(database, 4).await;
        let claimed = claim(&store, 100, 1, 4).await;
        let fail = |place: usize, seconds| settled(&claimed[place], at(seconds), SettlementDecision::Failed);
        let five_days = FIVE_DAYS.as_secs();
        assert_eq!(settle(&store, vec![fail(0, 100)], 100).await, []);
        assert_eq!(settle(&store, vec![settled(&claimed[1], at(200), SettlementDecision::Delivered)], 200).await, []);
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
        settle(&store, vec![settled(&claimed[0], at(100), SettlementDecision::Delivered)], 100).await;
        let (id, of) = (claimed[0].id, hook.id);
        let resend = |of, id| store.commit((), move |(), unit| Box::pin(unit.resend_delivery(of, id, at(300))));
        assert!(resend(of, id).await.unwrap());
        assert!(!resend(WebhookId(uuid(7)), id).await.unwrap());
        assert!(!resend(of, DeliveryId(uuid(7))).await.unwrap());
        let again = claim(&store, 300, 2, 1).await;
        assert_eq!((again[0].id, again[0].tries), (id, 0));
    }

    async fn failed_deliveries_since_a_time_are_recovered(database) {
        let (store, hook) = fired(database, 4).await;
        let claimed = claim(&store, 100, 1, 4).await;
        let failed = claimed[..3].iter().map(|claimed| settled(claimed, at(100), SettlementDecision::Failed));
        let mut all: Vec<_> = failed.collect();
        all.push(settled(&claimed[3], at(100), SettlementDecision::Delivered));
        settle(&store, all, 100).await;
        let id = hook.id;
        let recovered = store.commit((), move |(), unit| Box::pin(unit.recover_deliveries(id, at(2), at(400)))).await.unwrap();
        assert_eq!(recovered, 2);
        let again = claim(&store, 400, 2, 9).await;
        assert_eq!([again[0].id, again[1].id], [claimed[1].id, claimed[2].id]);
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
