//! The prompts.

use foundation::Scope;
use serde_json::json;

use super::{error_code, message};
use crate::http::test_server::TestServer;

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let server = TestServer::new().await;
    let listed = server.result("prompts/list", json!({})).await;
    let names: Vec<_> = listed["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| &prompt["name"])
        .collect();
    assert_eq!(names, ["set_up_alert", "review_fired_alerts"]);
    for prompt in listed["prompts"].as_array().unwrap() {
        assert!(
            prompt["title"].is_string() && prompt["description"].is_string(),
            "{prompt}"
        );
        assert!(prompt["arguments"][0]["description"].is_string(), "{prompt}");
    }
}

#[tokio::test]
async fn set_up_alert_prompt_includes_the_guide() {
    let server = TestServer::new().await;
    let params = json!({"name": "set_up_alert", "arguments": {"request": "tell me when Apple drops 5 %"}});
    let messages = server.result("prompts/get", params).await["messages"].clone();
    let text = messages[0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("tell me when Apple drops 5 %") && text.contains("create_alert"),
        "{text}"
    );
    let guide = &messages[1]["content"]["resource"];
    assert_eq!(guide["uri"], "bellwether://guide/conditions");
    assert!(guide["text"].as_str().unwrap().contains("price_change_down"), "{guide}");
}

#[tokio::test]
async fn review_prompt_covers_fired_alerts() {
    let server = TestServer::new().await;
    let params = json!({"name": "review_fired_alerts", "arguments": {"since": "2024-03-01T00:00:00Z"}});
    let messages = server.result("prompts/get", params).await["messages"].clone();
    let text = messages[0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("2024-03-01T00:00:00Z") && text.contains("list_alert_events"),
        "{text}"
    );
}

#[tokio::test]
async fn unknown_prompts_and_invalid_arguments_are_protocol_errors() {
    let server = TestServer::new().await;
    for params in [
        json!({"name": "buy_stock"}),
        json!({"name": "set_up_alert"}),
        json!({"name": "set_up_alert", "arguments": []}),
        json!({"name": "set_up_alert", "arguments": {"wish": "a"}}),
        json!({"arguments": {}}),
    ] {
        let response = server.rpc(&message("prompts/get", params.clone())).await.is(200);
        assert_eq!(error_code(&response), -32602, "{params}: {response:?}");
    }
}

#[tokio::test]
async fn prompts_need_the_scope_of_their_tools() {
    let mut server = TestServer::new().await;
    server.key = server.another_key("operator@example.com", &[Scope::AlertsRead]).await;
    let listed = server.result("prompts/list", json!({})).await;
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["prompts"][0]["name"], "review_fired_alerts");
    let params = json!({"name": "set_up_alert", "arguments": {"request": "a"}});
    let response = server.rpc(&message("prompts/get", params)).await;
    assert_eq!((response.status, error_code(&response)), (403, -32003), "{response:?}");
}
