//! What is kept, as values.

mod account;
mod alert;
mod api_key;
mod evaluation;
mod history;
mod market;
mod page;
mod repeatable;

pub use account::{Account, AccountId};
pub use alert::{AlertFilter, AlertSort, AlertSortField, Owner, StoredAlert};
pub use api_key::{ApiKey, ApiKeyId};
pub use evaluation::{Compose, EvaluationCommit, EvaluationOutcome, Firing, Settled, SideDecided};
pub use history::{EventId, HistoryRow, StoredEvent};
pub use market::{LatestQuote, StockFacts};
pub use page::{Page, PageRequest};
pub use repeatable::{Claim, Claimed, FirstAnswer, RepeatableRequest};
