//! The settings, section by section. What each is for, at length, stands in `bellwether.example.toml`.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::SignedDuration;
use jiff::civil::Date;
use market::{Decimal, Symbol};
use service::identity::account::CallingCode;

use super::layers::Layers;
use super::mail::{Sender, SmtpUrl};
use super::providers::Sources;
use super::section::section;
use super::value::{
    AnalystKind, EmailTransport, LogFormat, Setting, SmsProvider, SourceKind, TimestampFormat, TokenLimitName,
};
use super::{ApiKey, BaseUrl, DatabaseUrl, Filter, HostName, Network, Prefix, PublicUrl, Secret};

section! {
    /// How the service is reached.
    Server "server" {
        /// Where it listens.
        listen: SocketAddr,
        /// Its address as users see it; `None`: where it listens.
        public_url: Option<PublicUrl>,
        /// Where health and metrics are, if not beside the rest.
        ops_listen: Option<SocketAddr>,
        /// Whose word on a client's address is taken.
        trusted_proxies: Vec<Network>,
        /// At most so many connections at a time.
        max_connections: NonZeroU32,
        /// The maximum number of connections from one address.
        max_connections_per_address: NonZeroU32,
        /// The largest body of a request, in bytes.
        max_body_bytes: NonZeroU32,
        /// The largest body of market data that is pushed, in bytes.
        max_ingest_bytes: NonZeroU32,
        /// How long a client may take to send the head of a request.
        header_timeout: SignedDuration,
        /// How long a client may take to send a body.
        body_timeout: SignedDuration,
        /// How long a request may take from its head to its answer.
        request_timeout: SignedDuration,
        /// How long a client may take nothing of its answer.
        write_timeout: SignedDuration,
        /// How long a connection is kept on which nothing is asked.
        idle_timeout: SignedDuration,
        /// How long requests may go on when the service stops.
        shutdown_timeout: SignedDuration,
    }
}

section! {
    /// Where everything is kept.
    Database "database" {
        /// Which database.
        url: DatabaseUrl,
        /// At most so many connections for reading.
        max_connections: NonZeroU32,
        /// For the test of exactly-once firing only: takes firings without looking at what they fire.
        unsafe_without_compare_and_set: bool,
    }
}

section! {
    /// Where market data comes from, and how it is judged.
    Market "market" {
        /// The source.
        source: SourceKind,
        /// The folder of the file source.
        data_dir: Option<PathBuf>,
        /// Whether alerts are judged out of session, too.
        always_open: bool,
        /// Days on which the exchange is closed beside the known ones.
        extra_closures: Vec<Date>,
        /// What performance is compared with.
        benchmark: Symbol,
        /// What the simulated market is made of.
        seed: u64,
        /// How many companies it has.
        companies: NonZeroU32,
        /// How often its prices are observed.
        pace: SignedDuration,
        /// Whether its prices swing so far that one need not wait for alerts to fire.
        lively: bool,
        /// A stock without an observation for so long during a session has stale quotes.
        stale_after: SignedDuration,
        /// Discussion rises: at least so many times the usual mentions a day ...
        buzz_rising_ratio: Decimal,
        /// ... and at least so many mentions in 24 hours.
        buzz_rising_mentions: u32,
        /// Discussion falls: at most so many times the usual mentions a day ...
        buzz_falling_ratio: Decimal,
        /// ... where at least so many a day are usual.
        buzz_falling_base: u32,
    }
}

section! {
    /// How much a client may ask for.
    Limits "limits" {
        /// Requests an hour and group of routes on the basic plan.
        basic_per_hour: NonZeroU32,
        /// Requests an hour and group of routes on the paid plans.
        premium_per_hour: NonZeroU32,
        /// Webhook tests a minute.
        webhook_test_per_minute: NonZeroU32,
        /// Attempts to log in, a minute and address.
        login_per_minute: NonZeroU32,
        /// Registrations an hour and address.
        register_per_hour: NonZeroU32,
        /// Guests' alerts an hour and address.
        guest_alerts_per_hour: NonZeroU32,
    }
}

section! {
    /// From where agents may come.
    Mcp "mcp" {
        /// Names under which the endpoint is reached beside the public one.
        allowed_hosts: Vec<HostName>,
        /// Pages that may call it from a browser.
        allowed_origins: Vec<PublicUrl>,
    }
}

section! {
    /// How webhooks are called.
    Webhooks "webhooks" {
        /// Ranges of addresses that may be called beside the public's.
        allow_private_cidrs: Vec<Network>,
        /// After how long a delivery that failed is tried again.
        retry_delays: Vec<SignedDuration>,
        /// How long a receiver may take.
        timeout: SignedDuration,
        /// What the names of a delivery's headers begin with.
        header_prefixes: Vec<Prefix>,
        /// How a delivery's timestamp is written.
        timestamp_format: TimestampFormat,
    }
}

section! {
    /// How mail is sent.
    Email "email" {
        /// Who carries it.
        transport: EmailTransport,
        /// The mail server.
        smtp_url: Option<SmtpUrl>,
        /// Whom mail comes from.
        from: Option<Sender>,
        /// The operator's own authorities, for the mail server.
        ca_file: Option<PathBuf>,
        /// How long handing a mail over may take.
        timeout: SignedDuration,
        /// After how long a mail that failed is tried again.
        retry_delays: Vec<SignedDuration>,
        /// Mails a day.
        max_per_day: NonZeroU32,
        /// Mails a day that are not about alerts.
        max_letters_per_day: NonZeroU32,
        /// Those to one address.
        max_letters_per_address: NonZeroU32,
        /// Mails a day about alerts to one address.
        max_alerts_per_address: NonZeroU32,
    }
}

section! {
    /// How text messages are sent.
    Sms "sms" {
        /// Who carries them.
        provider: SmsProvider,
        /// The account at Twilio.
        account_sid: Option<String>,
        /// Its secret.
        auth_token: Option<Secret>,
        /// Whom text messages come from.
        from: Option<String>,
        /// Calling codes of the countries to whose numbers verification codes are sent; empty: every country.
        allowed_countries: Vec<CallingCode>,
        /// Where Twilio's API is.
        base_url: String,
        /// How long handing a text message over may take.
        timeout: SignedDuration,
        /// After how long a text message that failed is tried again.
        retry_delays: Vec<SignedDuration>,
        /// Text messages a day.
        max_per_day: NonZeroU32,
        /// Text messages a day that are not about alerts.
        max_letters_per_day: NonZeroU32,
        /// Those to one number.
        max_letters_per_number: NonZeroU32,
        /// Text messages a day about alerts to one number.
        max_alerts_per_number: NonZeroU32,
    }
}

section! {
    /// Who looks at stocks and proposes alerts.
    Analyst "analyst" {
        /// The rules, or a language model.
        kind: AnalystKind,
        /// Where the model's API is.
        base_url: BaseUrl,
        /// What it is called there.
        model: Option<String>,
        /// What the API is shown.
        api_key: Option<ApiKey>,
        /// How long an answer may take.
        timeout: SignedDuration,
        /// How many tokens an answer may have.
        max_tokens: NonZeroU32,
        /// What the API calls that limit.
        max_tokens_name: TokenLimitName,
        /// How often the model is asked on a day.
        calls_per_day: NonZeroU32,
        /// How often of that for one account.
        calls_per_account: NonZeroU32,
    }
}

section! {
    /// How people show who they are.
    Auth "auth" {
        /// What secrets at rest and tokens are protected with.
        secret_key: Option<Secret>,
        /// Whether a password signs in only after the address was confirmed; `None`: where mail is sent.
        require_email_confirmation: Option<bool>,
        /// Whether anybody may register.
        allow_registration: bool,
    }
}

section! {
    /// What only the operator may do.
    Operator "operator" {
        /// What scheduled jobs are started with from outside.
        cron_secret: Option<Secret>,
    }
}

section! {
    /// What is told to a collector of traces.
    Telemetry "telemetry" {
        /// Where traces are sent, by OTLP over HTTP.
        otlp_endpoint: Option<String>,
        /// The name that traces carry.
        service_name: String,
    }
}

section! {
    /// What is logged.
    Log "log" {
        /// What the log looks like.
        format: LogFormat,
        /// What is worth logging.
        level: Filter,
    }
}

/// All settings.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// How the service is reached.
    pub server: Server,
    /// Where everything is kept.
    pub database: Database,
    /// Where market data comes from.
    pub market: Market,
    /// Providers of market data.
    pub sources: Sources,
    /// How much a client may ask for.
    pub limits: Limits,
    /// From where agents may come.
    pub mcp: Mcp,
    /// How webhooks are called.
    pub webhooks: Webhooks,
    /// How mail is sent.
    pub email: Email,
    /// How text messages are sent.
    pub sms: Sms,
    /// Who looks at stocks.
    pub analyst: Analyst,
    /// How people show who they are.
    pub auth: Auth,
    /// What only the operator may do.
    pub operator: Operator,
    /// Traces.
    pub telemetry: Telemetry,
    /// The log.
    pub log: Log,
}

fn refuse_missing(layers: &mut Layers, given: &[(&str, bool)], what: &str) {
    for (key, _) in given.iter().filter(|(_, is_given)| !is_given) {
        layers.refuse(key, what);
    }
}

impl Settings {
    pub(super) fn read(layers: &mut Layers) -> Option<Self> {
        // All sections are read before any is missed, so that every problem is told.
        let server = Server::read(layers);
        let database = Database::read(layers);
        let market = Market::read(layers);
        let sources = Sources::read(layers);
        let limits = Limits::read(layers);
        let mcp = Mcp::read(layers);
        let webhooks = Webhooks::read(layers);
        let email = Email::read(layers);
        let sms = Sms::read(layers);
        let analyst = Analyst::read(layers);
        let auth = Auth::read(layers);
        let operator = Operator::read(layers);
        let telemetry = Telemetry::read(layers);
        let log = Log::read(layers);
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

    /// Refuses what is allowed alone, but not together.
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
                "must be an address like http://localhost:4318, or \"\" for none",
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
        // Whoever works on the analyst's queue has claimed an item for a quarter of an hour.
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
                "must be given for api.openai.com; other servers may do without",
            );
        }
    }

    pub(super) fn show(&self) -> toml::Table {
        let sections = [
            (Server::NAME, self.server.show()),
            (Database::NAME, self.database.show()),
            (Market::NAME, self.market.show()),
            (Sources::NAME, self.sources.show()),
            (Limits::NAME, self.limits.show()),
            (Mcp::NAME, self.mcp.show()),
            (Webhooks::NAME, self.webhooks.show()),
            (Email::NAME, self.email.show()),
            (Sms::NAME, self.sms.show()),
            (Analyst::NAME, self.analyst.show()),
            (Auth::NAME, self.auth.show()),
            (Operator::NAME, self.operator.show()),
            (Telemetry::NAME, self.telemetry.show()),
            (Log::NAME, self.log.show()),
        ];
        let sections = sections.into_iter();
        sections
            .map(|(name, section)| (name.to_owned(), toml::Value::Table(section)))
            .collect()
    }

    /// The keys of all settings.
    #[cfg(test)]
    pub(super) fn keys() -> Vec<String> {
        [
            Server::keys(),
            Database::keys(),
            Market::keys(),
            Sources::keys(),
            Limits::keys(),
            Mcp::keys(),
            Webhooks::keys(),
            Email::keys(),
            Sms::keys(),
            Analyst::keys(),
            Auth::keys(),
            Operator::keys(),
            Telemetry::keys(),
            Log::keys(),
        ]
        .concat()
    }
}
