//! API keys, as those make them who have signed in.

use alerts::Plan;
use serde_json::{Value, json};
use service::Scope;

use super::ann;
use crate::support::{World, kind, on_each_database};

on_each_database! {
    of_fifty_wishes_for_the_one_key_of_basic_one_is_granted
    a_key_has_the_scopes_that_were_asked_for_and_no_others
    a_name_is_kept_as_it_was_written_on_one_line
}

async fn of_fifty_wishes_for_the_one_key_of_basic_one_is_granted(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let other = world.another_process().await;
    let first = world.service.accounts.api_keys(&ann).await.unwrap()[0].id;
    world.service.accounts.delete_api_key(&ann, first).await.unwrap();
    let body = json!({"name": "one of many"});
    let wishes = (0..50).map(|n| {
        let service = if n % 2 == 0 { &world.service } else { &other.service };
        service.accounts.create_api_key_of(&ann, &body)
    });
    let answers = futures_util::future::join_all(wishes).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.into_iter().all(|error| kind(error) == "forbidden plan premium"));
    assert_eq!(world.service.accounts.api_keys(&ann).await.unwrap().len(), 1);
}

async fn a_key_has_the_scopes_that_were_asked_for_and_no_others(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    let make = async |body: Value| {
        let made = world.service.accounts.create_api_key_of(&ann, &body).await.unwrap();
        world
            .service
            .authenticator
            .authenticate_key(&made.secret)
            .await
            .unwrap()
    };
    let narrow = make(json!({"name": "a", "scopes": ["stocks:read", "alerts:read"]})).await;
    let wide = make(json!({"name": "b"})).await;
    for scope in Scope::ALL {
        let is_narrow = [Scope::AlertsRead, Scope::StocksRead].contains(scope);
        assert_eq!(narrow.require(*scope).is_ok(), is_narrow, "{scope:?}");
        assert_eq!(wide.require(*scope).is_ok(), Scope::PUBLIC.contains(scope), "{scope:?}");
    }
}

async fn a_name_is_kept_as_it_was_written_on_one_line(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    let name = "<img src=x onerror=alert(1)> '; DROP TABLE api_keys; -- {{7*7}} \u{1f600}";
    world
        .service
        .accounts
        .create_api_key_of(&ann, &json!({"name": name}))
        .await
        .unwrap();
    let keys = world.service.accounts.api_keys(&ann).await.unwrap();
    assert_eq!(keys.last().unwrap().name, name);
    for wrong in ["a\r\nb", "a\tb", "a\u{0}b", "a\u{1b}[31m", " "] {
        let refused = world
            .service
            .accounts
            .create_api_key_of(&ann, &json!({"name": wrong}))
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid name", "{wrong:?}");
    }
}
