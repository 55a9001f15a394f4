//! The effects of a smaller plan on the alerts of an account.
//!
//! An active alert that the plan does not have is paused: one of a family that the plan does not have, and those beyond the
//! number that may be active, the newest first. The history says why, and the owner is mailed a list. An alert by text message
//! stays active: without a quota it comes by mail.

use alerts::plan::{PlanLimitError, check_active_quota, check_alert_features};
use alerts::transition::{self, Transition};
use alerts::{Alert, Channel, Plan, Status};
use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::{Map, Value, json};
use store::model::Account;
use store::{Abort, UnitOfWork};

use crate::ServiceError;
use crate::access::Accounts;
use crate::blindness::named;

/// How many paused alerts the mail names.
const MAX_NAMED: usize = 20;

/// Pauses the active alerts that the account's plan does not have. Returns them as they are now.
pub(super) async fn pause_what_is_missing(
    accounts: &Accounts,
    unit: &mut UnitOfWork,
    account: &Account,
    now: Timestamp,
) -> Result<Vec<Alert>, Abort<ServiceError>> {
    let mut kept = 0_u32;
    let mut paused = Vec::new();
    // The oldest come first, so the newest are those for which there is no room.
    for stored in unit.lock_alerts_of_account(account.id).await? {
        let alert = stored.alert;
        if alert.status != Status::Active {
            continue;
        }
        let Err(refusal) = fits(&alert, account.plan, kept) else {
            kept += 1;
            continue;
        };
        let transition = transition::pause(&alert).map_err(|refused| Abort::Refused(refused.into()))?;
        if let Transition::Changed(changed) = transition
            && unit
                .update_alert(&changed, alert.revision, now, Some(&reason(&refusal)))
                .await?
        {
            paused.push(changed.alert);
        }
    }
    if !paused.is_empty() {
        let letter = AccountEmail::PlanPausedAlerts {
            plan: account.plan.name().to_owned(),
            alerts: paused.iter().take(MAX_NAMED).map(named).collect(),
            more: paused.len().saturating_sub(MAX_NAMED),
        };
        let message = accounts.writer.mail(&account.email, Some(account.id), &letter);
        unit.queue_message(&message.map_err(Abort::Refused)?).await?;
    }
    Ok(paused)
}

/// Whether a plan has an alert beside so many others.
fn fits(alert: &Alert, plan: Plan, active: u32) -> Result<(), PlanLimitError> {
    check_alert_features(plan, alert.condition.kind(), Channel::Email)?;
    check_active_quota(plan, active)
}

/// The details of the history entry.
fn reason(refusal: &PlanLimitError) -> Map<String, Value> {
    Map::from_iter([
        ("reason".to_owned(), json!("plan")),
        ("message".to_owned(), json!(refusal.to_string())),
    ])
}
