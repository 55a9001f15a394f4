//! Deduplication of log lines: the first of equal lines is written at once, and the others of an interval are
//! counted.
//!
//! A full disk or an unreachable database makes every request and every task fail in the same way. Tens of thousands
//! of equal lines contain no more than the first one and their number, and they fill the disk of the log.
//!
//! Warnings and errors are equal if they come from one place in the code with the same fields. Their spans (a request's id, for
//! example) are not compared.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The time for which repeated lines are counted before their number is written.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);
/// The maximum number of different lines that are remembered in an interval. Further ones are always written.
const MAX_REMEMBERED_LINES: usize = 1_000;
/// The target of lines with the number of repetitions.
const TARGET: &str = "bellwether::repeated";

/// The lines of the current interval.
#[derive(Clone, Debug, Default)]
pub struct RepeatedLines(Arc<Mutex<HashMap<u64, Line>>>);

#[derive(Debug)]
struct Line {
    level: Level,
    text: String,
    /// The number of repetitions since the line was written.
    repeated: u64,
}

impl RepeatedLines {
    /// Returns whether a line must be written, and counts it otherwise.
    fn is_new(&self, event: &Event<'_>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::WARN || metadata.target() == TARGET {
            return true;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut hasher = DefaultHasher::new();
        (metadata.callsite(), &fields.0).hash(&mut hasher);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = lines.len() >= MAX_REMEMBERED_LINES;
        match lines.entry(hasher.finish()) {
            Entry::Occupied(mut line) => {
                line.get_mut().repeated += 1;
                false
            }
            Entry::Vacant(place) => {
                if !is_full {
                    place.insert(Line {
                        level: *metadata.level(),
                        text: fields.0,
                        repeated: 0,
                    });
                }
                true
            }
        }
    }

    /// Ends an interval: writes the number of repetitions of each line, and forgets lines without any.
    pub fn end_interval(&self) {
        let mut repeated = Vec::new();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, line| {
            let count = std::mem::take(&mut line.repeated);
            if count > 0 {
                repeated.push((line.level, line.text.clone(), count));
            }
            count > 0
        });
        // Logged after the lock is released, because these are events, too.
        for (level, line, count) in repeated {
            // Logged at the level of the line, so that a log of errors alone has the number.
            if level == Level::ERROR {
                tracing::error!(target: TARGET, count, line, "the same line was repeated");
            } else {
                tracing::warn!(target: TARGET, count, line, "the same line was repeated");
            }
        }
    }

    /// Ends an interval every ten seconds; never returns.
    pub async fn run(self) {
        let mut ticks = tokio::time::interval(COUNT_INTERVAL);
        loop {
            ticks.tick().await;
            self.end_interval();
        }
    }

    /// Wraps a format so that it writes only new lines.
    pub(super) fn deduplicated<F>(&self, format: F) -> Deduplicated<F> {
        Deduplicated {
            lines: self.clone(),
            format,
        }
    }
}

/// The message and the fields of an event, as text.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?} "),
            name => write!(self.0, "{name}={value:?} "),
        };
    }
}

/// A format that omits repeated lines.
pub(super) struct Deduplicated<F> {
    lines: RepeatedLines,
    format: F,
}

impl<S, N, F> FormatEvent<S, N> for Deduplicated<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if self.lines.is_new(event) {
            self.format.format_event(context, writer, event)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::fmt::format::Format;
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::test_log::Log;
    use super::*;

    fn with_log(test: impl FnOnce(&Log, &RepeatedLines)) {
        let (log, lines) = (Log::default(), RepeatedLines::default());
        let format = lines.deduplicated(Format::default().without_time().with_ansi(false));
        let layer = tracing_subscriber::fmt::layer()
            .event_format(format)
            .with_writer(log.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || test(&log, &lines));
    }

    fn fail(error: &str) {
        tracing::error!(error, "a request failed");
    }

    #[test]
    fn repeated_line_is_written_once_and_counted_per_interval() {
        with_log(|log, lines| {
            for request in 0..1_000 {
                tracing::info_span!("request", request).in_scope(|| fail("the disk is full"));
            }
            fail("the database is away");
            let written = log.lines();
            assert_eq!(written.len(), 2, "{written:#?}");
            lines.end_interval();
            let written = log.lines();
            assert_eq!(written.len(), 1, "{written:#?}");
            assert!(
                written[0].contains("count=999") && written[0].contains("the disk is full"),
                "{written:#?}"
            );
            fail("the disk is full");
            assert!(log.lines().is_empty(), "it goes on, and is counted");
            lines.end_interval();
            assert!(log.lines()[0].contains("count=1 "));
        });
    }

    #[test]
    fn line_is_new_after_an_interval_without_it() {
        with_log(|log, lines| {
            fail("the disk is full");
            lines.end_interval();
            assert_eq!(log.lines().len(), 1);
            fail("the disk is full");
            assert_eq!(log.lines().len(), 1);
        });
    }

    #[test]
    fn lines_below_warning_level_are_not_deduplicated() {
        with_log(|log, _| {
            for _ in 0..3 {
                tracing::info!("answered");
            }
            assert_eq!(log.lines().len(), 3);
        });
    }

    #[test]
    fn equal_counts_of_two_intervals_are_both_logged() {
        with_log(|log, lines| {
            fail("the disk is full");
            for _ in 0..2 {
                fail("the disk is full");
                lines.end_interval();
            }
            assert_eq!(log.lines().len(), 3);
        });
    }
}
