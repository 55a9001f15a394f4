//! What is kept, as values.

mod account;
mod alert;
mod api_key;
mod approval;
mod blindness;
mod code;
mod delivery;
mod evaluation;
mod export;
mod feedback;
mod history;
mod market;
pub(crate) mod message;
mod oauth;
mod page;
mod repeatable;
mod session;
mod watchlist;
mod webhook;

pub use account::{Account, AccountId, Phone, Profile, QuietHours};
pub use alert::{AlertFilter, AlertSort, AlertSortField, Owner, StoredAlert};
pub use api_key::{ApiKey, ApiKeyId};
pub use approval::{Approval, ApprovalId, ApprovalStatus};
pub use blindness::BlindStretch;
pub use code::{CodeState, Guessed, NewCode, UsedCode};
pub use delivery::{
    Attempt, ClaimOrder, ClaimedDelivery, Delivery, DeliveryId, DeliveryStatus, Lane, Patience, Settlement,
    SwitchedOff, Verdict,
};
pub use evaluation::{Compose, EvaluationCommit, EvaluationOutcome, Firing, Settled, SideDecided, SupersededQuote};
pub use export::{KeptAlert, SentMessage};
pub use feedback::{Feedback, FeedbackCategory, FeedbackId, SeenFeedback};
pub use history::{EventId, HistoryRow, StoredEvent};
pub use market::{LatestQuote, StockFacts};
pub use message::{
    Admission, Applicant, ClaimedMessage, FIRED, KeptMessage, MessageChannel, MessageId, MessageLimits,
    MessageSettlement, MessageVerdict, NEWS, NewMessage, Said, is_news,
};
pub use oauth::{Grant, GrantCode, GrantId, NewTokens, OAuthClientId, RegisteredClient, ShownCode, ShownToken};
pub use page::{Page, PageRequest};
pub use repeatable::{Claim, Claimed, FirstAnswer, RepeatableRequest, RequesterId};
pub use session::{Refreshed, Session, SessionId};
pub use watchlist::{
    Advised, ClaimedAnalysis, Fill, ListedItem, PaperProgress, PaperReturn, PaperTrade, PaperTradeId, PriceAt,
    WatchlistItem, WatchlistItemId,
};
pub use webhook::{DisabledReason, FormerSecret, SealedSecrets, SignatureForm, Webhook, WebhookId};
