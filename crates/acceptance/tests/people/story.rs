//! The whole story: from signing up to the first mail about an alert, and to the last.

use acceptance::{Database, MailServer, Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::support::{Person, mailing};

on_both_databases![from_signing_up_to_the_first_mail_about_an_alert_and_the_last];

const ADDRESS: &str = "ann@example.org";
const PASSWORD: &str = "an unmistakable password";

async fn from_signing_up_to_the_first_mail_about_an_alert_and_the_last(setup: Setup) {
    let server = MailServer::start().await;
    let world = mailing(setup, &server).world().await;
    world.stock_at("AAPL", 100.0).await;
    let anybody = world.server.anybody();

    // She signs up, and cannot sign in before the address is known to be hers.
    let body = json!({"email": ADDRESS, "password": PASSWORD, "full_name": "Ann Example"});
    let _ = anybody.post("/auth/register", &body).await.ok(201);
    let letter = server.wait_for(ADDRESS, 1).await.remove(0);
    assert_eq!(letter.header("subject"), "Confirm your address for Bellwether");
    assert!(
        !letter.has_header("list-unsubscribe"),
        "one cannot do without this letter"
    );
    let credentials = json!({"email": ADDRESS, "password": PASSWORD});
    let _ = anybody
        .post("/auth/login", &credentials)
        .await
        .refused(401, "UNAUTHORIZED");
    let confirm = letter.token("confirm");
    let _ = anybody
        .post("/auth/confirm", &json!({ "token": confirm }))
        .await
        .ok(200);
    let again = anybody.post("/auth/confirm", &json!({ "token": confirm })).await;
    let _ = again.refused(400, "BAD_REQUEST");

    // She signs in, sets an alert, and the price gets there.
    let ann = Person::sign_in(&world, ADDRESS, PASSWORD).await;
    let alert = ann.fire(&world, "email", 198.66).await;
    let mail = server.wait_for(ADDRESS, 2).await.remove(1);
    assert_eq!(mail.header("from"), "Bellwether <alerts@example.com>");
    assert_eq!(mail.header("to"), "Ann Example <ann@example.org>");
    assert_eq!(mail.header("subject"), "AAPL: price 198.66 is at or above 198.66");
    assert_eq!(mail.header("auto-submitted"), "auto-generated");
    assert!(
        mail.header("message-id").ends_with("@example.com>"),
        "{}",
        mail.header("message-id")
    );
    assert!(mail.has_header("date"));
    assert_eq!(mail.defects(), &json!([]));
    for part in [
        "AAPL (AAPL Company)",
        "Price at or above",
        "Threshold",
        "198.66 USD",
        "100.00 USD",
        "price 198.66 is at or above 198.66",
        "Ann Example",
        "https://alerts.example.com/unsubscribe?token=",
    ] {
        assert!(mail.text().contains(part), "{part:?} in {}", mail.text());
    }
    for part in [
        "AAPL Company",
        "198.66 USD",
        "price 198.66 is at or above 198.66",
        "Stop mails about alerts",
    ] {
        let shown = mail.html_text().to_lowercase();
        assert!(shown.contains(&part.to_lowercase()), "{part:?} in {}", mail.html_text());
    }
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    // One click ends it, as her mail program sends it.
    assert_eq!(mail.header("list-unsubscribe-post"), "List-Unsubscribe=One-Click");
    let link = mail.header("list-unsubscribe").trim_matches(['<', '>']).to_owned();
    let path = link.strip_prefix("https://alerts.example.com").unwrap();
    let click = anybody.request_to(Method::POST, path);
    let click = click.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(click.untyped("List-Unsubscribe=One-Click").send().await.status, 200);
    let later = ann.fire(&world, "email", 150.0).await;
    assert_eq!(ann.outcome(&later).await, "notification_failed");

    // Letters about her account still come, and nothing was kept for an operator to read.
    let link = json!({"email": ADDRESS, "type": "magic_link"});
    let _ = anybody.post("/auth/login", &link).await.ok(200);
    let letter = server.wait_for(ADDRESS, 3).await.remove(2);
    assert_eq!(letter.header("subject"), "Sign in to Bellwether");
    assert_eq!(world.me.get("/outbox").await.ok(200).items().len(), 0);

    // Nothing of what opens her account lies about.
    let mut places = vec![("the log", world.server.log().into_bytes())];
    if world.setup.database() == Database::Sqlite {
        let file = world.setup.database_url().trim_start_matches("sqlite://");
        let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
        places.push(("the database", parts.concat()));
    }
    for secret in [PASSWORD, &confirm, &letter.token("sign-in"), &ann.token] {
        for (place, bytes) in &places {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret} is in {place}");
        }
    }
}
