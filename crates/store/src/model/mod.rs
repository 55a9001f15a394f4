//! What is kept, as values.

mod account;
mod alert;
mod api_key;
mod delivery;
mod evaluation;
mod history;
mod market;
pub(crate) mod message;
mod page;
mod repeatable;
mod webhook;

pub use account::{Account, AccountId, Phone, Profile, QuietHours};
pub use alert::{AlertFilter, AlertSort, AlertSortField, Owner, StoredAlert};
pub use api_key::{ApiKey, ApiKeyId};
pub use delivery::{
    Attempt, ClaimOrder, ClaimedDelivery, Delivery, DeliveryId, DeliveryStatus, Lane, Patience, Settlement,
    SwitchedOff, Verdict,
};
pub use evaluation::{Compose, EvaluationCommit, EvaluationOutcome, Firing, Settled, SideDecided};
pub use history::{EventId, HistoryRow, StoredEvent};
pub use market::{LatestQuote, StockFacts};
pub use message::{MessageChannel, MessageId, NewMessage};
pub use page::{Page, PageRequest};
pub use repeatable::{Claim, Claimed, FirstAnswer, RepeatableRequest};
pub use webhook::{DisabledReason, SealedSecrets, SignatureForm, Webhook, WebhookId};
