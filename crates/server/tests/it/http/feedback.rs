//! Feedback over HTTP.

use alerts::Plan;
use serde_json::{Value, json};

use crate::http::test_server::TestServer;

#[tokio::test]
async fn feedback_is_created_listed_and_liked_anonymously() {
    let server = TestServer::new().await;
    let (ann, bob) = (
        server.create_user("ann", Plan::Basic).await,
        server.create_user("bob", Plan::Basic).await,
    );
    let title = "<b>Options</b> & \"more\"";
    let body = json!({"title": title, "body": "two\nlines", "category": "feature"});
    let given = ann.post("/v1/feedback", body).await.ok(201);
    let id = given.body["data"]["id"].clone();
    let expected = json!({
        "id": id, "title": title, "body": "two\nlines", "category": "feature", "likes": 0,
        "is_liked": false, "is_mine": true, "created_at": "2024-03-08T15:00:00.000Z",
    });
    assert_eq!(given.body["data"], expected);
    let liked = bob.post("/v1/feedback/like", json!({"id": id})).await.ok(200);
    let facts = |data: &Value| (data["likes"].clone(), data["is_liked"].clone(), data["is_mine"].clone());
    assert_eq!(facts(&liked.body["data"]), (json!(1), json!(true), json!(false)));
    let again = bob.post("/v1/feedback/like", json!({"id": id})).await.ok(200);
    assert_eq!(again.body["data"]["likes"], 1);
    let listed = ann.get("/v1/feedback?limit=500").await.ok(200);
    assert_eq!(facts(&listed.body["data"][0]), (json!(1), json!(false), json!(true)));
    let pages = json!({"page": 1, "limit": 100, "total": 1, "total_pages": 1});
    assert_eq!(listed.body["meta"]["pagination"], pages);
    assert!(!listed.text.contains("ann"), "{}", listed.text);
    let back = bob
        .post("/v1/feedback/like", json!({"id": id, "liked": false}))
        .await
        .ok(200);
    assert_eq!(facts(&back.body["data"]), (json!(0), json!(false), json!(false)));
}

#[tokio::test]
async fn feedback_requires_a_session() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    for (method, path) in [
        ("GET", "/v1/feedback"),
        ("POST", "/v1/feedback"),
        ("POST", "/v1/feedback/like"),
    ] {
        let refused = ann
            .send_with_key(method, path, Some(json!({})))
            .await
            .refused(403, "FORBIDDEN");
        assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
        let unauthenticated = server.anonymous(method, path).json(&json!({})).send().await;
        let _ = unauthenticated.refused(401, "UNAUTHORIZED");
    }
    let unknown = json!({"id": "11111111-1111-4111-8111-111111111111"});
    let _ = ann.post("/v1/feedback/like", unknown).await.refused(404, "NOT_FOUND");
    let _ = ann.get("/v1/feedback?page=0").await.refused(422, "VALIDATION_ERROR");
}
