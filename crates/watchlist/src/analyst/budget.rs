//! The daily budget of calls to the language model.
//!
//! The counters are in memory: each process has its own budget, and a restart begins a new one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::fallback_reason::FallbackReason;
use super::settings::CallBudget;
use store::model::AccountId;

/// The used part of a budget.
#[derive(Debug)]
pub(super) struct BudgetUsage {
    budget: CallBudget,
    today: Mutex<Today>,
}

#[derive(Debug, Default)]
struct Today {
    day: Option<Date>,
    total: u32,
    /// At most as many accounts as calls.
    by_account: HashMap<AccountId, u32>,
    /// Whether the operator has been warned that it is used up.
    is_told: bool,
}

impl BudgetUsage {
    pub(super) fn of(budget: CallBudget) -> Self {
        Self {
            budget,
            today: Mutex::default(),
        }
    }

    /// Takes one call for an account.
    ///
    /// # Errors
    /// [`FallbackReason::Budget`] or [`FallbackReason::AccountBudget`] if none is left today.
    pub(super) fn take(&self, account: AccountId, now: Timestamp) -> Result<(), FallbackReason> {
        let day = now.to_zoned(TimeZone::UTC).date();
        // A panic elsewhere leaves the counters consistent: nothing panics while they change.
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins no new day.
        if today.day.is_none_or(|counted| counted < day) {
            *today = Today {
                day: Some(day),
                ..Today::default()
            };
        }
        if today.total >= self.budget.total {
            if !std::mem::replace(&mut today.is_told, true) {
                tracing::warn!(
                    calls = today.total,
                    "{}; the rules answer until midnight in UTC",
                    FallbackReason::Budget
                );
            }
            return Err(FallbackReason::Budget);
        }
        let of_account = today.by_account.entry(account).or_default();
        if *of_account >= self.budget.per_account {
            return Err(FallbackReason::AccountBudget);
        }
        *of_account += 1;
        today.total += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn budget_usage() -> BudgetUsage {
        BudgetUsage::of(CallBudget {
            total: 3,
            per_account: 2,
        })
    }

    fn account(number: u128) -> AccountId {
        AccountId(Uuid::from_u128(number))
    }

    const EVENING: &str = "2024-03-08T23:59:59Z";

    #[test]
    fn calls_beyond_the_daily_budget_are_refused_until_midnight_utc() {
        let budget_usage = budget_usage();
        let evening = EVENING.parse().unwrap();
        for number in 1..=3 {
            assert_eq!(budget_usage.take(account(number), evening), Ok(()));
        }
        assert_eq!(budget_usage.take(account(4), evening), Err(FallbackReason::Budget));
        let midnight = "2024-03-09T00:00:00Z".parse().unwrap();
        assert_eq!(budget_usage.take(account(4), midnight), Ok(()));
    }

    #[test]
    fn account_gets_no_more_than_its_budget() {
        let budget_usage = budget_usage();
        let evening = EVENING.parse().unwrap();
        assert_eq!(budget_usage.take(account(1), evening), Ok(()));
        assert_eq!(budget_usage.take(account(1), evening), Ok(()));
        assert_eq!(
            budget_usage.take(account(1), evening),
            Err(FallbackReason::AccountBudget)
        );
        assert_eq!(
            budget_usage.take(account(2), evening),
            Ok(()),
            "a refused call is not counted"
        );
    }

    #[test]
    fn clock_that_was_set_back_begins_no_new_day() {
        let budget_usage = BudgetUsage::of(CallBudget {
            total: 1,
            per_account: 1,
        });
        assert_eq!(budget_usage.take(account(1), EVENING.parse().unwrap()), Ok(()));
        let before = "2024-03-07T12:00:00Z".parse().unwrap();
        assert_eq!(budget_usage.take(account(2), before), Err(FallbackReason::Budget));
    }
}
