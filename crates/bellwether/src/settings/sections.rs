//! The sections of the settings. `bellwether.example.toml` explains each setting in detail.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use delivery::phone_number::CallingCode;
use jiff::SignedDuration;
use jiff::civil::Date;
use market::{Decimal, Symbol};

use super::layers::Layers;
use super::mail::{EmailSender, SmtpUrl};
use super::providers::SourcesConfig;
use super::section::section;
use super::value::{
    AnalystKind, EmailTransport, LogFormat, Setting, SmsProvider, SourceKind, TimestampFormat, TokenLimitName,
};
use super::{
    AnalystApiKey, BaseUrl, DatabaseUrl, HeaderNamePrefix, HostName, IpRange, LogFilter, PublicUrl, SecretString,
};

section! {
    /// The HTTP server.
    ServerConfig "server" {
        /// The address to listen on.
        listen: SocketAddr,
        /// The public base URL; `None`: the listen address.
        public_url: Option<PublicUrl>,
        /// A separate address for health and metrics, if any.
        ops_listen: Option<SocketAddr>,
        /// The proxies whose `X-Forwarded-For` header is trusted.
        trusted_proxies: Vec<IpRange>,
        /// The maximum number of concurrent connections.
        max_connections: NonZeroU32,
        /// The maximum number of connections from one address.
        max_connections_per_address: NonZeroU32,
        /// The maximum size of a request body in bytes.
        max_body_bytes: NonZeroU32,
        /// The maximum size of a body with pushed market data in bytes.
        max_ingest_bytes: NonZeroU32,
        /// The timeout for receiving the headers of a request.
        header_timeout: SignedDuration,
        /// The timeout for receiving a body.
        body_timeout: SignedDuration,
        /// The timeout of a request from its headers to the response.
        request_timeout: SignedDuration,
        /// The timeout for a client that does not read its response.
        write_timeout: SignedDuration,
        /// The timeout of an idle connection.
        idle_timeout: SignedDuration,
        /// The maximum time for running requests during shutdown.
        shutdown_timeout: SignedDuration,
    }
}

section! {
    /// The database.
    DatabaseConfig "database" {
        /// The URL of the database.
        url: DatabaseUrl,
        /// The maximum number of connections for reading.
        max_connections: NonZeroU32,
        /// Only for the test of exactly-once firing: firings are written without checking the alert's state.
        unsafe_without_compare_and_set: bool,
    }
}

section! {
    /// The source of market data and its evaluation.
    MarketConfig "market" {
        /// The kind of source.
        source: SourceKind,
        /// The folder of the file source.
        data_dir: Option<PathBuf>,
        /// Whether alerts are also evaluated outside of sessions.
        always_open: bool,
        /// Days on which the exchange is closed, in addition to the known ones.
        extra_closures: Vec<Date>,
        /// The benchmark for performance.
        benchmark: Symbol,
        /// The seed of the simulated market.
        seed: u64,
        /// The number of simulated companies.
        companies: NonZeroU32,
        /// The interval of observing simulated prices.
        pace: SignedDuration,
        /// Whether simulated prices move so strongly that alerts fire within seconds.
        lively: bool,
        /// The time without an observation during a session after which a stock's quotes are stale.
        stale_after: SignedDuration,
        /// Rising buzz: the minimum ratio of mentions in 24 hours to the usual daily mentions ...
        buzz_rising_ratio: Decimal,
        /// ... and the minimum number of mentions in 24 hours.
        buzz_rising_mentions: u32,
        /// Falling buzz: the maximum ratio of mentions in 24 hours to the usual daily mentions ...
        buzz_falling_ratio: Decimal,
        /// ... and the minimum number of usual daily mentions.
        buzz_falling_base: u32,
    }
}

section! {
    /// Rate limits.
    LimitsConfig "limits" {
        /// Requests per hour and route group on the basic plan.
        basic_per_hour: NonZeroU32,
        /// Requests per hour and route group on the paid plans.
        premium_per_hour: NonZeroU32,
        /// Webhook tests per minute.
        webhook_test_per_minute: NonZeroU32,
        /// Sign-in attempts per minute and address.
        login_per_minute: NonZeroU32,
        /// Registrations per hour and address.
        register_per_hour: NonZeroU32,
        /// Guest alerts per hour and address.
        guest_alerts_per_hour: NonZeroU32,
    }
}

section! {
    /// Access to the MCP endpoint.
    McpConfig "mcp" {
        /// Host names of the endpoint, in addition to the public one.
        allowed_hosts: Vec<HostName>,
        /// Origins of web pages that may call the endpoint from a browser.
        allowed_origins: Vec<PublicUrl>,
    }
}

section! {
    /// Webhook deliveries.
    WebhooksSection "webhooks" {
        /// Private address ranges that may be called.
        allow_private_cidrs: Vec<IpRange>,
        /// The delays before a failed delivery is retried.
        retry_delays: Vec<SignedDuration>,
        /// The timeout of a delivery attempt.
        timeout: SignedDuration,
        /// The prefixes of header names.
        header_prefixes: Vec<HeaderNamePrefix>,
        /// The format of the timestamp header.
        timestamp_format: TimestampFormat,
    }
}

section! {
    /// Outgoing mail.
    EmailSection "email" {
        /// The transport.
        transport: EmailTransport,
        /// The URL of the mail server.
        smtp_url: Option<SmtpUrl>,
        /// The sender.
        from: Option<EmailSender>,
        /// A file with additional root certificates for the mail server.
        ca_file: Option<PathBuf>,
        /// The timeout of sending a mail.
        timeout: SignedDuration,
        /// The delays before a failed mail is retried.
        retry_delays: Vec<SignedDuration>,
        /// The maximum number of mails per day.
        max_per_day: NonZeroU32,
        /// The maximum number of mails per day that are not about alerts.
        max_letters_per_day: NonZeroU32,
        /// The maximum number of mails per day and address that are not about alerts.
        max_letters_per_address: NonZeroU32,
        /// The maximum number of mails per day and address about alerts.
        max_alerts_per_address: NonZeroU32,
    }
}

section! {
    /// Outgoing text messages.
    SmsSection "sms" {
        /// The provider.
        provider: SmsProvider,
        /// The SID of the Twilio account.
        account_sid: Option<String>,
        /// The auth token of the Twilio account.
        auth_token: Option<SecretString>,
        /// The sender: a phone number or a messaging service.
        from: Option<String>,
        /// The country calling codes to which verification codes are sent; empty: all countries.
        allowed_countries: Vec<CallingCode>,
        /// The base URL of Twilio's API.
        base_url: String,
        /// The timeout of sending a text message.
        timeout: SignedDuration,
        /// The delays before a failed text message is retried.
        retry_delays: Vec<SignedDuration>,
        /// The maximum number of text messages per day.
        max_per_day: NonZeroU32,
        /// The maximum number of text messages per day that are not about alerts.
        max_letters_per_day: NonZeroU32,
        /// The maximum number of text messages per day and phone number that are not about alerts.
        max_letters_per_number: NonZeroU32,
        /// The maximum number of text messages per day and phone number about alerts.
        max_alerts_per_number: NonZeroU32,
    }
}

section! {
    /// The analyst, which analyses stocks and proposes alerts.
    AnalystSection "analyst" {
        /// The kind of analyst: rules or a language model.
        kind: AnalystKind,
        /// The base URL of the model's API.
        base_url: BaseUrl,
        /// The name of the model.
        model: Option<String>,
        /// The API key.
        api_key: Option<AnalystApiKey>,
        /// The timeout of a request to the model.
        timeout: SignedDuration,
        /// The maximum number of tokens in an answer.
        max_tokens: NonZeroU32,
        /// The API's name for that limit.
        max_tokens_name: TokenLimitName,
        /// The maximum number of calls per day.
        calls_per_day: NonZeroU32,
        /// The maximum number of calls per day and account.
        calls_per_account: NonZeroU32,
    }
}

section! {
    /// Sign-up, sign-in and secrets.
    AuthConfig "auth" {
        /// The key that protects stored secrets and tokens.
        secret_key: Option<SecretString>,
        /// Whether signing in with a password requires a confirmed email address; `None`: only if mail is sent.
        require_email_confirmation: Option<bool>,
        /// Whether anyone may register.
        allow_registration: bool,
    }
}

section! {
    /// Operator functions.
    OperatorConfig "operator" {
        /// The secret for triggering scheduled jobs from outside.
        cron_secret: Option<SecretString>,
    }
}

section! {
    /// Trace export.
    TelemetryConfig "telemetry" {
        /// The collector's base URL for OTLP over HTTP.
        otlp_endpoint: Option<String>,
        /// The service name in traces.
        service_name: String,
    }
}

section! {
    /// The log.
    LogConfig "log" {
        /// The format.
        format: LogFormat,
        /// The level filter.
        level: LogFilter,
    }
}

/// All settings.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The HTTP server.
    pub server: ServerConfig,
    /// The database.
    pub database: DatabaseConfig,
    /// The source of market data.
    pub market: MarketConfig,
    /// The providers of market data.
    pub sources: SourcesConfig,
    /// Rate limits.
    pub limits: LimitsConfig,
    /// Access to the MCP endpoint.
    pub mcp: McpConfig,
    /// Webhook deliveries.
    pub webhooks: WebhooksSection,
    /// Outgoing mail.
    pub email: EmailSection,
    /// Outgoing text messages.
    pub sms: SmsSection,
    /// The analyst.
    pub analyst: AnalystSection,
    /// Sign-up, sign-in and secrets.
    pub auth: AuthConfig,
    /// Operator functions.
    pub operator: OperatorConfig,
    /// Trace export.
    pub telemetry: TelemetryConfig,
    /// The log.
    pub log: LogConfig,
}

fn refuse_missing(layers: &mut Layers, given: &[(&str, bool)], what: &str) {
    for (key, _) in given.iter().filter(|(_, is_given)| !is_given) {
        layers.refuse(key, what);
    }
}

impl Settings {
    pub(super) fn read(layers: &mut Layers) -> Option<Self> {
        // All sections are read first, so that every problem is reported.
        let server = ServerConfig::read(layers);
        let database = DatabaseConfig::read(layers);
        let market = MarketConfig::read(layers);
        let sources = SourcesConfig::read(layers);
        let limits = LimitsConfig::read(layers);
        let mcp = McpConfig::read(layers);
        let webhooks = WebhooksSection::read(layers);
        let email = EmailSection::read(layers);
        let sms = SmsSection::read(layers);
        let analyst = AnalystSection::read(layers);
        let auth = AuthConfig::read(layers);
        let operator = OperatorConfig::read(layers);
        let telemetry = TelemetryConfig::read(layers);
        let log = LogConfig::read(layers);
        let settings = Self {
            server: server?,
            database: database?,
            market: market?,
            sources: sources?,
            limits: limits?,
            mcp: mcp?,
            webhooks: webhooks?,
            email: email?,
            sms: sms?,
            analyst: analyst?,
            auth: auth?,
            operator: operator?,
            telemetry: telemetry?,
            log: log?,
        };
        settings.check(layers);
        Some(settings)
    }

    /// Rejects values that are valid alone but not in combination.
    fn check(&self, layers: &mut Layers) {
        if self.market.source == SourceKind::File && self.market.data_dir.is_none() {
            layers.refuse(
                "market.data_dir",
                "must name the folder to read when market.source is \"file\"",
            );
        }
        self.sources.check(&self.market, layers);
        if self.server.ops_listen == Some(self.server.listen) && self.server.listen.port() != 0 {
            layers.refuse(
                "server.ops_listen",
                "must differ from server.listen; \"\" serves health and metrics there",
            );
        }
        let endpoint = self.telemetry.otlp_endpoint.as_deref();
        if endpoint.is_some_and(|endpoint| !endpoint.starts_with("http://") && !endpoint.starts_with("https://")) {
            layers.refuse(
                "telemetry.otlp_endpoint",
                "must be a URL like http://localhost:4318, or \"\" for none",
            );
        }
        if self.email.transport == EmailTransport::Smtp {
            let given = [
                ("email.smtp_url", self.email.smtp_url.is_some()),
                ("email.from", self.email.from.is_some()),
            ];
            refuse_missing(layers, &given, "must be given when email.transport is \"smtp\"");
        }
        if self.sms.provider == SmsProvider::Twilio {
            let given = [
                ("sms.account_sid", self.sms.account_sid.is_some()),
                ("sms.auth_token", self.sms.auth_token.is_some()),
                ("sms.from", self.sms.from.is_some()),
            ];
            refuse_missing(layers, &given, "must be given when sms.provider is \"twilio\"");
        }
        // An analyst worker leases its item for 15 minutes.
        if self.analyst.timeout > SignedDuration::from_mins(10) {
            layers.refuse("analyst.timeout", "must be at most 10m");
        }
        if self.analyst.kind == AnalystKind::Openai {
            let given = [("analyst.model", self.analyst.model.is_some())];
            refuse_missing(layers, &given, "must name the model when analyst.kind is \"openai\"");
            let is_key_missing = self.analyst.base_url.is_openai() && self.analyst.api_key.is_none();
            let given = [("analyst.api_key", !is_key_missing)];
            refuse_missing(
                layers,
                &given,
                "must be given for api.openai.com; other servers may not need one",
            );
        }
    }

    pub(super) fn show(&self) -> toml::Table {
        let sections = [
            (ServerConfig::NAME, self.server.show()),
            (DatabaseConfig::NAME, self.database.show()),
            (MarketConfig::NAME, self.market.show()),
            (SourcesConfig::NAME, self.sources.show()),
            (LimitsConfig::NAME, self.limits.show()),
            (McpConfig::NAME, self.mcp.show()),
            (WebhooksSection::NAME, self.webhooks.show()),
            (EmailSection::NAME, self.email.show()),
            (SmsSection::NAME, self.sms.show()),
            (AnalystSection::NAME, self.analyst.show()),
            (AuthConfig::NAME, self.auth.show()),
            (OperatorConfig::NAME, self.operator.show()),
            (TelemetryConfig::NAME, self.telemetry.show()),
            (LogConfig::NAME, self.log.show()),
        ];
        let sections = sections.into_iter();
        sections
            .map(|(name, section)| (name.to_owned(), toml::Value::Table(section)))
            .collect()
    }

    /// Returns the keys of all settings.
    #[cfg(test)]
    pub(super) fn keys() -> Vec<String> {
        [
            ServerConfig::keys(),
            DatabaseConfig::keys(),
            MarketConfig::keys(),
            SourcesConfig::keys(),
            LimitsConfig::keys(),
            McpConfig::keys(),
            WebhooksSection::keys(),
            EmailSection::keys(),
            SmsSection::keys(),
            AnalystSection::keys(),
            AuthConfig::keys(),
            OperatorConfig::keys(),
            TelemetryConfig::keys(),
            LogConfig::keys(),
        ]
        .concat()
    }
}
