//! An account is told that alerts of which it was told that they are blind see again.

use ::alerts::engine::Feed;
use ::market::Symbol;
use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{NAMED, Writer, named, wants_to_be_told};
use crate::AccountId;

/// Ends what was told to an account at an instant, and says so.
pub(super) struct SeeAgain {
    pub(super) account: AccountId,
    pub(super) told_at: Timestamp,
    pub(super) writer: Writer,
}

impl Transaction for SeeAgain {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let Some(account) = unit.lock_account(self.account).await? else {
                return Ok(());
            };
            let mut told = unit.blindness_notices_of(self.account).await?;
            told.retain(|told| told.notified_at == self.told_at);
            // Another process may have said it.
            let Some(since) = told.iter().map(|told| told.since).min() else {
                return Ok(());
            };
            unit.delete_blindness_notices(self.account, self.told_at).await?;
            let symbols: Vec<Symbol> = told.iter().map(|told| told.symbol).collect();
            let mut alerts = unit.active_alerts_on(self.account, &symbols).await?;
            alerts.retain(|stored| Feed::of(&stored.alert.condition) == Some(Feed::Quotes));
            if alerts.is_empty() || !wants_to_be_told(&account) {
                return Ok(());
            }
            let letter = AccountEmail::AlertsRecovered {
                alerts: alerts.iter().take(NAMED).map(|stored| named(&stored.alert)).collect(),
                more: alerts.len().saturating_sub(NAMED),
                since: format!("{since:.0}"),
            };
            if let Some(message) = self.writer.letter(&account, &letter) {
                unit.queue_message(&message).await?;
            }
            Ok(())
        })
    }
}

/// Ends what nobody waits for any more.
pub(super) struct DropVoid;

impl Transaction for DropVoid {
    type Output = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.delete_obsolete_blindness_notices().await?) })
    }
}
