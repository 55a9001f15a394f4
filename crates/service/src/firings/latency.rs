//! The delay of an account's messages, from the quote to the acceptance by the receiver.

use foundation::{Actor, ServiceError};
use jiff::SignedDuration;

use super::Firings;

/// The number of messages of each channel from which percentiles are computed: the newest ones.
const MAX_MESSAGES: u32 = 100_000;

/// The percentiles of some delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DelayPercentiles {
    /// The number of messages.
    pub count: usize,
    /// Half of the messages took no longer.
    pub p50: Option<SignedDuration>,
    /// 95 % of the messages took no longer.
    pub p95: Option<SignedDuration>,
    /// 99 % of the messages took no longer.
    pub p99: Option<SignedDuration>,
}

/// The delays of an account's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotificationLatency {
    /// Of the last hour.
    pub hour: DelayPercentiles,
    /// Of the last 24 hours.
    pub day: DelayPercentiles,
}

impl DelayPercentiles {
    fn of(mut delays: Vec<SignedDuration>) -> Self {
        delays.sort_unstable();
        let percentile = |percent: usize| nearest_rank(&delays, percent);
        Self {
            count: delays.len(),
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
        }
    }
}

/// Returns a percentile of sorted values by the nearest-rank method; `None` of no values.
fn nearest_rank(sorted: &[SignedDuration], percent: usize) -> Option<SignedDuration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

impl Firings {
    /// Returns the delays of the actor's messages about firings, from the quote to the acceptance.
    ///
    /// # Errors
    /// [`ServiceError`] if the database fails.
    pub async fn latency(&self, actor: &Actor) -> Result<NotificationLatency, ServiceError> {
        let now = self.ports.clock.now();
        let of_last = async |hours: i64| -> Result<DelayPercentiles, ServiceError> {
            let since = now.saturating_sub(SignedDuration::from_hours(hours)).unwrap_or(now);
            let delays = self
                .ports
                .store
                .notification_delays(actor.account, since, MAX_MESSAGES)
                .await?;
            Ok(DelayPercentiles::of(delays))
        };
        Ok(NotificationLatency {
            hour: of_last(1).await?,
            day: of_last(24).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl Iterator<Item = i64>) -> DelayPercentiles {
        DelayPercentiles::of(millis.map(SignedDuration::from_millis).collect())
    }

    #[test]
    fn percentiles_are_the_nearest_ranks() {
        let millis = |millis| Some(SignedDuration::from_millis(millis));
        let hundred = of((1..=100).rev());
        assert_eq!(
            (hundred.count, hundred.p50, hundred.p95, hundred.p99),
            (100, millis(50), millis(95), millis(99))
        );
        let two = of([7, 9].into_iter());
        assert_eq!((two.p50, two.p95, two.p99), (millis(7), millis(9), millis(9)));
        assert_eq!(of(std::iter::empty()), DelayPercentiles::default());
    }
}
