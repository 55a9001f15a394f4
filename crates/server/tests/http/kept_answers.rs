//! The answers that are kept for repeats: nobody who has the database reads them.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::model::{Claimed, FirstAnswer, RepeatableRequest};
use store::{Abort, BoxFuture, Options, Store, Unit, Work};

use crate::world::{Answer, World, above};

const URL: &str = "https://93.184.215.14/hooks/of-ann";

async fn post(world: &World, path: &str, body: &Value) -> Answer {
    let request = world.request("POST", path).header("idempotency-key", "one");
    request.json(body).send().await
}

fn secret(answer: &Answer) -> &str {
    answer.body["data"]["secret"].as_str().unwrap()
}

/// Whether a text can be read in the database's files.
fn lies_open(world: &World, text: &str) -> bool {
    let file = world.database.file().unwrap();
    let mut files = std::fs::read_dir(file.parent().unwrap()).unwrap();
    files.any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[tokio::test]
async fn a_secret_in_an_answer_is_shown_to_a_repeat_and_to_nobody_who_reads_the_database() {
    let world = World::new().await;
    let body = json!({"url": URL, "events": ["alert.triggered"]});
    let created = post(&world, "/v1/webhooks", &body).await.ok(201);
    let rotate = format!(
        "/v1/webhooks/{}/rotate-secret",
        created.body["data"]["id"].as_str().unwrap()
    );
    let rotated = post(&world, &rotate, &json!({})).await.ok(200);
    assert_ne!(secret(&created), secret(&rotated));
    assert!(lies_open(&world, URL), "what is no secret is found");
    let world = world.restarted().await;
    for (first, path, body) in [(&created, "/v1/webhooks", &body), (&rotated, &rotate, &json!({}))] {
        assert!(!lies_open(&world, secret(first)), "{path}");
        let repeat = post(&world, path, body).await.ok(first.status);
        assert_eq!(repeat.header("idempotent-replayed"), "true");
        assert_eq!(secret(&repeat), secret(first));
    }
}

/// An answer that is kept as it was, as versions of this program did that did not seal them.
struct KeptOpen(RepeatableRequest);

impl Work for KeptOpen {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let (now, long_ago) = (crate::world::OPEN.parse().unwrap(), jiff::Timestamp::UNIX_EPOCH);
            let Claimed::First(claim) = unit.claim_request(&self.0, now, long_ago, long_ago).await? else {
                panic!("it was claimed before");
            };
            let answer = FirstAnswer {
                status: 201,
                body: br#"{"success":true,"data":{"secret":"whsec_open"},"meta":{}}"#.to_vec(),
            };
            assert!(unit.finish_request(&claim, &answer).await?);
            Ok(())
        })
    }
}

#[tokio::test]
async fn an_answer_that_does_not_open_is_a_conflict_and_nothing_is_done_again() {
    let world = World::new().await;
    world.stock_at("AAPL", 100.0).await;
    let body = above(200);
    let actor = world.service.authenticator.authenticate_key(&world.key).await.unwrap();
    let key = world.service.accounts.api_keys(&actor).await.unwrap()[0].id;
    let kept = RepeatableRequest {
        requester: actor.account.into(),
        key_hash: Sha256::digest([key.0.as_bytes(), &b"/v1/alerts\0one"[..]].concat()).into(),
        body_hash: Sha256::digest(body.to_string()).into(),
    };
    let store = Store::open(Options::new(world.database.url())).await.unwrap();
    store
        .write(KeptOpen(kept))
        .await
        .map_err(|error| format!("{error:?}"))
        .unwrap();
    store.close().await;
    let refused = post(&world, "/v1/alerts", &body).await.refused(409, "CONFLICT");
    assert!(!refused.text.contains("whsec_open"));
    assert_eq!(world.get("/v1/alerts").await.ok(200).body["data"], json!([]));
    // The key itself is as good as before for anything else.
    let _ = post(&world, "/v1/alerts", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    let other = world.request("POST", "/v1/alerts").header("idempotency-key", "two");
    let _ = other.json(&body).send().await.ok(201);
}
