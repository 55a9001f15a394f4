//! Many requests at once, timed.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

/// So many requests over so many connections.
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
}

/// How long requests took.
#[derive(Default)]
pub(crate) struct Timings {
    each: Vec<Duration>,
    all: Duration,
}

impl Load {
    /// Makes the requests, numbered from `first`.
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    pub(crate) async fn run<F: Future<Output = ()>>(&self, first: usize, request: impl Fn(usize) -> F) -> Timings {
        let next = AtomicUsize::new(0);
        let began = Instant::now();
        let connections = (0..self.connections).map(|_| async {
            let mut timings = Timings::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.requests {
                    return timings;
                }
                timings.time(request(first + number)).await;
            }
        });
        let each = join_all(connections)
            .await
            .into_iter()
            .flat_map(|timings| timings.each)
            .collect();
        Timings {
            each,
            all: began.elapsed(),
        }
    }
}

impl Timings {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    pub(crate) async fn time(&mut self, request: impl Future<Output = ()>) {
        let began = Instant::now();
        request.await;
        self.each.push(began.elapsed());
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.each.len() as f64 / self.all.as_secs_f64()
    }

    pub(crate) fn p99_ms(&self) -> f64 {
        self.percentile_ms(99)
    }

    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let mut each = self.each.clone();
        each.sort_unstable();
        let at = (each.len() * percent).div_ceil(100).saturating_sub(1);
        each.get(at).map_or(0.0, |duration| duration.as_secs_f64() * 1e3)
    }
}
