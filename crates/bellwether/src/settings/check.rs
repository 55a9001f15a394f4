//! Checks for values that are valid alone but not in combination. Each message names the fix.

use jiff::SignedDuration;
use notify::channels::web_push::{VapidKey, VapidKeyError};

use super::layers::Layers;
use super::{AnalystKind, EmailTransport, Settings, SmsProvider, SourceKind};

impl Settings {
    pub(super) fn check(&self, layers: &mut Layers) {
        let is_file = self.market.source == SourceKind::File;
        layers.require(
            !is_file || self.market.data_dir.is_some(),
            "market.data_dir",
            "must name the folder to read when market.source is \"file\"",
        );
        self.sources.check(&self.market, layers);
        layers.require(
            self.server.ops_listen != Some(self.server.listen) || self.server.listen.port() == 0,
            "server.ops_listen",
            "must differ from server.listen; \"\" serves health and metrics there",
        );
        let is_url = |text: &String| text.starts_with("http://") || text.starts_with("https://");
        layers.require(
            self.telemetry.otlp_endpoint.as_ref().is_none_or(is_url),
            "telemetry.otlp_endpoint",
            "must be a URL like http://localhost:4318, or \"\" for none",
        );
        if self.email.transport == EmailTransport::Smtp {
            let message = "must be given when email.transport is \"smtp\"";
            layers.require(self.email.smtp_url.is_some(), "email.smtp_url", message);
            layers.require(self.email.from.is_some(), "email.from", message);
        }
        if self.sms.provider == SmsProvider::Twilio {
            let message = "must be given when sms.provider is \"twilio\"";
            layers.require(self.sms.account_sid.is_some(), "sms.account_sid", message);
            layers.require(self.sms.auth_token.is_some(), "sms.auth_token", message);
            layers.require(self.sms.from.is_some(), "sms.from", message);
        }
        self.cluster.check(layers);
        self.check_web_push(layers);
        self.check_analyst(layers);
    }

    fn check_web_push(&self, layers: &mut Layers) {
        let key = self.web_push.vapid_private_key.as_ref();
        let is_valid = key.is_none_or(|key| VapidKey::from_base64url(key.expose()).is_ok());
        layers.require(is_valid, "web_push.vapid_private_key", &VapidKeyError.to_string());
    }

    fn check_analyst(&self, layers: &mut Layers) {
        let analyst = &self.analyst;
        // An analyst worker leases its item for 15 minutes.
        let is_short = analyst.timeout <= SignedDuration::from_mins(10);
        layers.require(is_short, "analyst.timeout", "must be at most 10m");
        if analyst.kind == AnalystKind::Openai {
            layers.require(
                analyst.model.is_some(),
                "analyst.model",
                "must name the model when analyst.kind is \"openai\"",
            );
            layers.require(
                analyst.api_key.is_some() || !analyst.base_url.is_openai(),
                "analyst.api_key",
                "must be given for api.openai.com; other servers may not need one",
            );
        }
    }
}
