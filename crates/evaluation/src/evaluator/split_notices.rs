//! Emails about alerts that a split has adjusted: one for each owner, with all the owner's alerts. They are queued
//! in the transaction that adjusts the alerts.

use std::collections::BTreeMap;

use ::alerts::{Alert, Status};
use ::market::records::SplitRow;
use notify::templates::{AccountEmail, AdjustedAlert, SplitSummary};
use store::model::{Account, AccountId, AlertOwner};
use store::{StoreError, UnitOfWork};

use super::notice_writer::NoticeWriter;
use delivery::messages::alert_summary::{MAX_NAMED_ALERTS, named_alert};

/// The adjusted alerts of each owner.
#[derive(Default)]
pub(super) struct AdjustedAlertsByOwner {
    of_accounts: BTreeMap<AccountId, Vec<AdjustedAlert>>,
    of_guests: BTreeMap<String, Vec<AdjustedAlert>>,
}

impl AdjustedAlertsByOwner {
    pub(super) fn add(&mut self, owner: &AlertOwner, before: &Alert, after: &Alert) {
        let alerts = match owner {
            AlertOwner::Account(account) => self.of_accounts.entry(*account).or_default(),
            // This address has not been verified.
            AlertOwner::Guest { .. } if after.status == Status::Inactive => return,
            AlertOwner::Guest { email } => self.of_guests.entry(email.to_lowercase()).or_default(),
        };
        let price = |alert: &Alert| alert.initial_price.map(|price| price.to_string());
        alerts.push(AdjustedAlert {
            alert: named_alert(after),
            previous_threshold: named_alert(before).threshold,
            initial_price: price(after),
            previous_initial_price: price(before),
        });
    }

    /// Queues an email for each owner. Delivery limits are checked when it is sent.
    pub(super) async fn queue_notices(
        self,
        unit: &mut UnitOfWork,
        split: &SplitRow,
        writer: &NoticeWriter,
    ) -> Result<(), StoreError> {
        let ids: Vec<AccountId> = self.of_accounts.keys().copied().collect();
        let accounts = unit.accounts(&ids).await?.into_iter();
        let emails: BTreeMap<AccountId, String> = accounts.map(|Account { id, email, .. }| (id, email)).collect();
        let of_accounts = self
            .of_accounts
            .into_iter()
            .filter_map(|(account, alerts)| Some((emails.get(&account)?.clone(), Some(account), alerts)));
        let of_guests = self.of_guests.into_iter().map(|(email, alerts)| (email, None, alerts));
        for (to, account, alerts) in of_accounts.chain(of_guests) {
            let email = adjusted_email(split, alerts);
            writer.queue(unit, &to, account, &email).await?;
        }
        Ok(())
    }
}

fn adjusted_email(split: &SplitRow, mut alerts: Vec<AdjustedAlert>) -> AccountEmail {
    let more = alerts.len().saturating_sub(MAX_NAMED_ALERTS);
    alerts.truncate(MAX_NAMED_ALERTS);
    AccountEmail::SplitAdjusted {
        split: SplitSummary {
            symbol: split.symbol.to_string(),
            date: split.date.to_string(),
            ratio: split.ratio.to_string(),
        },
        alerts,
        more,
    }
}
