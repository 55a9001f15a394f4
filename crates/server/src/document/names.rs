//! Schemas of the API's enumerations, generated from the lists that the request parsers use.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! enumerations {
    ($($(#[doc = $doc:literal])* $name:ident = $words:expr, $default:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words: Vec<&str> = $words;
                let description = concat!($($doc, "\n"),*).trim().replace("\n ", "\n");
                let default: Option<&str> = $default;
                ObjectBuilder::new()
                    .schema_type(SchemaType::Type(Type::String))
                    .description(Some(description))
                    .default(default.map(Into::into))
                    .enum_values(Some(words))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

pub(super) fn names_of<T: Copy>(all: &'static [T], name: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| name(*one)).collect()
}

enumerations! {
    /// The condition of an alert.
    ConditionName = names_of(alerts::ConditionKind::ALL, alerts::ConditionKind::name), None;
    /// The notification channel: email, or text message to the account's verified number.
    ChannelName = names_of(alerts::Channel::ALL, alerts::Channel::name), None;
    /// The status of an alert: active, awaiting verification, paused, or triggered.
    StatusName = names_of(alerts::Status::ALL, alerts::Status::name), None;
    /// The status of the listed alerts.
    ListStatus = names_of(alerts::Status::ALL, alerts::Status::name), None;
    /// The kind of creator.
    MadeByName = foundation::MadeBy::KINDS.to_vec(), None;
    /// The status of an approval.
    ApprovalStatusName = names_of(service::approvals::ApprovalStatus::ALL, service::approvals::ApprovalStatus::name), None;
    /// The decision about a pending change.
    DecisionName = vec!["approve", "deny"], None;
    /// An action in an alert's history.
    ActionName = names_of(alerts::HistoryAction::ALL, alerts::HistoryAction::name), None;
    /// The status of an alert after the action.
    HistoryStatusName = {
        let mut all = names_of(alerts::Status::ALL, alerts::Status::name);
        all.push("deleted");
        all
    }, None;
    /// The field that alerts are sorted by.
    SortField = crate::routes::alerts::list::SORT_FIELDS.iter().map(|(word, _)| *word).collect(), Some("created_at");
    /// The sort direction: ascending or descending.
    SortDirection = vec!["asc", "desc"], Some("desc");
    /// The range of candles.
    CandleRangeName = crate::routes::stocks::candles::CANDLE_RANGES.iter().map(|(word, _)| *word).collect(), Some("1y");
    /// The planned action for a stock.
    IntentionName = names_of(watchlist::Intention::ALL, watchlist::Intention::name), None;
    /// The direction of a paper trade.
    TradeDirectionName = vec!["long", "short"], None;
    /// The status of a paper trade.
    TradeStatusName = vec!["open", "closed"], None;
    /// The range of the performance.
    PerformanceRangeName = crate::routes::watchlist::performance::PERFORMANCE_RANGES.iter().map(|(word, _)| *word).collect(), Some("max");
    /// An event type of webhooks.
    EventName = vec![delivery::webhooks::EVENT], None;
    /// The content that `X-Service-Signature` covers: `<timestamp>.<body>`, or the body alone.
    SignatureName = vec!["timestamped", "body"], Some("timestamped");
    /// The status of a delivery.
    DeliveryStatusName = crate::routes::webhooks::deliveries::DELIVERY_STATUSES.iter().map(|(word, _)| *word).collect(), None;
    /// The reason why a webhook is disabled: by its owner, after a 410 response, or after five days of failures.
    DisabledReasonName = vec!["owner", "gone", "failing"], None;
    /// The outcome of a delivery attempt.
    OutcomeName = delivery::webhooks::ATTEMPT_OUTCOMES.to_vec(), None;
    /// The sign-in method: a password, or an emailed link.
    LoginTypeName = vec!["password", "magic_link"], Some("password");
    /// The plan of an account.
    PlanName = names_of(alerts::Plan::ALL, alerts::Plan::name), None;
    /// The category of feedback: a feature request, a bug, or anything else.
    FeedbackCategoryName = names_of(service::feedback::FeedbackCategory::ALL, service::feedback::FeedbackCategory::name), Some("other");
    /// A scheduled job.
    JobName = names_of(service::cron::Job::ALL, service::cron::Job::name), None;
    /// The required confirmation for deleting an account.
    ConfirmationName = vec!["DELETE"], None;
    /// The status of an account.
    SubscriptionStatusName = vec!["active", "deactivated"], None;
    /// A scope of an API key. The last two are for operators.
    ScopeName = names_of(foundation::Scope::ALL, foundation::Scope::name), None;
    /// The label of the market sentiment.
    MoodName = names_of(evaluation::market::SentimentLabel::ALL, evaluation::market::SentimentLabel::name), None;
    /// The time of day of an earnings report.
    EarningsTimeName = crate::routes::market::earnings::EARNINGS_TIMES.to_vec(), None;
    /// An optional section of a stock.
    FieldName = vec!["fundamentals"], None;
}

/// A ticker symbol.
#[derive(Clone, Copy, Debug)]
pub struct SymbolText;

impl PartialSchema for SymbolText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .pattern(Some("^[A-Za-z0-9.-]{1,10}$"))
            .into()
    }
}

impl ToSchema for SymbolText {
    fn name() -> Cow<'static, str> {
        "SymbolText".into()
    }
}
