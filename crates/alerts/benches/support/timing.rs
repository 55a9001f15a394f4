//! Candidates measured in turn, round after round, so that disturbances of the machine affect all of them.
//!
//! Criterion measures one function after another, so a ratio of two of its figures compares two different minutes. The ratios in
//! docs/performance.md come from this module; the series that reveal a regression come from criterion.

use std::time::Duration;

/// Returns the duration of `run` and its result.
pub(crate) fn stopwatch<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a bench measures time; no decision depends on it"
    )]
    let start = std::time::Instant::now();
    let result = run();
    (start.elapsed(), result)
}

/// Returns the processor time of `run` and its result, so that other work on the machine does not count. Where the system does not
/// report it, returns the duration.
pub(crate) fn processor_stopwatch<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let before = processor_time();
    let (duration, result) = stopwatch(run);
    let used = before
        .zip(processor_time())
        .map(|(before, after)| after.saturating_sub(before));
    (used.unwrap_or(duration), result)
}

/// Returns the processor time of this thread so far.
fn processor_time() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = statistics.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// A measured candidate: a name, the units of work per run, and the run, which returns its duration.
pub(crate) struct Candidate<'a> {
    name: String,
    units: f64,
    run: Box<dyn FnMut() -> Duration + 'a>,
}

impl<'a> Candidate<'a> {
    /// Creates a candidate whose runs are timed from start to end.
    pub(crate) fn new(name: impl Into<String>, units: usize, mut run: impl FnMut() + 'a) -> Self {
        Self::timing_itself(name, units, move || stopwatch(&mut run).0)
    }

    /// Creates a candidate whose runs return the relevant duration.
    pub(crate) fn timing_itself(name: impl Into<String>, units: usize, run: impl FnMut() -> Duration + 'a) -> Self {
        Self {
            name: name.into(),
            units: units as f64,
            run: Box::new(run),
        }
    }
}

/// The nanoseconds per unit of work.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) best: f64,
    pub(crate) median: f64,
}

/// Runs every candidate once per round. Prints and returns their figures in the order of the candidates.
pub(crate) fn measure_in_turn(title: &str, rounds: usize, mut candidates: Vec<Candidate<'_>>) -> Vec<Figure> {
    let mut samples = vec![Vec::with_capacity(rounds); candidates.len()];
    for _ in 0..rounds {
        for (candidate, samples) in candidates.iter_mut().zip(&mut samples) {
            samples.push((candidate.run)().as_secs_f64() * 1e9 / candidate.units);
        }
    }
    println!("\n{title} ({rounds} rounds in turn; best | median)");
    candidates
        .into_iter()
        .zip(samples)
        .map(|(candidate, mut samples)| {
            samples.sort_by(f64::total_cmp);
            let figure = Figure {
                name: candidate.name,
                best: samples[0],
                median: samples[samples.len() / 2],
            };
            println!(
                "  {:<58} {:>12} | {:>12}",
                figure.name,
                nanos(figure.best),
                nanos(figure.median)
            );
            figure
        })
        .collect()
}

/// Formats nanoseconds with a suitable unit.
pub(crate) fn nanos(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.2} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}
