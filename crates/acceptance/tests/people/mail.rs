//! Mail over a real server: secured, refused, put off, and never lost by whatever dies.

use acceptance::{Behaviour, MailServer, Receiver, Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::support::{Person, mailing};

on_both_databases![
    mail_goes_over_tls_with_the_operators_credentials_and_authority,
    what_the_server_refuses_for_good_is_given_up_and_what_it_puts_off_is_tried_again,
    what_was_under_way_when_the_program_died_arrives_under_the_same_id,
    what_nobody_takes_waits_for_the_next_start,
    the_owner_of_a_webhook_that_is_gone_is_told,
];

const PASSWORD: &str = "correct horse";

async fn mail_goes_over_tls_with_the_operators_credentials_and_authority(setup: Setup) {
    let (starttls, implicit) = tokio::join!(
        MailServer::secure(false, "bw", "open sesame"),
        MailServer::secure(true, "bw", "open sesame")
    );
    let mut setup = setup;
    for server in [starttls, implicit] {
        setup = mailing(setup, &server)
            .set("email.smtp_url", &server.url("bw:open%20sesame@"))
            .set("email.ca_file", &server.ca_file());
        let running = setup.start().await;
        let body = json!({"email": "ann@example.org", "password": PASSWORD});
        let _ = running.anybody().post("/auth/register", &body).await.ok(201);
        let mail = server.wait_for("ann@example.org", 1).await.remove(0);
        assert_eq!(mail.security(), (true, "bw"));
        assert!(!running.log().contains("sesame"));
        running.kill().await;
    }
}

async fn what_the_server_refuses_for_good_is_given_up_and_what_it_puts_off_is_tried_again(setup: Setup) {
    let server = MailServer::start().await;
    let setup = mailing(setup, &server);
    for mailbox in ["refused", "greylisted", "ann"] {
        setup.create_user(&format!("{mailbox}@example.org"), "basic", &[]).await;
    }
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for (mailbox, outcome) in [
        ("refused", "notification_failed"),
        ("greylisted", "notification_failed"),
        ("ann", "notification_sent"),
    ] {
        let person = Person::sign_in(&world, &format!("{mailbox}@example.org"), PASSWORD).await;
        let alert = person.fire(&world, "email", 120.0).await;
        assert_eq!(person.outcome(&alert).await, outcome, "{mailbox}");
    }
    let metrics = world
        .server
        .anybody()
        .request_to(Method::GET, "/metrics")
        .send()
        .await
        .text;
    let count = |outcome: &str| {
        let name = format!("bellwether_message_attempts_total{{channel=\"email\",outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("no {name} in {metrics}")).to_owned()
    };
    // One try for what will never do, three for what may.
    assert_eq!(
        [count("refused"), count("deferred"), count("delivered")],
        ["1", "3", "1"]
    );
}

async fn what_was_under_way_when_the_program_died_arrives_under_the_same_id(setup: Setup) {
    let server = MailServer::start().await;
    let setup = mailing(setup, &server).set("email.timeout", "2s");
    setup.create_user("mute@example.org", "basic", &[]).await;
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let person = Person::sign_in(&world, "mute@example.org", PASSWORD).await;
    person.fire(&world, "email", 120.0).await;
    // The server has it, and does not say so.
    server.wait_for("mute@example.org", 1).await;
    let world = world.restart().await;
    let mails = server.wait_for("mute@example.org", 2).await;
    let same = |name: &str| assert_eq!(mails[0].header(name), mails[1].header(name));
    same("message-id");
    same("date");
    world.server.kill().await;
}

async fn what_nobody_takes_waits_for_the_next_start(setup: Setup) {
    let server = MailServer::start().await;
    // Nobody listens there: it was taken, and given back.
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let setup = mailing(setup, &server)
        .set("email.smtp_url", &format!("smtp://localhost:{}", closed.port()))
        .set("email.timeout", "2s")
        .set(
            "email.retry_delays",
            "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s",
        );
    setup.create_user("ann@example.org", "basic", &[]).await;
    let mut world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let ann = Person::sign_in(&world, "ann@example.org", PASSWORD).await;
    let alerts = [
        ann.fire(&world, "email", 120.0).await,
        ann.fire(&world, "email", 130.0).await,
    ];
    world.setup = world.setup.set("email.smtp_url", &server.url(""));
    let world = world.restart().await;
    assert_eq!(server.wait_for("ann@example.org", 2).await.len(), 2);
    let ann = Person::sign_in(&world, "ann@example.org", PASSWORD).await;
    for alert in alerts {
        assert_eq!(ann.outcome(&alert).await, "notification_sent");
    }
}

async fn the_owner_of_a_webhook_that_is_gone_is_told(setup: Setup) {
    let server = MailServer::start().await;
    let setup = mailing(setup, &server).set("webhooks.allow_private_cidrs", "127.0.0.0/8");
    setup.create_user("ann@example.org", "premium", &[]).await;
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let receiver = Receiver::that(vec![Behaviour::status(410)]).await;
    let ann = Person::sign_in(&world, "ann@example.org", PASSWORD).await;
    let body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    let _ = ann.send(Method::POST, "/webhooks", &body).await.ok(201);
    ann.fire(&world, "email", 120.0).await;
    let mails = server.wait_for("ann@example.org", 2).await;
    let letter = mails
        .iter()
        .find(|mail| mail.header("subject") == "A webhook of yours was switched off");
    let letter = letter.unwrap();
    assert!(
        letter.text().contains(&receiver.url()) && letter.text().contains("410"),
        "{}",
        letter.text()
    );
}
