//! The mails of one user: sign-up, the first alert, unsubscribing, and account mail afterwards.

use acceptance::{DatabaseKind, MailServer, ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::notifications::support::{SignedInUser, mail_settings};

on_both_databases![sign_up_confirm_alert_and_unsubscribe_by_mail];

const ADDRESS: &str = "ann@example.org";
const PASSWORD: &str = "an unmistakable password";

async fn sign_up_confirm_alert_and_unsubscribe_by_mail(setup: ServiceSetup) {
    let server = MailServer::start().await;
    let env = mail_settings(setup, &server).start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let anonymous = env.server.anonymous_client();

    // Sign-up: the user cannot sign in before the address is confirmed.
    let body = json!({"email": ADDRESS, "password": PASSWORD, "full_name": "Ann Example"});
    let _ = anonymous.post("/auth/register", &body).await.expect_ok(201);
    let account_mail = server.wait_for_mails(ADDRESS, 1).await.remove(0);
    assert_eq!(
        account_mail.header("subject"),
        "Confirm your email address for Bellwether"
    );
    assert!(
        !account_mail.has_header("list-unsubscribe"),
        "account mail has no unsubscribe link"
    );
    let credentials = json!({"email": ADDRESS, "password": PASSWORD});
    let _ = anonymous
        .post("/auth/login", &credentials)
        .await
        .expect_error(401, "UNAUTHORIZED");
    let confirm = account_mail.token("confirm");
    let _ = anonymous
        .post("/auth/confirm", &json!({ "token": confirm }))
        .await
        .expect_ok(200);
    let again = anonymous.post("/auth/confirm", &json!({ "token": confirm })).await;
    let _ = again.expect_error(400, "BAD_REQUEST");

    // Sign-in and a firing alert.
    let ann = SignedInUser::sign_in(&env, ADDRESS, PASSWORD).await;
    let alert = ann.fire(&env, "email", 198.66).await;
    let mail = server.wait_for_mails(ADDRESS, 2).await.remove(1);
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
        "Manage or stop alert emails",
    ] {
        let shown = mail.html_text().to_lowercase();
        assert!(shown.contains(&part.to_lowercase()), "{part:?} in {}", mail.html_text());
    }
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    // One-click unsubscribe, as mail programs send it.
    assert_eq!(mail.header("list-unsubscribe-post"), "List-Unsubscribe=One-Click");
    let link = mail.header("list-unsubscribe").trim_matches(['<', '>']).to_owned();
    let path = link.strip_prefix("https://alerts.example.com").unwrap();
    let click = anonymous.request_to(Method::POST, path);
    let click = click.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(
        click
            .body_without_content_type("List-Unsubscribe=One-Click")
            .send()
            .await
            .status,
        200
    );
    let later = ann.fire(&env, "email", 150.0).await;
    assert_eq!(ann.outcome(&later).await, "notification_failed");

    // Account mail still arrives, and the outbox keeps nothing that an operator could read.
    let link = json!({"email": ADDRESS, "type": "magic_link"});
    let _ = anonymous.post("/auth/login", &link).await.expect_ok(200);
    let account_mail = server.wait_for_mails(ADDRESS, 3).await.remove(2);
    assert_eq!(account_mail.header("subject"), "Sign in to Bellwether");
    assert_eq!(env.operator.get("/outbox").await.expect_ok(200).items().len(), 0);

    // Credentials are not in the log and not in the database.
    let mut outputs = vec![("the log", env.server.log().into_bytes())];
    if env.setup.database() == DatabaseKind::Sqlite {
        let file = env.setup.database_url().trim_start_matches("sqlite://");
        let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
        outputs.push(("the database", parts.concat()));
    }
    for secret in [PASSWORD, &confirm, &account_mail.token("sign-in"), &ann.token] {
        for (output, bytes) in &outputs {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret} is in {output}");
        }
    }
}
