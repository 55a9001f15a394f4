//! Snapshots of the query plans of hot statements on both databases: a missing index shows as a scan.
//!
//! The statements are those that the store sends: the drivers log them ([`recorder`]). Each is then explained
//! ([`explain`]).

#![expect(clippy::unwrap_used, reason = "clippy takes what several tests share for no test")]

mod explain;
mod fixture;
mod many_firings;
mod recorder;

use std::fmt::Write;

use jiff::Timestamp;
use store::model::{
    AlertFilter, AlertSort, AlertSortField, ClaimQuery, DeliveryStatus, FiringFilter, IdempotencyKey, ListRequest,
    MessageChannel, NewIdempotencyClaim, PageRequest, Queue,
};
use store::{Store, StoreOptions};
use testkit::on_both_databases;

use crate::explain::Explainer;
use crate::fixture::{ACCOUNT, ALERT, FEEDBACK, HASH, SESSION, TRADE, WEBHOOK, now};
use crate::recorder::Recorder;

const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};
const PAGE: PageRequest = PageRequest { page: 1, limit: 50 };

/// Claims all rows of an endpoint that are due.
fn claim_query(endpoint: i64) -> ClaimQuery {
    ClaimQuery {
        endpoints: vec![endpoint],
        max_per_endpoint: 4,
        max_total: 100,
        now: now(),
        until: now() + jiff::SignedDuration::from_secs(60),
        lease: 1,
    }
}

/// Runs `operation` and appends the plans of its statements to `text`.
macro_rules! plans {
    ($recorder:ident, $explainer:ident, $store:ident, $text:ident, $name:literal: $operation:expr) => {{
        $recorder.clear(&$store).await;
        let value = $operation.unwrap();
        writeln!($text, "# {}", $name).unwrap();
        for statement in $recorder.statements(&$store).await {
            writeln!($text, "{}", statement.summary).unwrap();
            for line in $explainer.plan(&statement.sql).await {
                writeln!($text, "    {line}").unwrap();
            }
        }
        value
    }};
}

on_both_databases! {
    async fn plans_of_hot_statements_use_indexes(database) {
        let recorder = Recorder::start().await;
        // With one connection for reading, a statement is logged before the next one starts.
        let options = StoreOptions { max_connections: 1, ..StoreOptions::new(database.url()) };
        let store = Store::open(options).await.unwrap();
        fixture::fill(&store).await;
        let mut explainer = Explainer::connect(database).await;
        let mut text = String::new();
        macro_rules! record {
            ($name:literal: $operation:expr) => { plans!(recorder, explainer, store, text, $name: $operation) };
        }

        record!("list alerts": store.alerts(ACCOUNT, &AlertFilter::default(), NEWEST_FIRST, PAGE).await);
        let search = AlertFilter { search: Some("app".to_owned()), ..AlertFilter::default() };
        record!("search alerts": store.alerts(ACCOUNT, &search, NEWEST_FIRST, PAGE).await);
        let tagged = AlertFilter { tags: alerts::Tags::read(["a", "b"].into_iter()).unwrap(), ..AlertFilter::default() };
        record!("alerts with tags": store.alerts(ACCOUNT, &tagged, NEWEST_FIRST, PAGE).await);
        let after_alert = ListRequest::following(ALERT, 50);
        record!("alerts after an alert": store.alerts(ACCOUNT, &AlertFilter::default(), NEWEST_FIRST, after_alert).await);
        let history = record!("history of an alert": store.history_since(ACCOUNT, ALERT, None, PAGE).await).unwrap();
        let after_entry = ListRequest::following(history.items[0].position, 50);
        record!("history after an entry": store.history_since(ACCOUNT, ALERT, Some(now()), after_entry).await);
        let firings = record!("firings of an account": store.firings_of_account(ACCOUNT, None, PAGE).await);
        let after_firing = ListRequest::following(firings.items[0].position, 50);
        record!("firings after a firing": store.firings_of_account(ACCOUNT, Some(now()), after_firing).await);
        let everything = FiringFilter::default();
        let fired = record!("firings with times": store.firings(ACCOUNT, everything, PAGE.into()).await).unwrap();
        record!("firing": store.firing(ACCOUNT, fired.items[0].id).await);
        let filter = FiringFilter { alert: Some(ALERT), since: Some(now()), unacknowledged: true };
        let after = ListRequest::following(fired.items[0].id, 50);
        record!("filtered firings after a firing": store.firings(ACCOUNT, filter, after).await);
        record!("members of an alert": store.members(ACCOUNT, ALERT, PAGE).await);
        let deliveries = record!("deliveries of a webhook": store.deliveries(WEBHOOK, None, PAGE).await);
        let after_delivery = ListRequest::following(deliveries.items[0].id, 50);
        let pending = Some(DeliveryStatus::Pending);
        record!("deliveries after a delivery": store.deliveries(WEBHOOK, pending, after_delivery).await);
        let outbox = record!("outbox": store.outbox_messages(None, None, PAGE).await);
        let after_message = ListRequest::following(outbox.items[0].id, 50);
        let email = MessageChannel::Email;
        record!("outbox after a message": store.outbox_messages(None, None, after_message).await);
        record!("outbox of a channel": store.outbox_messages(Some(email), None, after_message).await);
        record!("outbox of a recipient": store.outbox_messages(Some(email), Some("ann@example.com"), after_message).await);
        let after_trade = ListRequest::following(TRADE, 50);
        record!("paper trades after a trade": store.paper_trades(ACCOUNT, after_trade).await);
        let after_feedback = ListRequest::following(FEEDBACK, 50);
        record!("feedback after an entry": store.feedback(ACCOUNT, after_feedback).await);
        let events = record!("events of an alert": store.events_of_alert(ACCOUNT, ALERT, 50).await);
        record!("deliveries of an alert": store.deliveries_of_events(WEBHOOK, &events).await);
        record!("messages of an alert": store.receipts_of_events(&events).await);
        record!("changes of alerts": store.changed_since(0, 100).await);

        let due = record!("endpoints with pending deliveries": store.pending_endpoints(Queue::Webhooks, 0, 100).await);
        let claim = claim_query(due.first().unwrap().endpoint);
        let claimed = record!("claim deliveries": store.claim_deliveries(claim).await);
        assert_eq!(claimed.len(), 1);
        let due = record!("endpoints with pending messages": store.pending_endpoints(email, i64::MIN, 100).await);
        let claim = claim_query(due.first().unwrap().endpoint);
        let claimed = record!("claim messages": store.claim_messages(email, claim, 10).await);
        assert_eq!(claimed.len(), 1);

        record!("first escalation": store.next_escalation().await);
        record!("escalations": store.advance_escalations(jiff::Timestamp::UNIX_EPOCH, 10).await);

        record!("active alerts at the start": store.active_alerts(&mut |_| ()).await);
        let symbols = ["AAPL".parse().unwrap()];
        record!("active alerts of some stocks": store.active_alerts_of_symbols(&symbols, &mut |_| ()).await);
        record!("bars at the start": store.all_bars(jiff::civil::date(2024, 1, 1), &mut |_| ()).await);
        record!("quotes at the start": store.latest_quotes().await);
        record!("comparison with the engine": store.active_revisions(&mut |_| ()).await);

        record!("session by cookie": store.session_by_cookie(HASH).await);
        record!("session by id": store.session(SESSION).await);
        let use_refresh_token = store.commit((), |(), unit| Box::pin(unit.use_refresh_token(HASH, now())));
        record!("use of a refresh token": use_refresh_token.await);
        record!("API key": store.api_key_by_hash(HASH).await);
        let key = IdempotencyKey { requester: ACCOUNT.into(), key_hash: HASH, body_hash: HASH };
        let claim = NewIdempotencyClaim {
            key, process: None, now: now(), abandoned: Timestamp::UNIX_EPOCH, forgotten: Timestamp::UNIX_EPOCH,
        };
        let claim = || store.commit(claim, |claim, unit| Box::pin(unit.claim_idempotency_key(claim)));
        record!("claim of an idempotency key": claim().await);
        record!("repeated idempotency key": claim().await);
        if let Some(limits) = store.shared_limits() {
            let hour = jiff::SignedDuration::from_hours(1);
            record!("chunk of a shared limit": limits.take(&[1; 32], 100, 2, hour).await);
        }

        insta::assert_snapshot!(if database.is_postgres() { "postgresql" } else { "sqlite" }, text);
    }
}
