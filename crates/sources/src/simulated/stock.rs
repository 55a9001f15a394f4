//! How one simulated price moves: through a session, and from one session to the next.

use jiff::civil::Date;
use market::records::{BarRow, QuoteRow};
use market::{Bar, Price};
use rand::Rng;

use super::chance::{self, Topic, Who, happens, normal};
use super::companies::Company;
use super::numbers::{PRICES, price, volume};

/// How many sessions make a year's movement.
pub(super) const SESSIONS_A_YEAR: f64 = 252.0;
/// The part of a day's variance that comes overnight.
const OVERNIGHT: f64 = 0.2;
/// Sudden moves of one stock, in a session.
const JUMPS_A_SESSION: f64 = 0.12;
/// How far a lively price swings around the calm one, as a logarithm, and how long it remembers where it was.
const SWING: f64 = 0.03;
const SWING_MEMORY_S: f64 = 45.0;
/// Sudden moves of one lively stock, in a second.
const LIVELY_JUMPS_A_SECOND: f64 = 1.0 / 400.0;
/// A step that is longer is no watching: a price does not swing while nobody looks.
pub(super) const WATCHED_STEP_S: f64 = 300.0;

/// Volatility that comes in clusters: a GARCH(1,1) whose mean is one.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    variance: f64,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { variance: 1.0 }
    }
}

impl Cluster {
    /// The deviation to be expected of the next session.
    pub(super) fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Learns how far a session went, in usual deviations.
    pub(super) fn learn(&mut self, shock: f64) {
        self.variance = (0.05 + 0.12 * shock * shock + 0.83 * self.variance).min(9.0);
    }
}

/// The part of a session's volume that is traded until `progress`, 0 to 1: the most near open and close.
pub(super) fn traded(progress: f64) -> f64 {
    let edge = 2.0 * progress - 1.0;
    0.6 * progress + 0.2 * (edge.powi(3) + 1.0)
}

/// What one step of all stocks has in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) seed: u64,
    /// The instant that the step reaches, as a number that tells it apart.
    pub(super) moment: i64,
    /// Where the session was, 0 to 1, and where it is then.
    pub(super) progress: (f64, f64),
    pub(super) seconds: f64,
    /// What the whole market does, as a logarithm.
    pub(super) tide: f64,
    pub(super) lively: bool,
}

impl Step {
    fn length(&self) -> f64 {
        (self.progress.1 - self.progress.0).max(0.0)
    }

    pub(super) fn is_watched(&self) -> bool {
        self.seconds <= WATCHED_STEP_S
    }
}

/// A session that is under way.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) date: Date,
    open: f64,
    high: f64,
    low: f64,
    volume: f64,
    planned_volume: f64,
    /// How far the stock went on its own, in usual deviations.
    shock: f64,
}

/// One stock.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) who: Who,
    pub(super) company: Company,
    cluster: Cluster,
    /// Its calm price in dollars.
    pub(super) base: f64,
    /// How far a lively price is off the calm one, as a logarithm.
    swing: f64,
    pub(super) running: Option<Running>,
}

impl Stock {
    pub(super) fn new(who: Who, company: Company) -> Self {
        Self {
            who,
            base: company.first_price,
            company,
            cluster: Cluster::default(),
            swing: 0.0,
            running: None,
        }
    }

    /// Takes up a stock of which the last price is known, and its session if that has begun.
    pub(super) fn resume(&mut self, last: Price, today: Option<Bar>) {
        self.base = last.as_f64().clamp(PRICES.0, PRICES.1);
        self.swing = 0.0;
        self.running = today.map(|bar| {
            #[expect(clippy::cast_precision_loss, reason = "a volume is far below 2^53")]
            let volume = bar.volume as f64;
            Running {
                date: bar.date,
                open: bar.open.as_f64(),
                high: bar.high.as_f64().max(self.base),
                low: bar.low.as_f64().min(self.base),
                volume,
                planned_volume: self.usual_volume(),
                shock: 0.0,
            }
        });
    }

    /// The price that is seen, in dollars.
    pub(super) fn price(&self) -> f64 {
        (self.base * self.swing.exp()).clamp(PRICES.0, PRICES.1)
    }

    /// Puts the price into the shares of after a split.
    pub(super) fn split(&mut self, ratio: f64) {
        self.base = (self.base / ratio).clamp(PRICES.0, PRICES.1);
    }

    /// Opens the session on `date`, overnight news included; a session that was under way before anybody looked only
    /// goes on from where it is.
    pub(super) fn open(&mut self, seed: u64, date: Date, progress: f64, tide: f64, reports: bool) {
        let mut chance = chance::on(seed, Topic::Gap, self.who, date);
        let (mut shock, mut surprise) = (0.0, 0.0);
        if progress <= 0.0 {
            shock = OVERNIGHT.sqrt() * self.cluster.deviation() * normal(&mut chance);
            surprise = if reports { 3.0 * normal(&mut chance) } else { 0.0 };
            self.move_base(self.company.beta * tide + self.daily() * (shock + surprise));
        }
        let planned_volume = self.usual_volume() * (0.25 * normal(&mut chance) + 0.3 * surprise.abs()).exp();
        let price = self.price();
        self.running = Some(Running {
            date,
            open: price,
            high: price,
            low: price,
            volume: planned_volume * traded(progress),
            planned_volume,
            shock: shock + surprise,
        });
    }

    /// Goes on by one step.
    pub(super) fn go(&mut self, step: &Step) {
        let mut chance = chance::of(step.seed, Topic::Motion, self.who, step.moment);
        let deviation = self.cluster.deviation() * ((1.0 - OVERNIGHT) * step.length()).sqrt();
        let mut shock = deviation * normal(&mut chance);
        if happens(&mut chance, JUMPS_A_SESSION, step.length()) {
            shock += jump(&mut chance);
        }
        let trend = self.trend(step) * step.length();
        let before = self.price();
        self.move_base(self.company.beta * step.tide + self.daily() * shock + trend);
        self.sway(step, &mut chance);
        let after = self.price();
        let reach = self.daily() * deviation;
        let usual = self.daily() * step.length().sqrt();
        let Some(running) = &mut self.running else { return };
        running.shock += shock;
        running.high = running.high.max(after);
        running.low = running.low.min(after);
        if !step.is_watched() {
            // Nobody saw the way from there to here, and it was hardly straight.
            let (up, down) = (
                beyond(before, after, reach, &mut chance),
                beyond(before, after, reach, &mut chance),
            );
            running.high = running.high.max(before.max(after) * up);
            running.low = running.low.min(before.min(after) / down);
        }
        let part = traded(step.progress.1) - traded(step.progress.0);
        let excitement = 0.75 + 0.35 * ((after / before).ln().abs() / usual.max(1e-9)).min(5.0);
        running.volume += running.planned_volume * part.max(0.0) * excitement;
        if step.lively && step.is_watched() && happens(&mut chance, LIVELY_JUMPS_A_SECOND, step.seconds) {
            running.volume += running.planned_volume * chance.random_range(0.2..0.8);
        }
    }

    /// The session so far, as a bar.
    pub(super) fn bar(&self) -> Option<BarRow> {
        let running = self.running.as_ref()?;
        let (open, close) = (price(running.open), price(self.price()));
        let bar = Bar {
            date: running.date,
            open,
            high: price(running.high).max(open).max(close),
            low: price(running.low).min(open).min(close),
            close,
            volume: volume(running.volume),
        };
        let symbol = self.company.symbol;
        Some(BarRow { symbol, bar })
    }

    /// Ends the session and learns from it.
    pub(super) fn close(&mut self) -> Option<BarRow> {
        let bar = self.bar();
        if let Some(running) = self.running.take() {
            self.cluster.learn(running.shock);
        }
        bar
    }

    /// What is seen of it; the time is the caller's.
    pub(super) fn quote(&self) -> Option<QuoteRow> {
        let running = self.running.as_ref()?;
        let dollars = self.price();
        let half = (dollars * 0.0001).max(0.005);
        Some(QuoteRow {
            symbol: self.company.symbol,
            price: price(dollars),
            volume: Some(volume(running.volume)),
            time: None,
            bid: Some(price(dollars - half)),
            ask: Some(price(dollars + half)),
        })
    }

    /// More shares than usual change hands.
    pub(super) fn burst(&mut self, times: f64) {
        if let Some(running) = &mut self.running {
            running.volume += running.planned_volume * times;
        }
    }

    /// Its usual movement of its own in a session, as a logarithm.
    fn daily(&self) -> f64 {
        self.company.volatility / SESSIONS_A_YEAR.sqrt()
    }

    /// As many dollars change hands whatever a share costs.
    fn usual_volume(&self) -> f64 {
        self.company.volume * self.company.first_price / self.base
    }

    /// Where the quarter goes, as a logarithm in a session.
    fn trend(&self, step: &Step) -> f64 {
        let Some(running) = &self.running else { return 0.0 };
        let quarter = i64::from(running.date.year()) * 4 + i64::from((running.date.month() - 1) / 3);
        let mut chance = chance::of(step.seed, Topic::Trend, self.who, quarter);
        // What is far from where it began is drawn back a little, or a year of the program would end at a dollar.
        let home = 0.0004 * (self.company.first_price / self.base).ln().clamp(-2.0, 2.0);
        1.5 * normal(&mut chance) * self.company.volatility / SESSIONS_A_YEAR + home
    }

    /// Swings on, if it is lively and watched; else comes to rest.
    fn sway(&mut self, step: &Step, chance: &mut impl Rng) {
        let kept = (-step.seconds / SWING_MEMORY_S).exp();
        self.swing *= kept;
        if step.lively && step.is_watched() {
            self.swing += SWING * (1.0 - kept * kept).sqrt() * normal(chance);
            if happens(chance, LIVELY_JUMPS_A_SECOND, step.seconds) {
                self.swing += SWING * jump(chance) / 2.0;
            }
        }
        self.swing = self.swing.clamp(-0.3, 0.3);
    }

    fn move_base(&mut self, logarithm: f64) {
        self.base = (self.base * logarithm.exp()).clamp(PRICES.0, PRICES.1);
    }
}

/// A sudden move to either side, in usual deviations.
fn jump(chance: &mut impl Rng) -> f64 {
    let size = chance.random_range(1.5..4.0);
    if chance.random_bool(0.5) { size } else { -size }
}

/// How far beyond both ends of a step the price went on its way, as a factor: the highest point of a Brownian bridge.
/// Source: Karatzas and Shreve, "Brownian Motion and Stochastic Calculus", 4.3.40.
fn beyond(before: f64, after: f64, deviation: f64, chance: &mut impl Rng) -> f64 {
    let distance = (after / before).ln().abs();
    let unlikely: f64 = chance.random_range(f64::MIN_POSITIVE..1.0);
    let highest = (distance + (distance * distance - 2.0 * deviation * deviation * unlikely.ln()).sqrt()) / 2.0;
    (highest - distance).max(0.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traded_part_grows_from_nothing_to_all_and_fastest_at_the_edges() {
        assert!(traded(0.0).abs() < 1e-12 && (traded(1.0) - 1.0).abs() < 1e-12);
        let hours: Vec<f64> = (0..=10).map(|tenth| traded(f64::from(tenth) / 10.0)).collect();
        let parts: Vec<f64> = hours.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(parts.iter().all(|part| *part > 0.0));
        assert!(parts[0] > parts[4] && parts[9] > parts[5]);
    }

    #[test]
    fn after_a_wild_session_the_next_is_expected_to_be_wild_and_that_fades() {
        let mut cluster = Cluster::default();
        cluster.learn(4.0);
        let excited = cluster.deviation();
        assert!(excited > 1.3);
        for _ in 0..100 {
            cluster.learn(1.0);
        }
        assert!((cluster.deviation() - 1.0).abs() < 0.05);
    }
}
