//! Converts the settings of services that send messages to notification channels.

use delivery::notification_channels::ChannelServicesConfig;
use notify::channels::ChannelSecret;
use notify::channels::pushover::PushoverSettings;
use notify::channels::telegram::TelegramSettings;
use notify::channels::web_push::VapidKey;
use notify::schedule::RetrySchedule;

use crate::settings::{SecretString, Settings};

pub(super) fn settings(settings: &Settings) -> ChannelServicesConfig {
    let (telegram, pushover) = (&settings.telegram, &settings.pushover);
    let key = settings.web_push.vapid_private_key.as_ref();
    ChannelServicesConfig {
        telegram: TelegramSettings {
            base_url: telegram.base_url.clone(),
            bot_token: secret(telegram.bot_token.as_ref()),
        },
        pushover: PushoverSettings {
            base_url: pushover.base_url.clone(),
            token: secret(pushover.token.as_ref()),
        },
        // Checked with the settings.
        web_push_key: key.and_then(|key| VapidKey::from_base64url(key.expose()).ok()),
        retry_delays: RetrySchedule::new(settings.notifications.retry_delays.clone()),
        burst_limit: settings.notifications.burst_limit.get(),
    }
}

fn secret(text: Option<&SecretString>) -> Option<ChannelSecret> {
    text.map(|text| ChannelSecret::new(text.expose()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(overrides: &[(&str, &str)]) -> ChannelServicesConfig {
        settings(&Settings::with_overrides(overrides).unwrap())
    }

    #[test]
    fn defaults_are_the_services_without_tokens() {
        let made = made(&[]);
        assert_eq!(made.telegram, TelegramSettings::default());
        assert_eq!(made.pushover, PushoverSettings::default());
        assert_eq!(made.retry_delays, ChannelServicesConfig::default().retry_delays);
        assert_eq!(made.burst_limit, ChannelServicesConfig::default().burst_limit);
        assert!(made.web_push_key.is_none());
    }

    #[test]
    fn tokens_and_addresses_are_those_of_the_settings() {
        let made = made(&[
            ("TELEGRAM__BASE_URL", "http://127.0.0.1:8081"),
            ("TELEGRAM__BOT_TOKEN", "123456:ABC-DEF1234ghIkl"),
            ("PUSHOVER__TOKEN", "azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
            (
                "WEB_PUSH__VAPID_PRIVATE_KEY",
                "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
            ),
        ]);
        let secret = |text: &str| Some(ChannelSecret::new(text));
        assert_eq!(made.telegram.base_url, "http://127.0.0.1:8081");
        assert_eq!(made.telegram.bot_token, secret("123456:ABC-DEF1234ghIkl"));
        assert_eq!(made.pushover.token, secret("azGDORePK8gMaC0QOYAMyEEuzJnyUi"));
        let public_key = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        assert_eq!(made.web_push_key.unwrap().public_key(), public_key);
    }
}
