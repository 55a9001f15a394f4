//! The program's log and traces.
//!
//! Both come from the same spans and events. The log goes to standard error, as text for people or as JSON for
//! programs. Traces go to a collector if one is configured. Repeated warnings and errors are counted ([`repeated`]).

mod json_fields;
pub mod repeated;
#[cfg(test)]
mod test_log;

use std::io::{self, IsTerminal};

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use json_fields::AppendedJsonFields;
use repeated::RepeatedLines;

use crate::settings::{LogConfig, LogFormat, TelemetryConfig};

/// The path of traces below a collector's base URL.
const TRACES_PATH: &str = "/v1/traces";
/// The targets that are excluded from traces. Otherwise each exported span would create new spans.
const EXCLUDED_TARGETS: &str = ",opentelemetry=off,reqwest=off,hyper=off,hyper_util=off,rustls=off,h2=off";

/// The reasons why logging cannot be initialized.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The trace exporter cannot be built.
    #[error("cannot send traces to telemetry.otlp_endpoint: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// Logging is already initialized in this process.
    #[error("cannot initialize logging: {0}")]
    AlreadyInitialized(#[from] TryInitError),
}

/// The running log and trace export. Drop it last, because it sends the remaining traces when it is dropped.
#[derive(Debug)]
#[must_use = "the remaining traces are sent when this is dropped"]
pub struct Logging {
    provider: Option<SdkTracerProvider>,
    repeated: RepeatedLines,
}

impl Logging {
    /// Returns the lines that are counted instead of repeated. The caller must end their intervals
    /// ([`RepeatedLines::run`]).
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

/// Initializes the log, and the trace export if it is configured. Must not be called from an asynchronous task.
///
/// # Errors
/// [`LoggingError`] if the exporter cannot be built or logging is already initialized.
pub fn init(log: &LogConfig, telemetry: &TelemetryConfig) -> Result<Logging, LoggingError> {
    let is_json = match log.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    };
    let repeated = RepeatedLines::default();
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = if is_json {
        let format = fmt::format()
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false);
        lines
            .fmt_fields(AppendedJsonFields::default())
            .event_format(repeated.deduplicated(format))
            .boxed()
    } else {
        lines
            .with_ansi(io::stderr().is_terminal())
            .event_format(repeated.deduplicated(fmt::format()))
            .boxed()
    };
    let provider = telemetry
        .otlp_endpoint
        .as_deref()
        .map(|endpoint| tracer_provider(endpoint, &telemetry.service_name))
        .transpose()?;
    let traces = provider.as_ref().map(|provider| {
        let tracer: SdkTracer = provider.tracer("bellwether");
        let filter = EnvFilter::new(format!("{}{EXCLUDED_TARGETS}", log.level));
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
