//! # Serving

use crate::metering::Metering;
use crate::settings::Settings;

/// Runs the service until it is told to stop.
pub async fn run(_settings: Settings, _metering: Metering) -> anyhow::Result<()> {
    Ok(())
}
