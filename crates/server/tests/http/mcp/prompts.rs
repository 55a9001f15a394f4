//! The prompts.

use serde_json::json;
use service::Scope;

use super::{error_code, message};
use crate::world::World;

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let world = World::new().await;
    let listed = world.result("prompts/list", json!({})).await;
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
async fn a_prompt_turns_plain_words_into_a_task_with_the_guide() {
    let world = World::new().await;
    let params = json!({"name": "set_up_alert", "arguments": {"request": "tell me when Apple drops 5 %"}});
    let messages = world.result("prompts/get", params).await["messages"].clone();
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
async fn a_prompt_reviews_what_fired() {
    let world = World::new().await;
    let params = json!({"name": "review_fired_alerts", "arguments": {"since": "2024-03-01T00:00:00Z"}});
    let messages = world.result("prompts/get", params).await["messages"].clone();
    let text = messages[0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("2024-03-01T00:00:00Z") && text.contains("list_alert_events"),
        "{text}"
    );
}

#[tokio::test]
async fn unknown_prompts_and_wrong_arguments_are_protocol_errors() {
    let world = World::new().await;
    for params in [
        json!({"name": "buy_stock"}),
        json!({"name": "set_up_alert"}),
        json!({"name": "set_up_alert", "arguments": []}),
        json!({"name": "set_up_alert", "arguments": {"wish": "a"}}),
        json!({"arguments": {}}),
    ] {
        let answer = world.rpc(&message("prompts/get", params.clone())).await.is(200);
        assert_eq!(error_code(&answer), -32602, "{params}: {answer:?}");
    }
}

#[tokio::test]
async fn prompts_need_the_scope_of_their_tools() {
    let mut world = World::new().await;
    world.key = world.another_key("operator@example.com", &[Scope::AlertsRead]).await;
    let listed = world.result("prompts/list", json!({})).await;
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["prompts"][0]["name"], "review_fired_alerts");
    let params = json!({"name": "set_up_alert", "arguments": {"request": "a"}});
    let answer = world.rpc(&message("prompts/get", params)).await;
    assert_eq!((answer.status, error_code(&answer)), (403, -32003), "{answer:?}");
}
