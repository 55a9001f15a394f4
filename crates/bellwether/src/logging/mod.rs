//! The log and the traces: what the program tells its operator about itself.
//!
//! Both come from the same spans and events. The log goes to standard error, as text for people or as JSON for
//! programs; traces go to a collector where one is set. Repeated warnings and errors are counted ([`repeated`]).

pub mod repeated;

use std::io::{self, IsTerminal};

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use repeated::RepeatedLines;

use crate::settings::{Log, LogFormat, Telemetry};

/// Where below a collector's base address traces are taken.
const TRACES_PATH: &str = "/v1/traces";
/// What sending traces must not tell of, or each span sent would make new ones.
const NOT_TRACED: &str = ",opentelemetry=off,reqwest=off,hyper=off,hyper_util=off,rustls=off,h2=off";

/// Why nothing can be logged.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The exporter of traces.
    #[error("cannot send traces to telemetry.otlp_endpoint: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// Somebody logs already.
    #[error("cannot begin to log: {0}")]
    Begun(#[from] TryInitError),
}

/// Keeps what was traced until it is sent. Drop it last.
#[derive(Debug)]
#[must_use = "what was traced last is sent when this is dropped"]
pub struct Logging {
    provider: Option<SdkTracerProvider>,
    repeated: RepeatedLines,
}

impl Logging {
    /// The lines that are counted instead of repeated. The caller has to end their intervals ([`RepeatedLines::count`]).
    #[must_use]
    pub fn repeated_lines(&self) -> RepeatedLines {
        self.repeated.clone()
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.repeated.end_interval();
        if let Some(provider) = &self.provider
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Begins to log, and to send traces if that is set. Not to be called from within an asynchronous task.
///
/// # Errors
/// [`LoggingError`]
pub fn begin(log: &Log, telemetry: &Telemetry) -> Result<Logging, LoggingError> {
    let as_json = match log.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    };
    let repeated = RepeatedLines::default();
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = if as_json {
        let format = fmt::format()
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false);
        lines
            .fmt_fields(JsonFields::new())
            .event_format(repeated.once(format))
            .boxed()
    } else {
        lines
            .with_ansi(io::stderr().is_terminal())
            .event_format(repeated.once(fmt::format()))
            .boxed()
    };
    let provider = telemetry
        .otlp_endpoint
        .as_deref()
        .map(|endpoint| tracer_provider(endpoint, &telemetry.service_name))
        .transpose()?;
    let traces = provider.as_ref().map(|provider| {
        let tracer: SdkTracer = provider.tracer("bellwether");
        let filter = EnvFilter::new(format!("{}{NOT_TRACED}", log.level));
        tracing_opentelemetry::layer().with_tracer(tracer).with_filter(filter)
    });
    tracing_subscriber::registry()
        .with(lines.with_filter(log.level.to_env_filter()))
        .with(traces)
        .try_init()?;
    Ok(Logging { provider, repeated })
}

fn tracer_provider(endpoint: &str, service_name: &str) -> Result<SdkTracerProvider, ExporterBuildError> {
    let base = endpoint.trim_end_matches('/');
    let base = base.strip_suffix(TRACES_PATH).unwrap_or(base);
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{base}{TRACES_PATH}"))
        .build()?;
    let resource = Resource::builder()
        .with_service_name(service_name.to_owned())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter)
        .build())
}
