//! A random walk that is observed completely, compared with the same one with a gap that is evaluated late.

use std::ops::Range;

use alerts::{AlertId, Plan};
use foundation::Actor;
use jiff::{SignedDuration, Timestamp};
use market::Price;
use market::records::{Batch, QuoteRow};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::{Value, json};

use super::{evaluate, firings};
use crate::support::{TestApp, at, on_each_database, symbol};

on_each_database! {
    walks_with_a_gap_fire_the_same_alerts_as_whole_walks
}

/// The number of quotes of a walk.
const STEPS: usize = 120;

/// The same walk of two stocks twice.
struct Pair {
    whole: String,
    gapped: String,
    prices: Vec<Price>,
    gap: Range<usize>,
    alerts: Vec<[AlertId; 2]>,
}

fn time(step: usize) -> Timestamp {
    at("2024-03-08T15:00:00Z") + SignedDuration::from_secs(30 * i64::try_from(step).unwrap())
}

impl Pair {
    fn new(number: u64, gap: Range<usize>) -> Self {
        let mut chance = ChaCha20Rng::seed_from_u64(number);
        let mut quarters = 400;
        let prices = (0..STEPS).map(|_| {
            quarters += i64::from(chance.next_u32() % 5) - 2;
            Price::from_micros(quarters * 250_000).unwrap()
        });
        Self {
            whole: format!("WHOLE{number}"),
            gapped: format!("GAP{number}"),
            prices: prices.collect(),
            gap,
            alerts: Vec::new(),
        }
    }

    fn quote(&self, stock: &str, step: usize) -> QuoteRow {
        QuoteRow {
            symbol: symbol(stock),
            price: self.prices[step],
            volume: None,
            time: Some(time(step)),
            bid: None,
            ask: None,
            vwap: None,
        }
    }

    /// Returns the quotes of a step.
    fn seen(&self, step: usize) -> impl Iterator<Item = QuoteRow> {
        let whole = self.quote(&self.whole, step);
        let gapped = self.quote(&self.gapped, step);
        [Some(whole), (!self.gap.contains(&step)).then_some(gapped)]
            .into_iter()
            .flatten()
    }

    fn missed(&self) -> Vec<QuoteRow> {
        self.gap.clone().map(|step| self.quote(&self.gapped, step)).collect()
    }

    async fn set_alerts(&mut self, app: &TestApp, ann: &Actor) {
        for wish in alert_bodies() {
            let mut ids = Vec::new();
            for stock in [&self.whole, &self.gapped] {
                let mut body = wish.clone();
                body["symbol"] = json!(stock);
                ids.push(app.create(ann, body).await.stored.alert.id);
            }
            self.alerts.push([ids[0], ids[1]]);
        }
    }
}

/// Returns alerts on prices, changes, extremes and touches.
fn alert_bodies() -> Vec<Value> {
    let levels = [
        ("price_below", 96),
        ("price_below", 98),
        ("price_below", 99),
        ("price_above", 101),
        ("price_above", 102),
        ("price_above", 104),
        ("price_change_up", 1),
        ("price_change_down", 2),
        ("ma_touch_above", 3),
        ("ma_touch_below", 2),
    ];
    let levels = levels.map(|(condition, threshold)| json!({"condition": condition, "threshold": threshold}));
    let extremes = ["new_high", "new_low"].map(|condition| json!({"condition": condition}));
    levels.into_iter().chain(extremes).collect()
}

async fn take(app: &TestApp, quotes: Vec<QuoteRow>) {
    let batch = Batch {
        quotes,
        ..Batch::default()
    };
    assert_eq!(app.service.market_intake.ingest(batch).await.unwrap(), []);
}

/// Returns when each alert fired, as if nothing had been missed, and whether it was late.
async fn crossing(app: &TestApp, ann: &Actor, id: AlertId) -> Option<(Timestamp, bool)> {
    let mut fired = firings(app, ann, id).await;
    assert!(fired.len() <= 1, "{fired:?}");
    let (at, crossed) = fired.pop()?;
    Some((crossed.as_ref().unwrap_or(&at).parse().unwrap(), crossed.is_some()))
}

async fn walks_with_a_gap_fire_the_same_alerts_as_whole_walks(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let gaps = [1..STEPS - 1, 5..40, 20..21, 30..90];
    let mut pairs: Vec<Pair> = (1..).zip(gaps).map(|(number, gap)| Pair::new(number, gap)).collect();
    let stocks = pairs.iter().flat_map(|pair| [&pair.whole, &pair.gapped]);
    let day = |stock: &str, date: &str| json!({"symbol": stock, "date": date, "open": 100, "high": 100.5, "low": 99.5, "close": 100, "volume": 1});
    let bars = stocks.flat_map(|stock| ["2024-03-06", "2024-03-07"].map(|date| day(stock, date)));
    app.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
    for step in 0..STEPS {
        app.clock.set(time(step));
        for pair in pairs.iter().filter(|pair| pair.gap.end == step) {
            let outcome = evaluate(&app, &pair.missed()).await;
            assert_eq!(outcome.evaluated, pair.gap.len());
        }
        take(&app, pairs.iter().flat_map(|pair| pair.seen(step)).collect()).await;
        if step == 0 {
            for pair in &mut pairs {
                pair.set_alerts(&app, &ann).await;
            }
            // Satisfied conditions fire here, and not at the next periodic evaluation.
            app.service.evaluate().await.unwrap();
        }
    }
    let mut late = 0;
    for pair in &pairs {
        for (wish, &[whole, gapped]) in alert_bodies().iter().zip(&pair.alerts) {
            let (whole, gapped) = (crossing(&app, &ann, whole).await, crossing(&app, &ann, gapped).await);
            let instants = [whole, gapped].map(|crossing| crossing.map(|(at, _)| at));
            assert_eq!(instants[0], instants[1], "{}: {wish}", pair.gapped);
            late += usize::from(gapped.is_some_and(|(_, is_late)| is_late));
        }
    }
    assert!(late >= 8, "{late} were late");
}
