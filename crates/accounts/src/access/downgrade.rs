//! Effects of a smaller plan on the alerts of an account.
//!
//! Active alerts that the plan does not include are paused: those of a condition family that it does not include, and
//! those beyond the limit of active alerts, newest first. The history records the reason, and the owner gets an email
//! with a list. Alerts by text message stay active: without a quota they are sent by email.

use alerts::plan::{PlanLimitError, check_active_quota, check_alert_features};
use alerts::transition::{self, Transition};
use alerts::{Alert, Channel, Plan, Status};
use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::{Map, Value, json};
use store::model::Account;
use store::{Abort, UnitOfWork};

use crate::access::Accounts;
use delivery::messages::alert_summary::named_alert;
use foundation::ServiceError;

/// Maximum number of paused alerts that the email lists.
const MAX_LISTED_ALERTS: usize = 20;

/// Pauses the active alerts that the account's plan does not include. Returns their new state.
pub(super) async fn pause_alerts_beyond_plan(
    accounts: &Accounts,
    unit: &mut UnitOfWork,
    account: &Account,
    now: Timestamp,
) -> Result<Vec<Alert>, Abort<ServiceError>> {
    let mut kept = 0_u32;
    let mut paused = Vec::new();
    // Alerts come oldest first, so the newest exceed the limit.
    for stored in unit.lock_alerts_of_account(account.id).await? {
        // Of an alert over many stocks, the members count, and are paused.
        if stored.scope().is_some() {
            continue;
        }
        let alert = stored.alert;
        if alert.status != Status::Active {
            continue;
        }
        let Err(refusal) = check_plan(&alert, account.plan, kept) else {
            kept += 1;
            continue;
        };
        let transition = transition::pause(&alert).map_err(ServiceError::from)?;
        if let Transition::Changed(changed) = transition
            && unit
                .update_alert(&changed, &alert, now, Some(&history_details(&refusal)))
                .await?
        {
            paused.push(changed.alert);
        }
    }
    if !paused.is_empty() {
        let letter = AccountEmail::PlanPausedAlerts {
            plan: account.plan.name().to_owned(),
            alerts: paused.iter().take(MAX_LISTED_ALERTS).map(named_alert).collect(),
            more: paused.len().saturating_sub(MAX_LISTED_ALERTS),
        };
        let message = accounts.writer.mail(&account.email, Some(account.id), &letter);
        unit.queue_message(&message?).await?;
    }
    Ok(paused)
}

/// Checks whether a plan allows an alert beside `active` other active alerts.
fn check_plan(alert: &Alert, plan: Plan, active: u32) -> Result<(), PlanLimitError> {
    check_alert_features(plan, alert.condition.kind(), Channel::Email)?;
    check_active_quota(plan, active)
}

/// Returns the details of the history entry.
fn history_details(refusal: &PlanLimitError) -> Map<String, Value> {
    Map::from_iter([
        ("reason".to_owned(), json!("plan")),
        ("message".to_owned(), json!(refusal.to_string())),
    ])
}
