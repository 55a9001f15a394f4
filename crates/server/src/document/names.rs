//! The words of the API as schemas: the same lists that requests are read with.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! words {
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

words! {
    /// What an alert waits for.
    ConditionName = names_of(alerts::ConditionKind::ALL, alerts::ConditionKind::name), None;
    /// How an alert's owner is told: by email, or by text message to the account's verified number.
    ChannelName = names_of(alerts::Channel::ALL, alerts::Channel::name), None;
    /// Where an alert is in its life: judged, not verified yet, put aside, or fired.
    StatusName = names_of(alerts::Status::ALL, alerts::Status::name), None;
    /// The status of the alerts that are listed.
    ListStatus = names_of(alerts::Status::ALL, alerts::Status::name), None;
    /// What kind of maker made something.
    MadeByName = service::alerts::MadeBy::KINDS.to_vec(), None;
    /// How far an approval has come.
    ApprovalStatusName = names_of(service::approvals::ApprovalStatus::ALL, service::approvals::ApprovalStatus::name), None;
    /// What is said of a change that waits.
    DecisionName = vec!["approve", "deny"], None;
    /// What happened to an alert.
    ActionName = names_of(alerts::HistoryAction::ALL, alerts::HistoryAction::name), None;
    /// An alert's status after something happened to it.
    HistoryStatusName = {
        let mut all = names_of(alerts::Status::ALL, alerts::Status::name);
        all.push("deleted");
        all
    }, None;
    /// By what alerts are sorted.
    SortField = crate::routes::alerts::list::SORT_FIELDS.iter().map(|(word, _)| *word).collect(), Some("created_at");
    /// Smallest first, or largest first.
    SortDirection = vec!["asc", "desc"], Some("desc");
    /// How far back candles go.
    CandleRangeName = crate::routes::stocks::candles::RANGES.iter().map(|(word, _)| *word).collect(), Some("1y");
    /// What is meant to be done with a stock.
    IntentionName = names_of(service::watchlist::Intention::ALL, service::watchlist::Intention::name), None;
    /// Which way a paper trade bets.
    TradeDirectionName = vec!["long", "short"], None;
    /// Whether a paper trade goes on.
    TradeStatusName = vec!["open", "closed"], None;
    /// How far back performance goes.
    PerformanceRangeName = crate::routes::watchlist::performance::RANGES.iter().map(|(word, _)| *word).collect(), Some("max");
    /// The events that webhooks are told of.
    EventName = vec![service::webhooks::EVENT], None;
    /// What the service's own signature of a delivery is over: `<timestamp>.<body>`, or the body alone.
    SignatureName = vec!["timestamped", "body"], Some("timestamped");
    /// How far a delivery has come.
    DeliveryStatusName = crate::routes::webhooks::deliveries::STATUSES.iter().map(|(word, _)| *word).collect(), None;
    /// Why a webhook was switched off: by its owner, because it answered 410, or because it only failed for five days.
    DisabledReasonName = vec!["owner", "gone", "failing"], None;
    /// What came of an attempt to deliver.
    OutcomeName = service::webhooks::OUTCOMES.to_vec(), None;
    /// How somebody signs in: by a password, or by a link that is mailed.
    LoginTypeName = vec!["password", "magic_link"], Some("password");
    /// What an account pays for.
    PlanName = names_of(alerts::Plan::ALL, alerts::Plan::name), None;
    /// What feedback is about: something that is wished for, something that is broken, or anything else.
    FeedbackCategoryName = names_of(service::feedback::FeedbackCategory::ALL, service::feedback::FeedbackCategory::name), Some("other");
    /// A job.
    JobName = names_of(service::cron::Job::ALL, service::cron::Job::name), None;
    /// What has to be said for an account to be deleted.
    ConfirmationName = vec!["DELETE"], None;
    /// Whether an account rests.
    SubscriptionStatusName = vec!["active", "deactivated"], None;
    /// What an API key may be used for; the last two are for operators.
    ScopeName = names_of(service::Scope::ALL, service::Scope::name), None;
    /// How the market as a whole feels.
    MoodName = names_of(service::market::Mood::ALL, service::market::Mood::name), None;
    /// At which end of its day a company reports.
    EarningsTimeName = crate::routes::market::earnings::TIMES.to_vec(), None;
    /// What is shown beside a stock.
    FieldName = vec!["fundamentals"], None;
}

/// A symbol.
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
