//! How every letter reads: previews, which are kept beside the tests.

use notify::letter::render::{Frame, mail, sms};
use notify::letter::{BlindAlert, Letter, MovedAlert, NamedAlert, SplitNews};

fn letters() -> Vec<Letter> {
    let link = |page: &str| format!("https://alerts.example.com/{page}?token=Zm9vYmFy-_0123456789&x=<\"1\">");
    vec![
        Letter::ConfirmAddress { link: link("confirm") },
        Letter::AlreadyRegistered { link: link("sign-in") },
        Letter::MagicLink { link: link("sign-in") },
        Letter::ResetPassword {
            link: link("reset-password"),
        },
        Letter::ConfirmNewAddress {
            link: link("confirm-address"),
        },
        Letter::AddressChanged {
            new_address: "new@example.org".to_owned(),
        },
        Letter::PasswordChanged { link: link("sign-in") },
        Letter::GuestAlert {
            symbol: "AAPL".to_owned(),
            wish: "AAPL rises to 200 or above".to_owned(),
            link: link("verify-alert"),
        },
        Letter::WebhookOff {
            url: "https://hooks.example.org/a".to_owned(),
            reason: "failing".to_owned(),
        },
        Letter::PhoneCode {
            code: "042137".to_owned(),
        },
        Letter::AlertsBlind {
            alerts: vec![
                BlindAlert {
                    alert: named("price_above", Some("200")),
                    since: "2024-03-08T15:15:00Z".to_owned(),
                },
                BlindAlert {
                    alert: named("new_high", None),
                    since: "2024-03-08T15:20:00Z".to_owned(),
                },
            ],
            more: 2,
        },
        Letter::AlertsSee {
            alerts: vec![named("rsi_limit", Some("70"))],
            more: 0,
            since: "2024-03-08T15:15:00Z".to_owned(),
        },
        Letter::SmsQuotaLow {
            used: 40,
            quota: 50,
            renewed_on: "2024-04-01".to_owned(),
        },
        Letter::SmsQuotaUsed {
            quota: 50,
            renewed_on: "2024-04-01".to_owned(),
        },
        Letter::PlanPausedAlerts {
            plan: "basic".to_owned(),
            alerts: vec![named("rsi_limit", Some("70")), named("ma_crossover_golden", None)],
            more: 3,
        },
        Letter::SplitAdjusted {
            split: SplitNews {
                symbol: "AAPL".to_owned(),
                date: "2024-03-11".to_owned(),
                ratio: "4".to_owned(),
            },
            alerts: vec![
                MovedAlert {
                    alert: named("price_below", Some("75")),
                    previous_threshold: Some("300".to_owned()),
                    initial_price: Some("100".to_owned()),
                    previous_initial_price: Some("400".to_owned()),
                },
                MovedAlert {
                    alert: named("price_change_up", Some("5")),
                    previous_threshold: Some("5".to_owned()),
                    initial_price: Some("100.125".to_owned()),
                    previous_initial_price: Some("400.5".to_owned()),
                },
            ],
            more: 0,
        },
    ]
}

fn named(condition: &str, threshold: Option<&str>) -> NamedAlert {
    NamedAlert {
        symbol: "AAPL".to_owned(),
        condition: condition.to_owned(),
        threshold: threshold.map(ToOwned::to_owned),
    }
}

#[test]
fn letters_read_like_this() {
    let frame = Frame::new("Bellwether", "https://alerts.example.com");
    for letter in letters() {
        let mail = mail(&letter, &frame);
        insta::assert_snapshot!(
            format!("{}.txt", letter.kind()),
            format!("Subject: {}\n\n{}", mail.subject, mail.text)
        );
        assert_eq!(mail.list_unsubscribe, None);
    }
    let confirm = mail(&letters()[0], &frame);
    insta::assert_snapshot!("confirm_address.html", confirm.html);
    let guest = mail(&letters()[7], &frame);
    insta::assert_snapshot!("guest_alert.html", guest.html);
}

#[test]
fn a_letter_fetches_nothing_and_escapes_its_links() {
    let frame = Frame::new("Bellwether", "https://alerts.example.com");
    for letter in letters() {
        let html = mail(&letter, &frame).html;
        for fetched in [
            "<img", "<script", "<link", "<iframe", "src=", "url(", "@import", "<style",
        ] {
            assert!(!html.contains(fetched), "{fetched} in {html}");
        }
        assert!(!html.contains("x=<\""), "{html}");
    }
}

#[test]
fn the_code_for_a_telephone_is_one_short_message() {
    let text = sms(
        &Letter::PhoneCode {
            code: "042137".to_owned(),
        },
        "Bellwether",
    );
    assert_eq!(
        text,
        "042137 is your Bellwether code. It is good for a few minutes. Nobody who asks you for it is from Bellwether."
    );
    assert!(text.len() <= 160 && text.is_ascii());
    for letter in letters() {
        let text = sms(&letter, "Bellwether");
        assert!(!text.is_empty() && text.len() <= 160 && !text.contains("://"), "{text}");
    }
}
