//! Snapshots of all account emails.

use notify::templates::render::{EmailContext, account_email, account_sms};
use notify::templates::{AccountEmail, AdjustedAlert, AlertSummary, SplitSummary, StaleAlert};

fn emails() -> Vec<AccountEmail> {
    let link = |page: &str| format!("https://alerts.example.com/{page}?token=Zm9vYmFy-_0123456789&x=<\"1\">");
    vec![
        AccountEmail::ConfirmAddress { link: link("confirm") },
        AccountEmail::AlreadyRegistered { link: link("sign-in") },
        AccountEmail::MagicLink { link: link("sign-in") },
        AccountEmail::ResetPassword {
            link: link("reset-password"),
        },
        AccountEmail::ConfirmNewAddress {
            link: link("confirm-address"),
        },
        AccountEmail::AddressChanged {
            new_address: "new@example.org".to_owned(),
        },
        AccountEmail::PasswordChanged { link: link("sign-in") },
        AccountEmail::GuestAlert {
            symbol: "AAPL".to_owned(),
            condition: "AAPL rises to 200 or above".to_owned(),
            link: link("verify-alert"),
        },
        AccountEmail::WebhookDisabled {
            url: "https://hooks.example.org/a".to_owned(),
            reason: "failing".to_owned(),
        },
        AccountEmail::PhoneCode {
            code: "042137".to_owned(),
        },
        AccountEmail::ChannelTest,
        AccountEmail::ConfirmChannel {
            link: link("confirm-channel"),
        },
        AccountEmail::AlertsStale {
            alerts: vec![
                StaleAlert {
                    alert: named("price_above", Some("200")),
                    since: "2024-03-08T15:15:00Z".to_owned(),
                },
                StaleAlert {
                    alert: named("new_high", None),
                    since: "2024-03-08T15:20:00Z".to_owned(),
                },
            ],
            more: 2,
        },
        AccountEmail::AlertsRecovered {
            alerts: vec![named("rsi_limit", Some("70"))],
            more: 0,
            since: "2024-03-08T15:15:00Z".to_owned(),
        },
        AccountEmail::SmsQuotaLow {
            used: 40,
            quota: 50,
            renewed_on: "2024-04-01".to_owned(),
        },
        AccountEmail::SmsQuotaUsed {
            quota: 50,
            renewed_on: "2024-04-01".to_owned(),
        },
        AccountEmail::TemplateFailed {
            channel: "Trading room".to_owned(),
            template: "text".to_owned(),
            error: "line 1: unable to calculate 1 / 0".to_owned(),
        },
        AccountEmail::AlertTemplateFailed {
            link: "https://alerts.example.com/alerts/0d9f5a5e".to_owned(),
            template: "title".to_owned(),
            error: "line 1: unable to calculate 1 / 0".to_owned(),
        },
        AccountEmail::PlanPausedAlerts {
            plan: "basic".to_owned(),
            alerts: vec![named("rsi_limit", Some("70")), named("ma_crossover_golden", None)],
            more: 3,
        },
        AccountEmail::SplitAdjusted {
            split: SplitSummary {
                symbol: "AAPL".to_owned(),
                date: "2024-03-11".to_owned(),
                ratio: "4".to_owned(),
            },
            alerts: vec![
                AdjustedAlert {
                    alert: named("price_below", Some("75")),
                    previous_threshold: Some("300".to_owned()),
                    initial_price: Some("100".to_owned()),
                    previous_initial_price: Some("400".to_owned()),
                },
                AdjustedAlert {
                    alert: named("price_change_up", Some("5")),
                    previous_threshold: Some("5".to_owned()),
                    initial_price: Some("100.125".to_owned()),
                    previous_initial_price: Some("400.5".to_owned()),
                },
            ],
            more: 0,
        },
        AccountEmail::AlertExpired {
            alert: named("price > 200 and rsi(14) < 30", None),
            at: "2024-03-08T15:15:00Z".to_owned(),
        },
    ]
}

fn named(condition: &str, threshold: Option<&str>) -> AlertSummary {
    AlertSummary {
        symbol: "AAPL".to_owned(),
        condition: condition.to_owned(),
        threshold: threshold.map(ToOwned::to_owned),
    }
}

#[test]
fn account_emails_match_snapshots() {
    let context = EmailContext::new("Bellwether", "https://alerts.example.com");
    for email in emails() {
        let mail = account_email(&email, &context);
        insta::assert_snapshot!(
            format!("{}.txt", email.kind()),
            format!("Subject: {}\n\n{}", mail.subject, mail.text)
        );
        assert_eq!(mail.list_unsubscribe, None);
    }
    let confirm = account_email(&emails()[0], &context);
    insta::assert_snapshot!("confirm_address.html", confirm.html);
    let guest = account_email(&emails()[7], &context);
    insta::assert_snapshot!("guest_alert.html", guest.html);
}

#[test]
fn account_emails_load_no_resources_and_escape_links() {
    let context = EmailContext::new("Bellwether", "https://alerts.example.com");
    for email in emails() {
        let html = account_email(&email, &context).html;
        for fetched in [
            "<img", "<script", "<link", "<iframe", "src=", "url(", "@import", "<style",
        ] {
            assert!(!html.contains(fetched), "{fetched} in {html}");
        }
        assert!(!html.contains("x=<\""), "{html}");
    }
}

#[test]
fn phone_code_is_one_short_message() {
    let text = account_sms(
        &AccountEmail::PhoneCode {
            code: "042137".to_owned(),
        },
        "Bellwether",
    );
    assert_eq!(
        text,
        "042137 is your Bellwether code. It expires in a few minutes. Do not share it with anyone."
    );
    assert!(text.len() <= 160 && text.is_ascii());
    for email in emails() {
        let text = account_sms(&email, "Bellwether");
        assert!(!text.is_empty() && text.len() <= 160 && !text.contains("://"), "{text}");
    }
}
