//! Contenders measured in turn, round after round, so that what disturbs the machine disturbs them all.
//!
//! Criterion measures one function after another; a ratio of two of its figures is a ratio of two different minutes. The ratios
//! in docs/performance.md come from here, the series that show a regression from criterion.

use std::time::Duration;

/// How long `run` takes.
pub(crate) fn stopwatch<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a bench measures time; nothing is judged by it"
    )]
    let start = std::time::Instant::now();
    let result = run();
    (start.elapsed(), result)
}

/// Who is measured: a name, how many units of work one run does, and the run, which times itself.
pub(crate) struct Contender<'a> {
    name: String,
    units: f64,
    run: Box<dyn FnMut() -> Duration + 'a>,
}

impl<'a> Contender<'a> {
    /// Each run is timed from start to end.
    pub(crate) fn new(name: impl Into<String>, units: usize, mut run: impl FnMut() + 'a) -> Self {
        Self::timing_itself(name, units, move || stopwatch(&mut run).0)
    }

    /// The run says how long what counts took.
    pub(crate) fn timing_itself(name: impl Into<String>, units: usize, run: impl FnMut() -> Duration + 'a) -> Self {
        Self {
            name: name.into(),
            units: units as f64,
            run: Box::new(run),
        }
    }
}

/// The nanoseconds a unit took.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) best: f64,
    pub(crate) median: f64,
}

/// Lets every contender run once a round, prints and returns their figures in the order of the contenders.
pub(crate) fn race(title: &str, rounds: usize, mut contenders: Vec<Contender<'_>>) -> Vec<Figure> {
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            samples.push((contender.run)().as_secs_f64() * 1e9 / contender.units);
        }
    }
    println!("\n{title} ({rounds} rounds in turn; best | median)");
    contenders
        .into_iter()
        .zip(samples)
        .map(|(contender, mut samples)| {
            samples.sort_by(f64::total_cmp);
            let figure = Figure {
                name: contender.name,
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

/// Nanoseconds for reading.
pub(crate) fn nanos(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.2} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}
