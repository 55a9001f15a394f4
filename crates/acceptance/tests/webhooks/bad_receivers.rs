//! Receivers that do what they should not.

use acceptance::{Behaviour, Receiver, Setup, on_both_databases};
use serde_json::{Value, json};

use crate::support::{fire, hook, outcomes, settled, world};

on_both_databases![
    what_fails_is_tried_four_times_under_one_id_and_then_given_up,
    a_receiver_that_asks_to_be_left_alone_is,
    a_redirect_is_not_followed,
    who_is_gone_is_switched_off,
    who_closes_or_resets_or_says_nothing_or_drips_has_failed,
    whose_certificate_nobody_vouches_for_gets_nothing,
    who_sends_too_much_has_taken_it,
    one_bad_receiver_delays_no_other,
];

async fn what_fails_is_tried_four_times_under_one_id_and_then_given_up(setup: Setup) {
    let world = world(setup).await;
    let down = Behaviour::Answers(503, Vec::new(), "down \u{1b}[31mfor repair".to_owned());
    let receiver = Receiver::that(vec![down]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["http_error"; 4]);
    assert_eq!(failed["attempts"][0]["http_status"], 503);
    assert_eq!(failed["attempts"][0]["response"], "down [31mfor repair");
    let received = receiver.received();
    assert_eq!(received.len(), 4);
    assert!(
        received
            .iter()
            .all(|again| again.id() == received[0].id() && again.body == received[0].body)
    );
    for pair in received.windows(2) {
        let waited = pair[1].at.duration_since(pair[0].at).as_millis();
        // 200 ms, a fifth sooner or later, and whatever a busy machine adds.
        assert!(waited >= 155, "{waited} ms");
    }
}

async fn a_receiver_that_asks_to_be_left_alone_is(setup: Setup) {
    let world = world(setup).await;
    let busy = Behaviour::Answers(429, vec![("Retry-After", "2".to_owned())], String::new());
    let receiver = Receiver::that(vec![busy, Behaviour::status(200)]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let delivered = settled(&world, &hook, "delivered").await;
    assert_eq!(outcomes(&delivered), ["http_error", "delivered"]);
    let received = receiver.received();
    assert!(received[1].at.duration_since(received[0].at).as_millis() >= 1_990);
}

async fn a_redirect_is_not_followed(setup: Setup) {
    let world = world(setup).await;
    let elsewhere = Receiver::start().await;
    let moved = Behaviour::Answers(301, vec![("Location", elsewhere.url())], String::new());
    let receiver = Receiver::that(vec![moved]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["redirected"; 4]);
    assert!(elsewhere.received().is_empty());
}

async fn who_is_gone_is_switched_off(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::that(vec![Behaviour::status(410)]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["gone"]);
    let shown = world.me.get(&format!("/webhooks/{}", hook.id)).await.ok(200);
    assert_eq!(
        (&shown.data()["is_active"], shown.text_of("disabled_reason")),
        (&json!(false), "gone")
    );
    assert!(
        world.server.log().contains("a webhook was switched off"),
        "{}",
        world.server.log()
    );
    fire(&world, 160.0).await;
    assert_eq!(receiver.received().len(), 1);
}

async fn who_closes_or_resets_or_says_nothing_or_drips_has_failed(setup: Setup) {
    let world = world(setup).await;
    for (place, (behaviour, outcome)) in [
        (Behaviour::Closes, "connection_lost"),
        (Behaviour::Resets, "connection_lost"),
        (Behaviour::Hangs, "timed_out"),
        (Behaviour::Drips, "timed_out"),
    ]
    .into_iter()
    .enumerate()
    {
        let receiver = Receiver::that(vec![behaviour, Behaviour::status(200)]).await;
        let hook = hook(&world, &receiver, json!({})).await;
        fire(&world, 150.0 + f64::from(u32::try_from(place).unwrap())).await;
        let delivered = settled(&world, &hook, "delivered").await;
        assert_eq!(outcomes(&delivered), [outcome, "delivered"]);
        assert_eq!(delivered["attempts"][0]["http_status"], Value::Null);
        let _ = world.me.delete(&format!("/webhooks/{}", hook.id)).await.ok(200);
    }
}

async fn whose_certificate_nobody_vouches_for_gets_nothing(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::with_its_own_certificate().await;
    let url = format!("https://{}/hook", receiver.address());
    let body = json!({"url": url, "secret": "x"});
    let told = world.me.post("/webhooks/test", &body).await.ok(200);
    assert_eq!(told.data()["status"], 0);
    assert!(
        told.text_of("statusText").contains("not from a trusted authority"),
        "{told}"
    );
    let hook = hook(&world, &receiver, json!({ "url": url })).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["tls_certificate_unknown_issuer"; 4]);
    assert!(receiver.connections() == 5 && receiver.received().is_empty());
}

async fn who_sends_too_much_has_taken_it(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::that(vec![Behaviour::Floods]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let delivered = settled(&world, &hook, "delivered").await;
    let kept = delivered["attempts"][0]["response"].as_str().unwrap();
    assert_eq!(kept.len(), 1_024);
}

async fn one_bad_receiver_delays_no_other(setup: Setup) {
    let world = world(setup).await;
    let bad = Receiver::that(vec![Behaviour::Hangs]).await;
    let good = Receiver::start().await;
    let _bad = hook(&world, &bad, json!({})).await;
    let _good = hook(&world, &good, json!({})).await;
    for threshold in 150..170 {
        fire(&world, f64::from(threshold)).await;
    }
    let received = good.wait_for(20).await;
    for delivery in &received {
        let made: jiff::Timestamp = delivery.json()["timestamp"].as_str().unwrap().parse().unwrap();
        let took = delivery.at.duration_since(made).as_millis();
        assert!(took < 1_500, "{took} ms");
    }
}
