//! `GET /user/subscription`

use std::collections::BTreeMap;

use alerts::Plan;
use axum::extract::State;
use serde::Serialize;
use service::identity::account::Subscription as Used;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::Known;
use crate::document::names::{PlanName, SubscriptionStatusName};
use crate::error::ApiError;
use crate::values::timestamp;

/// What a plan has, and how much of it is used.
#[derive(Debug, Serialize, ToSchema)]
pub struct Subscription {
    /// The account.
    pub id: Uuid,
    /// The plan.
    #[schema(value_type = PlanName, example = "premium")]
    pub account_type: &'static str,
    /// `active`, or `deactivated` for an account that rests.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
    /// Whether it is the early birds' plan.
    pub is_early_bird: bool,
    /// Whether the early birds' plan could be taken. The operator of this service gives plans, so it cannot.
    pub is_early_bird_eligible: bool,
    /// Whether it has all that there is.
    pub is_premium: bool,
    /// Whether the plan ends with the period. Plans of this service go on until the operator changes them.
    pub cancel_at_period_end: bool,
    /// How much the plan has in a period.
    pub quotas: Quotas,
    /// How much of it is used.
    pub usage: Usage,
    /// The period: a calendar month in UTC.
    pub current_period: CurrentPeriod,
    /// Alerts.
    pub alerts: AlertUsage,
    /// How many stocks are on the watchlist.
    pub watchlist_items_count: u64,
    /// How many may be.
    pub watchlist_quota: u64,
}

/// How much a plan has in a period.
#[derive(Debug, Serialize, ToSchema)]
pub struct Quotas {
    /// Text messages about alerts that fired.
    #[schema(example = 50)]
    pub sms: u32,
}

/// How much is used.
#[derive(Debug, Serialize, ToSchema)]
pub struct Usage {
    /// The text messages that were sent in this period.
    #[schema(example = 3)]
    pub count: u64,
}

/// A period.
#[derive(Debug, Serialize, ToSchema)]
pub struct CurrentPeriod {
    /// Its first instant.
    #[schema(format = DateTime, example = "2026-03-01T00:00:00.000Z")]
    pub start: String,
    /// The first instant after it.
    #[schema(format = DateTime, example = "2026-04-01T00:00:00.000Z")]
    pub end: String,
}

/// How many alerts there are and may be.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertUsage {
    /// How many there are.
    pub counts: AlertCounts,
    /// How many may be active.
    pub quota: AlertQuota,
}

/// How many alerts there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertCounts {
    /// In all.
    #[schema(example = 5)]
    pub total: u64,
    /// Of each status.
    #[schema(example = json!({"active": 3, "inactive": 0, "paused": 1, "triggered": 1}))]
    pub by_status: BTreeMap<&'static str, u64>,
}

/// How many alerts may be active.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertQuota {
    /// So many; null for any number.
    #[schema(required, example = 20)]
    pub limit: Option<u32>,
    /// So many more; null for any number.
    #[schema(required, example = 17)]
    pub remaining: Option<u64>,
    /// Whether it is any number.
    pub unlimited: bool,
}

impl Subscription {
    fn of(used: &Used) -> Self {
        let is_early_bird = used.plan == Plan::EarlyBird;
        Self {
            id: used.account.0,
            account_type: used.plan.name(),
            status: if used.is_deactivated { "deactivated" } else { "active" },
            is_early_bird,
            is_early_bird_eligible: false,
            is_premium: is_early_bird || used.plan == Plan::Premium,
            cancel_at_period_end: false,
            quotas: Quotas {
                sms: used.plan.sms_per_month(),
            },
            usage: Usage { count: used.sms_sent },
            current_period: CurrentPeriod {
                start: timestamp(used.period.start),
                end: timestamp(used.period.end),
            },
            alerts: AlertUsage {
                counts: AlertCounts {
                    total: used.total(),
                    by_status: used
                        .alerts
                        .iter()
                        .map(|(status, count)| (status.name(), *count))
                        .collect(),
                },
                quota: AlertQuota {
                    limit: used.plan.active_alert_quota(),
                    remaining: used.room(),
                    unlimited: used.plan.active_alert_quota().is_none(),
                },
            },
            watchlist_items_count: used.watchlist_items,
            watchlist_quota: used.watchlist_quota,
        }
    }
}

/// Read the subscription
///
/// What the account's plan has, and how much of it is used. An API key of any scopes will do.
#[utoipa::path(
    get,
    path = "/user/subscription",
    tag = "User",
    responses((status = 200, description = "The plan, and what is used of it", body = Envelope<Subscription>)),
    security(("ApiKeyHeader" = []))
)]
pub(super) async fn get_subscription(State(app): State<App>, who: Known) -> Result<Reply<Subscription>, ApiError> {
    let used = app.service().account_settings.subscription(&who.actor).await?;
    Ok(Reply::ok(Subscription::of(&used)))
}
