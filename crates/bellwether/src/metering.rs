//! Metrics of all crates in the Prometheus text format.

use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

/// The interval of moving recorded samples into their buckets, so that they do not pile up when nothing scrapes.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The bounds of histogram buckets for durations, in seconds, from 0.5 ms to 30 s.
const HISTOGRAM_BUCKETS_SECONDS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// The recorder of all metrics.
#[derive(Clone, Debug)]
pub struct Metering(PrometheusHandle);

impl Metering {
    /// Installs the global recorder. It can be installed once per process.
    ///
    /// # Errors
    /// [`BuildError`] if a recorder is already installed.
    pub fn install() -> Result<Self, BuildError> {
        let recorder = PrometheusBuilder::new().set_buckets(HISTOGRAM_BUCKETS_SECONDS)?;
        Ok(Self(recorder.install_recorder()?))
    }

    /// Renders all metrics in the Prometheus text format.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Runs the recorder's maintenance; never returns.
    pub async fn upkeep(self) {
        let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            ticks.tick().await;
            self.0.run_upkeep();
        }
    }
}
