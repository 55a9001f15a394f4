//! The simulation of one stock's price, within a session and overnight.

use jiff::civil::Date;
use market::records::{BarRow, QuoteRow};
use market::{Bar, Price};
use rand::Rng;

use super::companies::Company;
use super::numbers::{PRICE_RANGE, price, volume};
use super::random::{self, DrawKind, EntityId, happens, normal};

/// The number of sessions in a year.
pub(super) const SESSIONS_PER_YEAR: f64 = 252.0;
/// The part of a day's variance that occurs overnight.
const OVERNIGHT_VARIANCE: f64 = 0.2;
/// The average number of jumps of a stock per session.
const JUMPS_PER_SESSION: f64 = 0.12;
/// The standard deviation of a lively price around the base price, as a logarithm; and the time constant of its decay.
const SWING: f64 = 0.03;
const SWING_DECAY_SECONDS: f64 = 45.0;
/// The average number of jumps of a lively stock per second.
const LIVELY_JUMPS_PER_SECOND: f64 = 1.0 / 400.0;
/// The longest step that is quoted. In a longer step, prices do not swing.
pub(super) const MAX_QUOTED_STEP_SECONDS: f64 = 300.0;

/// Clustered volatility: a GARCH(1,1) process with mean 1.
#[derive(Clone, Debug)]
pub(super) struct VolatilityCluster {
    variance: f64,
}

impl Default for VolatilityCluster {
    fn default() -> Self {
        Self { variance: 1.0 }
    }
}

impl VolatilityCluster {
    /// Returns the expected deviation of the next session.
    pub(super) fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Updates the variance with the shock of a session, in usual deviations.
    pub(super) fn update(&mut self, shock: f64) {
        self.variance = (0.05 + 0.12 * shock * shock + 0.83 * self.variance).min(9.0);
    }
}

/// Returns the part of a session's volume that is traded until `progress`, 0 to 1. Most is traded near the open and the
/// close.
pub(super) fn traded(progress: f64) -> f64 {
    let edge = 2.0 * progress - 1.0;
    0.6 * progress + 0.2 * (edge.powi(3) + 1.0)
}

/// The inputs of a step that all stocks share.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarketStep {
    pub(super) seed: u64,
    /// The end of the step, as a number that distinguishes it.
    pub(super) moment: i64,
    /// The progress of the session before and after the step, 0 to 1.
    pub(super) progress: (f64, f64),
    pub(super) seconds: f64,
    /// The market's return, as a logarithm.
    pub(super) market_return: f64,
    pub(super) lively: bool,
}

impl MarketStep {
    fn length(&self) -> f64 {
        (self.progress.1 - self.progress.0).max(0.0)
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.seconds <= MAX_QUOTED_STEP_SECONDS
    }
}

/// A session in progress.
#[derive(Clone, Debug)]
pub(super) struct OpenSession {
    pub(super) date: Date,
    open: f64,
    high: f64,
    low: f64,
    volume: f64,
    /// The value of the traded shares in dollars.
    value: f64,
    planned_volume: f64,
    /// The stock's idiosyncratic shock, in usual deviations.
    shock: f64,
}

impl OpenSession {
    /// Adds traded shares.
    fn trade(&mut self, shares: f64, price: f64) {
        self.volume += shares;
        self.value += shares * price;
    }

    /// Returns the volume-weighted average price.
    fn vwap(&self) -> Option<Price> {
        (self.volume > 0.0).then(|| price(self.value / self.volume))
    }
}

/// A simulated stock.
#[derive(Clone, Debug)]
pub(super) struct SimulatedStock {
    pub(super) entity: EntityId,
    pub(super) company: Company,
    cluster: VolatilityCluster,
    /// The base price in dollars, without the swing of a lively market.
    pub(super) base_price: f64,
    /// The deviation of a lively price from the base price, as a logarithm.
    swing: f64,
    pub(super) session: Option<OpenSession>,
}

impl SimulatedStock {
    pub(super) fn new(entity: EntityId, company: Company) -> Self {
        Self {
            entity,
            base_price: company.first_price,
            company,
            cluster: VolatilityCluster::default(),
            swing: 0.0,
            session: None,
        }
    }

    /// Continues from a saved price, and from the session if it is in progress.
    pub(super) fn resume(&mut self, last: Price, today: Option<Bar>) {
        self.base_price = last.as_f64().clamp(PRICE_RANGE.0, PRICE_RANGE.1);
        self.swing = 0.0;
        self.session = today.map(|bar| {
            #[expect(clippy::cast_precision_loss, reason = "a volume is far below 2^53")]
            let volume = bar.volume as f64;
            // The prices of the single trades are not saved.
            let typical = (bar.high.as_f64() + bar.low.as_f64() + bar.close.as_f64()) / 3.0;
            OpenSession {
                date: bar.date,
                open: bar.open.as_f64(),
                high: bar.high.as_f64().max(self.base_price),
                low: bar.low.as_f64().min(self.base_price),
                volume,
                value: volume * typical,
                planned_volume: self.usual_volume(),
                shock: 0.0,
            }
        });
    }

    /// Returns the quoted price, in dollars.
    pub(super) fn price(&self) -> f64 {
        (self.base_price * self.swing.exp()).clamp(PRICE_RANGE.0, PRICE_RANGE.1)
    }

    /// Converts the price to the shares after a split.
    pub(super) fn split(&mut self, ratio: f64) {
        self.base_price = (self.base_price / ratio).clamp(PRICE_RANGE.0, PRICE_RANGE.1);
    }

    /// Opens the session on `date`, with the overnight gap. A session that is already in progress starts at the current
    /// price.
    pub(super) fn open(&mut self, seed: u64, date: Date, progress: f64, market_return: f64, reports: bool) {
        let mut rng = random::on(seed, DrawKind::OvernightGap, self.entity, date);
        let (mut shock, mut surprise) = (0.0, 0.0);
        if progress <= 0.0 {
            shock = OVERNIGHT_VARIANCE.sqrt() * self.cluster.deviation() * normal(&mut rng);
            surprise = if reports { 3.0 * normal(&mut rng) } else { 0.0 };
            self.move_base(self.company.beta * market_return + self.daily() * (shock + surprise));
        }
        let planned_volume = self.usual_volume() * (0.25 * normal(&mut rng) + 0.3 * surprise.abs()).exp();
        let price = self.price();
        self.session = Some(OpenSession {
            date,
            open: price,
            high: price,
            low: price,
            volume: planned_volume * traded(progress),
            value: planned_volume * traded(progress) * price,
            planned_volume,
            shock: shock + surprise,
        });
    }

    /// Advances by one step.
    pub(super) fn advance(&mut self, step: &MarketStep) {
        let mut rng = random::of(step.seed, DrawKind::PriceStep, self.entity, step.moment);
        let deviation = self.cluster.deviation() * ((1.0 - OVERNIGHT_VARIANCE) * step.length()).sqrt();
        let mut shock = deviation * normal(&mut rng);
        if happens(&mut rng, JUMPS_PER_SESSION, step.length()) {
            shock += jump(&mut rng);
        }
        let trend = self.trend(step) * step.length();
        let before = self.price();
        self.move_base(self.company.beta * step.market_return + self.daily() * shock + trend);
        self.update_swing(step, &mut rng);
        let after = self.price();
        let path_deviation = self.daily() * deviation;
        let usual = self.daily() * step.length().sqrt();
        let Some(session) = &mut self.session else { return };
        session.shock += shock;
        session.high = session.high.max(after);
        session.low = session.low.min(after);
        if !step.is_quoted() {
            // The path within a long step has extremes beyond its ends.
            let (up, down) = (
                overshoot(before, after, path_deviation, &mut rng),
                overshoot(before, after, path_deviation, &mut rng),
            );
            session.high = session.high.max(before.max(after) * up);
            session.low = session.low.min(before.min(after) / down);
        }
        let part = traded(step.progress.1) - traded(step.progress.0);
        let activity = 0.75 + 0.35 * ((after / before).ln().abs() / usual.max(1e-9)).min(5.0);
        session.trade(
            session.planned_volume * part.max(0.0) * activity,
            f64::midpoint(before, after),
        );
        if step.lively && step.is_quoted() && happens(&mut rng, LIVELY_JUMPS_PER_SECOND, step.seconds) {
            session.trade(session.planned_volume * rng.random_range(0.2..0.8), after);
        }
    }

    /// Returns the session so far as a bar.
    pub(super) fn bar(&self) -> Option<BarRow> {
        let session = self.session.as_ref()?;
        let (open, close) = (price(session.open), price(self.price()));
        let bar = Bar {
            date: session.date,
            open,
            high: price(session.high).max(open).max(close),
            low: price(session.low).min(open).min(close),
            close,
            volume: volume(session.volume),
        };
        let symbol = self.company.symbol;
        Some(BarRow { symbol, bar })
    }

    /// Closes the session and updates the volatility.
    pub(super) fn close(&mut self) -> Option<BarRow> {
        let bar = self.bar();
        if let Some(session) = self.session.take() {
            self.cluster.update(session.shock);
        }
        bar
    }

    /// Returns the current quote; the caller sets the time.
    pub(super) fn quote(&self) -> Option<QuoteRow> {
        let session = self.session.as_ref()?;
        let dollars = self.price();
        let half = (dollars * 0.0001).max(0.005);
        Some(QuoteRow {
            symbol: self.company.symbol,
            price: price(dollars),
            volume: Some(volume(session.volume)),
            time: None,
            bid: Some(price(dollars - half)),
            ask: Some(price(dollars + half)),
            vwap: session.vwap(),
        })
    }

    /// Adds unusual volume.
    pub(super) fn add_volume_burst(&mut self, times: f64) {
        let price = self.price();
        if let Some(session) = &mut self.session {
            session.trade(session.planned_volume * times, price);
        }
    }

    /// Returns the idiosyncratic volatility per session, as a logarithm.
    fn daily(&self) -> f64 {
        self.company.volatility / SESSIONS_PER_YEAR.sqrt()
    }

    /// Returns the usual volume in shares; the volume in dollars is constant.
    fn usual_volume(&self) -> f64 {
        self.company.volume * self.company.first_price / self.base_price
    }

    /// Returns the trend of the quarter per session, as a logarithm.
    fn trend(&self, step: &MarketStep) -> f64 {
        let Some(session) = &self.session else { return 0.0 };
        let quarter = i64::from(session.date.year()) * 4 + i64::from((session.date.month() - 1) / 3);
        let mut rng = random::of(step.seed, DrawKind::Trend, self.entity, quarter);
        // A price far from its start reverts slowly; otherwise it would reach the limits over the years.
        let reversion = 0.0004 * (self.company.first_price / self.base_price).ln().clamp(-2.0, 2.0);
        1.5 * normal(&mut rng) * self.company.volatility / SESSIONS_PER_YEAR + reversion
    }

    /// Updates the swing of a lively stock; otherwise the swing decays.
    fn update_swing(&mut self, step: &MarketStep, rng: &mut impl Rng) {
        let kept = (-step.seconds / SWING_DECAY_SECONDS).exp();
        self.swing *= kept;
        if step.lively && step.is_quoted() {
            self.swing += SWING * (1.0 - kept * kept).sqrt() * normal(rng);
            if happens(rng, LIVELY_JUMPS_PER_SECOND, step.seconds) {
                self.swing += SWING * jump(rng) / 2.0;
            }
        }
        self.swing = self.swing.clamp(-0.3, 0.3);
    }

    fn move_base(&mut self, logarithm: f64) {
        self.base_price = (self.base_price * logarithm.exp()).clamp(PRICE_RANGE.0, PRICE_RANGE.1);
    }
}

/// Draws a jump to either side, in usual deviations.
fn jump(rng: &mut impl Rng) -> f64 {
    let size = rng.random_range(1.5..4.0);
    if rng.random_bool(0.5) { size } else { -size }
}

/// Returns how far the price moved beyond the ends of a step, as a factor: the maximum of a Brownian bridge. Source:
/// Karatzas and Shreve, "Brownian Motion and Stochastic Calculus", 4.3.40.
fn overshoot(before: f64, after: f64, deviation: f64, rng: &mut impl Rng) -> f64 {
    let distance = (after / before).ln().abs();
    let unlikely: f64 = rng.random_range(f64::MIN_POSITIVE..1.0);
    let highest = (distance + (distance * distance - 2.0 * deviation * deviation * unlikely.ln()).sqrt()) / 2.0;
    (highest - distance).max(0.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traded_part_grows_fastest_at_open_and_close() {
        assert!(traded(0.0).abs() < 1e-12 && (traded(1.0) - 1.0).abs() < 1e-12);
        let hours: Vec<f64> = (0..=10).map(|tenth| traded(f64::from(tenth) / 10.0)).collect();
        let parts: Vec<f64> = hours.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(parts.iter().all(|part| *part > 0.0));
        assert!(parts[0] > parts[4] && parts[9] > parts[5]);
    }

    #[test]
    fn volatility_rises_after_a_shock_and_decays() {
        let mut cluster = VolatilityCluster::default();
        cluster.update(4.0);
        let excited = cluster.deviation();
        assert!(excited > 1.3);
        for _ in 0..100 {
            cluster.update(1.0);
        }
        assert!((cluster.deviation() - 1.0).abs() < 0.05);
    }
}
