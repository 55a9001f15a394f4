//! How every letter reads: previews, which are kept beside the tests.

use notify::letter::Letter;
use notify::letter::render::{Frame, mail, sms};

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
    ]
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
