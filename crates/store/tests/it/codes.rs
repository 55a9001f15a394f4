//! One-time codes: used once and in time, also under concurrency.

use futures_util::future::join_all;
use store::Store;
use store::model::{AccountId, CodeCheck, CodeState, NewCode, UsedCode};
use testkit::on_both_databases;

use crate::support::{at, open, uuid};

const ANN: AccountId = AccountId(uuid::Uuid::from_u128(1));

/// A code with a lifetime of one hour.
fn code(purpose: &'static str, subject: &str, hash: u8, seconds: i64) -> NewCode {
    NewCode {
        purpose,
        account: Some(ANN),
        subject: subject.to_owned(),
        payload: Some("payload".to_owned()),
        hash: [hash; 32],
        created_at: at(seconds),
        expires_at: at(seconds + 3600),
    }
}

async fn insert(store: &Store, code: NewCode) {
    store
        .commit(code, move |code, unit| Box::pin(unit.insert_code(code)))
        .await
        .unwrap();
}

async fn use_up(store: &Store, hash: u8, seconds: i64) -> Option<UsedCode> {
    store
        .commit((), move |(), unit| Box::pin(unit.use_code([hash; 32], at(seconds))))
        .await
        .unwrap()
}

async fn guess(store: &Store, subject: &'static str, hash: u8, seconds: i64) -> CodeCheck {
    let guessed = store.commit([hash; 32], move |hash, unit| {
        Box::pin(unit.check_code("phone", ANN, subject, *hash, 5, at(seconds)))
    });
    guessed.await.unwrap()
}

async fn state(store: &Store, hash: u8, seconds: i64) -> Option<CodeState> {
    store.code_state([hash; 32], at(seconds)).await.unwrap()
}

on_both_databases! {
    async fn code_is_used_once_before_it_expires(database) {
        let store = open(database).await;
        insert(&store, code("reset", "ann@example.com", 1, 0)).await;
        insert(&store, code("reset", "ann@example.com", 2, 0)).await;
        assert_eq!(state(&store, 1, 3599).await, Some(CodeState::Valid));
        assert_eq!(state(&store, 1, 3600).await, Some(CodeState::Expired));
        assert_eq!(state(&store, 3, 0).await, None);
        let used = use_up(&store, 1, 3599).await.unwrap();
        let expected = (Some(ANN), "ann@example.com", Some("payload"));
        assert_eq!((used.account, used.subject.as_str(), used.payload.as_deref()), expected);
        assert_eq!(use_up(&store, 1, 3599).await, None);
        assert_eq!(state(&store, 1, 3599).await, Some(CodeState::Used));
        assert_eq!(use_up(&store, 2, 3600).await, None, "its time is over");
        assert_eq!(use_up(&store, 3, 0).await, None, "there is none");
    }

    async fn reinserted_code_is_the_latest(database) {
        let store = open(database).await;
        for (hash, seconds) in [(1, 0), (2, 10), (1, 20)] {
            insert(&store, code("phone", "+15550100", hash, seconds)).await;
        }
        assert_eq!(guess(&store, "+15550100", 2, 30).await, CodeCheck::Wrong(4), "it is not the latest");
        assert_eq!(guess(&store, "+15550100", 1, 30).await, CodeCheck::Correct);
        assert_eq!(guess(&store, "+15550100", 1, 30).await, CodeCheck::NoActiveCode);
    }

    async fn one_of_fifty_concurrent_uses_succeeds(database) {
        let processes = [open(database).await, open(database).await];
        insert(&processes[0], code("reset", "ann@example.com", 1, 0)).await;
        let uses = (0..50).map(|number| use_up(&processes[number % 2], 1, 5));
        let succeeded = join_all(uses).await.into_iter().flatten().count();
        assert_eq!(succeeded, 1);
    }

    async fn five_of_fifty_concurrent_guesses_are_checked(database) {
        let processes = [open(database).await, open(database).await];
        insert(&processes[0], code("phone", "+15550100", 1, 0)).await;
        let guesses = (0..50).map(|number| guess(&processes[number % 2], "+15550100", 9, 5));
        let guesses = join_all(guesses).await;
        let mut left: Vec<_> = guesses
            .iter()
            .filter_map(|guessed| match guessed {
                CodeCheck::Wrong(left) => Some(*left),
                CodeCheck::NoActiveCode => None,
                CodeCheck::Correct => panic!("no guess was right"),
            })
            .collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2, 3, 4]);
        assert_eq!(guess(&processes[0], "+15550100", 1, 5).await, CodeCheck::NoActiveCode, "even if it is right");
    }

    async fn fifth_guess_may_be_correct_and_code_is_used_once(database) {
        let store = open(database).await;
        insert(&store, code("phone", "+15550100", 1, 0)).await;
        for left in [4, 3, 2, 1] {
            assert_eq!(guess(&store, "+15550100", 9, 5).await, CodeCheck::Wrong(left));
        }
        assert_eq!(guess(&store, "+15550199", 1, 5).await, CodeCheck::NoActiveCode, "of another number");
        assert_eq!(guess(&store, "+15550100", 1, 5).await, CodeCheck::Correct);
        assert_eq!(guess(&store, "+15550100", 1, 5).await, CodeCheck::NoActiveCode);
    }

    async fn only_latest_code_of_a_number_can_be_guessed(database) {
        let store = open(database).await;
        insert(&store, code("phone", "+15550100", 1, 0)).await;
        insert(&store, code("phone", "+15550100", 2, 60)).await;
        assert_eq!(guess(&store, "+15550100", 1, 61).await, CodeCheck::Wrong(4));
        assert_eq!(guess(&store, "+15550100", 2, 3659).await, CodeCheck::Correct);
        insert(&store, code("phone", "+15550100", 3, 4000)).await;
        assert_eq!(guess(&store, "+15550100", 3, 7600).await, CodeCheck::NoActiveCode, "its time is over");
    }

    async fn codes_are_revoked_by_purpose_and_counted_by_subject_and_time(database) {
        let store = open(database).await;
        for (purpose, subject, hash, seconds) in [
            ("reset", "ann@example.com", 1, 0),
            ("reset", "ann@example.com", 2, 10),
            ("reset", "bob@example.com", 3, 10),
            ("sign_in", "ann@example.com", 4, 10),
        ] {
            insert(&store, code(purpose, subject, hash, seconds)).await;
        }
        let counted = store.commit((), move |(), unit| Box::pin(async move {
            let all = unit.count_codes("reset", "ann@example.com", at(-1)).await?;
            let late = unit.count_codes("reset", "ann@example.com", at(0)).await?;
            let of_ann = unit.count_codes_of_account("reset", ANN, at(-1)).await?;
            let of_nobody = unit.count_codes_of_account("reset", AccountId(uuid(2)), at(-1)).await?;
            Ok((all, late, of_ann, of_nobody))
        }));
        assert_eq!(counted.await.unwrap(), (2, 1, 3, 0));
        let withdrawn = store.commit((), move |(), unit| Box::pin(unit.revoke_codes("reset", ANN, at(20))));
        assert_eq!(withdrawn.await.unwrap(), 3);
        assert_eq!(use_up(&store, 1, 20).await, None);
        assert!(use_up(&store, 4, 20).await.is_some(), "another purpose");
    }
}
