//! Behaviour that both transports share.

use bus::BusError;
use bytes::Bytes;

use crate::support::{TwoNodes, next, next_text};

/// The number of messages of a test of order.
const MESSAGE_COUNT: u32 = 2_000;

/// Asserts that a subscription has no message before one that is published now.
async fn assert_nothing_waits(nodes: &TwoNodes, subscription: &mut bus::BusSubscription, subject: &str) {
    nodes.first.publish(subject, "end".into()).await.unwrap();
    assert_eq!(next_text(subscription).await, format!("{subject} end"));
}

on_both_transports! {
    async fn messages_of_a_publisher_arrive_in_order(nodes: &mut TwoNodes) {
        let mut subscription = nodes.second.subscribe("market.>").await.unwrap();
        for number in 0..MESSAGE_COUNT {
            let subject = ["market.bars", "market.quotes.AAPL", "market.facts"][number as usize % 3];
            nodes.first.publish(subject, Bytes::copy_from_slice(&number.to_be_bytes())).await.unwrap();
        }
        for number in 0..MESSAGE_COUNT {
            let message = next(&mut subscription).await;
            assert_eq!(message.payload[..], number.to_be_bytes());
            assert_eq!(message.subject, ["market.bars", "market.quotes.AAPL", "market.facts"][number as usize % 3]);
        }
    }

    async fn publisher_receives_its_own_messages(nodes: &mut TwoNodes) {
        let mut subscription = nodes.first.subscribe("a").await.unwrap();
        nodes.first.publish("a", "1".into()).await.unwrap();
        assert_eq!(next_text(&mut subscription).await, "a 1");
        let mut of_clone = nodes.first.clone().subscribe("a").await.unwrap();
        nodes.first.publish("a", Bytes::new()).await.unwrap();
        assert_eq!(next_text(&mut of_clone).await, "a ");
    }

    async fn every_subscription_gets_each_message_once(nodes: &mut TwoNodes) {
        let mut subscriptions = Vec::new();
        for subject in ["a.b", "a.*", "a.>", ">", "*.b"] {
            subscriptions.push(nodes.second.subscribe(subject).await.unwrap());
        }
        for text in ["1", "2"] {
            nodes.first.publish("a.b", text.into()).await.unwrap();
        }
        for subscription in &mut subscriptions {
            assert_eq!(next_text(subscription).await, "a.b 1");
            assert_eq!(next_text(subscription).await, "a.b 2");
        }
    }

    async fn wildcards_select_subjects(nodes: &mut TwoNodes) {
        for (pattern, matching, other) in [
            ("q.7", "q.7", "q.77"),
            ("q.*", "q.7", "q.7.x"),
            ("q.>", "q.7.x", "q"),
            ("*.x", "q.x", "q.y"),
            (">", "q", "q.y"),
        ] {
            let mut subscription = nodes.second.subscribe(pattern).await.unwrap();
            if pattern != ">" {
                nodes.first.publish(other, "other".into()).await.unwrap();
            }
            assert_nothing_waits(nodes, &mut subscription, matching).await;
        }
    }

    async fn dropped_subscription_does_not_disturb_others(nodes: &mut TwoNodes) {
        let mut kept = nodes.second.subscribe("a").await.unwrap();
        drop(nodes.second.subscribe("a").await.unwrap());
        nodes.first.publish("a", "1".into()).await.unwrap();
        assert_eq!(next_text(&mut kept).await, "a 1");
    }

    async fn malformed_subjects_are_refused(nodes: &mut TwoNodes) {
        for subject in ["", "a b", "a.", "a.*", "_INBOX.x", "a\r\nPUB b 0\r\n"] {
            let subject = subject.to_owned();
            let error = nodes.first.publish(&subject, Bytes::new()).await.unwrap_err();
            assert_eq!(error, BusError::InvalidSubject { subject });
        }
        assert!(nodes.first.subscribe("a.>.b").await.is_err());
        assert!(nodes.first.subscribe("_INBOX.>").await.is_err());
    }

    async fn payload_may_be_as_large_as_the_limit(nodes: &mut TwoNodes) {
        let max = nodes.first.max_payload();
        let mut subscription = nodes.second.subscribe("a").await.unwrap();
        let size = max + 1;
        let error = nodes.first.publish("a", vec![7; size].into()).await.unwrap_err();
        assert_eq!(error, BusError::PayloadTooLarge { size, max });
        nodes.first.publish("a", vec![7; max].into()).await.unwrap();
        assert_eq!(next(&mut subscription).await.payload, vec![7; max]);
    }

    async fn message_published_while_disconnected_is_refused_and_never_sent(nodes: &mut TwoNodes) {
        let mut subscription = nodes.second.subscribe("a").await.unwrap();
        nodes.cut().await;
        for _ in 0..3 {
            assert_eq!(nodes.first.publish("a", "old".into()).await, Err(BusError::Disconnected));
        }
        nodes.restore().await;
        assert_nothing_waits(nodes, &mut subscription, "a").await;
    }

    async fn subscriptions_survive_a_reconnect(nodes: &mut TwoNodes) {
        let mut literal = nodes.second.subscribe("a.b").await.unwrap();
        let mut pattern = nodes.second.subscribe("a.>").await.unwrap();
        for round in ["1", "2"] {
            nodes.cut().await;
            nodes.restore().await;
            nodes.first.publish("a.b", round.into()).await.unwrap();
            assert_eq!(next_text(&mut literal).await, format!("a.b {round}"));
            assert_eq!(next_text(&mut pattern).await, format!("a.b {round}"));
        }
    }

    async fn subscription_made_while_disconnected_is_in_force_with_the_connection(nodes: &mut TwoNodes) {
        nodes.cut().await;
        let mut subscription = nodes.second.subscribe("a").await.unwrap();
        nodes.restore().await;
        nodes.first.publish("a", "1".into()).await.unwrap();
        assert_eq!(next_text(&mut subscription).await, "a 1");
    }
}
