//! The settings of the mail server and the sender.

use std::fmt;

use toml::Value;

use super::secret::mask_user_info;
use super::value::Setting;

/// The URL of the mail server. Its password is masked when it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpUrl(String);

impl SmtpUrl {
    /// Returns the URL with its password. Callers must not print it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask_user_info(&self.0))
    }
}

impl Setting for SmtpUrl {
    fn allowed() -> String {
        "a URL like smtp://user:password@mail.example.com:587 or smtps://user:password@mail.example.com, with \
         `:/?#[]@%` in user or password written as %3A and so on"
            .to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        notify::email::check_url(text).ok().map(|()| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        mask_user_info(&self.0).into()
    }
}

/// The sender of mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmailSender(String);

impl EmailSender {
    /// Returns the address, with a display name if there is one.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for EmailSender {
    fn allowed() -> String {
        "an address like alerts@example.com or Bellwether <alerts@example.com>".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        notify::email::is_sender(text).then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_password_is_masked() {
        let url = SmtpUrl::from_text("smtp://bw:open%40sesame@mail.example.com:587").unwrap();
        let shown = "smtp://bw:********@mail.example.com:587";
        assert_eq!((format!("{url:?}"), url.to_toml()), (shown.to_owned(), shown.into()));
        assert_eq!(url.expose(), "smtp://bw:open%40sesame@mail.example.com:587");
        // The masked value can be parsed again.
        assert!(SmtpUrl::from_text(shown).is_some());
    }

    #[test]
    fn rejects_invalid_smtp_urls() {
        for wrong in [
            "mail.example.com",
            "http://mail.example.com",
            "smtp://",
            "smtp://u@h",
            "smtp://h/path",
            "smtp://u:p@h?x=y",
        ] {
            assert_eq!(SmtpUrl::from_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sender_is_one_address_with_optional_name() {
        for right in [
            "alerts@example.com",
            "Bellwether <alerts@example.com>",
            "\"Bell, Wether\" <a@b.example>",
        ] {
            assert!(EmailSender::from_text(right).is_some(), "{right}");
        }
        for wrong in [
            "",
            "alerts",
            "a@b.example, c@d.example",
            "A <a@b.example>\r\nBcc: c@d.example",
        ] {
            assert_eq!(EmailSender::from_text(wrong), None, "{wrong}");
        }
    }
}
