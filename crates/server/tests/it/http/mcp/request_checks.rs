//! Checks before a tool is called.

use serde_json::{Value, json};

use super::{HOST, error_code, message};
use crate::http::test_server::TestServer;

#[tokio::test]
async fn unknown_host_or_origin_is_403_for_every_caller() {
    let server = TestServer::new().await;
    let bearer = format!("Bearer {}", server.key);
    let list = message("tools/list", json!({}));
    for (host, origin) in [
        ("evil.example", None),
        (HOST, Some("https://evil.example")),
        (HOST, Some("null")),
    ] {
        for is_known in [true, false] {
            let mut asked = server.anonymous("POST", "/mcp").header("host", host);
            if let Some(origin) = origin {
                asked = asked.header("origin", origin);
            }
            if is_known {
                asked = asked.header("authorization", &bearer);
            }
            let response = asked.json(&list).send().await;
            assert_eq!(
                (response.status, response.body["id"].clone()),
                (403, json!(7)),
                "{host} {origin:?}: {response:?}"
            );
            assert!(response.headers.get("access-control-allow-origin").is_none());
        }
    }
    let own = server
        .mcp()
        .header("authorization", &bearer)
        .header("origin", "https://alerts.example.com");
    let response = own.json(&list).send().await.is(200);
    assert_eq!(
        response.headers["access-control-allow-origin"],
        "https://alerts.example.com"
    );
}

#[tokio::test]
async fn missing_credentials_return_a_challenge_without_an_error() {
    let server = TestServer::new().await;
    let response = server.mcp().json(&message("tools/list", json!({}))).send().await;
    assert_eq!((response.status, error_code(&response)), (401, -32001), "{response:?}");
    assert_eq!(response.body["id"], 7);
    assert_eq!(
        response.headers["www-authenticate"],
        "Bearer resource_metadata=\"https://alerts.example.com/.well-known/oauth-protected-resource/mcp\", \
         scope=\"alerts:read alerts:write watchlist:read watchlist:write\""
    );
}

#[tokio::test]
async fn unknown_credentials_are_invalid_token() {
    let server = TestServer::new().await;
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
        let response = server
            .mcp()
            .header(name, &value)
            .json(&message("tools/list", json!({})))
            .send()
            .await;
        assert_eq!(response.status, 401, "{value}: {response:?}");
        let challenge = response.headers["www-authenticate"].to_str().unwrap();
        assert!(challenge.contains("error=\"invalid_token\""), "{value}: {challenge}");
    }
}

#[tokio::test]
async fn address_is_limited_after_twenty_failed_authentications() {
    let server = TestServer::new().await;
    let guess = async |number: u32| {
        let key = format!("sk_{number:064}");
        server
            .mcp()
            .header("x-api-key", &key)
            .json(&message("ping", json!({})))
            .send()
            .await
    };
    for number in 0..20 {
        assert_eq!(guess(number).await.status, 401, "{number}");
    }
    let response = guess(20).await;
    assert_eq!((response.status, error_code(&response)), (429, -32005), "{response:?}");
    assert_eq!(
        (response.headers["retry-after"].to_str().unwrap(), &response.body["id"]),
        ("60", &json!(7))
    );
}

#[tokio::test]
async fn batch_or_invalid_message_is_400() {
    let server = TestServer::new().await;
    let bearer = format!("Bearer {}", server.key);
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (r#"{"id":"a"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, -32600, json!(1)),
        ("17", -32600, Value::Null),
    ] {
        let asked = server
            .mcp()
            .header("authorization", &bearer)
            .header("content-type", "application/json");
        let response = asked.body(body).send().await;
        assert_eq!(
            (response.status, error_code(&response)),
            (400, code),
            "{body}: {response:?}"
        );
        assert_eq!(response.body["id"], id, "{body}");
        assert_eq!(response.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn methods_other_than_post_are_405() {
    let server = TestServer::new().await;
    for method in ["GET", "DELETE", "PUT"] {
        let response = server.anonymous(method, "/mcp").header("host", HOST).send().await;
        assert_eq!(response.status, 405, "{method}: {response:?}");
        assert!(response.headers["allow"].to_str().unwrap().contains("POST"), "{method}");
    }
}

#[tokio::test]
async fn accepts_any_accept_header_that_allows_json() {
    let server = TestServer::new().await;
    let bearer = format!("Bearer {}", server.key);
    for (accept, status) in [
        (None, 200),
        (Some("*/*"), 200),
        (Some("application/json"), 200),
        (Some("text/event-stream, application/json;q=0.5"), 200),
        (Some("text/html"), 406),
        (Some("text/event-stream, application/json;q=0"), 406),
    ] {
        let mut asked = server.mcp().header("authorization", &bearer);
        if let Some(accept) = accept {
            asked = asked.header("accept", accept);
        }
        let response = asked.json(&message("tools/list", json!({}))).send().await;
        assert_eq!(response.status, status, "{accept:?}: {response:?}");
    }
}

#[tokio::test]
async fn cookie_is_ignored() {
    let server = TestServer::new().await;
    let operator = server.signed_in("operator@example.com").await;
    let token = format!("Bearer {}", operator.access);
    let list = message("tools/list", json!({}));
    assert_eq!(
        server
            .mcp()
            .header("cookie", &operator.cookie)
            .json(&list)
            .send()
            .await
            .status,
        401
    );
    assert_eq!(
        server
            .mcp()
            .header("authorization", &token)
            .json(&list)
            .send()
            .await
            .status,
        401
    );
}
