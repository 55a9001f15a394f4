//! How often the model was asked today.
//!
//! Kept in memory: each process has a budget of its own, and a restart begins a new one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::settings::Budget;
use super::why_not::WhyNot;
use crate::AccountId;

/// What is spent of a budget.
#[derive(Debug)]
pub(super) struct Spending {
    budget: Budget,
    today: Mutex<Today>,
}

#[derive(Debug, Default)]
struct Today {
    day: Option<Date>,
    in_all: u32,
    /// Never more accounts than calls.
    by_account: HashMap<AccountId, u32>,
    /// Whether the operator was told that it is used up.
    is_told: bool,
}

impl Spending {
    pub(super) fn of(budget: Budget) -> Self {
        Self {
            budget,
            today: Mutex::default(),
        }
    }

    /// Takes one call for an account.
    ///
    /// # Errors
    /// [`WhyNot::Budget`] or [`WhyNot::Share`] if there is none left today.
    pub(super) fn take(&self, account: AccountId, now: Timestamp) -> Result<(), WhyNot> {
        let day = now.to_zoned(TimeZone::UTC).date();
        // A panic elsewhere leaves the counters whole: nothing panics while they are changed.
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins no new day.
        if today.day.is_none_or(|counted| counted < day) {
            *today = Today {
                day: Some(day),
                ..Today::default()
            };
        }
        if today.in_all >= self.budget.in_all {
            if !std::mem::replace(&mut today.is_told, true) {
                tracing::warn!(
                    calls = today.in_all,
                    "{}; the rules answer until midnight in UTC",
                    WhyNot::Budget
                );
            }
            return Err(WhyNot::Budget);
        }
        let of_account = today.by_account.entry(account).or_default();
        if *of_account >= self.budget.to_each {
            return Err(WhyNot::Share);
        }
        *of_account += 1;
        today.in_all += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn spending() -> Spending {
        Spending::of(Budget { in_all: 3, to_each: 2 })
    }

    fn account(number: u128) -> AccountId {
        AccountId(Uuid::from_u128(number))
    }

    const EVENING: &str = "2024-03-08T23:59:59Z";

    #[test]
    fn the_call_after_the_last_one_of_the_day_is_refused_until_midnight_in_utc() {
        let spending = spending();
        let evening = EVENING.parse().unwrap();
        for number in 1..=3 {
            assert_eq!(spending.take(account(number), evening), Ok(()));
        }
        assert_eq!(spending.take(account(4), evening), Err(WhyNot::Budget));
        let midnight = "2024-03-09T00:00:00Z".parse().unwrap();
        assert_eq!(spending.take(account(4), midnight), Ok(()));
    }

    #[test]
    fn one_account_gets_no_more_than_its_share() {
        let spending = spending();
        let evening = EVENING.parse().unwrap();
        assert_eq!(spending.take(account(1), evening), Ok(()));
        assert_eq!(spending.take(account(1), evening), Ok(()));
        assert_eq!(spending.take(account(1), evening), Err(WhyNot::Share));
        assert_eq!(
            spending.take(account(2), evening),
            Ok(()),
            "what was refused costs nothing"
        );
    }

    #[test]
    fn a_clock_that_was_set_back_gives_nobody_a_new_day() {
        let spending = Spending::of(Budget { in_all: 1, to_each: 1 });
        assert_eq!(spending.take(account(1), EVENING.parse().unwrap()), Ok(()));
        let before = "2024-03-07T12:00:00Z".parse().unwrap();
        assert_eq!(spending.take(account(2), before), Err(WhyNot::Budget));
    }
}
