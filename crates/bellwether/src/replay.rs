//! The replay of a data folder, which the command line and the demo share with previews of alerts.

pub use evaluation::replay::{PeriodError, Replay, ReplayAlert, ReplayFiring, ReplayPeriod, ReplaySummary};
