//! The stocks whose alerts cannot be evaluated, by cause.

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::Symbol;

use super::{Engine, EvaluationIssue};

/// Alerts on a stock that cannot be evaluated for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlindStock {
    /// The stock.
    pub symbol: Symbol,
    /// Why its alerts cannot be evaluated.
    pub issue: EvaluationIssue,
    /// The number of these alerts.
    pub alerts: usize,
}

impl Engine {
    /// Returns the stocks with blind alerts, those with the most first. It visits each armed alert.
    #[must_use]
    pub fn blind_stocks(&self, now: Timestamp) -> Vec<BlindStock> {
        let alerts = self.registry.live().filter_map(|slot| {
            let armed = self.registry.alert(slot);
            Some((armed.stock, self.evaluation_issue(armed, now)?))
        });
        let rules = self.rules.iter().filter_map(|rule| self.rule_issue(rule, now));
        // The texts of two issues of one kind may differ, so each is a line of its own.
        let mut stocks = BTreeMap::new();
        for (stock, issue) in alerts.chain(rules).filter(|(_, issue)| issue.is_blind()) {
            let symbol = self.symbol(stock);
            let blind = stocks.entry((symbol, issue.to_string())).or_insert(BlindStock {
                symbol,
                issue,
                alerts: 0,
            });
            blind.alerts += 1;
        }
        let mut stocks: Vec<_> = stocks.into_values().collect();
        stocks.sort_by_key(|blind| std::cmp::Reverse(blind.alerts));
        stocks
    }
}
