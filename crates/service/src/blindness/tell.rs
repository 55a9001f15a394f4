//! An account is told that alerts of its are blind.

use std::collections::BTreeMap;

use ::alerts::Alert;
use ::market::Symbol;
use jiff::Timestamp;
use notify::templates::{AccountEmail, StaleAlert};
use store::model::BlindnessNotice;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{NAMED, Writer, is_due, named, wants_to_be_told};
use crate::AccountId;

/// An alert that is blind for want of fresh quotes.
pub(super) struct Blind {
    pub(super) alert: Alert,
    /// Since when it is.
    pub(super) since: Timestamp,
    /// When its stock was quoted last.
    pub(super) last_at: Timestamp,
}

/// Tells an account once of what it was not told of before.
pub(super) struct Tell {
    pub(super) account: AccountId,
    pub(super) blind: Vec<Blind>,
    pub(super) writer: Writer,
}

impl Transaction for Tell {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let account = unit.lock_account(self.account).await?;
            let Some(account) = account.filter(wants_to_be_told) else {
                return Ok(());
            };
            let News { same, new } = self.news(&unit.blindness_notices_of(self.account).await?);
            for stretch in &same {
                unit.record_blindness_notice(stretch).await?;
            }
            if !new.iter().any(|blind| is_due(blind.since, self.writer.now)) {
                return Ok(());
            }
            for stretch in self.stretches(&new) {
                unit.record_blindness_notice(&stretch).await?;
            }
            if let Some(message) = self.writer.letter(&account, &letter(&new)) {
                unit.queue_message(&message).await?;
            }
            Ok(())
        })
    }
}

/// What is not told yet.
struct News<'a> {
    /// What belongs to a stretch that was told.
    same: Vec<BlindnessNotice>,
    /// Alerts on stocks that had quotes when the account was told last.
    new: Vec<&'a Blind>,
}

impl Tell {
    fn news(&self, told: &[BlindnessNotice]) -> News<'_> {
        let mut same = BTreeMap::new();
        let mut new = Vec::new();
        for blind in &self.blind {
            // The letters that were written after the stock's last quote: its quotes had stopped by then.
            let mut after_quote = told.iter().filter(|told| told.notified_at > blind.last_at);
            if after_quote.clone().any(|told| told.symbol == blind.alert.symbol) {
                continue;
            }
            match after_quote.next() {
                Some(told) => drop(
                    same.entry(blind.alert.symbol)
                        .or_insert(self.stretch(blind, told.notified_at)),
                ),
                None => new.push(blind),
            }
        }
        let same = same.into_values().collect();
        News { same, new }
    }

    /// What is told now, stock by stock.
    fn stretches(&self, new: &[&Blind]) -> Vec<BlindnessNotice> {
        let mut stocks: BTreeMap<Symbol, BlindnessNotice> = BTreeMap::new();
        for blind in new {
            let stretch = self.stretch(blind, self.writer.now);
            let kept = stocks.entry(stretch.symbol).or_insert(stretch);
            kept.since = kept.since.min(stretch.since);
        }
        stocks.into_values().collect()
    }

    const fn stretch(&self, blind: &Blind, told_at: Timestamp) -> BlindnessNotice {
        BlindnessNotice {
            account: self.account,
            symbol: blind.alert.symbol,
            since: blind.since,
            notified_at: told_at,
        }
    }
}

fn letter(blind: &[&Blind]) -> AccountEmail {
    let alerts = blind.iter().take(NAMED).map(|blind| StaleAlert {
        alert: named(&blind.alert),
        since: format!("{:.0}", blind.since),
    });
    AccountEmail::AlertsStale {
        alerts: alerts.collect(),
        more: blind.len().saturating_sub(NAMED),
    }
}
