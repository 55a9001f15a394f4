//! Coming to an account, and signing in.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use crate::signing::{ANN, ANOTHER, PASSWORD, SignedIn, on_each_database, world};
use crate::world::{Answer, World};

on_each_database! {
    the_whole_story_from_registering_to_signing_out
    a_mailed_link_signs_in_and_confirms_the_address
    whoever_registers_with_somebody_elses_address_gets_nothing_by_it
    a_link_is_good_once_for_its_time_and_for_its_purpose
    of_fifty_uses_of_a_link_at_once_one_succeeds
    a_new_password_ends_all_sessions_and_all_other_links
    guessing_a_password_slows_down_whoever_guesses_and_nobody_else
    fifty_guesses_at_once_are_counted_one_by_one
    an_address_is_mailed_five_links_and_no_more_and_nobody_can_tell
}

async fn the_whole_story_from_registering_to_signing_out(world: World) {
    let body = json!({"email": " Ann@Example.com ", "password": PASSWORD, "full_name": "Ann Example"});
    let registered = world.ask("register", body).await.ok(201);
    assert!(
        !registered.headers.contains_key("set-cookie"),
        "nobody is signed in by registering"
    );
    let confirmed = world.ask("confirm", json!({"token": world.mailed()})).await.ok(200);
    assert!(confirmed.body["data"]["message"].as_str().unwrap().contains("sign in"));

    let answer = world.login(ANN, PASSWORD).await.ok(200);
    assert_eq!(answer.header("cache-control"), "no-store");
    let data = &answer.body["data"];
    assert_eq!(
        (&data["token_type"], &data["expires_in"]),
        (&json!("Bearer"), &json!(900))
    );
    let user = &data["user"];
    assert_eq!(
        (
            &user["email"],
            &user["full_name"],
            &user["is_verified"],
            &user["account_type"]
        ),
        (&json!(ANN), &json!("Ann Example"), &json!(true), &json!("basic"))
    );
    assert!(user.get("password_hash").is_none() && !answer.text.contains("argon2"));
    let first = SignedIn::of(&answer);
    for session in [
        world.session(&first.access).await.ok(200),
        world.session_of_cookie(&first.cookie).await.ok(200),
    ] {
        assert_eq!(session.body["data"]["user"]["email"], ANN);
        assert_eq!(
            session.body["data"]["session"]["created_at"],
            "2024-03-08T15:00:00.000Z"
        );
    }

    world.clock.advance(SignedDuration::from_mins(15));
    let _ = world.session(&first.access).await.refused(401, "UNAUTHORIZED");
    let refreshed = world.refresh(&first.refresh).await.ok(200);
    assert!(
        !refreshed.headers.contains_key("set-cookie"),
        "the browser keeps the one it has"
    );
    let access = refreshed.body["data"]["access_token"].as_str().unwrap();
    let _ = world.session(access).await.ok(200);

    let sign_out = world.stranger("POST", "/v1/auth/logout");
    let sign_out = sign_out.header("authorization", &format!("Bearer {access}"));
    let signed_out = sign_out.send().await.ok(200);
    assert!(signed_out.header("set-cookie").contains("Max-Age=0"));
    let _ = world.session(access).await.refused(401, "UNAUTHORIZED");
    let _ = world
        .session_of_cookie(&first.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let next = refreshed.body["data"]["refresh_token"].as_str().unwrap();
    let _ = world.refresh(next).await.refused(401, "UNAUTHORIZED");
}

async fn a_mailed_link_signs_in_and_confirms_the_address(world: World) {
    let _ = world.register(ANN, PASSWORD).await;
    let token = world.magic_link(ANN).await;
    let answer = world.ask("magic-link", json!({"token": token})).await.ok(200);
    assert_eq!(answer.body["data"]["user"]["is_verified"], true);
    let ann = SignedIn::of(&answer);
    let _ = world.session_of_cookie(&ann.cookie).await.ok(200);
    let _ = world.refresh(&ann.refresh).await.ok(200);
}

async fn whoever_registers_with_somebody_elses_address_gets_nothing_by_it(world: World) {
    let mallorys = world.register(ANN, "mallory's password").await;
    let mallory = SignedIn::of(&world.login(ANN, "mallory's password").await);
    // Ann, who reads the mail, registers too, and follows one of the links: she cannot know which one is hers.
    let anns = world.register(ANN, PASSWORD).await;
    let confirmed = world.ask("confirm", json!({"token": mallorys})).await.ok(200);
    let message = confirmed.body["data"]["message"].as_str().unwrap();
    assert!(message.contains("no password counts"), "{message}");
    let _ = world.session(&mallory.access).await.refused(401, "UNAUTHORIZED");
    let _ = world
        .session_of_cookie(&mallory.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = world.refresh(&mallory.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = world
        .login(ANN, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = world.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let other = world.ask("confirm", json!({"token": anns})).await;
    let _ = other.refused(400, "BAD_REQUEST");
    let token = world.reset_link(ANN).await;
    let _ = world.reset(ANN, &token, PASSWORD).await.ok(200);
    let _ = world.login(ANN, PASSWORD).await.ok(200);

    // Bob only ever asks for a link to sign in: the password that was waiting for him is good for nothing.
    let bob = "bob@example.com";
    let _ = world.register(bob, "mallory's password").await;
    let mallory = SignedIn::of(&world.login(bob, "mallory's password").await);
    let token = world.magic_link(bob).await;
    let _ = world.ask("magic-link", json!({"token": token})).await.ok(200);
    let _ = world
        .login(bob, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = world.refresh(&mallory.refresh).await.refused(401, "UNAUTHORIZED");

    // Whoever registers with the address of an account that is confirmed changes nothing of it.
    let _ = world.register(ANN, "mallory's password").await;
    let drawn = world.mailed();
    let _ = world.ask("confirm", json!({"token": drawn})).await;
    let _ = world
        .login(ANN, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = world.login(ANN, PASSWORD).await.ok(200);
}

/// A way to use a link: the request that shows its token.
async fn show(world: &World, purpose: &str, token: &str) -> Answer {
    match purpose {
        "reset-confirm" => world.reset(ANN, token, ANOTHER).await,
        route => world.ask(route, json!({"token": token})).await,
    }
}

/// A new link for a purpose, to Ann.
async fn link(world: &World, purpose: &str) -> String {
    match purpose {
        "confirm" => world.register(ANN, PASSWORD).await,
        "magic-link" => world.magic_link(ANN).await,
        _ => world.reset_link(ANN).await,
    }
}

/// Purposes, and how long their links are good for.
const PURPOSES: [(&str, SignedDuration); 3] = [
    ("confirm", SignedDuration::from_hours(48)),
    ("magic-link", SignedDuration::from_mins(15)),
    ("reset-confirm", SignedDuration::from_hours(1)),
];

async fn a_link_is_good_once_for_its_time_and_for_its_purpose(world: World) {
    let second = SignedDuration::from_secs(1);
    let _ = world.register(ANN, PASSWORD).await;
    for (purpose, life) in PURPOSES {
        let token = link(&world, purpose).await;
        for (other, _) in PURPOSES.iter().filter(|(other, _)| *other != purpose) {
            let _ = show(&world, other, &token).await.refused(400, "BAD_REQUEST");
        }
        world.clock.advance(life - second);
        let _ = show(&world, purpose, &token).await.ok(200);
        let _ = show(&world, purpose, &token).await.refused(400, "BAD_REQUEST");
        // What was asked for since is refused with the first, so it is asked for anew.
        world.clock.advance(SignedDuration::from_hours(48));
        let late = link(&world, purpose).await;
        world.clock.advance(life);
        let refused = show(&world, purpose, &late).await.refused(400, "BAD_REQUEST");
        assert!(!refused.text.contains(&late));
    }
    for token in ["", "x", &"A".repeat(43), &"A".repeat(5_000), "' OR 1=1 --"] {
        for (purpose, _) in PURPOSES {
            let _ = show(&world, purpose, token).await.refused(400, "BAD_REQUEST");
        }
    }
    // A link to choose a new password is good for the address that it was mailed to only.
    world.confirmed("bob@example.com").await;
    let token = world.reset_link(ANN).await;
    let of_another = world.reset("bob@example.com", &token, ANOTHER).await;
    let _ = of_another.refused(400, "BAD_REQUEST");
    let _ = world.login("bob@example.com", PASSWORD).await.ok(200);
}

async fn of_fifty_uses_of_a_link_at_once_one_succeeds(world: World) {
    let _ = world.register(ANN, PASSWORD).await;
    for (purpose, _) in PURPOSES {
        let token = link(&world, purpose).await;
        let uses = join_all((0..50).map(|_| show(&world, purpose, &token))).await;
        let count = |status: u16| uses.iter().filter(|answer| answer.status == status).count();
        assert_eq!((count(200), count(400)), (1, 49), "{purpose}: {uses:?}");
    }
}

async fn a_new_password_ends_all_sessions_and_all_other_links(world: World) {
    world.confirmed(ANN).await;
    let sessions = [world.signed_in(ANN).await, world.signed_in(ANN).await];
    let older = world.reset_link(ANN).await;
    let sign_in = world.magic_link(ANN).await;
    let token = world.reset_link(ANN).await;
    let too_short = world.reset(ANN, &token, "1234567").await;
    let refused = too_short.refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["new_password"].is_array());
    let _ = world.reset(ANN, &token, ANOTHER).await.ok(200);
    for session in &sessions {
        let _ = world.session(&session.access).await.refused(401, "UNAUTHORIZED");
        let _ = world
            .session_of_cookie(&session.cookie)
            .await
            .refused(401, "UNAUTHORIZED");
        let _ = world.refresh(&session.refresh).await.refused(401, "UNAUTHORIZED");
    }
    let _ = world.reset(ANN, &older, PASSWORD).await.refused(400, "BAD_REQUEST");
    let by_link = world.ask("magic-link", json!({"token": sign_in})).await;
    let _ = by_link.refused(400, "BAD_REQUEST");
    let _ = world.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let _ = world.login(ANN, ANOTHER).await.ok(200);
}

async fn guessing_a_password_slows_down_whoever_guesses_and_nobody_else(world: World) {
    world.confirmed(ANN).await;
    let guess = async |email: &str, password: &str, address: &str| {
        let body = json!({"email": email, "password": password});
        world.asking("login", &body).at_address(address).send().await
    };
    let (attacker, owner) = ("203.0.113.66", "192.0.2.7");
    for number in 0..5 {
        let wrong = guess(ANN, &format!("guess {number}"), attacker).await;
        let _ = wrong.refused(401, "UNAUTHORIZED");
    }
    // Now even the right password is not looked at from there, so the attacker cannot learn it.
    let refused = guess(ANN, PASSWORD, attacker).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "2");
    for number in 0..5 {
        let _ = guess("nobody@example.com", &format!("guess {number}"), attacker).await;
    }
    let nobodys = guess("nobody@example.com", PASSWORD, attacker).await;
    assert_eq!(
        nobodys.text, refused.text,
        "an address without an account looks the same"
    );

    let _ = guess(ANN, PASSWORD, owner).await.ok(200);
    // Behind the attacker's own address a link signs in all the same.
    let asked = json!({"email": ANN, "type": "magic_link"});
    let _ = world.asking("login", &asked).at_address(attacker).send().await.ok(200);
    let token = json!({"token": world.mailed()});
    let by_link = world.asking("magic-link", &token).at_address(attacker);
    let _ = by_link.send().await.ok(200);
    // And so does the password after the wait.
    world.clock.advance(SignedDuration::from_secs(2));
    let _ = guess(ANN, PASSWORD, attacker).await.ok(200);
}

async fn fifty_guesses_at_once_are_counted_one_by_one(world: World) {
    world.confirmed(ANN).await;
    let guesses: Vec<_> = (0..50).map(|number| format!("guess {number}")).collect();
    let answers = join_all(guesses.iter().map(|guess| world.login(ANN, guess))).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(401), count(429)), (5, 45), "{answers:?}");
}

async fn an_address_is_mailed_five_links_and_no_more_and_nobody_can_tell(world: World) {
    world.confirmed(ANN).await;
    let mut answers = Vec::new();
    let mut tokens = Vec::new();
    for _ in 0..6 {
        let body = json!({"email": ANN, "type": "magic_link"});
        let answer = world.ask("login", body).await.ok(200);
        tokens.push(world.mailed());
        answers.push(answer.body["data"].clone());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let beyond = world.ask("magic-link", json!({"token": tokens[5]})).await;
    let _ = beyond.refused(400, "BAD_REQUEST");
    // So whoever asks for links in Ann's name cannot keep her from having good ones.
    let _ = world.ask("magic-link", json!({"token": tokens[0]})).await.ok(200);
    world.clock.advance(SignedDuration::from_mins(15));
    let token = world.magic_link(ANN).await;
    let _ = world.ask("magic-link", json!({"token": token})).await.ok(200);
}
