//! Who has alerts that a split has moved is told so: one letter for each owner, with all their alerts in it, queued in the
//! transaction that moves them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::alerts::{Alert, Status};
use ::market::records::SplitRow;
use jiff::Timestamp;
use notify::templates::{AccountEmail, AdjustedAlert, SplitSummary};
use store::model::{Account, AccountId, AlertOwner};
use store::{StoreError, UnitOfWork};

use crate::blindness::{NAMED, named};
use crate::vault::Vault;
use crate::{Chance, messages};

/// The alerts of each owner that a split has moved.
#[derive(Default)]
pub(super) struct Moved {
    of_accounts: BTreeMap<AccountId, Vec<AdjustedAlert>>,
    of_guests: BTreeMap<String, Vec<AdjustedAlert>>,
}

/// Writes the letters.
pub(super) struct Writer {
    pub(super) vault: Arc<Vault>,
    pub(super) chance: Arc<Chance>,
    pub(super) at: Timestamp,
}

impl Moved {
    pub(super) fn add(&mut self, owner: &AlertOwner, before: &Alert, after: &Alert) {
        let alerts = match owner {
            AlertOwner::Account(account) => self.of_accounts.entry(*account).or_default(),
            // Nobody has shown yet that this address is theirs.
            AlertOwner::Guest { .. } if after.status == Status::Inactive => return,
            AlertOwner::Guest { email } => self.of_guests.entry(email.to_lowercase()).or_default(),
        };
        let price = |alert: &Alert| alert.initial_price.map(|price| price.to_string());
        alerts.push(AdjustedAlert {
            alert: named(after),
            previous_threshold: named(before).threshold,
            initial_price: price(after),
            previous_initial_price: price(before),
        });
    }

    /// Queues a letter for each owner. Whether and when it goes is judged when it is sent.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn tell(self, unit: &mut UnitOfWork, split: &SplitRow, writer: &Writer) -> Result<(), StoreError> {
        let ids: Vec<AccountId> = self.of_accounts.keys().copied().collect();
        let accounts = unit.accounts(&ids).await?.into_iter();
        let emails: BTreeMap<AccountId, String> = accounts.map(|Account { id, email, .. }| (id, email)).collect();
        let of_accounts = self
            .of_accounts
            .into_iter()
            .filter_map(|(account, alerts)| Some((emails.get(&account)?.clone(), Some(account), alerts)));
        let of_guests = self.of_guests.into_iter().map(|(email, alerts)| (email, None, alerts));
        for (to, account, alerts) in of_accounts.chain(of_guests) {
            let letter = letter(split, alerts);
            let message = messages::letter(&writer.vault, &writer.chance, writer.at, &to, account, &letter);
            match message {
                Ok(message) => unit.queue_message(&message).await?,
                Err(error) => tracing::error!(%error, kind = letter.kind(), "a letter cannot be written"),
            }
        }
        Ok(())
    }
}

fn letter(split: &SplitRow, mut alerts: Vec<AdjustedAlert>) -> AccountEmail {
    let more = alerts.len().saturating_sub(NAMED);
    alerts.truncate(NAMED);
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
