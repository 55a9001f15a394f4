//! Converts the settings of mail and text messages.

use std::num::NonZeroU32;
use std::path::Path;

use anyhow::Context;
use delivery::messages::{DailyMessageLimits, EmailConfig, SmsConfig, status_callback};
use jiff::SignedDuration;
use notify::email::SmtpConfig;
use notify::schedule::RetrySchedule;
use notify::sms::{SmsSender, TwilioConfig};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::settings::{self, EmailTransport, Settings, SmsProvider};

/// The prefix of the SIDs of Twilio's messaging services.
const MESSAGING_SERVICE_PREFIX: &str = "MG";
const SID_LENGTH_CHARS: usize = 34;

pub(super) fn settings(settings: &Settings) -> anyhow::Result<delivery::messages::MessagesConfig> {
    if settings.email.transport == EmailTransport::Smtp && settings.server.public_url.is_none() {
        tracing::warn!(
            "server.public_url is not set, so links in mail point to {}, which may be reachable from this machine only",
            settings.server.listen
        );
    }
    Ok(delivery::messages::MessagesConfig {
        email: email(&settings.email, public_host_name(settings))?,
        sms: sms(&settings.sms, settings),
    })
}

fn email(email: &settings::EmailSection, hello_name: Option<String>) -> anyhow::Result<EmailConfig> {
    // The settings require both for a mail server.
    let smtp = match (email.transport, &email.smtp_url, &email.from) {
        (EmailTransport::Smtp, Some(url), Some(from)) => Some(SmtpConfig {
            url: url.expose().to_owned(),
            from: from.as_str().to_owned(),
            hello_name,
            extra_roots: certificates(email.ca_file.as_deref())?,
            timeout: email.timeout.unsigned_abs(),
        }),
        _ => None,
    };
    Ok(EmailConfig {
        smtp,
        daily_limits: daily_limits([
            email.max_per_day,
            email.max_letters_per_day,
            email.max_letters_per_address,
            email.max_alerts_per_address,
        ]),
        retry_delays: delays(&email.retry_delays),
    })
}

fn sms(sms: &settings::SmsSection, settings: &Settings) -> SmsConfig {
    let twilio = match (sms.provider, &sms.account_sid, &sms.auth_token, &sms.from) {
        (SmsProvider::Twilio, Some(account_sid), Some(auth_token), Some(from)) => Some(TwilioConfig {
            account_sid: account_sid.clone(),
            auth_token: auth_token.expose().to_owned(),
            sender: sender(from),
            base_url: sms.base_url.clone(),
            // Without a public URL, the provider cannot reach the service.
            status_callback: settings
                .server
                .public_url
                .as_ref()
                .map(|url| status_callback(url.as_str())),
            extra_roots: Vec::new(),
            timeout: sms.timeout.unsigned_abs(),
        }),
        _ => None,
    };
    SmsConfig {
        allowed_countries: sms.allowed_countries.clone(),
        twilio,
        daily_limits: daily_limits([
            sms.max_per_day,
            sms.max_letters_per_day,
            sms.max_letters_per_number,
            sms.max_alerts_per_number,
        ]),
        retry_delays: delays(&sms.retry_delays),
    }
}

fn sender(from: &str) -> SmsSender {
    if from.starts_with(MESSAGING_SERVICE_PREFIX) && from.len() == SID_LENGTH_CHARS {
        SmsSender::MessagingService(from.to_owned())
    } else {
        SmsSender::From(from.to_owned())
    }
}

fn daily_limits(limits: [NonZeroU32; 4]) -> DailyMessageLimits {
    let [
        max_total,
        max_account_messages,
        max_account_messages_per_recipient,
        max_alert_messages_per_recipient,
    ] = limits.map(NonZeroU32::get);
    DailyMessageLimits {
        max_total,
        max_account_messages,
        max_account_messages_per_recipient,
        max_alert_messages_per_recipient,
    }
}

fn delays(delays: &[SignedDuration]) -> RetrySchedule {
    RetrySchedule::new(delays.to_vec())
}

/// Returns the name for SMTP's `EHLO`: the host of the public URL, if it is a domain name.
fn public_host_name(settings: &Settings) -> Option<String> {
    let url = settings.server.public_url.as_ref()?.as_str();
    let authority = url.split_once("://")?.1;
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let is_name = host.contains('.') && host.bytes().any(|byte| byte.is_ascii_alphabetic()) && !host.starts_with('[');
    is_name.then(|| host.to_owned())
}

fn certificates(file: Option<&Path>) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let Some(path) = file else {
        return Ok(Vec::new());
    };
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let found = read().with_context(|| format!("cannot read the certificates of email.ca_file, {}", path.display()))?;
    anyhow::ensure!(
        !found.is_empty(),
        "there are no certificates in email.ca_file, {}",
        path.display()
    );
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(variables: &[(&str, &str)]) -> anyhow::Result<delivery::messages::MessagesConfig> {
        settings(&Settings::with_overrides(variables).unwrap())
    }

    const SMTP: [(&str, &str); 3] = [
        ("EMAIL__TRANSPORT", "smtp"),
        ("EMAIL__SMTP_URL", "smtp://localhost:2525"),
        ("EMAIL__FROM", "alerts@example.com"),
    ];

    #[test]
    fn defaults_send_nothing_and_use_the_services_limits() {
        let (made, own) = (made(&[]).unwrap(), delivery::messages::MessagesConfig::default());
        assert!(made.email.smtp.is_none() && made.sms.twilio.is_none());
        assert_eq!(
            (made.email.daily_limits, made.sms.daily_limits),
            (own.email.daily_limits, own.sms.daily_limits)
        );
        assert_eq!(made.sms.allowed_countries, own.sms.allowed_countries);
        assert_eq!(made.email.retry_delays, own.email.retry_delays);
        assert_eq!(made.sms.retry_delays, own.sms.retry_delays);
    }

    #[test]
    fn ehlo_name_is_the_public_domain_name() {
        for (url, name) in [
            ("https://alerts.example.com", Some("alerts.example.com")),
            ("https://alerts.example.com:8443", Some("alerts.example.com")),
            ("http://localhost:8080", None),
            ("http://127.0.0.1:8080", None),
            ("http://[::1]:8080", None),
        ] {
            let settings = made(&[&SMTP[..], &[("SERVER__PUBLIC_URL", url)]].concat()).unwrap();
            assert_eq!(settings.email.smtp.unwrap().hello_name.as_deref(), name, "{url}");
        }
    }

    #[test]
    fn unreadable_certificate_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (none, empty) = (dir.path().join("none.pem"), dir.path().join("empty.pem"));
        std::fs::write(&empty, "nothing").unwrap();
        for file in [none, empty] {
            let file = file.display().to_string();
            let error = made(&[&SMTP[..], &[("EMAIL__CA_FILE", &file)]].concat()).unwrap_err();
            assert!(error.to_string().contains(&format!("email.ca_file, {file}")), "{error}");
        }
    }

    #[test]
    fn twilio_status_callback_needs_a_public_url() {
        let twilio = [
            ("SMS__PROVIDER", "twilio"),
            ("SMS__ACCOUNT_SID", "AC0123456789abcdef0123456789abcdef"),
            ("SMS__AUTH_TOKEN", "0123456789abcdef0123456789abcdef"),
        ];
        let service = [("SMS__FROM", "MG0123456789abcdef0123456789abcdef")];
        let without = made(&[&twilio[..], &service].concat()).unwrap().sms.twilio.unwrap();
        assert_eq!(without.status_callback, None);
        assert!(matches!(without.sender, SmsSender::MessagingService(_)));
        let public = [
            ("SERVER__PUBLIC_URL", "https://alerts.example.com"),
            ("SMS__FROM", "+15551234567"),
        ];
        let with = made(&[&twilio[..], &public].concat()).unwrap().sms.twilio.unwrap();
        assert_eq!(
            with.status_callback.as_deref(),
            Some("https://alerts.example.com/sms/status")
        );
        assert_eq!(with.sender, SmsSender::From("+15551234567".to_owned()));
    }
}
