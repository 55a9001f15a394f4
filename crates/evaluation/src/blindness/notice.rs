//! Notices about blind alerts of an account.

use std::collections::BTreeMap;

use ::alerts::Alert;
use ::market::Symbol;
use jiff::Timestamp;
use notify::templates::{AccountEmail, StaleAlert};
use store::model::BlindnessNotice;
use store::{StoreError, UnitOfWork};

use super::{BlindnessNoticeWriter, is_due, wants_notices};
use delivery::messages::alert_summary::{MAX_NAMED_ALERTS, named_alert};
use store::model::AccountId;

/// An alert that is blind because quotes have stopped.
pub(super) struct AffectedAlert {
    pub(super) alert: Alert,
    /// The beginning.
    pub(super) since: Timestamp,
    /// The last quote of its stock.
    pub(super) last_at: Timestamp,
}

/// Queues one notice for the alerts of an account without a notice.
pub(super) struct QueueBlindnessNotice {
    pub(super) account: AccountId,
    pub(super) blind: Vec<AffectedAlert>,
    pub(super) writer: BlindnessNoticeWriter,
}

/// Blind stocks and alerts without a notice.
struct UnreportedAlerts<'a> {
    /// Stocks that belong to an earlier notice.
    same: Vec<BlindnessNotice>,
    /// Alerts on stocks that had quotes at the last notice.
    new: Vec<&'a AffectedAlert>,
}

impl QueueBlindnessNotice {
    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let account = unit.lock_account(self.account).await?;
        let Some(account) = account.filter(wants_notices) else {
            return Ok(());
        };
        let UnreportedAlerts { same, new } = self.unreported(&unit.blindness_notices_of(self.account).await?);
        for notice in &same {
            unit.record_blindness_notice(notice).await?;
        }
        if !new.iter().any(|blind| is_due(blind.since, self.writer.now)) {
            return Ok(());
        }
        for notice in self.notices_by_stock(&new) {
            unit.record_blindness_notice(&notice).await?;
        }
        if let Some(message) = self.writer.email(&account, &blindness_email(&new)) {
            unit.queue_message(&message).await?;
        }
        Ok(())
    }

    fn unreported(&self, notices: &[BlindnessNotice]) -> UnreportedAlerts<'_> {
        let mut same = BTreeMap::new();
        let mut new = Vec::new();
        for blind in &self.blind {
            // The notices after the stock's last quote: its quotes had stopped by then.
            let mut after_quote = notices.iter().filter(|notice| notice.notified_at > blind.last_at);
            if after_quote.clone().any(|notice| notice.symbol == blind.alert.symbol) {
                continue;
            }
            match after_quote.next() {
                Some(notice) => drop(
                    same.entry(blind.alert.symbol)
                        .or_insert(self.notice_for(blind, notice.notified_at)),
                ),
                None => new.push(blind),
            }
        }
        let same = same.into_values().collect();
        UnreportedAlerts { same, new }
    }

    /// Returns the new notices by stock.
    fn notices_by_stock(&self, new: &[&AffectedAlert]) -> Vec<BlindnessNotice> {
        let mut stocks: BTreeMap<Symbol, BlindnessNotice> = BTreeMap::new();
        for blind in new {
            let notice = self.notice_for(blind, self.writer.now);
            let kept = stocks.entry(notice.symbol).or_insert(notice);
            kept.since = kept.since.min(notice.since);
        }
        stocks.into_values().collect()
    }

    const fn notice_for(&self, blind: &AffectedAlert, notified_at: Timestamp) -> BlindnessNotice {
        BlindnessNotice {
            account: self.account,
            symbol: blind.alert.symbol,
            since: blind.since,
            notified_at,
        }
    }
}

fn blindness_email(blind: &[&AffectedAlert]) -> AccountEmail {
    let alerts = blind.iter().take(MAX_NAMED_ALERTS).map(|blind| StaleAlert {
        alert: named_alert(&blind.alert),
        since: format!("{:.0}", blind.since),
    });
    AccountEmail::AlertsStale {
        alerts: alerts.collect(),
        more: blind.len().saturating_sub(MAX_NAMED_ALERTS),
    }
}
