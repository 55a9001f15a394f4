//! API keys created by signed-in owners.

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use super::ann;
use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    fifty_concurrent_requests_create_one_basic_key
    key_has_only_requested_scopes
    key_name_is_stored_verbatim
}

async fn fifty_concurrent_requests_create_one_basic_key(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let other = app.another_process().await;
    let first = app.service.accounts.api_keys(&ann).await.unwrap()[0].id;
    app.service.accounts.delete_api_key(&ann, first).await.unwrap();
    let body = json!({"name": "one of many"});
    let wishes = (0..50).map(|n| {
        let service = if n % 2 == 0 { &app.service } else { &other.service };
        service.accounts.create_api_key_from_body(&ann, &body)
    });
    let answers = futures_util::future::join_all(wishes).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.into_iter().all(|error| kind(error) == "forbidden plan premium"));
    assert_eq!(app.service.accounts.api_keys(&ann).await.unwrap().len(), 1);
}

async fn key_has_only_requested_scopes(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    let make = async |body: Value| {
        let made = app
            .service
            .accounts
            .create_api_key_from_body(&ann, &body)
            .await
            .unwrap();
        app.service.authenticator.authenticate_key(&made.secret).await.unwrap()
    };
    let narrow = make(json!({"name": "a", "scopes": ["stocks:read", "alerts:read"]})).await;
    let wide = make(json!({"name": "b"})).await;
    for scope in Scope::ALL {
        let is_narrow = [Scope::AlertsRead, Scope::StocksRead].contains(scope);
        assert_eq!(narrow.require(*scope).is_ok(), is_narrow, "{scope:?}");
        assert_eq!(wide.require(*scope).is_ok(), Scope::PUBLIC.contains(scope), "{scope:?}");
    }
}

async fn key_name_is_stored_verbatim(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    let name = "<img src=x onerror=alert(1)> '; DROP TABLE api_keys; -- {{7*7}} \u{1f600}";
    app.service
        .accounts
        .create_api_key_from_body(&ann, &json!({"name": name}))
        .await
        .unwrap();
    let keys = app.service.accounts.api_keys(&ann).await.unwrap();
    assert_eq!(keys.last().unwrap().name, name);
    for wrong in ["a\r\nb", "a\tb", "a\u{0}b", "a\u{1b}[31m", " "] {
        let refused = app
            .service
            .accounts
            .create_api_key_from_body(&ann, &json!({"name": wrong}))
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid name", "{wrong:?}");
    }
}
