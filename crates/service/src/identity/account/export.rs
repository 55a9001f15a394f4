//! All that is kept of an account, for its owner: one JSON object, without secrets, and without what they hash to.
//!
//! There can be much of it. So it is read page by page and handed on piece by piece, and the next page is read only once
//! somebody has taken what was there: however large an account is, little of it is in memory. What changes meanwhile is in it as it was
//! when its page was read.

mod allowed;
mod watched;

use alerts::json::{in_javascript_order, to_vec};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::model::{
    Account, ApiKey, Delivery, ExportedAlert, FeedbackWithLike, HistoryRow, MessageChannel, PageRequest, SentMessage,
    Session, Webhook,
};
use store::{MessageCursor, Store};
use tokio::sync::mpsc;

use crate::identity::account::{AccountSettings, account_of};
use crate::{Actor, ServiceError};

/// So many rows are read at once.
const PAGE: u32 = 200;
/// So many approvals are shown, the newest of those that are kept.
const APPROVALS: u32 = 1000;
/// A piece is handed on once it is so long, in bytes.
const PIECE: usize = 32 * 1024;
/// So many pieces wait to be taken.
const WAITING: usize = 2;

/// The JSON text of an export, piece by piece.
#[derive(Debug)]
pub struct Export(mpsc::Receiver<Result<Piece, ServiceError>>);

/// A part of the text.
#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    /// Nothing more comes.
    End,
}

impl Export {
    /// The next piece; `None` after the last. After a failure the text is not whole.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ServiceError>> {
        match self.0.recv().await {
            Some(Ok(Piece::Text(text))) => Some(Ok(text)),
            Some(Ok(Piece::End)) => None,
            Some(Err(error)) => Some(Err(error)),
            // Whoever wrote it is gone without having said that this is all.
            None => Some(Err(ServiceError::internal("an export ended before its end"))),
        }
    }
}

impl AccountSettings {
    /// All that is kept of the actor's account.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account is not there any more.
    pub async fn export_account(&self, actor: &Actor) -> Result<Export, ServiceError> {
        let account = account_of(&self.ports.store, actor).await?;
        let now = self.ports.clock.now();
        let (pieces, export) = mpsc::channel(WAITING);
        let writer = Writer {
            store: self.ports.store.clone(),
            text: Vec::new(),
            pieces,
        };
        self.tasks.spawn(async move {
            let pieces = writer.pieces.clone();
            if let Err(End::Failed(error)) = writer.write(&account, now).await {
                // Whoever has gone away misses nothing.
                let _ = pieces.send(Err(error)).await;
            }
        });
        Ok(Export(export))
    }
}

/// Why an export ends before its end.
enum End {
    /// Nobody takes it any more.
    Gone,
    /// The database has failed.
    Failed(ServiceError),
}

impl<E: Into<ServiceError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Writes the text.
struct Writer {
    store: Store,
    /// What was not handed on yet.
    text: Vec<u8>,
    pieces: mpsc::Sender<Result<Piece, ServiceError>>,
}

impl Writer {
    async fn write(mut self, account: &Account, now: Timestamp) -> Result<(), End> {
        self.raw(b"{\"exported_at\":");
        self.value(&at(now))?;
        self.member("account", &account_value(account))?;
        let sessions = self.store.sessions(account.id).await?;
        self.member("sessions", &sessions.iter().map(session).collect())?;
        let keys = self.store.api_keys(account.id).await?;
        self.member("api_keys", &keys.iter().map(api_key).collect())?;
        self.grants(account).await?;
        let approvals = self.store.approvals(account.id, APPROVALS).await?;
        self.member("approvals", &approvals.iter().map(allowed::approval).collect())?;
        let feedback = self.store.feedback_of(account.id).await?;
        self.member("feedback", &feedback.iter().map(feedback_value).collect())?;
        let liked = self.store.liked_feedback(account.id).await?;
        self.member("liked_feedback", &liked.iter().map(|id| json!(id.0)).collect())?;
        let unsubscribed = self.store.unsubscribed(std::slice::from_ref(&account.email)).await?;
        self.member("is_unsubscribed", &json!(!unsubscribed.is_empty()))?;
        self.hand_on().await?;
        self.webhooks(account).await?;
        self.messages(account).await?;
        self.watchlist(account).await?;
        self.alerts(account).await?;
        self.raw(b"}");
        self.hand_on().await?;
        self.send(Piece::End).await
    }

    /// What apps were allowed, whatever has become of it.
    async fn grants(&mut self, account: &Account) -> Result<(), End> {
        self.raw(b",\"app_grants\":[");
        let (mut place, mut is_first) = (0, true);
        loop {
            let (page, next) = self.store.grants_after(account.id, place, PAGE).await?;
            self.page(&page, &mut is_first, allowed::grant).await?;
            if is_last(&page) {
                break;
            }
            place = next;
        }
        self.raw(b"]");
        Ok(())
    }

    async fn webhooks(&mut self, account: &Account) -> Result<(), End> {
        self.raw(b",\"webhooks\":[");
        let webhooks = self.store.webhooks(account.id).await?;
        for (index, webhook) in webhooks.iter().enumerate() {
            self.open(index > 0, &webhook_value(webhook), b"deliveries")?;
            let (mut place, mut is_first) = (0, true);
            loop {
                let (page, next) = self.store.deliveries_after(webhook.id, place, PAGE).await?;
                self.page(&page, &mut is_first, delivery).await?;
                if is_last(&page) {
                    break;
                }
                place = next;
            }
            self.raw(b"]}");
        }
        self.raw(b"]");
        Ok(())
    }

    async fn messages(&mut self, account: &Account) -> Result<(), End> {
        self.raw(b",\"messages\":[");
        let mut is_first = true;
        for channel in [MessageChannel::Email, MessageChannel::Sms] {
            let mut place = MessageCursor::default();
            loop {
                let page = self.store.messages_after(account.id, channel, place, PAGE).await?;
                let (mut page, next) = page;
                let is_end = is_last(&page);
                // These are mailed to addresses that have no account and to no others, so they would tell which have.
                page.retain(|sent| sent.kind != "confirm_new_address");
                self.page(&page, &mut is_first, message).await?;
                if is_end {
                    break;
                }
                place = next;
            }
        }
        self.raw(b"]");
        Ok(())
    }

    /// The watchlist and all its paper trades.
    async fn watchlist(&mut self, account: &Account) -> Result<(), End> {
        let items = self.store.watchlist(account.id).await?;
        let items = items.iter().map(|listed| watched::item(&listed.item));
        self.member("watchlist", &items.collect())?;
        self.raw(b",\"paper_trades\":[");
        let (mut number, mut is_first) = (1, true);
        loop {
            let request = PageRequest {
                page: number,
                limit: PAGE,
            };
            let page = self.store.paper_trades(account.id, request).await?.items;
            self.page(&page, &mut is_first, watched::trade).await?;
            if is_last(&page) {
                break;
            }
            number += 1;
        }
        self.raw(b"]");
        Ok(())
    }

    async fn alerts(&mut self, account: &Account) -> Result<(), End> {
        self.raw(b",\"alerts\":[");
        let (mut place, mut is_first) = (0, true);
        loop {
            let page = self.store.alerts_after(account.id, place, PAGE).await?;
            for kept in &page {
                self.open(!std::mem::take(&mut is_first), &alert(kept), b"history")?;
                self.history(kept).await?;
                self.raw(b"]}");
            }
            match page.last() {
                Some(kept) if !is_last(&page) => place = kept.position,
                _ => break,
            }
        }
        self.raw(b"]");
        Ok(())
    }

    async fn history(&mut self, kept: &ExportedAlert) -> Result<(), End> {
        let alert = &kept.stored.alert;
        let (mut place, mut is_first) = (0, true);
        loop {
            let page = self.store.history_after(alert.id, alert.symbol, place, PAGE).await?;
            let (page, next) = page;
            self.page(&page, &mut is_first, history).await?;
            if is_last(&page) {
                return Ok(());
            }
            place = next;
        }
    }

    fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    fn value(&mut self, value: &Value) -> Result<(), End> {
        let text = to_vec(value).map_err(ServiceError::internal)?;
        self.raw(&text);
        Ok(())
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(), End> {
        self.raw(b",");
        self.value(&json!(name))?;
        self.raw(b":");
        self.value(value)
    }

    /// An object that goes on with a list that is not closed yet.
    fn open(&mut self, is_next: bool, object: &Value, list: &[u8]) -> Result<(), End> {
        if is_next {
            self.raw(b",");
        }
        self.value(object)?;
        // The brace at its end.
        self.text.pop();
        self.raw(b",\"");
        self.raw(list);
        self.raw(b"\":[");
        Ok(())
    }

    /// A page of a list.
    async fn page<T>(&mut self, page: &[T], is_first: &mut bool, show: impl Fn(&T) -> Value) -> Result<(), End> {
        for row in page {
            if !std::mem::take(is_first) {
                self.raw(b",");
            }
            self.value(&show(row))?;
        }
        if self.text.len() >= PIECE {
            self.hand_on().await?;
        }
        Ok(())
    }

    async fn hand_on(&mut self) -> Result<(), End> {
        let piece = std::mem::take(&mut self.text);
        self.send(Piece::Text(piece)).await
    }

    async fn send(&self, piece: Piece) -> Result<(), End> {
        self.pieces.send(Ok(piece)).await.map_err(|_| End::Gone)
    }
}

/// Whether nothing comes after a page.
fn is_last<T>(page: &[T]) -> bool {
    u32::try_from(page.len()).map_or(true, |rows| rows < PAGE)
}

fn at(instant: Timestamp) -> Value {
    json!(format!("{instant:.3}"))
}

fn at_if_any(instant: Option<Timestamp>) -> Value {
    instant.map_or(Value::Null, at)
}

fn account_value(account: &Account) -> Value {
    let profile = &account.profile;
    let phone = profile
        .phone
        .as_ref()
        .map(|phone| json!({"number": phone.number, "verified_at": at(phone.verified_at)}));
    json!({
        "id": account.id.0,
        "email": account.email,
        "is_verified": account.is_verified,
        "full_name": account.full_name,
        "account_type": account.plan.name(),
        "is_operator": account.is_operator,
        "has_password": account.password_hash.is_some(),
        "created_at": at(account.created_at),
        "deactivated_at": at_if_any(profile.deactivated_at),
        "phone": phone,
        "time_zone": account.time_zone,
        "quiet_hours": super::preferences::hours_value(profile.quiet_hours),
        "agents_wait": profile.agents_wait,
        "notify_blind": profile.notify_blind,
    })
}

fn session(session: &Session) -> Value {
    json!({
        "id": session.id.0,
        "created_at": at(session.created_at),
        "last_seen_at": at(session.last_seen_at),
        "expires_at": at(session.expires_at),
        "ended_at": at_if_any(session.ended_at),
    })
}

fn api_key(key: &ApiKey) -> Value {
    json!({
        "id": key.id.0,
        "name": key.name,
        "key_prefix": key.prefix,
        "scopes": key.scopes,
        "created_at": at(key.created_at),
        "last_used_at": at_if_any(key.last_used_at),
    })
}

fn feedback_value(seen: &FeedbackWithLike) -> Value {
    let feedback = &seen.feedback;
    json!({
        "id": feedback.id.0,
        "title": feedback.title,
        "body": feedback.body,
        "category": feedback.category.name(),
        "likes": feedback.likes,
        "created_at": at(feedback.created_at),
    })
}

fn webhook_value(webhook: &Webhook) -> Value {
    let disabled = webhook.disabled;
    json!({
        "id": webhook.id.0,
        "url": webhook.url,
        "events": webhook.events,
        "is_active": webhook.is_active,
        "signature": webhook.signature.name(),
        "created_at": at(webhook.created_at),
        "failing_since": at_if_any(webhook.failing_since),
        "last_success_at": at_if_any(webhook.last_success_at),
        "disabled_at": at_if_any(disabled.map(|(at, _)| at)),
        "disabled_reason": disabled.map(|(_, reason)| reason.name()),
    })
}

fn delivery(delivery: &Delivery) -> Value {
    let attempts = delivery.attempts.iter().map(|attempt| {
        json!({
            "at": at(attempt.at),
            "outcome": attempt.outcome,
            "http_status": attempt.http_status,
            "duration_ms": attempt.duration_ms,
            "response": attempt.response,
        })
    });
    json!({
        "id": delivery.id.0,
        "alert_id": delivery.alert.0,
        "status": delivery.status.name(),
        "created_at": at(delivery.created_at),
        "attempts": attempts.collect::<Vec<_>>(),
    })
}

fn message(message: &SentMessage) -> Value {
    json!({
        "channel": message.channel.name(),
        "kind": message.kind,
        "recipient": message.recipient,
        "status": message.status,
        "created_at": at(message.created_at),
        "finished_at": at_if_any(message.finished_at),
    })
}

fn alert(kept: &ExportedAlert) -> Value {
    let alert = &kept.stored.alert;
    json!({
        "id": alert.id.0,
        "symbol": alert.symbol.to_string(),
        "condition": alert.condition.kind().name(),
        "threshold": alert.condition.threshold().map(market::Decimal::as_f64),
        "parameters": alert.parameters.clone().map(in_javascript_order),
        "notification": alert.notification.name(),
        "status": alert.status.name(),
        "initial_price": alert.initial_price.map(market::Price::as_f64),
        "created_at": at(alert.created_at),
        "created_by": kept.stored.created_by,
        "triggered_at": at_if_any(alert.triggered_at),
        "deleted_at": at_if_any(kept.deleted_at),
    })
}

fn history(row: &HistoryRow) -> Value {
    json!({
        "action_type": row.entry.action.name(),
        "action_timestamp": at(row.at),
        "previous_status": row.entry.previous_status.map(alerts::Status::name),
        "new_status": row.entry.new_status.name(),
        "trigger_price": row.price.map(market::Price::as_f64),
        "details": row.details.clone().map(in_javascript_order),
    })
}
