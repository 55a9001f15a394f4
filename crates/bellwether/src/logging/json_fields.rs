//! The fields of spans as JSON, for the log.

use std::fmt;

use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormattedFields;
use tracing_subscriber::fmt::format::{FormatFields, JsonFields, Writer};

/// Formats fields as [`JsonFields`] does, and appends those that are recorded later. [`JsonFields`] reads and writes all fields of the span
/// again then, which is a twentieth of the instructions of a create.
///
/// A field that is recorded twice is kept twice; the line of the log has the later value.
#[derive(Debug, Default)]
pub(super) struct AppendedJsonFields(JsonFields);

impl<'writer> FormatFields<'writer> for AppendedJsonFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        self.0.format_fields(writer, fields)
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut added = String::new();
        self.0.format_fields(Writer::new(&mut added), fields)?;
        let all = &mut current.fields;
        if matches!(all.as_str(), "" | "{}") {
            *all = added;
        } else if added != "{}" {
            // `{"a":1}` and `{"b":2}` become `{"a":1,"b":2}`.
            all.truncate(all.len().saturating_sub(1));
            all.push(',');
            all.push_str(added.get(1..).unwrap_or_default());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tracing::{field, info_span, record_all};

    use super::super::test_log::Log;
    use super::*;

    /// The lines that spans with later fields cause.
    fn logged<F: for<'a> FormatFields<'a> + Send + Sync + 'static>(fields: F) -> Vec<serde_json::Value> {
        let log = Log::default();
        let format = tracing_subscriber::fmt::format()
            .json()
            .without_time()
            .with_span_list(false);
        let subscriber = tracing_subscriber::fmt()
            .fmt_fields(fields)
            .event_format(format)
            .with_writer(log.clone());
        tracing::subscriber::with_default(subscriber.finish(), || {
            let span = info_span!(
                "request",
                method = "GET",
                principal = field::Empty,
                status = field::Empty
            );
            span.in_scope(|| tracing::info!("before"));
            span.record("principal", "quoted \"name\"");
            record_all!(span, status = 200, principal = "another, {name}");
            span.in_scope(|| tracing::info!(status = 1, "after"));
            let empty = info_span!("job", account = field::Empty);
            empty.in_scope(|| tracing::info!("without fields"));
            empty.record("account", 7);
            empty.in_scope(|| tracing::info!("with the first field"));
            empty.record("unknown", 8);
            empty.in_scope(|| tracing::info!("with a field that the span does not have"));
        });
        log.lines()
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn lines_are_equal_to_those_of_the_library() {
        let lines = logged(AppendedJsonFields::default());
        assert_eq!(lines.len(), 5);
        assert_eq!(lines, logged(JsonFields::new()));
    }
}
