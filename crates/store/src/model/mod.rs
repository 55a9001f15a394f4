//! The store's data types.

mod account;
mod alert;
mod api_key;
mod approval;
mod blindness;
mod cluster;
mod code;
mod delivery;
mod evaluation;
mod export;
mod feedback;
mod firing_record;
mod history;
mod idempotency;
mod market;
pub(crate) mod message;
pub(crate) mod message_hold;
mod notification_channel;
mod oauth;
mod page;
mod payload_template;
mod queue;
mod session;
pub(crate) mod throttle;
mod undo;
mod watchlist;
mod webhook;

pub use account::{Account, AccountId, Phone, Profile, QuietHours};
pub use alert::{
    AlertFilter, AlertOwner, AlertRevision, AlertSort, AlertSortField, ScopeRole, SourceRevision, StoredAlert,
};
pub use api_key::{ApiKey, ApiKeyId};
pub use approval::{Approval, ApprovalId, ApprovalStatus};
pub use blindness::BlindnessNotice;
pub use cluster::{ClusterNode, ClusterState, Epoch, Fence, NodeId, Shard, ShardProgress, ShardState};
pub use code::{CodeCheck, CodeState, NewCode, UsedCode};
pub use delivery::{
    Attempt, ClaimedDelivery, Delivery, DeliveryId, DeliveryResult, DeliveryStatus, DisablePolicy, DisabledWebhook,
};
pub use evaluation::{
    EvaluationCommit, EvaluationOutcome, Firing, FiringComposer, FiringResult, LifecycleUpdate, RsiSideUpdate,
    SupersededQuote,
};
pub use export::{ExportedAlert, MessageRoute, SentMessage};
pub use feedback::{Feedback, FeedbackCategory, FeedbackId, FeedbackWithLike};
pub use firing_record::{AcknowledgedFiring, Acknowledgement, FiringFilter, FiringRecord, FiringTimeline};
pub use history::{
    EventId, EventPage, HistoryPosition, HistoryRow, LastChange, ListedHistoryRow, PositionedAlert, StoredEvent,
};
pub use idempotency::{
    IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, NewIdempotencyClaim, RequesterId, StoredResponse,
};
pub use market::{LatestExtendedPrice, LatestQuote, StockFacts};
pub use message::{
    ALERT_NEWS_KINDS, ClaimedMessage, FIRING_KIND, FoldedFirings, MessageChannel, MessageContent, MessageDestination,
    MessageId, MessageLimits, MessageReceipt, MessageResult, NewMessage, QuotaDecision, QuotaRequest,
    StoredOutboxMessage, is_alert_news,
};
pub use message_hold::MessageHold;
pub use notification_channel::{
    ChannelLink, ChannelResult, NotificationChannel, NotificationChannelId, NotificationChannelType,
};
pub use oauth::{
    AuthorizationCode, Grant, GrantId, NewTokens, OAuthClientId, PresentedCode, PresentedToken, RegisteredClient,
};
pub use page::{ListError, ListRequest, Page, PageRequest};
pub use payload_template::{PayloadTemplate, TemplateOwner};
pub use queue::{ClaimQuery, PendingEndpoint, Queue, Settlement, SettlementDecision};
pub use session::{Browser, OperatingSystem, RefreshOutcome, SessionClient, SessionId, UserSession};
pub use throttle::{ChannelThrottle, Digest};
pub use undo::{RestoredAlert, UndoId, UndoableChange, UndoableKind};
pub use watchlist::{
    AnalystAdvice, ClaimedAnalysis, ListedWatchlistItem, PaperProgress, PaperReturn, PaperTrade, PaperTradeId,
    TimedPrice, WatchlistItem, WatchlistItemId,
};
pub use webhook::{DisabledReason, FormerSecret, SealedSecrets, SignatureForm, Webhook, WebhookId};
