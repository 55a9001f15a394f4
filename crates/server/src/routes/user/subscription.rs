//! `GET /user/subscription`

use std::collections::BTreeMap;

use accounts::identity::account::Subscription;
use alerts::Plan;

use crate::auth::Authenticated;
use crate::document::names::{PlanName, SubscriptionStatusName};
use crate::routes::prelude::*;

/// An account's plan, its quotas and their usage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Subscription)]
pub struct SubscriptionView {
    /// Account id.
    pub id: Uuid,
    /// Plan.
    #[schema(value_type = PlanName, example = "premium")]
    pub account_type: &'static str,
    /// Status of the account: `active` or `deactivated`.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
    /// Whether the plan is the early bird plan.
    pub is_early_bird: bool,
    /// Whether the early bird plan can be purchased. Always `false`: the operator assigns plans.
    pub is_early_bird_eligible: bool,
    /// Whether the plan includes all premium features.
    pub is_premium: bool,
    /// Whether the plan ends with the current period. Always `false`: a plan stays until the operator changes it.
    pub cancel_at_period_end: bool,
    /// Quotas per period.
    pub quotas: Quotas,
    /// Usage in the current period.
    pub usage: Usage,
    /// Current period: a calendar month in UTC.
    pub current_period: CurrentPeriod,
    /// Number and quota of alerts.
    pub alerts: AlertUsage,
    /// Number of watchlist items.
    pub watchlist_items_count: u64,
    /// Maximum number of watchlist items.
    pub watchlist_quota: u64,
}

/// Quotas of a plan per period.
#[derive(Debug, Serialize, ToSchema)]
pub struct Quotas {
    /// Text messages for fired alerts.
    #[schema(example = 50)]
    pub sms: u32,
}

/// Usage in a period.
#[derive(Debug, Serialize, ToSchema)]
pub struct Usage {
    /// Text messages sent in the period.
    #[schema(example = 3)]
    pub count: u64,
}

/// A billing period.
#[derive(Debug, Serialize, ToSchema)]
pub struct CurrentPeriod {
    /// Start of the period, inclusive.
    #[schema(format = DateTime, example = "2026-03-01T00:00:00.000Z")]
    pub start: String,
    /// End of the period, exclusive.
    #[schema(format = DateTime, example = "2026-04-01T00:00:00.000Z")]
    pub end: String,
}

/// Number and quota of alerts.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertUsage {
    /// Number of alerts.
    pub counts: AlertCounts,
    /// Quota of active alerts.
    pub quota: AlertQuota,
}

/// Number of alerts.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertCounts {
    /// Total number of alerts.
    #[schema(example = 5)]
    pub total: u64,
    /// Number of alerts by status.
    #[schema(example = json!({"active": 3, "inactive": 0, "paused": 1, "triggered": 1}))]
    pub by_status: BTreeMap<&'static str, u64>,
}

/// Quota of active alerts.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertQuota {
    /// Maximum number of active alerts; null if unlimited.
    #[schema(required, example = 20)]
    pub limit: Option<u32>,
    /// Number of alerts that can still be activated; null if unlimited.
    #[schema(required, example = 17)]
    pub remaining: Option<u64>,
    /// Whether the number of active alerts is unlimited.
    pub unlimited: bool,
}

impl SubscriptionView {
    fn of(used: &Subscription) -> Self {
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
                    total: used.total_alerts(),
                    by_status: used
                        .alerts
                        .iter()
                        .map(|(status, count)| (status.name(), *count))
                        .collect(),
                },
                quota: AlertQuota {
                    limit: used.plan.active_alert_quota(),
                    remaining: used.remaining_active_alerts(),
                    unlimited: used.plan.active_alert_quota().is_none(),
                },
            },
            watchlist_items_count: used.watchlist_items,
            watchlist_quota: used.watchlist_quota,
        }
    }
}

/// Get the subscription
///
/// Returns the account's plan, its quotas and their usage. API keys with any scope are accepted.
#[utoipa::path(
    get,
    path = "/user/subscription",
    tag = "User",
    responses((status = 200, description = "The plan and its usage", body = Envelope<SubscriptionView>)),
    security(("ApiKeyHeader" = []))
)]
pub(super) async fn get_subscription(
    State(app): State<App>,
    caller: Authenticated,
) -> Result<ApiResponse<SubscriptionView>, ApiError> {
    let used = app.service().account_settings.subscription(&caller.actor).await?;
    Ok(ApiResponse::ok(SubscriptionView::of(&used)))
}
