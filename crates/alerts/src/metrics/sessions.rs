//! The number of completed sessions that a metric needs.

use crate::expression::metric::{ChangeBase, MacdPeriods, Metric};

/// Returns the number of completed sessions without which a metric has no value during a session.
#[must_use]
pub fn required_sessions(metric: Metric) -> u16 {
    match metric {
        Metric::PrevClose
        | Metric::GapPct
        | Metric::High52Weeks
        | Metric::Low52Weeks
        | Metric::ChangePct(ChangeBase::PrevClose) => 1,
        Metric::ChangePct(ChangeBase::Sessions(n))
        | Metric::High(n)
        | Metric::Low(n)
        | Metric::Drawdown(n)
        | Metric::Rsi(n)
        | Metric::Atr(n)
        | Metric::AverageVolume(n)
        | Metric::RelativeVolume(n) => n.get(),
        // The price stands in for today's close.
        Metric::Sma(n) | Metric::Ema(n) | Metric::StandardDeviation(n) => n.get() - 1,
        Metric::BollingerUpper(band) | Metric::BollingerLower(band) => band.period.get() - 1,
        Metric::Macd(periods) | Metric::MacdSignal(periods) => {
            let MacdPeriods { fast, slow, signal } = periods;
            fast.get().max(slow.get()) + signal.get() - 2
        }
        _ => 0,
    }
}
