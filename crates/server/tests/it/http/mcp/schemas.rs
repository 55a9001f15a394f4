//! The tool descriptions for agents. A change of them changes the interface and shows in the snapshots.

use serde_json::{Value, json};

use super::message;
use crate::http::test_server::TestServer;

async fn tools() -> Vec<Value> {
    let listed = TestServer::new()
        .await
        .rpc(&message("tools/list", json!({})))
        .await
        .is(200);
    listed.body["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn tool_list_is_at_most_25_kilobytes() {
    let listed = TestServer::new()
        .await
        .rpc(&message("tools/list", json!({})))
        .await
        .is(200);
    assert!(listed.text.len() <= 25_000, "{}", listed.text.len());
}

#[tokio::test]
async fn descriptions_have_at_most_1000_characters() {
    for tool in tools().await {
        let length = tool["description"].as_str().unwrap().chars().count();
        assert!((20..=1_000).contains(&length), "{}: {length}", tool["name"]);
    }
}

#[tokio::test]
async fn output_schemas_name_every_member_once() {
    for tool in tools().await {
        let schema = &tool["outputSchema"];
        let members = match &schema["properties"]["items"]["items"]["properties"] {
            Value::Null => &schema["properties"],
            items => items,
        };
        let members = members.as_object().unwrap();
        assert!(
            !(members.contains_key("stock") && members.contains_key("stocks")),
            "{}",
            tool["name"]
        );
        assert!(
            members.values().all(|member| !member["type"].is_null()),
            "{}: {schema}",
            tool["name"]
        );
    }
}

#[tokio::test]
async fn watchlist_arguments_have_the_limits_of_the_rest_body() {
    let tools = tools().await;
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "create_watchlist_item")
        .unwrap();
    let body = &server::document::component_schemas()["CreateWatchlistItem"]["properties"];
    for (name, argument) in tool["inputSchema"]["properties"].as_object().unwrap() {
        for limit in ["maximum", "minLength", "maxLength"] {
            assert_eq!(argument[limit], body[name][limit], "{name} {limit}");
        }
    }
}

#[tokio::test]
async fn each_tool_matches_its_snapshot() {
    for tool in tools().await {
        let name = format!("tool_{}", tool["name"].as_str().unwrap());
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&tool).unwrap());
    }
}

#[tokio::test]
async fn each_tool_has_a_title_both_schemas_and_all_four_hints() {
    for tool in tools().await {
        let name = tool["name"].as_str().unwrap();
        assert!(!tool["title"].as_str().unwrap().is_empty());
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert!(!tool[schema].to_string().contains("#/components"), "{name} {schema}");
            let definitions = tool[schema]["$defs"].as_object().into_iter().flatten();
            for (defined, definition) in definitions {
                assert!(definition.is_object(), "{name} {schema}: {defined} is not defined");
            }
        }
        let is_read = name.starts_with("list_") || name.starts_with("get_");
        let destroys = name.starts_with("delete_") || name.starts_with("update_");
        let hints = &tool["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["destructiveHint"]),
            (&json!(is_read), &json!(destroys)),
            "{name}"
        );
        assert!(
            hints["idempotentHint"].is_boolean() && hints["openWorldHint"].is_boolean(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn every_argument_has_a_description() {
    for tool in tools().await {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for (name, schema) in properties {
            assert!(
                schema["description"].as_str().is_some_and(|text| text.len() > 5),
                "{} {name}",
                tool["name"]
            );
        }
    }
}
