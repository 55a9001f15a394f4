//! How the simulated prices move.

use jiff::civil::Date;
use market::{Bar, Price};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::companies::Company;
use super::facts::Events;

const SESSIONS_A_YEAR: f64 = 252.0;

/// The market's own movement on each day, as a logarithm.
pub(super) fn tides(days: &[Date], chance: &mut ChaCha8Rng) -> Vec<f64> {
    let mut cluster = Cluster::default();
    days.iter()
        .map(|_| 0.0003 + 0.15 / SESSIONS_A_YEAR.sqrt() * cluster.shock(chance))
        .collect()
}

/// Volatility that comes in clusters: a GARCH(1,1) whose mean is one.
struct Cluster {
    variance: f64,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { variance: 1.0 }
    }
}

impl Cluster {
    fn shock(&mut self, chance: &mut ChaCha8Rng) -> f64 {
        let shock = self.variance.sqrt() * normal(chance);
        self.variance = (0.05 + 0.12 * shock * shock + 0.83 * self.variance).min(9.0);
        shock
    }
}

/// A number of the standard normal distribution, by the method of Box and Muller.
pub(super) fn normal(chance: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (chance.random_range(f64::MIN_POSITIVE..1.0), chance.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// One company's bars.
#[expect(clippy::cast_possible_truncation, reason = "a volume is far below 2^53 shares")]
pub(super) fn simulate(
    company: &Company,
    days: &[Date],
    tides: &[f64],
    events: &Events,
    chance: &mut ChaCha8Rng,
) -> Vec<Bar> {
    let daily = company.volatility / SESSIONS_A_YEAR.sqrt();
    let mut cluster = Cluster::default();
    let mut trend = 0.0;
    let mut close = company.first_price;
    let mut scale = 1.0;
    let mut bars = Vec::with_capacity(days.len());
    for (at, (&date, tide)) in days.iter().zip(tides).enumerate() {
        if at % 63 == 0 {
            trend = normal(chance) * company.volatility / SESSIONS_A_YEAR * 1.5;
        }
        if events.split_on == Some(date) {
            close /= events.split_ratio;
            scale *= events.split_ratio;
        }
        let surprise = if events.earnings_moves.contains(&date) {
            3.5 * daily * normal(chance)
        } else {
            0.0
        };
        let own = daily * cluster.shock(chance) + trend;
        let total = company.beta * tide + own + surprise;
        let gap = total * 0.4 + surprise * 0.5;
        let open = close * gap.exp();
        close = (close * total.exp()).max(0.5);
        let reach = daily * (0.3 + normal(chance).abs() * 0.5);
        let excitement = (total.abs() / daily).powf(1.2) * 0.35 + (normal(chance) * 0.25).exp();
        let volume = (company.volume * scale * excitement).round();
        bars.push(bar(date, (open, close), reach, volume as i64));
    }
    bars
}

/// A bar around its open and close that reaches a little beyond both.
fn bar(date: Date, (open, close): (f64, f64), reach: f64, volume: i64) -> Bar {
    let (open_price, close_price) = (Company::price(open), Company::price(close));
    let high: Price = Company::price(open.max(close) * reach.exp());
    let low: Price = Company::price(open.min(close) * (-reach).exp());
    Bar {
        date,
        open: open_price,
        high: high.max(open_price).max(close_price),
        low: low.min(open_price).min(close_price),
        close: close_price,
        volume,
    }
}
