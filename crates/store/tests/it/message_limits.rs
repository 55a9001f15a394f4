//! Admission of messages within the limits.

use store::Store;
use store::model::{
    AccountId, ClaimedMessage, FIRING_KIND, MessageLimits, QuotaDecision, QuotaRequest, SettlementDecision,
};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::messages::{EMAIL, SMS, account_message, claim, queue, settled, sms_alert};
use crate::support::{add, add_many, at, open, uuid, with_accounts};

/// No limit applies.
pub(crate) const UNLIMITED: MessageLimits = MessageLimits {
    day_start: jiff::Timestamp::UNIX_EPOCH,
    month_start: jiff::Timestamp::UNIX_EPOCH,
    max_total: 1_000,
    max_account_messages: 1_000,
    max_firing_messages: 1_000,
    max_account_messages_per_recipient: 1_000,
    max_account_messages_per_account: 1_000,
    max_firing_messages_per_recipient: 1_000,
};

pub(crate) fn quota_request(claimed: &ClaimedMessage, to: &str, quota: Option<u32>) -> QuotaRequest {
    QuotaRequest {
        seq: claimed.seq,
        lease: claimed.lease,
        recipient: to.to_owned(),
        account: claimed.account,
        kind: claimed.kind.clone(),
        quota,
    }
}

on_both_databases! {
    async fn limits_are_exact_under_concurrency(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts: Vec<_> = (1..=60).map(|number| sms_alert(u128::from(number), number)).collect();
        for alert in &alerts {
            add(&store, alert).await;
        }
        fire(&store, alerts.iter().map(|alert| firing(alert, 60)).collect()).await;
        let claimed = claim(&store, SMS, 60, 1).await;
        let (one, two) = claimed.split_at(30);
        let ask = |store: &Store, some: &[ClaimedMessage]| {
            let requests = some.iter().map(|claimed| quota_request(claimed, "+14155550123", Some(50))).collect();
            let store = store.clone();
            async move { store.admit_messages(SMS, requests, UNLIMITED, at(60)).await.unwrap() }
        };
        let (one, two) = tokio::join!(ask(&store, one), ask(&other, two));
        let all: Vec<_> = one.into_iter().chain(two).collect();
        let granted = all.iter().filter(|admission| **admission == QuotaDecision::Granted).count();
        let over = all.iter().filter(|admission| **admission == QuotaDecision::OverQuota).count();
        assert_eq!((granted, over), (50, 10));
        let counted = |since| store.count_quota_messages(AccountId(uuid(1)), SMS, since);
        assert_eq!((counted(at(60)).await.unwrap(), counted(at(61)).await.unwrap()), (50, 0));
        // Failed messages do not count; in the next month nothing of this month counts.
        let failed = all.iter().position(|admission| *admission == QuotaDecision::Granted).unwrap();
        store.settle_messages(SMS, vec![settled(&claimed[failed], "invalid_number", SettlementDecision::Failed)], at(61)).await.unwrap();
        assert_eq!(counted(at(0)).await.unwrap(), 49);
        let rest: Vec<_> = claim(&store, SMS, 120, 2).await.into_iter().filter(|message| !message.is_admitted).collect();
        assert_eq!(rest.len(), 10);
        let requests: Vec<_> = rest.iter().map(|claimed| quota_request(claimed, "+14155550123", Some(50))).collect();
        let decisions = store.admit_messages(SMS, requests, UNLIMITED, at(120)).await.unwrap();
        assert_eq!(decisions.iter().filter(|admission| **admission == QuotaDecision::Granted).count(), 1);
        let next_month = MessageLimits { month_start: at(3_600), day_start: at(3_600), ..UNLIMITED };
        let requests: Vec<_> = rest[1..].iter().map(|claimed| quota_request(claimed, "+14155550123", Some(50))).collect();
        let decisions = store.admit_messages(SMS, requests, next_month, at(3_600)).await.unwrap();
        assert_eq!(decisions, [QuotaDecision::Granted; 9]);
    }

    async fn account_and_firing_messages_have_separate_budgets(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 4).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 0)).collect()).await;
        let messages = (1..=4).map(|number| account_message(number, &format!("{number}@example.com"), None, 0)).collect();
        queue(&store, messages).await;
        let claimed = claim(&store, EMAIL, 0, 1).await;
        let limits = MessageLimits { max_total: 5, max_account_messages: 3, max_firing_messages: 4, ..UNLIMITED };
        let (about, messages): (Vec<_>, Vec<_>) = claimed.iter().partition(|message| message.kind == FIRING_KIND);
        let ask = |messages: Vec<&ClaimedMessage>| {
            let to = |message: &ClaimedMessage| message.recipient.clone().unwrap_or("1@example.com".to_owned());
            let requests = messages.into_iter().map(|message| quota_request(message, &to(message), None)).collect();
            store.admit_messages(EMAIL, requests, limits, at(1))
        };
        use QuotaDecision::{Granted, OverBudget};
        assert_eq!(ask(messages).await.unwrap(), [Granted, Granted, Granted, OverBudget]);
        assert_eq!(ask(about.clone()).await.unwrap(), [Granted, Granted, OverBudget, OverBudget]);
        // The next day has a new budget.
        let tomorrow = MessageLimits { day_start: at(2), max_total: 1, ..limits };
        let requests = about[2..].iter().map(|message| quota_request(message, "1@example.com", None)).collect();
        assert_eq!(store.admit_messages(EMAIL, requests, tomorrow, at(2)).await.unwrap(), [Granted, OverBudget]);
    }

    async fn budget_of_a_day_outlasts_a_restart_and_a_day_that_came_too_early(database) {
        let store = with_accounts(database, 1).await;
        let messages = (1..=8).map(|number| account_message(number, &format!("{number}@example.com"), None, 0)).collect();
        queue(&store, messages).await;
        let claimed = claim(&store, EMAIL, 0, 1).await;
        let ask = async |store: &Store, messages: &[ClaimedMessage], day_start| {
            let to = |message: &ClaimedMessage| message.recipient.clone().unwrap();
            let requests = messages.iter().map(|message| quota_request(message, &to(message), None)).collect();
            let limits = MessageLimits { day_start: at(day_start), max_total: 4, ..UNLIMITED };
            store.admit_messages(EMAIL, requests, limits, at(1)).await.unwrap()
        };
        use QuotaDecision::{Granted, OverBudget};
        assert_eq!(ask(&store, &claimed[..2], 0).await, [Granted, Granted]);
        store.close().await;
        let store = open(database).await;
        assert_eq!(ask(&store, &claimed[2..3], 0).await, [Granted]);
        // The clock was a day ahead; then the messages of the day are counted again.
        assert_eq!(ask(&store, &claimed[3..4], 86_400).await, [Granted]);
        assert_eq!(ask(&store, &claimed[4..6], 0).await, [OverBudget, OverBudget]);
    }

    async fn daily_limits_apply_per_address_and_account(database) {
        let store = with_accounts(database, 1).await;
        let messages = [
            (1, "a", None), (2, "a", None), (3, "a", None),
            (4, "b", Some(1)), (5, "c", Some(1)), (6, "d", Some(1)),
            (7, "d", None),
        ]
        .map(|(number, name, account)| account_message(number, &format!("{name}@example.com"), account, 0))
        .to_vec();
        queue(&store, messages).await;
        let claimed = claim(&store, EMAIL, 0, 1).await;
        let limits = MessageLimits { max_account_messages_per_recipient: 2, max_account_messages_per_account: 2, ..UNLIMITED };
        let ask = |messages: &[ClaimedMessage]| {
            let requests = messages.iter().map(|message| quota_request(message, message.recipient.as_deref().unwrap(), None));
            store.admit_messages(EMAIL, requests.collect(), limits, at(1))
        };
        use QuotaDecision::{Granted, Lost, OverLimit};
        // In two steps, so that some counted messages are on disk and some are not.
        assert_eq!(ask(&claimed[..1]).await.unwrap(), [Granted]);
        let expected = [Granted, OverLimit, Granted, Granted, OverLimit, Granted];
        assert_eq!(ask(&claimed[1..]).await.unwrap(), expected);
        // A message whose claim has ended uses up no quota.
        claim(&store, EMAIL, 100, 2).await;
        assert_eq!(ask(&claimed[2..3]).await.unwrap(), [Lost]);
    }
}
