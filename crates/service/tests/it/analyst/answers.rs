//! Valid and invalid answers of a model.

use serde_json::{Value, json};
use testkit::stub_server::StubResponse;

use crate::analyst::fixture::{
    Fixture, assert_creatable, chat_completion, completion, model_alert, valid_answer, valid_answer_with,
};

#[test]
fn valid_answer_to_a_chat_completion_is_used() {
    testkit::run(async {
        let fixture = Fixture::new(chat_completion(&valid_answer())).await;
        let advised = fixture.advise().await;
        Fixture::assert_model(&advised);
        assert_eq!(advised.advice.proposals.len(), 3);
        assert_creatable(&fixture.app, &fixture.ann, &advised).await;

        let asked = fixture.endpoint.next_request().await;
        assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(asked.headers["content-type"], "application/json");
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        assert_eq!(
            (&body["model"], &body["max_tokens"]),
            (&json!("test-model"), &json!(2_000))
        );
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
        assert!(body["messages"][1]["content"].as_str().unwrap().contains("\"ACME\""));
        assert_eq!(fixture.endpoint.pending_requests().await, 0);
    });
}

#[test]
fn request_without_a_key_has_no_authorization_header() {
    testkit::run(async {
        let fixture = Fixture::with(chat_completion(&valid_answer()), |model| model.key = None).await;
        Fixture::assert_model(&fixture.advise().await);
        assert!(
            !fixture
                .endpoint
                .next_request()
                .await
                .headers
                .contains_key("authorization")
        );
    });
}

#[test]
fn invalid_answer_falls_back_to_the_rules() {
    testkit::run(async {
        let fixture = Fixture::new(StubResponse::NoResponse).await;
        let content = |text: &str| StubResponse::complete("200 OK", "", &completion(text));
        let refusal = json!({"choices": [{"message": {"role": "assistant", "content": null, "refusal": "no"}}]});
        let cut = json!({"choices": [{"message": {"content": "{"}, "finish_reason": "length"}]});
        for (case, say) in [
            ("no JSON at all", StubResponse::complete("200 OK", "", "<html>")),
            ("nothing", StubResponse::complete("200 OK", "", "")),
            (
                "JSON of something else",
                StubResponse::complete("200 OK", "", "{\"ok\": true}"),
            ),
            ("prose", content("I would buy at 100.")),
            ("broken JSON", content("{\"summary\": \"x\", \"alerts\": [")),
            ("another schema", content("{\"alerts\": [{\"buy\": 100}]}")),
            ("a refusal", StubResponse::complete("200 OK", "", &refusal.to_string())),
            (
                "an end before the end",
                StubResponse::complete("200 OK", "", &cut.to_string()),
            ),
            ("no alerts", valid_answer_with(|said| said["alerts"] = json!([]))),
            (
                "too many alerts",
                valid_answer_with(|said| said["alerts"] = vec![said["alerts"][0].clone(); 6].into()),
            ),
            (
                "an absurdly low level",
                valid_answer_with(|said| said["alerts"][0]["threshold"] = json!(0.01)),
            ),
            (
                "an absurdly high level",
                valid_answer_with(|said| said["alerts"][1]["threshold"] = json!(1e9)),
            ),
            (
                "a level beyond all numbers",
                valid_answer_with(|said| said["alerts"][1]["threshold"] = json!(1e300)),
            ),
            (
                "a negative level",
                valid_answer_with(|said| said["alerts"][0]["threshold"] = json!(-5)),
            ),
            (
                "a level on the wrong side",
                valid_answer_with(|said| said["alerts"][0]["threshold"] = json!(106)),
            ),
            (
                "a level that is reached",
                valid_answer_with(|said| said["alerts"][1]["threshold"] = json!(104.9)),
            ),
            (
                "a condition that was not offered",
                valid_answer_with(|said| said["alerts"][0] = model_alert_of("social_buzz")),
            ),
            (
                "an unknown condition",
                valid_answer_with(|said| said["alerts"][0] = model_alert_of("price_wish")),
            ),
            (
                "a member too many",
                valid_answer_with(|said| said["alerts"][0]["symbol"] = json!("MSFT")),
            ),
        ] {
            fixture.endpoint.set_response(say);
            let advised = fixture.advise().await;
            assert_eq!(fixture.endpoint.pending_requests().await, 1, "{case}");
            assert_eq!(
                advised.fallback.as_ref().map(|why| why.name()),
                Some("bad_answer"),
                "{case}"
            );
            Fixture::assert_rules(&advised, "bad_answer");
        }
        assert_creatable(&fixture.app, &fixture.ann, &fixture.advise().await).await;
    });
}

fn model_alert_of(condition: &str) -> Value {
    model_alert("entry", condition, Value::Null)
}
