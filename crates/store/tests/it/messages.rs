//! Messages: one for each firing, claimed by one, admitted within the limits, settled with what the history says.

use std::collections::HashSet;

use alerts::transition;
use alerts::{AlertId, HistoryAction};
use jiff::SignedDuration;
use serde_json::json;
use store::Store;
use store::model::{
    AccountId, Admission, Applicant, ClaimOrder, ClaimedMessage, FIRED, HistoryRow, KeptMessage, MessageChannel,
    MessageId, MessageLimits, MessageSettlement, MessageVerdict, NewMessage, Owner, PageRequest, Said, StoredAlert,
};
use testkit::on_both;

use crate::firings::{fire, firing};
use crate::support::{
    add, add_many, alert_of, asked, asked_price, at, boxed, open, pause, price, uuid, with_accounts, work,
};

const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };
const EMAIL: MessageChannel = MessageChannel::Email;
const SMS: MessageChannel = MessageChannel::Sms;

/// No limit is in the way.
const PLENTY: MessageLimits = MessageLimits {
    day_from: jiff::Timestamp::UNIX_EPOCH,
    month_from: jiff::Timestamp::UNIX_EPOCH,
    in_all: 1_000,
    letters: 1_000,
    firings: 1_000,
    letters_to_each: 1_000,
    letters_of_each: 1_000,
    firings_to_each: 1_000,
};

fn letter(number: u128, to: &str, account: Option<u128>, seconds: i64) -> NewMessage {
    NewMessage {
        id: MessageId(uuid(0x1E77_0000 + number)),
        channel: EMAIL,
        kind: "guest_alert",
        recipient: to.to_owned(),
        account: account.map(|account| AccountId(uuid(account))),
        content: b"sealed".to_vec(),
        created_at: at(seconds),
    }
}

async fn queue(store: &Store, letters: Vec<NewMessage>) {
    let queued = store.write(work(move |unit| {
        let letters = letters.clone();
        boxed(async move {
            for letter in &letters {
                unit.queue_message(letter).await?;
            }
            Ok(())
        })
    }));
    queued.await.unwrap();
}

/// Claims what is due so many seconds after the beginning, for a minute.
pub(crate) async fn claim(store: &Store, channel: MessageChannel, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    let now = at(seconds);
    let lanes = store.message_lanes(channel, i64::MIN, 1_000).await.unwrap();
    let order = ClaimOrder {
        lanes: lanes
            .iter()
            .filter(|lane| lane.first_due <= now)
            .map(|lane| lane.webhook)
            .collect(),
        most_of_each: 1_000,
        most: 1_000,
        now,
        until: now + SignedDuration::from_secs(60),
        lease,
    };
    store.claim_messages(channel, order).await.unwrap()
}

pub(crate) fn settled(claimed: &ClaimedMessage, outcome: &str, verdict: MessageVerdict) -> MessageSettlement {
    MessageSettlement {
        seq: claimed.seq,
        lease: claimed.lease,
        outcome: Some(outcome.to_owned()),
        provider_id: None,
        verdict,
    }
}

const SENT: MessageVerdict = MessageVerdict::Sent { kept: None };

fn applicant(claimed: &ClaimedMessage, to: &str, quota: Option<u32>) -> Applicant {
    Applicant {
        seq: claimed.seq,
        lease: claimed.lease,
        recipient: to.to_owned(),
        account: claimed.account,
        kind: claimed.kind.clone(),
        quota,
    }
}

/// What the history of an alert of the first account says, newest first.
async fn history(store: &Store, alert: &StoredAlert) -> Vec<HistoryRow> {
    let page = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap();
    page.unwrap().items
}

fn sms_alert(id: u128, threshold: u32) -> StoredAlert {
    let wish = asked(
        "AAPL",
        "price_above",
        &json!({"threshold": threshold, "notification": "sms"}),
    );
    alert_of(1, id, wish, 0)
}

fn guests(id: u128, email: &str) -> StoredAlert {
    let made = transition::create(
        asked_price(200),
        AlertId(uuid(id)),
        transition::Owner::Verified,
        transition::StartPrice::Awaited,
        at(0),
    );
    StoredAlert {
        alert: alerts::Alert {
            initial_price: Some(price("200")),
            ..made.unwrap().alert
        },
        owner: Owner::Guest {
            email: email.to_owned(),
        },
        created_by: None,
    }
}

on_both! {
    async fn a_firing_makes_one_message_on_the_alerts_channel_with_the_event(database) {
        let store = with_accounts(database, 1).await;
        let by_mail = add_many(&store, 1).await.remove(0);
        let by_sms = sms_alert(2, 7);
        add(&store, &by_sms).await;
        let guest = guests(3, "guest@example.com");
        add(&store, &guest).await;
        fire(&store, [&by_mail, &by_sms, &guest].map(|alert| firing(alert, 60)).into()).await;

        let mails = claim(&store, EMAIL, 60, 1).await;
        let (mine, guests): (Vec<_>, Vec<_>) = mails.into_iter().partition(|mail| mail.account.is_some());
        assert_eq!((mine.len(), guests.len()), (1, 1));
        let event = firing(&by_mail, 60).event;
        assert_eq!((mine[0].id, mine[0].alert), (MessageId::of(event), Some(by_mail.alert.id)));
        assert_eq!((mine[0].kind.as_str(), mine[0].recipient.as_deref()), (FIRED, None));
        assert_eq!(mine[0].owner.as_ref().unwrap().email, "1@example.com");
        let Said::Fired(data) = &mine[0].said else { panic!("{:?}", mine[0].said) };
        assert!(data.contains("triggered"), "{data}");
        assert_eq!((guests[0].recipient.as_deref(), &guests[0].owner), (Some("guest@example.com"), &None));

        let texts = claim(&store, SMS, 60, 2).await;
        assert_eq!(texts.iter().map(|text| text.alert).collect::<Vec<_>>(), [Some(by_sms.alert.id)]);
    }

    async fn a_firing_that_is_not_taken_makes_none(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert!(pause(&store, &alert.alert).await);
        fire(&store, vec![firing(&alert, 60)]).await;
        assert_eq!(claim(&store, EMAIL, 60, 1).await, []);
    }

    async fn two_who_fire_the_same_at_the_same_time_make_one_message_each(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts = add_many(&store, 200).await;
        let firings: Vec<_> = alerts.iter().map(|alert| firing(alert, 60)).collect();
        let mut opposite = firings.clone();
        opposite.reverse();
        let (one, two) = (store.clone(), other.clone());
        let (one, two) = tokio::join!(
            tokio::spawn(async move { fire(&one, firings).await }),
            tokio::spawn(async move { fire(&two, opposite).await }),
        );
        one.unwrap();
        two.unwrap();
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let of: HashSet<_> = claimed.iter().map(|message| message.alert).collect();
        assert_eq!((claimed.len(), of.len()), (200, 200));
    }

    async fn of_two_who_claim_at_once_each_message_has_one(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts = add_many(&store, 100).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 60)).collect()).await;
        let (one, two) = tokio::join!(claim(&store, EMAIL, 60, 1), claim(&other, EMAIL, 60, 2));
        let seqs: HashSet<i64> = one.iter().chain(&two).map(|message| message.seq).collect();
        assert_eq!(one.len() + two.len(), seqs.len());
        let rest = claim(&store, EMAIL, 60, 3).await;
        assert_eq!(seqs.len() + rest.len(), 100);
    }

    async fn what_was_claimed_by_one_who_died_is_claimed_again_under_the_same_id(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let first = claim(&store, EMAIL, 60, 1).await;
        assert_eq!(claim(&store, EMAIL, 119, 2).await, []);
        let second = claim(&store, EMAIL, 120, 3).await;
        assert_eq!((first[0].id, first.len(), second.len()), (second[0].id, 1, 1));
        // The first one was only slow: it has given up, which counts no more, and the second has sent.
        store.settle_messages(EMAIL, vec![settled(&first[0], "late", MessageVerdict::Failed)], at(121)).await.unwrap();
        store.settle_messages(EMAIL, vec![settled(&second[0], "sent", SENT)], at(122)).await.unwrap();
        let actions: Vec<_> = history(&store, &alert).await.iter().map(|row| row.entry.action).collect();
        assert_eq!(actions, [HistoryAction::NotificationSent, HistoryAction::Triggered, HistoryAction::Created]);
    }

    async fn what_was_sent_twice_is_told_once(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let first = claim(&store, EMAIL, 60, 1).await;
        let second = claim(&store, EMAIL, 120, 2).await;
        store.settle_messages(EMAIL, vec![settled(&first[0], "sent", SENT)], at(121)).await.unwrap();
        store.settle_messages(EMAIL, vec![settled(&second[0], "sent", SENT)], at(122)).await.unwrap();
        assert_eq!(history(&store, &alert).await.len(), 3);
        assert_eq!(claim(&store, EMAIL, 100_000, 3).await, []);
    }

    async fn what_became_of_a_message_is_in_the_history_and_changes_no_alert(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 2).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 60)).collect()).await;
        let place = store.place().await.unwrap();
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let settlements = vec![
            settled(&claimed[0], "sent", SENT),
            settled(&claimed[1], "unsubscribed", MessageVerdict::Failed),
        ];
        store.settle_messages(EMAIL, settlements, at(61)).await.unwrap();
        for (message, action, reason) in [
            (&claimed[0], HistoryAction::NotificationSent, None),
            (&claimed[1], HistoryAction::NotificationFailed, Some("unsubscribed")),
        ] {
            let alert = alerts.iter().find(|alert| Some(alert.alert.id) == message.alert).unwrap();
            let newest = history(&store, alert).await.remove(0);
            assert_eq!((newest.entry.action, newest.at, newest.price), (action, at(61), None));
            assert_eq!(newest.entry.previous_status.map(alerts::Status::name), Some("triggered"));
            assert_eq!(newest.entry.new_status.name(), "triggered");
            let details = newest.details.unwrap();
            assert_eq!(details["channel"], "email");
            assert_eq!(details["message_id"], message.id.0.to_string());
            assert_eq!(details.get("reason").and_then(|reason| reason.as_str()), reason);
        }
        let (changed, next) = store.changed_since(place, 10).await.unwrap();
        assert_eq!((changed, next), (vec![], store.place().await.unwrap()));
        assert_eq!(next, place + 2);
        assert_eq!(claim(&store, EMAIL, 100_000, 2).await, []);
    }

    async fn what_is_put_off_waits_and_only_a_try_counts(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let until = MessageVerdict::PutOff { until: at(1_000) };
        store.settle_messages(EMAIL, vec![settled(&claimed[0], "quiet_hours", until)], at(60)).await.unwrap();
        assert_eq!(claim(&store, EMAIL, 999, 2).await, []);
        let claimed = claim(&store, EMAIL, 1_000, 3).await;
        assert_eq!(claimed[0].tries, 0);
        let retry = MessageVerdict::Retry { at: at(1_060) };
        store.settle_messages(EMAIL, vec![settled(&claimed[0], "busy", retry)], at(1_000)).await.unwrap();
        let claimed = claim(&store, EMAIL, 1_060, 4).await;
        assert_eq!(claimed[0].tries, 1);
        store.settle_messages(EMAIL, vec![settled(&claimed[0], "", MessageVerdict::Released)], at(1_060)).await.unwrap();
        assert_eq!(claim(&store, EMAIL, 1_060, 5).await[0].tries, 1);
        assert_eq!(history(&store, &alert).await.len(), 2);
    }

    async fn a_letter_goes_where_it_was_sent_and_its_content_is_not_kept(database) {
        let store = with_accounts(database, 1).await;
        queue(&store, vec![letter(1, "a\u{e9}@example.com", Some(1), 5), letter(2, "b@example.com", None, 6)]).await;
        let claimed = claim(&store, EMAIL, 6, 1).await;
        assert_eq!(claimed.len(), 2);
        assert_eq!((claimed[0].recipient.as_deref(), claimed[0].kind.as_str()), (Some("a\u{e9}@example.com"), "guest_alert"));
        assert_eq!((&claimed[0].said, claimed[0].alert), (&Said::Letter(b"sealed".to_vec()), None));
        assert_ne!(claimed[0].lane, claimed[1].lane);
        let kept = KeptMessage {
            id: claimed[0].id,
            channel: EMAIL,
            recipient: "a\u{e9}@example.com".to_owned(),
            content: b"another seal".to_vec(),
            created_at: at(7),
        };
        let sent = MessageVerdict::Sent { kept: Some(kept.clone()) };
        for lease in [claimed[0].lease, 99] {
            let again = MessageSettlement { lease, ..settled(&claimed[0], "kept", sent.clone()) };
            store.settle_messages(EMAIL, vec![again], at(7)).await.unwrap();
        }
        for (channel, to, found) in [
            (None, None, 1), (Some(EMAIL), Some("a\u{e9}@example.com"), 1), (Some(SMS), None, 0), (None, Some("b@example.com"), 0),
        ] {
            let page = store.kept_messages(channel, to, ALL).await.unwrap();
            assert_eq!((page.total, page.items.first()), (found, (found == 1).then_some(&kept)), "{channel:?} {to:?}");
        }
        // What is done with is forgotten, once it is old enough; what waits is not.
        assert_eq!(store.forget_messages(at(7), 10).await.unwrap(), 0);
        assert_eq!(store.forget_messages(at(8), 10).await.unwrap(), 2);
        assert_eq!(store.kept_messages(None, None, ALL).await.unwrap().total, 0);
        assert_eq!(claim(&store, EMAIL, 100_000, 2).await.len(), 1);
    }

    async fn the_limits_are_exact_whoever_asks_at_the_same_time(database) {
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
            let applicants = some.iter().map(|claimed| applicant(claimed, "+14155550123", Some(50))).collect();
            let store = store.clone();
            async move { store.admit_messages(SMS, applicants, PLENTY, at(60)).await.unwrap() }
        };
        let (one, two) = tokio::join!(ask(&store, one), ask(&other, two));
        let all: Vec<_> = one.into_iter().chain(two).collect();
        let granted = all.iter().filter(|admission| **admission == Admission::Granted).count();
        let over = all.iter().filter(|admission| **admission == Admission::OverQuota).count();
        assert_eq!((granted, over), (50, 10));
        let counted = |since| store.messages_counted(AccountId(uuid(1)), SMS, since);
        assert_eq!((counted(at(60)).await.unwrap(), counted(at(61)).await.unwrap()), (50, 0));
        // What came to nothing is not counted; the next month nothing of this one is.
        let failed = all.iter().position(|admission| *admission == Admission::Granted).unwrap();
        store.settle_messages(SMS, vec![settled(&claimed[failed], "invalid_number", MessageVerdict::Failed)], at(61)).await.unwrap();
        assert_eq!(counted(at(0)).await.unwrap(), 49);
        let rest: Vec<_> = claim(&store, SMS, 120, 2).await.into_iter().filter(|message| !message.is_admitted).collect();
        assert_eq!(rest.len(), 10);
        let applicants: Vec<_> = rest.iter().map(|claimed| applicant(claimed, "+14155550123", Some(50))).collect();
        let admissions = store.admit_messages(SMS, applicants, PLENTY, at(120)).await.unwrap();
        assert_eq!(admissions.iter().filter(|admission| **admission == Admission::Granted).count(), 1);
        let next_month = MessageLimits { month_from: at(3_600), day_from: at(3_600), ..PLENTY };
        let applicants: Vec<_> = rest[1..].iter().map(|claimed| applicant(claimed, "+14155550123", Some(50))).collect();
        let admissions = store.admit_messages(SMS, applicants, next_month, at(3_600)).await.unwrap();
        assert_eq!(admissions, [Admission::Granted; 9]);
    }

    async fn letters_and_alerts_have_their_parts_of_the_budget(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 4).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 0)).collect()).await;
        let letters = (1..=4).map(|number| letter(number, &format!("{number}@example.com"), None, 0)).collect();
        queue(&store, letters).await;
        let claimed = claim(&store, EMAIL, 0, 1).await;
        let limits = MessageLimits { in_all: 5, letters: 3, firings: 4, ..PLENTY };
        let (about, letters): (Vec<_>, Vec<_>) = claimed.iter().partition(|message| message.kind == FIRED);
        let ask = |messages: Vec<&ClaimedMessage>| {
            let to = |message: &ClaimedMessage| message.recipient.clone().unwrap_or("1@example.com".to_owned());
            let applicants = messages.into_iter().map(|message| applicant(message, &to(message), None)).collect();
            store.admit_messages(EMAIL, applicants, limits, at(1))
        };
        use Admission::{Granted, OverBudget};
        assert_eq!(ask(letters).await.unwrap(), [Granted, Granted, Granted, OverBudget]);
        assert_eq!(ask(about.clone()).await.unwrap(), [Granted, Granted, OverBudget, OverBudget]);
        // The next day there is a new one.
        let tomorrow = MessageLimits { day_from: at(2), in_all: 1, ..limits };
        let applicants = about[2..].iter().map(|message| applicant(message, "1@example.com", None)).collect();
        assert_eq!(store.admit_messages(EMAIL, applicants, tomorrow, at(2)).await.unwrap(), [Granted, OverBudget]);
    }

    async fn one_address_and_one_account_get_and_cause_so_much_a_day(database) {
        let store = with_accounts(database, 1).await;
        let letters = vec![
            letter(1, "a@example.com", None, 0), letter(2, "a@example.com", None, 0), letter(3, "a@example.com", None, 0),
            letter(4, "b@example.com", Some(1), 0), letter(5, "c@example.com", Some(1), 0), letter(6, "d@example.com", Some(1), 0),
            letter(7, "d@example.com", None, 0),
        ];
        queue(&store, letters).await;
        let claimed = claim(&store, EMAIL, 0, 1).await;
        let limits = MessageLimits { letters_to_each: 2, letters_of_each: 2, ..PLENTY };
        let ask = |messages: &[ClaimedMessage]| {
            let applicants = messages.iter().map(|message| applicant(message, message.recipient.as_deref().unwrap(), None));
            store.admit_messages(EMAIL, applicants.collect(), limits, at(1))
        };
        use Admission::{Granted, Lost, OverLimit};
        // In two steps, so that some of what is counted is on disk and some is not.
        assert_eq!(ask(&claimed[..1]).await.unwrap(), [Granted]);
        let expected = [Granted, OverLimit, Granted, Granted, OverLimit, Granted];
        assert_eq!(ask(&claimed[1..]).await.unwrap(), expected);
        // Nobody's place is taken by one whose claim has ended.
        claim(&store, EMAIL, 100, 2).await;
        assert_eq!(ask(&claimed[2..3]).await.unwrap(), [Lost]);
    }

    async fn what_a_provider_says_later_is_noted_and_a_failure_is_told(database) {
        let store = with_accounts(database, 1).await;
        let alert = sms_alert(1, 7);
        add(&store, &alert).await;
        fire(&store, vec![firing(&alert, 60)]).await;
        let claimed = claim(&store, SMS, 60, 1).await;
        let sent = MessageSettlement { provider_id: Some("SM1".to_owned()), ..settled(&claimed[0], "sent", SENT) };
        store.settle_messages(SMS, vec![sent], at(61)).await.unwrap();
        let note = |id: &'static str, outcome: &'static str, has_failed| {
            let store = store.clone();
            async move { store.note_message_status(SMS, id, outcome, has_failed, at(70)).await.unwrap() }
        };
        assert!(!note("SM2", "delivered", false).await);
        assert!(note("SM1", "delivered", false).await);
        assert_eq!(history(&store, &alert).await.len(), 3);
        assert!(note("SM1", "undelivered", true).await);
        assert!(note("SM1", "undelivered", true).await);
        assert!(note("SM1", "delivered", false).await);
        let history = history(&store, &alert).await;
        assert_eq!((history.len(), history[0].entry.action), (4, HistoryAction::NotificationFailed));
        assert_eq!(history[0].details.as_ref().unwrap()["reason"], "undelivered");
    }

    async fn an_address_is_unsubscribed_until_it_is_not(database) {
        let store = open(database).await;
        let set = |since| store.write(work(move |unit| boxed(async move {
            Ok(unit.set_unsubscribed("a@example.com", since).await?)
        })));
        let both = ["a@example.com", "b@example.com"].map(str::to_owned);
        let ask = || store.unsubscribed(&both);
        assert_eq!(ask().await.unwrap(), Vec::<String>::new());
        set(Some(at(0))).await.unwrap();
        set(Some(at(1))).await.unwrap();
        assert_eq!(ask().await.unwrap(), ["a@example.com"]);
        set(None).await.unwrap();
        assert_eq!(ask().await.unwrap(), Vec::<String>::new());
    }

    async fn whoever_queues_rings_once_it_is_on_disk(database) {
        let store = with_accounts(database, 1).await;
        let bell = store.bell_of(EMAIL);
        // What rang before is forgotten.
        let _ = tokio::time::timeout(std::time::Duration::ZERO, bell.notified()).await;
        let heard = bell.notified();
        queue(&store, vec![letter(1, "a@example.com", None, 0)]).await;
        heard.await;
        assert_eq!(claim(&store, EMAIL, 0, 1).await.len(), 1);
    }

}
