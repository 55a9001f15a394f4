//! Data export: everything stored about an account as one JSON object, without secrets and their hashes.
//!
//! The export is read in pages and streamed in chunks. The next page is read when the receiver has taken the previous
//! chunks, so memory use is bounded. Concurrent changes appear as of the time when their page was read.

mod permissions;
mod rows;
mod watchlist_rows;

use alerts::json::to_vec;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::model::{Account, ExportedAlert, ListRequest, MessageChannel, PageRequest};
use store::{MessageCursor, Store};
use tokio::sync::mpsc;

use rows::{
    account_value, alert, api_key, channel_value, delivery, feedback_value, history, message, session, timestamp,
    webhook_value,
};

use crate::identity::account::AccountSettings;
use foundation::account::load_account;
use foundation::{Actor, ServiceError};

/// Rows per page.
const PAGE_ROWS: u32 = 200;
const FIRST_PAGE: PageRequest = PageRequest {
    page: 1,
    limit: PAGE_ROWS,
};
/// Maximum number of approvals in an export, newest first.
const MAX_APPROVALS: u32 = 1000;
/// Size from which a chunk is sent, in bytes.
const CHUNK_BYTES: usize = 32 * 1024;
/// Maximum number of chunks that wait for the receiver.
const MAX_QUEUED_CHUNKS: usize = 2;

/// The JSON text of an export as a stream of chunks.
#[derive(Debug)]
pub struct ExportStream(mpsc::Receiver<Result<Chunk, ServiceError>>);

#[derive(Debug)]
enum Chunk {
    Text(Vec<u8>),
    End,
}

impl ExportStream {
    /// Returns the next chunk; `None` after the last. After an error the text is incomplete.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ServiceError>> {
        match self.0.recv().await {
            Some(Ok(Chunk::Text(text))) => Some(Ok(text)),
            Some(Ok(Chunk::End)) => None,
            Some(Err(error)) => Some(Err(error)),
            // The writer stopped without sending the end marker.
            None => Some(Err(ServiceError::internal("an export ended early"))),
        }
    }
}

impl AccountSettings {
    /// Exports all data of the actor's account.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn export_account(&self, actor: &Actor) -> Result<ExportStream, ServiceError> {
        let account = load_account(&self.ports.store, actor).await?;
        let now = self.ports.clock.now();
        let (chunks, export) = mpsc::channel(MAX_QUEUED_CHUNKS);
        let writer = ExportWriter {
            store: self.ports.store.clone(),
            text: Vec::new(),
            chunks,
        };
        self.tasks.spawn(async move {
            let chunks = writer.chunks.clone();
            if let Err(ExportAbort::Failed(error)) = writer.write(&account, now).await {
                // The receiver may be gone.
                let _ = chunks.send(Err(error)).await;
            }
        });
        Ok(ExportStream(export))
    }
}

/// Reason why an export stops early.
enum ExportAbort {
    ReceiverDropped,
    /// The database failed.
    Failed(ServiceError),
}

impl<E: Into<ServiceError>> From<E> for ExportAbort {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

struct ExportWriter {
    store: Store,
    /// Text that is not sent yet.
    text: Vec<u8>,
    chunks: mpsc::Sender<Result<Chunk, ServiceError>>,
}

impl ExportWriter {
    async fn write(mut self, account: &Account, now: Timestamp) -> Result<(), ExportAbort> {
        self.raw(b"{\"exported_at\":");
        self.value(&timestamp(now))?;
        self.member("account", &account_value(account))?;
        let sessions = self.store.sessions(account.id).await?;
        self.member("sessions", &sessions.iter().map(session).collect())?;
        let keys = self.store.api_keys(account.id).await?;
        self.member("api_keys", &keys.iter().map(api_key).collect())?;
        self.grants(account).await?;
        let approvals = self.store.approvals(account.id, MAX_APPROVALS).await?;
        self.member("approvals", &approvals.iter().map(permissions::approval).collect())?;
        let feedback = self.store.feedback_of(account.id).await?;
        self.member("feedback", &feedback.iter().map(feedback_value).collect())?;
        let liked = self.store.liked_feedback(account.id).await?;
        self.member("liked_feedback", &liked.iter().map(|id| json!(id.0)).collect())?;
        let unsubscribed = self.store.unsubscribed(std::slice::from_ref(&account.email)).await?;
        self.member("is_unsubscribed", &json!(!unsubscribed.is_empty()))?;
        self.flush().await?;
        self.webhooks(account).await?;
        let channels = self.store.notification_channels(account.id).await?;
        self.member("notification_channels", &channels.iter().map(channel_value).collect())?;
        let route = self.store.notification_route(account.id).await?;
        self.member(
            "notification_route",
            &route.map_or(Value::Null, |route| route.to_json().into()),
        )?;
        self.messages(account).await?;
        self.watchlist(account).await?;
        self.alerts(account).await?;
        self.raw(b"}");
        self.flush().await?;
        self.send(Chunk::End).await
    }

    /// Writes all OAuth grants, including ended ones.
    async fn grants(&mut self, account: &Account) -> Result<(), ExportAbort> {
        self.raw(b",\"app_grants\":[");
        let (mut place, mut is_first) = (0, true);
        loop {
            let (page, next) = self.store.grants_after(account.id, place, PAGE_ROWS).await?;
            self.page(&page, &mut is_first, permissions::grant).await?;
            if is_last(&page) {
                break;
            }
            place = next;
        }
        self.raw(b"]");
        Ok(())
    }

    async fn webhooks(&mut self, account: &Account) -> Result<(), ExportAbort> {
        self.raw(b",\"webhooks\":[");
        let webhooks = self.store.webhooks(account.id).await?;
        for (index, webhook) in webhooks.iter().enumerate() {
            self.open(index > 0, &webhook_value(webhook), b"deliveries")?;
            let (mut place, mut is_first) = (0, true);
            loop {
                let (page, next) = self.store.deliveries_after(webhook.id, place, PAGE_ROWS).await?;
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

    async fn messages(&mut self, account: &Account) -> Result<(), ExportAbort> {
        self.raw(b",\"messages\":[");
        let mut is_first = true;
        for &channel in MessageChannel::ALL {
            let mut place = MessageCursor::default();
            loop {
                let page = self.store.messages_after(account.id, channel, place, PAGE_ROWS).await?;
                let (mut page, next) = page;
                let is_end = is_last(&page);
                // These messages are sent only to addresses without an account, so they would reveal which addresses
                // have one.
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

    /// Writes the watchlist and all paper trades.
    async fn watchlist(&mut self, account: &Account) -> Result<(), ExportAbort> {
        let items = self.store.watchlist(account.id).await?;
        let items = items.iter().map(|listed| watchlist_rows::item(&listed.item));
        self.member("watchlist", &items.collect())?;
        self.raw(b",\"paper_trades\":[");
        let (mut request, mut is_first) = (ListRequest::from(FIRST_PAGE), true);
        loop {
            let page = self.store.paper_trades(account.id, request).await?.items;
            self.page(&page, &mut is_first, watchlist_rows::trade).await?;
            if is_last(&page) {
                break;
            }
            request.after = page.last().map(|trade| trade.id);
        }
        self.raw(b"]");
        Ok(())
    }

    async fn alerts(&mut self, account: &Account) -> Result<(), ExportAbort> {
        self.raw(b",\"alerts\":[");
        let (mut place, mut is_first) = (0, true);
        loop {
            let page = self.store.alerts_after(account.id, place, PAGE_ROWS).await?;
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

    async fn history(&mut self, kept: &ExportedAlert) -> Result<(), ExportAbort> {
        let alert = &kept.stored.alert;
        let (mut place, mut is_first) = (0, true);
        loop {
            let page = self
                .store
                .history_after(alert.id, alert.symbol, place, PAGE_ROWS)
                .await?;
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

    fn value(&mut self, value: &Value) -> Result<(), ExportAbort> {
        let text = to_vec(value).map_err(ServiceError::internal)?;
        self.raw(&text);
        Ok(())
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(), ExportAbort> {
        self.raw(b",");
        self.value(&json!(name))?;
        self.raw(b":");
        self.value(value)
    }

    /// Writes an object and opens a list as its last member.
    fn open(&mut self, is_next: bool, object: &Value, list: &[u8]) -> Result<(), ExportAbort> {
        if is_next {
            self.raw(b",");
        }
        self.value(object)?;
        self.text.pop();
        self.raw(b",\"");
        self.raw(list);
        self.raw(b"\":[");
        Ok(())
    }

    async fn page<T>(
        &mut self,
        page: &[T],
        is_first: &mut bool,
        show: impl Fn(&T) -> Value,
    ) -> Result<(), ExportAbort> {
        for row in page {
            if !std::mem::take(is_first) {
                self.raw(b",");
            }
            self.value(&show(row))?;
        }
        if self.text.len() >= CHUNK_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), ExportAbort> {
        let chunk = std::mem::take(&mut self.text);
        self.send(Chunk::Text(chunk)).await
    }

    async fn send(&self, chunk: Chunk) -> Result<(), ExportAbort> {
        self.chunks
            .send(Ok(chunk))
            .await
            .map_err(|_| ExportAbort::ReceiverDropped)
    }
}

/// Returns whether a page is the last.
fn is_last<T>(page: &[T]) -> bool {
    u32::try_from(page.len()).map_or(true, |rows| rows < PAGE_ROWS)
}
