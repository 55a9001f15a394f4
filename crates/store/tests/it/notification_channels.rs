//! Notification channels.

use alerts::routing::MessageTemplates;
use store::model::{
    AccountId, ChannelLink, ChannelResult, NotificationChannel, NotificationChannelId, NotificationChannelType,
    SignatureForm, Webhook, WebhookId,
};
use store::{KeyRotation, ResealOutcome, SealedLocation, SealedValue, Store, StoreOptions};

use crate::support::{account, at, open, uuid, with_accounts};

pub(crate) fn channel(owner: u128, id: u128, channel_type: NotificationChannelType) -> NotificationChannel {
    NotificationChannel {
        seq: 0,
        id: NotificationChannelId(uuid(id)),
        account: AccountId(uuid(owner)),
        channel_type,
        name: format!("Channel {id}"),
        config: Some(b"sealed".to_vec()),
        webhook: None,
        templates: None,
        throttle: store::model::ChannelThrottle::default(),
        created_at: at(0),
        verified_at: None,
        last_success_at: None,
        last_error: None,
        is_enabled: true,
        link: None,
    }
}

pub(crate) async fn insert(store: &Store, channel: NotificationChannel) {
    let inserted = store.commit(channel, |channel, unit| {
        Box::pin(unit.insert_notification_channel(channel))
    });
    inserted.await.unwrap();
}

async fn stored(store: &Store, owner: u128, id: u128) -> Option<NotificationChannel> {
    let read = store.notification_channel(AccountId(uuid(owner)), NotificationChannelId(uuid(id)));
    read.await.unwrap()
}

async fn record(store: &Store, channel: &NotificationChannel, result: ChannelResult) {
    let recorded = store.commit((channel.clone(), result), move |(channel, result), unit| {
        Box::pin(unit.record_channel_result(channel, result))
    });
    recorded.await.unwrap();
}

/// Inserts a key of push messages, and returns the one that counts.
async fn insert_push_key(store: &Store, id: u128, key: &'static [u8]) -> (uuid::Uuid, Vec<u8>) {
    let inserted = store.commit((), move |(), unit| {
        Box::pin(unit.insert_web_push_key(uuid(id), key, at(0)))
    });
    inserted.await.unwrap()
}

testkit::on_both_databases! {
    async fn channel_is_stored_with_all_its_fields(database) {
        let store = with_accounts(database, 2).await;
        let new = NotificationChannel {
            link: Some(ChannelLink { hash: [7; 32], expires_at: at(900) }),
            templates: Some(MessageTemplates { text: Some("{{ symbol }}".to_owned()), ..MessageTemplates::default() }),
            ..channel(1, 10, NotificationChannelType::Telegram)
        };
        insert(&store, new.clone()).await;
        insert(&store, channel(1, 11, NotificationChannelType::Slack)).await;
        let found = stored(&store, 1, 10).await.unwrap();
        assert_eq!(NotificationChannel { seq: 0, ..found.clone() }, new);
        assert_eq!(stored(&store, 2, 10).await, None);
        let listed = store.notification_channels(AccountId(uuid(1))).await.unwrap();
        assert_eq!(listed.iter().map(|channel| channel.id.0).collect::<Vec<_>>(), [uuid(10), uuid(11)]);

        let changed = NotificationChannel {
            name: "Other".to_owned(),
            config: Some(b"other".to_vec()),
            verified_at: Some(at(1)),
            last_success_at: Some(at(2)),
            last_error: Some("404".to_owned()),
            is_enabled: false,
            link: None,
            ..found
        };
        let update = store.commit(changed.clone(), |changed, unit| Box::pin(unit.update_notification_channel(changed)));
        update.await.unwrap();
        assert_eq!(stored(&store, 1, 10).await, Some(changed));
    }

    async fn deleted_channel_is_not_found_and_keeps_no_configuration(database) {
        let store = with_accounts(database, 2).await;
        insert(&store, channel(1, 10, NotificationChannelType::Slack)).await;
        for (owner, is_deleted) in [(2, false), (1, true), (1, false)] {
            let deletion = store.commit((), move |(), unit| {
                Box::pin(unit.delete_notification_channel(AccountId(uuid(owner)), NotificationChannelId(uuid(10)), at(1)))
            });
            assert_eq!(deletion.await.unwrap(), is_deleted);
        }
        assert_eq!(stored(&store, 1, 10).await, None);
        let count = store.commit((), |(), unit| Box::pin(unit.count_notification_channels(AccountId(uuid(1)))));
        assert_eq!(count.await.unwrap(), 0);
        let sealed = store.commit((), |(), unit| Box::pin(async move {
            let mut count = 0;
            unit.for_each_sealed_value(&mut |_| count += 1).await?;
            Ok(count)
        }));
        assert_eq!(sealed.await.unwrap(), 0);
    }

    async fn result_of_another_destination_is_not_recorded(database) {
        let store = with_accounts(database, 1).await;
        insert(&store, channel(1, 10, NotificationChannelType::Slack)).await;
        let tried = stored(&store, 1, 10).await.unwrap();
        let changed = NotificationChannel { config: Some(b"another".to_vec()), ..tried.clone() };
        let change = store.commit(changed.clone(), |changed, unit| {
            Box::pin(unit.update_notification_channel(changed))
        });
        change.await.unwrap();
        record(&store, &tried, ChannelResult::Failed("no_service".to_owned())).await;
        record(&store, &tried, ChannelResult::Accepted(at(5))).await;
        assert_eq!(stored(&store, 1, 10).await, Some(changed));
    }

    async fn first_accepted_message_verifies_a_channel_that_has_no_other_verification(database) {
        let store = with_accounts(database, 1).await;
        for (id, channel_type, verified_at) in [
            (10, NotificationChannelType::Slack, Some(at(5))),
            (11, NotificationChannelType::Email, None),
            (12, NotificationChannelType::Telegram, None),
        ] {
            insert(&store, channel(1, id, channel_type)).await;
            let new = stored(&store, 1, id).await.unwrap();
            record(&store, &new, ChannelResult::Failed("no_service".to_owned())).await;
            let failed = stored(&store, 1, id).await.unwrap();
            assert_eq!((failed.last_error.as_deref(), failed.verified_at), (Some("no_service"), None));
            record(&store, &new, ChannelResult::Accepted(at(5))).await;
            record(&store, &new, ChannelResult::Accepted(at(6))).await;
            let accepted = stored(&store, 1, id).await.unwrap();
            assert_eq!((accepted.last_error, accepted.last_success_at), (None, Some(at(6))));
            assert_eq!(accepted.verified_at, verified_at, "{channel_type:?}");
        }
    }

    async fn channel_whose_destination_is_gone_is_deleted(database) {
        let store = with_accounts(database, 1).await;
        insert(&store, channel(1, 10, NotificationChannelType::WebPush)).await;
        let tried = stored(&store, 1, 10).await.unwrap();
        let changed = NotificationChannel { config: Some(b"another".to_vec()), ..tried.clone() };
        record(&store, &changed, ChannelResult::Gone(at(5))).await;
        assert!(stored(&store, 1, 10).await.is_some(), "the result is that of another destination");
        record(&store, &tried, ChannelResult::Gone(at(5))).await;
        assert_eq!(stored(&store, 1, 10).await, None);
    }

    async fn channels_of_a_type_are_those_of_the_account(database) {
        let store = with_accounts(database, 2).await;
        for (owner, id, channel_type) in [
            (1, 10, NotificationChannelType::WebPush),
            (1, 11, NotificationChannelType::Slack),
            (1, 12, NotificationChannelType::WebPush),
            (2, 20, NotificationChannelType::WebPush),
        ] {
            insert(&store, channel(owner, id, channel_type)).await;
        }
        let found = store.commit((), |(), unit| {
            Box::pin(unit.lock_notification_channels_of_type(AccountId(uuid(1)), NotificationChannelType::WebPush))
        });
        let ids: Vec<_> = found.await.unwrap().iter().map(|channel| channel.id.0).collect();
        assert_eq!(ids, [uuid(10), uuid(12)]);
    }

    async fn processes_that_start_at_once_have_the_same_key_of_push_messages(database) {
        let (one, other) = (open(database).await, open(database).await);
        assert_eq!(one.web_push_key().await.unwrap(), None);
        let (key, same) = tokio::join!(insert_push_key(&one, 1, b"one"), insert_push_key(&other, 2, b"other"));
        assert_eq!(same, key);
        assert!([(uuid(1), b"one".to_vec()), (uuid(2), b"other".to_vec())].contains(&key));
        assert_eq!(other.web_push_key().await.unwrap(), Some(key));
    }

    async fn channel_awaits_its_link_until_the_code_expires(database) {
        let store = with_accounts(database, 1).await;
        let link = Some(ChannelLink { hash: [7; 32], expires_at: at(900) });
        insert(&store, NotificationChannel { link, ..channel(1, 10, NotificationChannelType::Telegram) }).await;
        insert(&store, channel(1, 11, NotificationChannelType::Telegram)).await;
        assert_eq!(store.channels_awaiting_link(at(899)).await.unwrap().len(), 1);
        assert_eq!(store.channels_awaiting_link(at(900)).await.unwrap(), []);
    }

    async fn telegram_channels_are_linked_once_they_are_verified(database) {
        let store = with_accounts(database, 2).await;
        let verified_at = Some(at(5));
        for (id, account, channel_type) in [
            (10, 1, NotificationChannelType::Telegram),
            (11, 1, NotificationChannelType::Email),
            (12, 2, NotificationChannelType::Telegram),
            (13, 2, NotificationChannelType::Telegram),
        ] {
            insert(&store, NotificationChannel { verified_at, ..channel(account, id, channel_type) }).await;
        }
        insert(&store, channel(1, 14, NotificationChannelType::Telegram)).await;
        let deletion = store.commit((), |(), unit| {
            Box::pin(unit.delete_notification_channel(AccountId(uuid(2)), NotificationChannelId(uuid(13)), at(6)))
        });
        assert!(deletion.await.unwrap());
        let linked = store.linked_telegram_channels().await.unwrap();
        assert_eq!(linked.iter().map(|channel| channel.id.0.as_u128()).collect::<Vec<_>>(), [10, 12]);
    }

    async fn webhook_of_a_channel_is_known_after_its_deletion(database) {
        let store = with_accounts(database, 1).await;
        let webhook = Webhook {
            id: WebhookId(uuid(5)),
            account: AccountId(uuid(1)),
            url: "https://example.com".to_owned(),
            events: Vec::new(),
            is_active: true,
            signature: SignatureForm::Timestamped,
            secret: b"secret".to_vec(),
            created_at: at(0),
            failing_since: None,
            last_success_at: None,
            disabled: None,
        };
        store.commit(webhook, |webhook, unit| Box::pin(unit.insert_webhook(webhook))).await.unwrap();
        let webhook = Some(WebhookId(uuid(5)));
        insert(&store, NotificationChannel { webhook, ..channel(1, 10, NotificationChannelType::Webhook) }).await;
        let deletion = store.commit((), |(), unit| Box::pin(unit.delete_webhook(AccountId(uuid(1)), WebhookId(uuid(5)), at(1))));
        assert!(deletion.await.unwrap());
        assert_eq!(stored(&store, 1, 10).await.unwrap().webhook, webhook);
    }

    async fn channels_are_erased_with_their_account(database) {
        let store = with_accounts(database, 2).await;
        insert(&store, channel(1, 10, NotificationChannelType::Slack)).await;
        insert(&store, channel(2, 20, NotificationChannelType::Slack)).await;
        store.commit(account(1), |account, unit| Box::pin(unit.erase_account_data(account, at(1)))).await.unwrap();
        assert_eq!(stored(&store, 1, 10).await, None);
        assert!(stored(&store, 2, 20).await.is_some());
    }

    async fn configurations_are_resealed_and_lost_ones_disable_their_channel(database) {
        let store = with_accounts(database, 1).await;
        insert(&store, channel(1, 10, NotificationChannelType::Slack)).await;
        insert(&store, channel(1, 11, NotificationChannelType::Ntfy)).await;
        store.close().await;
        let mut rotation = KeyRotation::begin::<&str>(&StoreOptions::new(database.url())).await.unwrap();
        let mut reseal = |value: &SealedValue| match value.location {
            SealedLocation::ChannelConfig(NotificationChannelId(id)) if id == uuid(10) => {
                Ok::<_, &str>(ResealOutcome::Sealed(b"resealed".to_vec()))
            }
            _ => Ok(ResealOutcome::Lost { replacement: None }),
        };
        rotation.reseal(b"check", at(1), &mut reseal).await.unwrap();
        rotation.close().await;
        let store = open(database).await;
        assert_eq!(stored(&store, 1, 10).await.unwrap().config.as_deref(), Some(&b"resealed"[..]));
        let lost = stored(&store, 1, 11).await.unwrap();
        assert_eq!((lost.config, lost.is_enabled), (None, false));
        assert!(lost.last_error.unwrap().contains("set `config` again"));
    }
}
