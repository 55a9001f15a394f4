//! Sends many concurrent requests and measures their durations.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

/// A number of requests over a number of connections.
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
}

/// The durations of requests.
#[derive(Default)]
pub(crate) struct Timings {
    durations: Vec<Duration>,
    total: Duration,
}

impl Load {
    /// Sends the requests, numbered from `first`.
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    pub(crate) async fn run<F: Future<Output = ()>>(&self, first: usize, request: impl Fn(usize) -> F) -> Timings {
        let next = AtomicUsize::new(0);
        let started = Instant::now();
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
        let durations = join_all(connections)
            .await
            .into_iter()
            .flat_map(|timings| timings.durations)
            .collect();
        Timings {
            durations,
            total: started.elapsed(),
        }
    }
}

impl Timings {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    pub(crate) async fn time(&mut self, request: impl Future<Output = ()>) {
        let started = Instant::now();
        request.await;
        self.durations.push(started.elapsed());
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.durations.len() as f64 / self.total.as_secs_f64()
    }

    pub(crate) fn p99_ms(&self) -> f64 {
        self.percentile_ms(99)
    }

    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let mut durations = self.durations.clone();
        durations.sort_unstable();
        let at = (durations.len() * percent).div_ceil(100).saturating_sub(1);
        durations.get(at).map_or(0.0, |duration| duration.as_secs_f64() * 1e3)
    }
}
