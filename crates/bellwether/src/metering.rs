//! Metrics: what the rooms count and measure, in the form that Prometheus reads.

use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

/// How often what was measured is put into its buckets, so that it does not pile up where nobody scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// The bounds of the buckets for times, in seconds: from half a millisecond to half a minute.
const BUCKETS_S: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// What was counted and measured.
#[derive(Clone, Debug)]
pub struct Metering(PrometheusHandle);

impl Metering {
    /// Begins to count and measure, once in a process.
    ///
    /// # Errors
    /// [`BuildError`] if it has been begun already.
    pub fn begin() -> Result<Self, BuildError> {
        let recorder = PrometheusBuilder::new().set_buckets(BUCKETS_S)?;
        Ok(Self(recorder.install_recorder()?))
    }

    /// All of it, as Prometheus reads it.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Looks after what was measured, for ever.
    pub async fn upkeep(self) {
        let mut ticks = tokio::time::interval(UPKEEP_EVERY);
        loop {
            ticks.tick().await;
            self.0.run_upkeep();
        }
    }
}
