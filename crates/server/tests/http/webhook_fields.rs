//! Fields of a webhook that are honoured or refused, and never ignored.

use serde_json::{Value, json};
use server::Settings;

use crate::world::{Answer, World};

const URL: &str = "https://93.184.215.14/hook";

async fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for database in testkit::fresh_databases().await {
        worlds.push(World::on(database, Settings::default(), |_| ()).await);
    }
    worlds
}

async fn create(world: &World, more: Value) -> Answer {
    let mut body = json!({"url": URL, "events": ["alert.triggered"]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    world.post("/v1/webhooks", body).await
}

async fn patch(world: &World, id: &Value, body: Value) -> Answer {
    let path = format!("/v1/webhooks/{}", id.as_str().unwrap());
    world.request("PATCH", &path).json(&body).send().await
}

#[tokio::test]
async fn webhook_can_be_created_switched_off_and_switched_on_later() {
    for world in worlds().await {
        let created = create(&world, json!({"is_active": false})).await.ok(201);
        let webhook = &created.body["data"];
        assert_eq!(
            (&webhook["is_active"], &webhook["disabled_reason"]),
            (&json!(false), &json!("owner"))
        );
        let listed = world.get("/v1/webhooks").await.ok(200);
        assert_eq!(listed.body["data"][0]["is_active"], false);
        assert_eq!(listed.body["data"][0]["disabled_at"], webhook["disabled_at"]);
        let active = patch(&world, &webhook["id"], json!({"is_active": true})).await.ok(200);
        assert_eq!(active.body["data"]["disabled_reason"], Value::Null);
        let active = create(&world, json!({"is_active": true})).await.ok(201);
        assert_eq!(active.body["data"]["is_active"], true);
        let refused = create(&world, json!({"is_active": "no"}))
            .await
            .refused(400, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["is_active"].is_array());
    }
}

#[tokio::test]
async fn secret_and_signature_cannot_be_patched_and_the_refusal_names_the_way() {
    for world in worlds().await {
        let created = create(&world, json!({})).await.ok(201);
        let id = &created.body["data"]["id"];
        for (field, value, fix) in [
            ("secret", "another", "rotate-secret"),
            ("signature", "body", "create another"),
        ] {
            let refused = patch(&world, id, json!({field: value, "is_active": false})).await;
            let refused = refused.refused(400, "VALIDATION_ERROR");
            let fault = refused.body["error"]["details"]["fields"][field][0].as_str().unwrap();
            assert!(fault.contains(fix), "{fault}");
            let _ = patch(&world, id, json!({field: null})).await.ok(200);
        }
        let path = format!("/v1/webhooks/{}", id.as_str().unwrap());
        assert_eq!(
            world.get(&path).await.ok(200).body["data"]["is_active"],
            true,
            "nothing was changed"
        );
    }
}
