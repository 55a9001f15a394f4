//! One row of each kind, so that no operation ends before its last statement.

use std::sync::Arc;

use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, HistoryStatus, OwnerVerification, PriceAvailability, StatusChange};
use alerts::{AlertId, HistoryAction, Plan};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::json;
use store::model::{
    Account, AccountId, AlertOwner, ApiKey, ApiKeyId, EvaluationCommit, EventId, Feedback, FeedbackCategory,
    FeedbackId, Firing, FiringResult, HistoryRow, MessageChannel, MessageId, MessageResult, PaperTrade, PaperTradeId,
    Profile, SessionId, Settlement, SettlementDecision, SignatureForm, StoredAlert, StoredOutboxMessage, TimedPrice,
    UserSession, WatchlistItemId, Webhook, WebhookId,
};
use store::{Store, UnitOfWork};
use uuid::Uuid;

pub(crate) const ACCOUNT: AccountId = AccountId(Uuid::from_u128(1));
pub(crate) const ALERT: AlertId = AlertId(Uuid::from_u128(2));
pub(crate) const TRADE: PaperTradeId = PaperTradeId(Uuid::from_u128(8));
pub(crate) const FEEDBACK: FeedbackId = FeedbackId(Uuid::from_u128(10));
pub(crate) const WEBHOOK: WebhookId = WebhookId(Uuid::from_u128(5));
pub(crate) const SESSION: SessionId = SessionId(Uuid::from_u128(3));
/// The hash of every secret.
pub(crate) const HASH: [u8; 32] = [7; 32];

/// Monday, 2024-07-01, 11:00 in New York.
pub(crate) fn now() -> Timestamp {
    "2024-07-01T15:00:00Z".parse().unwrap()
}

/// Adds the rows and fires the alert, which creates a delivery and a message.
pub(crate) async fn fill(store: &Store) {
    store.commit((), |(), unit| Box::pin(insert_rows(unit))).await.unwrap();
    keep_message(store).await;
    fire(store, [ALERT]).await;
}

/// Fires alerts like [`ALERT`].
pub(crate) async fn fire(store: &Store, alerts: impl IntoIterator<Item = AlertId>) -> Vec<FiringResult> {
    let firings = alerts.into_iter().enumerate().map(|(place, fired)| Firing {
        alert: fired,
        revision: alert().alert.revision,
        at: now(),
        crossed_at: None,
        price: None,
        metric: None,
        reason: "the price is above 1".to_owned(),
        terms: Vec::new(),
        lifecycle: None,
        judged_at: None,
        event: EventId(Uuid::from_u128(4 + u128::try_from(place).unwrap())),
    });
    let commit = EvaluationCommit {
        firings: firings.collect(),
        ..EvaluationCommit::default()
    };
    let outcome = store
        .commit_evaluation(commit, Arc::new(|_: &StoredAlert, _: &Firing| "{}".to_owned()))
        .await
        .unwrap();
    outcome.firings
}

/// Adds a message to the outbox.
async fn keep_message(store: &Store) {
    let kept = StoredOutboxMessage {
        id: MessageId(Uuid::from_u128(7)),
        channel: MessageChannel::Email,
        recipient: "ann@example.com".to_owned(),
        content: vec![1],
        created_at: now(),
    };
    let settled = Settlement {
        seq: 1,
        lease: 1,
        decision: SettlementDecision::Delivered,
        result: MessageResult {
            kept: Some(kept),
            ..MessageResult::of_outcome("kept")
        },
    };
    store
        .settle_messages(MessageChannel::Email, vec![settled], now())
        .await
        .unwrap();
}

fn alert() -> StoredAlert {
    let context = ParseContext {
        now: now(),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    let request = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 1});
    let request = parse_create(&request, &context).unwrap();
    let (verified, awaited) = (OwnerVerification::Verified, PriceAvailability::Awaited);
    StoredAlert {
        alert: transition::create(request, ALERT, verified, awaited, now())
            .unwrap()
            .alert,
        owner: AlertOwner::Account(ACCOUNT),
        created_by: None,
        role: store::model::ScopeRole::Single,
        managed_by: None,
    }
}

pub(crate) async fn insert_rows(unit: &mut UnitOfWork) -> Result<(), store::StoreError> {
    unit.insert_account(&Account {
        id: ACCOUNT,
        email: "ann@example.com".to_owned(),
        password_hash: None,
        full_name: None,
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
        time_zone: "UTC".to_owned(),
        created_at: now(),
        profile: Profile::default(),
    })
    .await?;
    let alert = alert();
    let created = HistoryRow {
        alert: ALERT,
        symbol: alert.alert.symbol,
        entry: StatusChange {
            action: HistoryAction::Created,
            previous_status: None,
            new_status: HistoryStatus::Of(alert.alert.status),
        },
        at: now(),
        price: None,
        details: None,
    };
    unit.insert_alert(&alert, &created).await?;
    unit.insert_webhook(&Webhook {
        id: WEBHOOK,
        account: ACCOUNT,
        url: "https://example.com/hook".to_owned(),
        events: vec!["alert.triggered".to_owned()],
        is_active: true,
        signature: SignatureForm::Body,
        secret: vec![1],
        created_at: now(),
        failing_since: None,
        last_success_at: None,
        disabled: None,
    })
    .await?;
    unit.insert_paper_trade(&PaperTrade {
        id: TRADE,
        account: ACCOUNT,
        item: WatchlistItemId(Uuid::from_u128(9)),
        symbol: alert.alert.symbol,
        intention: alerts::Intention::Buy,
        notional: market::Decimal::from_micros(1),
        entry: TimedPrice {
            price: market::Price::from_micros(1).unwrap(),
            at: now(),
        },
        exit: None,
    })
    .await?;
    unit.insert_feedback(&Feedback {
        id: FEEDBACK,
        account: ACCOUNT,
        title: "title".to_owned(),
        body: "body".to_owned(),
        category: FeedbackCategory::Other,
        likes: 0,
        created_at: now(),
    })
    .await?;
    let session = UserSession {
        id: SESSION,
        account: ACCOUNT,
        created_at: now(),
        last_seen_at: now(),
        expires_at: now() + jiff::SignedDuration::from_hours(24),
        ended_at: None,
        client: None,
    };
    unit.insert_session(&session, Some(HASH)).await?;
    unit.insert_refresh_token(SESSION, HASH, now()).await?;
    unit.insert_api_key(&ApiKey {
        id: ApiKeyId(Uuid::from_u128(6)),
        account: ACCOUNT,
        name: "laptop".to_owned(),
        prefix: "sk_0123".to_owned(),
        hash: HASH,
        scopes: Vec::new(),
        created_at: now(),
        last_used_at: None,
    })
    .await
}
