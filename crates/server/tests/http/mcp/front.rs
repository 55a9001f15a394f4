//! What is decided before any tool is called.

use serde_json::{Value, json};

use super::{HOST, error_code, message};
use crate::world::World;

#[tokio::test]
async fn a_strange_host_or_origin_is_refused_whoever_asks() {
    let world = World::new().await;
    let bearer = format!("Bearer {}", world.key);
    let list = message("tools/list", json!({}));
    for (host, origin) in [
        ("evil.example", None),
        (HOST, Some("https://evil.example")),
        (HOST, Some("null")),
    ] {
        for is_known in [true, false] {
            let mut asked = world.stranger("POST", "/mcp").header("host", host);
            if let Some(origin) = origin {
                asked = asked.header("origin", origin);
            }
            if is_known {
                asked = asked.header("authorization", &bearer);
            }
            let answer = asked.json(&list).send().await;
            assert_eq!(
                (answer.status, answer.body["id"].clone()),
                (403, json!(7)),
                "{host} {origin:?}: {answer:?}"
            );
            assert!(answer.headers.get("access-control-allow-origin").is_none());
        }
    }
    let own = world
        .mcp()
        .header("authorization", &bearer)
        .header("origin", "https://alerts.example.com");
    let answer = own.json(&list).send().await.is(200);
    assert_eq!(
        answer.headers["access-control-allow-origin"],
        "https://alerts.example.com"
    );
}

#[tokio::test]
async fn whoever_shows_nothing_is_told_where_oauth_begins_and_that_nothing_was_wrong() {
    let world = World::new().await;
    let answer = world.mcp().json(&message("tools/list", json!({}))).send().await;
    assert_eq!((answer.status, error_code(&answer)), (401, -32001), "{answer:?}");
    assert_eq!(answer.body["id"], 7);
    assert_eq!(
        answer.headers["www-authenticate"],
        "Bearer resource_metadata=\"https://alerts.example.com/.well-known/oauth-protected-resource/mcp\", \
         scope=\"alerts:read alerts:write watchlist:read watchlist:write\""
    );
}

#[tokio::test]
async fn what_is_shown_and_not_known_is_an_invalid_token() {
    let world = World::new().await;
    let unknown_key = format!("sk_{}", "0".repeat(64));
    for (name, value) in [
        ("authorization", format!("Bearer {unknown_key}")),
        ("x-api-key", unknown_key.clone()),
        (
            "authorization",
            "Bearer mcp_at_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        ),
        ("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.".to_owned()),
        ("authorization", "Basic YTpi".to_owned()),
    ] {
        let answer = world
            .mcp()
            .header(name, &value)
            .json(&message("tools/list", json!({})))
            .send()
            .await;
        assert_eq!(answer.status, 401, "{value}: {answer:?}");
        let challenge = answer.headers["www-authenticate"].to_str().unwrap();
        assert!(challenge.contains("error=\"invalid_token\""), "{value}: {challenge}");
    }
}

#[tokio::test]
async fn after_twenty_failed_look_ups_a_minute_an_address_is_told_to_wait() {
    let world = World::new().await;
    let guess = async |number: u32| {
        let key = format!("sk_{number:064}");
        world
            .mcp()
            .header("x-api-key", &key)
            .json(&message("ping", json!({})))
            .send()
            .await
    };
    for number in 0..20 {
        assert_eq!(guess(number).await.status, 401, "{number}");
    }
    let answer = guess(20).await;
    assert_eq!((answer.status, error_code(&answer)), (429, -32005), "{answer:?}");
    assert_eq!(
        (answer.headers["retry-after"].to_str().unwrap(), &answer.body["id"]),
        ("60", &json!(7))
    );
}

#[tokio::test]
async fn what_is_no_single_request_is_a_bad_request() {
    let world = World::new().await;
    let bearer = format!("Bearer {}", world.key);
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (r#"{"id":"a"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, -32600, json!(1)),
        ("17", -32600, Value::Null),
    ] {
        let asked = world
            .mcp()
            .header("authorization", &bearer)
            .header("content-type", "application/json");
        let answer = asked.body(body).send().await;
        assert_eq!((answer.status, error_code(&answer)), (400, code), "{body}: {answer:?}");
        assert_eq!(answer.body["id"], id, "{body}");
        assert_eq!(answer.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn other_methods_than_post_are_not_allowed() {
    let world = World::new().await;
    for method in ["GET", "DELETE", "PUT"] {
        let answer = world.stranger(method, "/mcp").header("host", HOST).send().await;
        assert_eq!(answer.status, 405, "{method}: {answer:?}");
        assert!(answer.headers["allow"].to_str().unwrap().contains("POST"), "{method}");
    }
}

#[tokio::test]
async fn any_accept_is_taken_that_lets_json_through() {
    let world = World::new().await;
    let bearer = format!("Bearer {}", world.key);
    for (accept, status) in [
        (None, 200),
        (Some("*/*"), 200),
        (Some("application/json"), 200),
        (Some("text/event-stream, application/json;q=0.5"), 200),
        (Some("text/html"), 406),
        (Some("text/event-stream, application/json;q=0"), 406),
    ] {
        let mut asked = world.mcp().header("authorization", &bearer);
        if let Some(accept) = accept {
            asked = asked.header("accept", accept);
        }
        let answer = asked.json(&message("tools/list", json!({}))).send().await;
        assert_eq!(answer.status, status, "{accept:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_cookie_says_nothing_here() {
    let world = World::new().await;
    let operator = world.signed_in("operator@example.com").await;
    let token = format!("Bearer {}", operator.access);
    let list = message("tools/list", json!({}));
    assert_eq!(
        world
            .mcp()
            .header("cookie", &operator.cookie)
            .json(&list)
            .send()
            .await
            .status,
        401
    );
    assert_eq!(
        world
            .mcp()
            .header("authorization", &token)
            .json(&list)
            .send()
            .await
            .status,
        401
    );
}
