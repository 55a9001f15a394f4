//! The daily budget of calls to the language model.
//!
//! The counters are in memory, and a restart begins a new budget. If several processes use the database, the budget holds for all of
//! them together, also after a restart.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foundation::{LimitKey, SharedDecision, SharedLimit, SharedLimiter};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::fallback_reason::FallbackReason;
use super::settings::CallBudget;
use store::Store;
use store::model::AccountId;

/// How long the database keeps the counts of a day: the names of the limits have the day, so a day never gets a second window.
const SHARED_WINDOW: SignedDuration = SignedDuration::from_hours(48);

/// The maximum number of shared counts in memory: the total, and accounts.
const MAX_TRACKED_ACCOUNTS: usize = 100_000;

/// The used part of a budget.
#[derive(Debug)]
pub(super) struct BudgetUsage {
    budget: CallBudget,
    today: Mutex<Today>,
    /// `None` if this is the only process on the database.
    shared: Option<SharedLimiter>,
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
    pub(super) fn of(budget: CallBudget, store: &Store) -> Self {
        Self {
            budget,
            shared: SharedLimiter::new(store, MAX_TRACKED_ACCOUNTS),
            today: Mutex::default(),
        }
    }

    /// Takes one call for an account.
    ///
    /// # Errors
    /// [`FallbackReason::Budget`] or [`FallbackReason::AccountBudget`] if none is left today; [`FallbackReason::BudgetUnknown`] if
    /// only the database could say so, and it fails.
    pub(super) async fn take(&self, account: AccountId, now: Timestamp) -> Result<(), FallbackReason> {
        match &self.shared {
            Some(shared) => self.take_shared(shared, account, now).await,
            None => self.take_in_memory(account, now),
        }
    }

    /// Takes one call from the budget of all processes.
    async fn take_shared(
        &self,
        shared: &SharedLimiter,
        account: AccountId,
        now: Timestamp,
    ) -> Result<(), FallbackReason> {
        let day = now.to_zoned(TimeZone::UTC).date();
        // The account first: a call that is given back stays with this process, and another one may need one of the total.
        let key = LimitKey::new(&format!("calls {day} account"), account.0.as_bytes());
        let limit = SharedLimit::one_by_one(self.budget.per_account, SHARED_WINDOW);
        let of_account = count(shared, key, limit, now).await?;
        if !of_account.is_allowed {
            return Err(FallbackReason::AccountBudget);
        }
        let total = LimitKey::new(&format!("calls {day} total"), &[]);
        let limit = SharedLimit::one_by_one(self.budget.total, SHARED_WINDOW);
        let refusal = match count(shared, total, limit, now).await {
            Ok(total) if total.is_allowed => return Ok(()),
            Ok(_) => {
                self.warn_once(&mut self.today(day));
                FallbackReason::Budget
            }
            Err(unknown) => unknown,
        };
        shared.give_back(key, of_account).await;
        Err(refusal)
    }

    /// Returns the counts of a day.
    fn today(&self, day: Date) -> MutexGuard<'_, Today> {
        // A panic elsewhere leaves the counters consistent: nothing panics while they change.
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins no new day.
        if today.day.is_none_or(|counted| counted < day) {
            *today = Today {
                day: Some(day),
                ..Today::default()
            };
        }
        today
    }

    /// Warns the operator, once a day, that the budget is used up.
    fn warn_once(&self, today: &mut Today) {
        if !std::mem::replace(&mut today.is_told, true) {
            tracing::warn!(
                calls = self.budget.total,
                "{}; the rules answer until midnight in UTC",
                FallbackReason::Budget
            );
        }
    }

    /// Takes one call from the budget of this process.
    fn take_in_memory(&self, account: AccountId, now: Timestamp) -> Result<(), FallbackReason> {
        let mut today = self.today(now.to_zoned(TimeZone::UTC).date());
        if today.total >= self.budget.total {
            self.warn_once(&mut today);
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

async fn count(
    shared: &SharedLimiter,
    key: LimitKey,
    limit: SharedLimit,
    now: Timestamp,
) -> Result<SharedDecision, FallbackReason> {
    match shared.count(key, limit, now).await {
        Ok(Some(decision)) => Ok(decision),
        // More accounts than fit in memory have asked within two days.
        Ok(None) => Err(FallbackReason::BudgetUnknown),
        Err(error) => {
            tracing::warn!(%error, "the used calls to the language model could not be read; the rules answer");
            Err(FallbackReason::BudgetUnknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use store::StoreOptions;
    use testkit::{Database, on_both_databases};
    use uuid::Uuid;

    use super::*;

    const EVENING: &str = "2024-03-08T23:59:59Z";
    const MIDNIGHT: &str = "2024-03-09T00:00:00Z";

    async fn budget_usage(database: &Database, total: u32, per_account: u32) -> BudgetUsage {
        let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
        BudgetUsage::of(CallBudget { total, per_account }, &store)
    }

    async fn take(budget_usage: &BudgetUsage, account: u128, now: &str) -> Result<(), FallbackReason> {
        let account = AccountId(Uuid::from_u128(account));
        budget_usage.take(account, now.parse().unwrap()).await
    }

    on_both_databases! {
        async fn calls_beyond_the_daily_budget_are_refused_until_midnight_utc(database) {
            let budget_usage = budget_usage(database, 3, 2).await;
            for account in 1..=3 {
                assert_eq!(take(&budget_usage, account, EVENING).await, Ok(()));
            }
            assert_eq!(take(&budget_usage, 4, EVENING).await, Err(FallbackReason::Budget));
            assert_eq!(take(&budget_usage, 4, MIDNIGHT).await, Ok(()));
        }

        async fn account_gets_no_more_than_its_budget(database) {
            let budget_usage = budget_usage(database, 3, 2).await;
            for _ in 0..2 {
                assert_eq!(take(&budget_usage, 1, EVENING).await, Ok(()));
            }
            assert_eq!(take(&budget_usage, 1, EVENING).await, Err(FallbackReason::AccountBudget));
            assert_eq!(take(&budget_usage, 2, EVENING).await, Ok(()), "a refused call is not counted");
        }

        async fn clock_that_was_set_back_gives_no_further_call(database) {
            let budget_usage = budget_usage(database, 1, 1).await;
            let before = "2024-03-07T12:00:00Z";
            assert_eq!(take(&budget_usage, 1, before).await, Ok(()));
            assert_eq!(take(&budget_usage, 1, EVENING).await, Ok(()));
            assert!(take(&budget_usage, 1, before).await.is_err());
        }

        async fn budget_of_two_processes_is_one_if_the_database_is_shared(database) {
            let (first, second) = (budget_usage(database, 3, 2).await, budget_usage(database, 3, 2).await);
            assert_eq!(take(&first, 1, EVENING).await, Ok(()));
            assert_eq!(take(&second, 1, EVENING).await, Ok(()));
            let account_refused = take(&first, 1, EVENING).await;
            assert_eq!(take(&second, 2, EVENING).await, Ok(()));
            let total_refused = take(&first, 3, EVENING).await;
            let expected = match database.is_postgres() {
                true => (Err(FallbackReason::AccountBudget), Err(FallbackReason::Budget)),
                false => (Ok(()), Ok(())),
            };
            assert_eq!((account_refused, total_refused), expected);
        }

        async fn call_is_refused_if_the_database_cannot_say_whether_one_is_left(database) {
            let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
            let budget_usage = BudgetUsage::of(CallBudget { total: 3, per_account: 2 }, &store);
            store.close().await;
            let expected = match database.is_postgres() {
                true => Err(FallbackReason::BudgetUnknown),
                false => Ok(()),
            };
            assert_eq!(take(&budget_usage, 1, EVENING).await, expected);
        }
    }

    #[tokio::test]
    async fn clock_that_was_set_back_begins_no_new_day_in_memory() {
        let budget_usage = budget_usage(&Database::sqlite(), 1, 1).await;
        assert_eq!(take(&budget_usage, 1, EVENING).await, Ok(()));
        let before = "2024-03-07T12:00:00Z";
        assert_eq!(take(&budget_usage, 2, before).await, Err(FallbackReason::Budget));
    }
}
