//! Schemas of the API's enumerations, generated from the lists that the request parsers use.

use std::borrow::Cow;

pub use delivery::webhooks::EventName;
use foundation::enumerations;
pub use foundation::request::{ActionName, FeedbackCategoryName, HistoryStatusName, IntentionName, ScopeName};
pub use foundation::request::{NotificationChannelTypeName, SignatureName, StatusName};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

pub(super) fn names_of<T: Copy>(all: &'static [T], name: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| name(*one)).collect()
}

enumerations! {
    /// The condition of an alert.
    ConditionName = names_of(alerts::ConditionKind::ALL, alerts::ConditionKind::name), None;
    /// The notification channel: email, or text message to the account's verified number.
    ChannelName = names_of(alerts::Channel::ALL, alerts::Channel::name), None;
    /// How the channels of a route are used: `all` gets each firing; `failover` uses the next one when a channel fails for good or the
    /// firing is not acknowledged in time.
    RoutePolicyName = names_of(alerts::routing::RoutePolicy::ALL, alerts::routing::RoutePolicy::name), None;
    /// The status of the listed alerts.
    ListStatus = names_of(alerts::Status::ALL, alerts::Status::name), None;
    /// The kind of creator.
    MadeByName = foundation::MadeBy::KINDS.to_vec(), None;
    /// The status of an approval.
    ApprovalStatusName = names_of(service::approvals::ApprovalStatus::ALL, service::approvals::ApprovalStatus::name), None;
    /// The decision about a pending change.
    DecisionName = vec!["approve", "deny"], None;
    /// The field that alerts are sorted by.
    SortField = crate::routes::alerts::list::SORT_FIELDS.iter().map(|(word, _)| *word).collect(), Some("created_at");
    /// The sort direction: ascending or descending.
    SortDirection = vec!["asc", "desc"], Some("desc");
    /// The range of candles.
    CandleRangeName = crate::routes::stocks::candles::CANDLE_RANGES.iter().map(|(word, _)| *word).collect(), Some("1y");
    /// The direction of a paper trade.
    TradeDirectionName = vec!["long", "short"], None;
    /// The status of a paper trade.
    TradeStatusName = vec!["open", "closed"], None;
    /// The range of the performance.
    PerformanceRangeName = crate::routes::watchlist::performance::PERFORMANCE_RANGES.iter().map(|(word, _)| *word).collect(), Some("max");
    /// The status of a delivery.
    DeliveryStatusName = crate::routes::webhooks::deliveries::DELIVERY_STATUSES.iter().map(|(word, _)| *word).collect(), None;
    /// The reason why a webhook is disabled: by its owner, after a 410 response, or after five days of failures.
    DisabledReasonName = vec!["owner", "gone", "failing"], None;
    /// The outcome of a delivery attempt.
    OutcomeName = delivery::webhooks::ATTEMPT_OUTCOMES.to_vec(), None;
    /// The plan of an account.
    PlanName = names_of(alerts::Plan::ALL, alerts::Plan::name), None;
    /// A scheduled job.
    JobName = names_of(service::cron::Job::ALL, service::cron::Job::name), None;
    /// The status of an account.
    SubscriptionStatusName = vec!["active", "deactivated"], None;
    /// The label of the market sentiment.
    MoodName = names_of(evaluation::market::SentimentLabel::ALL, evaluation::market::SentimentLabel::name), None;
    /// The time of day of an earnings report.
    EarningsTimeName = crate::routes::market::earnings::EARNINGS_TIMES.to_vec(), None;
    /// An optional section of a stock.
    FieldName = vec!["fundamentals"], None;
}

/// The pattern of a ticker symbol.
pub(crate) const SYMBOL_PATTERN: &str = "^[A-Za-z0-9.-]{1,10}$";

/// A ticker symbol.
#[derive(Clone, Copy, Debug)]
pub struct SymbolText;

impl PartialSchema for SymbolText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .pattern(Some(SYMBOL_PATTERN))
            .into()
    }
}

impl ToSchema for SymbolText {
    fn name() -> Cow<'static, str> {
        "SymbolText".into()
    }
}
