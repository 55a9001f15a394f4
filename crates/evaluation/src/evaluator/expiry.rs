//! Ends alerts that have expired, and tells their owners who want to know.

use ::alerts::transition::{self, Transition};
use ::alerts::{AlertId, Revision, Status};
use delivery::messages::alert_summary::named_alert;
use jiff::Timestamp;
use notify::templates::{AccountEmail, AlertSummary};
use store::model::{AlertOwner, ScopeRole};
use store::{StoreError, UnitOfWork};

use super::Evaluator;
use super::notice_writer::NoticeWriter;

/// An alert that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Expiration {
    pub(super) alert: AlertId,
    /// The evaluated revision. The alert expires only if it is still active and has this revision.
    pub(super) revision: Revision,
    /// The instant of its expiry.
    pub(super) at: Timestamp,
}

impl Evaluator {
    /// Makes expired alerts inactive. After a crash before this, they are armed again and expire again.
    pub(super) async fn expire_alerts(&self, expirations: &[Expiration]) -> Result<(), StoreError> {
        if expirations.is_empty() {
            return Ok(());
        }
        let work = (expirations.to_vec(), self.notice_writer(self.engine_now()));
        self.store
            .commit(work, |(expirations, writer), unit| {
                Box::pin(async move {
                    for expiration in expirations {
                        expire(unit, expiration, writer).await?;
                    }
                    Ok(())
                })
            })
            .await
    }
}

async fn expire(unit: &mut UnitOfWork, expiration: &Expiration, writer: &NoticeWriter) -> Result<(), StoreError> {
    let found = unit.alerts_by_id(&[expiration.alert]).await?;
    let Some(stored) = found
        .into_iter()
        .find(|stored| stored.alert.revision == expiration.revision)
    else {
        return Ok(());
    };
    let Ok(Transition::Changed(changed)) = transition::expire(&stored.alert) else {
        return Ok(());
    };
    let is_written = unit.update_alert(&changed, &stored.alert, expiration.at, None).await?;
    if is_written && stored.alert.options.notify_on_expiry {
        let mut summary = named_alert(&stored.alert);
        if let ScopeRole::Member(parent) = stored.role {
            let members = unit.lock_members(parent).await?;
            // One email for the whole, with the last of its stocks.
            if members.iter().any(|member| member.alert.status == Status::Active) {
                return Ok(());
            }
            if let others @ 1.. = members.len().saturating_sub(1) {
                summary.symbol = format!("{} and {others} more", summary.symbol);
            }
        }
        queue_notice(unit, &stored.owner, summary, expiration.at, writer).await?;
    }
    Ok(())
}

/// Queues an email for the owner. Guests' alerts have no options.
async fn queue_notice(
    unit: &mut UnitOfWork,
    owner: &AlertOwner,
    summary: AlertSummary,
    at: Timestamp,
    writer: &NoticeWriter,
) -> Result<(), StoreError> {
    let AlertOwner::Account(account) = owner else {
        return Ok(());
    };
    for account in unit.accounts(&[*account]).await? {
        let email = AccountEmail::AlertExpired {
            alert: summary.clone(),
            at: format!("{at:.0}"),
        };
        writer.queue(unit, &account.email, Some(account.id), &email).await?;
    }
    Ok(())
}
