//! Messages that are sent again.

use store::model::{MessageChannel, MessageId, SettlementDecision};
use testkit::on_both_databases;
use uuid::Uuid;

use crate::firings::{fire, firing};
use crate::messages::{claim, settled};
use crate::support::{add_many, at, with_accounts};

const EMAIL: MessageChannel = MessageChannel::Email;

on_both_databases! {
    async fn message_is_sent_again_only_while_no_other_one_about_the_firing_waits(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let (original, owner) = (claimed[0].id, claimed[0].account.unwrap());
        let resend = async |copy: u128| {
            let copy = MessageId(Uuid::from_u128(copy));
            let queued = store.commit((), move |(), unit| Box::pin(unit.resend_message(owner, original, copy, at(90))));
            assert!(queued.await.unwrap());
        };
        // The original waits.
        resend(101).await;
        store.settle_messages(EMAIL, vec![settled(&claimed[0], "sent", SettlementDecision::Delivered)], at(61)).await.unwrap();
        resend(102).await;
        resend(103).await;
        let copies = claim(&store, EMAIL, 90, 1).await;
        assert_eq!(copies.iter().map(|copy| copy.id.0.as_u128()).collect::<Vec<_>>(), [102]);
        store.settle_messages(EMAIL, vec![settled(&copies[0], "sent", SettlementDecision::Delivered)], at(91)).await.unwrap();
        resend(104).await;
        assert_eq!(claim(&store, EMAIL, 92, 1).await.len(), 1);
    }
}
