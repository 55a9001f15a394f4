//! What a model answers: taken if it is good, and not if anything about it is not.

use serde_json::{Value, json};
use testkit::stub_server::StubResponse;

use crate::stage::{Stage, assert_usable, changed, completion, good, said, says};

#[test]
fn a_good_answer_is_taken_and_what_was_asked_is_a_chat_completion() {
    testkit::run(async {
        let stage = Stage::of(says(&good())).await;
        let advised = stage.advise().await;
        Stage::assert_model(&advised);
        assert_eq!(advised.advice.proposals.len(), 3);
        assert_usable(&stage.world, &stage.ann, &advised).await;

        let asked = stage.endpoint.next_request().await;
        assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(asked.headers["content-type"], "application/json");
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        assert_eq!(
            (&body["model"], &body["max_tokens"]),
            (&json!("test-model"), &json!(2_000))
        );
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
        assert!(body["messages"][1]["content"].as_str().unwrap().contains("\"ACME\""));
        assert_eq!(stage.endpoint.pending_requests().await, 0);
    });
}

#[test]
fn an_endpoint_that_wants_no_key_is_shown_none() {
    testkit::run(async {
        let stage = Stage::with(says(&good()), |model| model.key = None).await;
        Stage::assert_model(&stage.advise().await);
        assert!(
            !stage
                .endpoint
                .next_request()
                .await
                .headers
                .contains_key("authorization")
        );
    });
}

#[test]
fn a_bad_answer_is_not_taken_and_the_rules_stand_in() {
    testkit::run(async {
        let stage = Stage::of(StubResponse::NoResponse).await;
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
            ("no alerts", changed(|said| said["alerts"] = json!([]))),
            (
                "too many alerts",
                changed(|said| said["alerts"] = vec![said["alerts"][0].clone(); 6].into()),
            ),
            (
                "an absurdly low level",
                changed(|said| said["alerts"][0]["threshold"] = json!(0.01)),
            ),
            (
                "an absurdly high level",
                changed(|said| said["alerts"][1]["threshold"] = json!(1e9)),
            ),
            (
                "a level beyond all numbers",
                changed(|said| said["alerts"][1]["threshold"] = json!(1e300)),
            ),
            (
                "a negative level",
                changed(|said| said["alerts"][0]["threshold"] = json!(-5)),
            ),
            (
                "a level on the wrong side",
                changed(|said| said["alerts"][0]["threshold"] = json!(106)),
            ),
            (
                "a level that is reached",
                changed(|said| said["alerts"][1]["threshold"] = json!(104.9)),
            ),
            (
                "a condition that was not offered",
                changed(|said| said["alerts"][0] = said_of("social_buzz")),
            ),
            (
                "an unknown condition",
                changed(|said| said["alerts"][0] = said_of("price_wish")),
            ),
            (
                "a member too many",
                changed(|said| said["alerts"][0]["symbol"] = json!("MSFT")),
            ),
        ] {
            stage.endpoint.set_response(say);
            let advised = stage.advise().await;
            assert_eq!(stage.endpoint.pending_requests().await, 1, "{case}");
            assert_eq!(
                advised.fell_back.as_ref().map(|why| why.name()),
                Some("bad_answer"),
                "{case}"
            );
            Stage::assert_rules(&advised, "bad_answer");
        }
        assert_usable(&stage.world, &stage.ann, &stage.advise().await).await;
    });
}

fn said_of(condition: &str) -> Value {
    said("entry", condition, Value::Null)
}
