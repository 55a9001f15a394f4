//! The sections of the settings. `bellwether.example.toml` explains each setting.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use delivery::phone_number::CallingCode;
use foundation::Roles;
use jiff::SignedDuration;
use jiff::civil::Date;
use market::{Decimal, Symbol};
use notify::address::Cidr;
use notify::signature::TimestampFormat;

use super::section::section;
use super::{
    AnalystApiKey, AnalystKind, BaseUrl, DatabaseUrl, EmailSender, EmailTransport, HeaderNamePrefix, HostName,
    LogFilter, LogFormat, NatsUrl, NodeId, PublicUrl, SecretString, SmsProvider, SmtpUrl, SourceKind, SourcesConfig,
    TokenLimitName,
};

section! {
    /// All settings.
    Settings {
        server: ServerConfig,
        database: DatabaseConfig,
        cluster: ClusterConfig,
        market: MarketConfig,
        sources: SourcesConfig,
        limits: LimitsConfig,
        mcp: McpConfig,
        webhooks: WebhooksSection,
        email: EmailSection,
        sms: SmsSection,
        notifications: NotificationsSection,
        telegram: TelegramSection,
        pushover: PushoverSection,
        web_push: WebPushSection,
        analyst: AnalystSection,
        auth: AuthConfig,
        operator: OperatorConfig,
        telemetry: TelemetryConfig,
        log: LogConfig,
    }
}

section! {
    /// The HTTP server.
    ServerConfig {
        listen: SocketAddr,
        public_url: Option<PublicUrl>,
        ops_listen: Option<SocketAddr>,
        trusted_proxies: Vec<Cidr>,
        max_connections: NonZeroU32,
        max_connections_per_address: NonZeroU32,
        max_body_bytes: NonZeroU32,
        max_ingest_bytes: NonZeroU32,
        header_timeout: SignedDuration,
        body_timeout: SignedDuration,
        request_timeout: SignedDuration,
        write_timeout: SignedDuration,
        idle_timeout: SignedDuration,
        shutdown_timeout: SignedDuration,
    }
}

section! {
    /// The database.
    DatabaseConfig {
        url: DatabaseUrl,
        max_connections: NonZeroU32,
        unsafe_without_compare_and_set: bool,
    }
}

section! {
    /// The cluster of which this process is a node.
    ClusterConfig {
        nats_urls: Vec<NatsUrl>,
        roles: Roles,
        node_id: Option<NodeId>,
        lease_ttl: SignedDuration,
        standby_delay: SignedDuration,
        unsafe_without_fence: bool,
    }
}

section! {
    /// The source of market data and its evaluation.
    MarketConfig {
        source: SourceKind,
        data_dir: Option<PathBuf>,
        always_open: bool,
        extra_closures: Vec<Date>,
        benchmark: Symbol,
        seed: u64,
        companies: NonZeroU32,
        pace: SignedDuration,
        lively: bool,
        stale_after: SignedDuration,
        buzz_rising_ratio: Decimal,
        buzz_rising_mentions: u32,
        buzz_falling_ratio: Decimal,
        buzz_falling_base: u32,
    }
}

section! {
    /// Rate limits.
    LimitsConfig {
        basic_per_hour: NonZeroU32,
        premium_per_hour: NonZeroU32,
        webhook_test_per_minute: NonZeroU32,
        login_per_minute: NonZeroU32,
        register_per_hour: NonZeroU32,
        guest_alerts_per_hour: NonZeroU32,
    }
}

section! {
    /// Access to the MCP endpoint.
    McpConfig {
        allowed_hosts: Vec<HostName>,
        allowed_origins: Vec<PublicUrl>,
    }
}

section! {
    /// Webhook deliveries.
    WebhooksSection {
        allow_private_cidrs: Vec<Cidr>,
        retry_delays: Vec<SignedDuration>,
        timeout: SignedDuration,
        header_prefixes: Vec<HeaderNamePrefix>,
        timestamp_format: TimestampFormat,
    }
}

section! {
    /// Outgoing mail.
    EmailSection {
        transport: EmailTransport,
        smtp_url: Option<SmtpUrl>,
        from: Option<EmailSender>,
        ca_file: Option<PathBuf>,
        timeout: SignedDuration,
        retry_delays: Vec<SignedDuration>,
        max_per_day: NonZeroU32,
        max_letters_per_day: NonZeroU32,
        max_letters_per_address: NonZeroU32,
        max_alerts_per_address: NonZeroU32,
    }
}

section! {
    /// Outgoing text messages.
    SmsSection {
        provider: SmsProvider,
        account_sid: Option<String>,
        auth_token: Option<SecretString>,
        from: Option<String>,
        allowed_countries: Vec<CallingCode>,
        base_url: String,
        timeout: SignedDuration,
        retry_delays: Vec<SignedDuration>,
        max_per_day: NonZeroU32,
        max_letters_per_day: NonZeroU32,
        max_letters_per_number: NonZeroU32,
        max_alerts_per_number: NonZeroU32,
    }
}

section! {
    /// Messages to chat and push services.
    NotificationsSection {
        retry_delays: Vec<SignedDuration>,
        burst_limit: NonZeroU32,
    }
}

section! {
    /// Messages to Telegram chats.
    TelegramSection {
        base_url: String,
        bot_token: Option<SecretString>,
    }
}

section! {
    /// Messages to Pushover.
    PushoverSection {
        base_url: String,
        token: Option<SecretString>,
    }
}

section! {
    /// Push messages to browsers.
    WebPushSection {
        vapid_private_key: Option<SecretString>,
    }
}

section! {
    /// The analyst, which analyses stocks and proposes alerts.
    AnalystSection {
        kind: AnalystKind,
        base_url: BaseUrl,
        model: Option<String>,
        api_key: Option<AnalystApiKey>,
        timeout: SignedDuration,
        max_tokens: NonZeroU32,
        max_tokens_name: TokenLimitName,
        calls_per_day: NonZeroU32,
        calls_per_account: NonZeroU32,
    }
}

section! {
    /// Sign-up, sign-in and secrets.
    AuthConfig {
        secret_key: Option<SecretString>,
        require_email_confirmation: Option<bool>,
        allow_registration: bool,
    }
}

section! {
    /// Operator functions.
    OperatorConfig {
        cron_secret: Option<SecretString>,
    }
}

section! {
    /// Trace export.
    TelemetryConfig {
        otlp_endpoint: Option<String>,
        service_name: String,
    }
}

section! {
    /// The log.
    LogConfig {
        format: LogFormat,
        level: LogFilter,
    }
}
