//! The pages behind mailed links, as a browser without scripts and a program that looks at mail see them.

use serde_json::json;
use url::form_urlencoded;

use crate::signing::{ANN, ANOTHER, PASSWORD, on_each_database, unlimited, world};
use crate::world::{Answer, World};

on_each_database! {
    opening_a_link_changes_nothing_and_pressing_its_button_does_it_once
    a_new_password_is_chosen_on_its_page_which_says_what_is_wrong_with_one
    a_link_signs_in_the_browser_that_opens_it
    whoever_has_no_link_has_one_mailed
    whoever_has_forgotten_their_password_has_a_link_mailed_to_choose_one_with
    whoever_shares_an_address_with_other_registrations_is_led_to_a_link
    a_form_of_another_site_signs_nobody_in
}

const SECOND: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

async fn open(world: &World, path: &str) -> Answer {
    protected(world.stranger("GET", path).send().await)
}

async fn press(world: &World, path: &str, headers: &[(&str, &str)], form: &[(&str, &str)]) -> Answer {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let mut request = world.stranger("POST", path).body(body);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    protected(request.send().await)
}

const FROM_HERE: [(&str, &str); 1] = [("sec-fetch-site", "same-origin")];

/// Every page, whatever it says, is kept by nobody, shown nowhere else, runs nothing and tells nobody its address.
#[track_caller]
fn protected(answer: Answer) -> Answer {
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{answer:?}");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("x-frame-options"), "DENY");
    let policy = answer.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!answer.text.contains("<script"), "{}", answer.text);
    assert_eq!(answer.text.contains("<form"), answer.text.contains("<button"));
    answer
}

#[track_caller]
fn says(answer: &Answer, status: u16, text: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.text.contains(text), "{text:?} is not in {}", answer.text);
}

/// A hidden field of a page's form.
#[track_caller]
fn hidden(page: &Answer, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {name}: {}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

async fn opening_a_link_changes_nothing_and_pressing_its_button_does_it_once(world: World) {
    let token = world.register(ANN, PASSWORD).await;
    let link = format!("/confirm?token={token}");
    for _ in 0..3 {
        let page = open(&world, &link).await;
        says(&page, 200, "Confirm my address");
        assert_eq!(hidden(&page, "token"), token);
        assert!(
            page.text.contains(r#"<form method="post" action="confirm">"#),
            "{}",
            page.text
        );
        let head = world.stranger("HEAD", &link).send().await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
    }
    let ann = world.signed_in(ANN).await;
    let verified = async || world.session(&ann.access).await.ok(200).body["data"]["user"]["is_verified"].clone();
    assert_eq!(verified().await, false);
    says(
        &press(&world, "/confirm", &[], &[("token", &token)]).await,
        200,
        "Your address is confirmed",
    );
    assert_eq!(verified().await, true);
    says(
        &press(&world, "/confirm", &[], &[("token", &token)]).await,
        400,
        "does not work any more",
    );
    // What is behind other pages is not to be had with this token.
    let another = world.register("bob@example.com", PASSWORD).await;
    for page in ["/confirm-address", "/verify-alert"] {
        says(
            &press(&world, page, &[], &[("token", &another)]).await,
            400,
            "does not work any more",
        );
    }
}

async fn a_new_password_is_chosen_on_its_page_which_says_what_is_wrong_with_one(world: World) {
    world.confirmed(ANN).await;
    let before = world.signed_in(ANN).await;
    let token = world.reset_link(ANN).await;
    let page = open(
        &world,
        &format!("/reset-password?email=ann%40example.com&token={token}"),
    )
    .await;
    says(&page, 200, "For the account with the address ann@example.com.");
    assert!(page.text.contains(r#"type="password""#) && page.text.contains(r#"autocomplete="new-password""#));
    assert_eq!(
        (hidden(&page, "email"), hidden(&page, "token")),
        (ANN.to_owned(), token.clone())
    );
    let send = async |password: &str| {
        let form = [("email", ANN), ("token", token.as_str()), ("new_password", password)];
        press(&world, "/reset-password", &[], &form).await
    };
    let again = send("short").await;
    says(&again, 422, "must have 8 to 200 characters");
    assert_eq!(hidden(&again, "token"), token);
    assert!(!again.text.contains("short"), "what was written is not shown");
    says(&send(ANOTHER).await, 200, "Your password is set");
    says(&send(ANOTHER).await, 400, "does not work any more");
    let _ = world.session(&before.access).await.refused(401, "UNAUTHORIZED");
    let _ = world.login(ANN, ANOTHER).await.ok(200);
}

async fn a_link_signs_in_the_browser_that_opens_it(world: World) {
    world.confirmed(ANN).await;
    let token = world.magic_link(ANN).await;
    let page = open(&world, &format!("/sign-in?token={token}")).await;
    says(&page, 200, "Sign in?");
    let done = press(&world, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    says(&done, 200, "You are signed in as ann@example.com");
    let _ = world.session_of_cookie(&crate::signing::cookie(&done)).await.ok(200);
    let again = press(&world, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    says(&again, 400, "does not work any more");
    assert!(!again.headers.contains_key("set-cookie"));
}

async fn whoever_has_no_link_has_one_mailed(world: World) {
    world.confirmed(ANN).await;
    let page = open(&world, "/sign-in").await;
    says(&page, 200, "Mail me a link");
    let wrong = press(&world, "/sign-in", &FROM_HERE, &[("email", "ann")]).await;
    says(&wrong, 422, "must be an email address");
    let known = press(&world, "/sign-in", &FROM_HERE, &[("email", ANN)]).await;
    let token = world.mailed();
    let unknown = press(&world, "/sign-in", &FROM_HERE, &[("email", "nobody@example.com")]).await;
    says(&known, 200, "Look into your mail");
    assert_eq!(known.text, unknown.text);
    let done = press(&world, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    says(&done, 200, "You are signed in");
}

async fn whoever_has_forgotten_their_password_has_a_link_mailed_to_choose_one_with(world: World) {
    world.confirmed(ANN).await;
    let page = open(&world, "/sign-in").await;
    says(&page, 200, "I have forgotten my password");
    assert!(
        page.text
            .contains(r#"<button type="submit" name="forgotten" value="password">"#)
    );
    let ask = async |email: &str| {
        let form = [("email", email), ("forgotten", "password")];
        press(&world, "/sign-in", &FROM_HERE, &form).await
    };
    says(&ask("ann").await, 422, "must be an email address");
    let known = ask(ANN).await;
    let token = world.mailed();
    let unknown = ask("nobody@example.com").await;
    says(&known, 200, "a link to choose a new password with");
    assert_eq!(known.text, unknown.text);
    let _ = world.reset(ANN, &token, ANOTHER).await.ok(200);
    let _ = world.login(ANN, ANOTHER).await.ok(200);
}

async fn whoever_shares_an_address_with_other_registrations_is_led_to_a_link(world: World) {
    let first = world.register(ANN, "mallory's password").await;
    let _ = world.register(ANN, PASSWORD).await;
    let page = press(&world, "/confirm", &[], &[("token", &first)]).await;
    says(&page, 200, "no password counts yet");
    says(&page, 200, r#"<a href="sign-in">"#);
}

async fn a_form_of_another_site_signs_nobody_in(world: World) {
    world.confirmed(ANN).await;
    let token = world.magic_link(ANN).await;
    let page = open(&world, &format!("/sign-in?token={token}")).await;
    let set = page.header("set-cookie");
    assert!(set.starts_with("__Host-bellwether_form="), "{set}");
    assert!(
        set.ends_with("; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure"),
        "{set}"
    );
    let cookie = crate::signing::cookie(&page);
    let nonce = hidden(&page, "form");
    let form = [("token", token.as_str()), ("form", nonce.as_str())];
    let bare = [("token", token.as_str())];
    let none: [(&str, &str); 1] = [("origin", "null")];
    let other = format!("__Host-bellwether_form={}", "0".repeat(32));
    for (headers, form) in [
        (&[][..], &form[..]),
        (&none, &form),
        (&[("cookie", cookie.as_str())], &bare),
        (&[("cookie", other.as_str())], &form),
        (
            &[("cookie", "__Host-bellwether_form=")],
            &[("token", token.as_str()), ("form", "")],
        ),
        (&[("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")], &form),
        (&[("cookie", cookie.as_str()), ("sec-fetch-site", "same-site")], &form),
        (
            &[("cookie", cookie.as_str()), ("origin", "https://evil.example.com")],
            &form,
        ),
    ] {
        let refused = press(&world, "/sign-in", headers, form).await;
        says(&refused, 403, "did not come from this service&#39;s own page");
        assert!(!refused.headers.contains_key("set-cookie"));
    }
    // An old browser, or one without https, says nothing of where a form comes from; the cookie does.
    let headers = [("cookie", cookie.as_str()), none[0]];
    says(
        &press(&world, "/sign-in", &headers, &form).await,
        200,
        "You are signed in",
    );
}

#[tokio::test]
async fn what_is_no_link_gets_a_page_that_says_so_and_whatever_it_holds_stays_text() {
    let world = world(testkit::Database::sqlite()).await;
    let evil = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    for page in ["confirm", "confirm-address", "verify-alert", "reset-password"] {
        for query in [
            "",
            "?token=",
            "?token=short",
            &format!("?token={evil}"),
            &format!("?token={}", "A".repeat(44)),
        ] {
            says(
                &open(&world, &format!("/{page}{query}")).await,
                400,
                "This link does not work",
            );
        }
        says(
            &press(&world, &format!("/{page}"), &[], &[]).await,
            400,
            "does not work any more",
        );
        let form = [
            ("token", "\"><script>"),
            ("email", "<script>"),
            ("new_password", PASSWORD),
        ];
        let refused = press(&world, &format!("/{page}"), &[], &form).await;
        says(&refused, 400, "does not work any more");
    }
    let page = open(&world, &format!("/reset-password?email={evil}&token={SECOND}")).await;
    says(&page, 200, "&#60;script&#62;");
    says(
        &open(&world, &format!("/sign-in?token={evil}")).await,
        200,
        "Mail me a link",
    );
    let json = world.asking("x", &json!({})).send().await;
    let _ = json.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn what_pages_ask_for_is_counted_with_what_is_asked_of_the_api() {
    let mut settings = unlimited();
    settings.limits.login_per_minute = 2;
    let world = World::on(testkit::Database::sqlite(), settings, |_| ()).await;
    says(
        &press(&world, "/confirm", &[], &[("token", SECOND)]).await,
        400,
        "does not work",
    );
    let _ = world
        .ask("confirm", json!({"token": SECOND}))
        .await
        .refused(400, "BAD_REQUEST");
    for page in [
        "/confirm",
        "/confirm-address",
        "/verify-alert",
        "/reset-password",
        "/sign-in",
    ] {
        let refused = press(&world, page, &FROM_HERE, &[("token", SECOND)]).await;
        says(&refused, 429, "Too much was asked for");
        assert_eq!(refused.header("retry-after"), "60");
        says(
            &open(&world, &format!("{page}?token={SECOND}&email=a%40example.com")).await,
            200,
            "<form",
        );
    }
}
