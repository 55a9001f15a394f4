//! Mail over a real SMTP server: TLS, permanent and temporary errors, and delivery after crashes.

use acceptance::{Behaviour, MailServer, ScriptedServer, ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::notifications::support::{SignedInUser, mail_settings};

on_both_databases![
    mail_uses_tls_with_configured_credentials_and_ca,
    temporary_errors_are_retried_and_permanent_ones_are_not,
    interrupted_mail_arrives_under_the_same_id,
    undelivered_mail_is_sent_after_restart,
    owner_is_mailed_when_a_webhook_is_disabled,
];

const PASSWORD: &str = "correct horse";

async fn mail_uses_tls_with_configured_credentials_and_ca(setup: ServiceSetup) {
    let (starttls, implicit) = tokio::join!(
        MailServer::secure(false, "bw", "open sesame"),
        MailServer::secure(true, "bw", "open sesame")
    );
    let mut setup = setup;
    for server in [starttls, implicit] {
        setup = mail_settings(setup, &server)
            .set("email.smtp_url", &server.url("bw:open%20sesame@"))
            .set("email.ca_file", &server.ca_file());
        let running = setup.start().await;
        let body = json!({"email": "ann@example.org", "password": PASSWORD});
        let _ = running
            .anonymous_client()
            .post("/auth/register", &body)
            .await
            .expect_ok(201);
        let mail = server.wait_for_mails("ann@example.org", 1).await.remove(0);
        assert_eq!(mail.security(), (true, "bw"));
        assert!(!running.log().contains("sesame"));
        running.kill().await;
    }
}

async fn temporary_errors_are_retried_and_permanent_ones_are_not(setup: ServiceSetup) {
    let server = MailServer::start().await;
    let setup = mail_settings(setup, &server);
    for mailbox in ["refused", "greylisted", "ann"] {
        setup.create_user(&format!("{mailbox}@example.org"), "basic", &[]).await;
    }
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for (mailbox, outcome) in [
        ("refused", "notification_failed"),
        ("greylisted", "notification_failed"),
        ("ann", "notification_sent"),
    ] {
        let user = SignedInUser::sign_in(&env, &format!("{mailbox}@example.org"), PASSWORD).await;
        let alert = user.fire(&env, "email", 120.0).await;
        assert_eq!(user.outcome(&alert).await, outcome, "{mailbox}");
    }
    let metrics = env
        .server
        .anonymous_client()
        .request_to(Method::GET, "/metrics")
        .send()
        .await
        .text;
    let count = |outcome: &str| {
        let name = format!("bellwether_message_attempts_total{{channel=\"email\",outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("no {name} in {metrics}")).to_owned()
    };
    // One attempt after a permanent error, three after temporary errors.
    assert_eq!(
        [count("refused"), count("deferred"), count("delivered")],
        ["1", "3", "1"]
    );
}

async fn interrupted_mail_arrives_under_the_same_id(setup: ServiceSetup) {
    let server = MailServer::start().await;
    let setup = mail_settings(setup, &server).set("email.timeout", "2s");
    setup.create_user("mute@example.org", "basic", &[]).await;
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let user = SignedInUser::sign_in(&env, "mute@example.org", PASSWORD).await;
    user.fire(&env, "email", 120.0).await;
    // The server has received the mail but sends no response.
    server.wait_for_mails("mute@example.org", 1).await;
    let env = env.restart().await;
    let mails = server.wait_for_mails("mute@example.org", 2).await;
    let assert_same_header = |name: &str| assert_eq!(mails[0].header(name), mails[1].header(name));
    assert_same_header("message-id");
    assert_same_header("date");
    env.server.kill().await;
}

async fn undelivered_mail_is_sent_after_restart(setup: ServiceSetup) {
    let server = MailServer::start().await;
    let closed = testkit::RefusingPort::bind();
    let setup = mail_settings(setup, &server)
        .set(
            "email.smtp_url",
            &format!("smtp://localhost:{}", closed.address().port()),
        )
        .set("email.timeout", "2s")
        .set(
            "email.retry_delays",
            "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s",
        );
    setup.create_user("ann@example.org", "basic", &[]).await;
    let mut env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let ann = SignedInUser::sign_in(&env, "ann@example.org", PASSWORD).await;
    let alerts = [
        ann.fire(&env, "email", 120.0).await,
        ann.fire(&env, "email", 130.0).await,
    ];
    env.setup = env.setup.set("email.smtp_url", &server.url(""));
    let env = env.restart().await;
    assert_eq!(server.wait_for_mails("ann@example.org", 2).await.len(), 2);
    let ann = SignedInUser::sign_in(&env, "ann@example.org", PASSWORD).await;
    for alert in alerts {
        assert_eq!(ann.outcome(&alert).await, "notification_sent");
    }
}

async fn owner_is_mailed_when_a_webhook_is_disabled(setup: ServiceSetup) {
    let server = MailServer::start().await;
    let setup = mail_settings(setup, &server).set("webhooks.allow_private_cidrs", "127.0.0.0/8");
    setup.create_user("ann@example.org", "premium", &[]).await;
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let receiver = ScriptedServer::with_script(vec![Behaviour::status(410)]).await;
    let ann = SignedInUser::sign_in(&env, "ann@example.org", PASSWORD).await;
    let body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    let _ = ann.send(Method::POST, "/webhooks", &body).await.expect_ok(201);
    ann.fire(&env, "email", 120.0).await;
    let mails = server.wait_for_mails("ann@example.org", 2).await;
    let mail = mails
        .iter()
        .find(|mail| mail.header("subject") == "Your webhook was disabled");
    let mail = mail.unwrap();
    assert!(
        mail.text().contains(&receiver.url()) && mail.text().contains("410"),
        "{}",
        mail.text()
    );
}
