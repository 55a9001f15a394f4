//! Alerts of all families, with histories and facts.

use alerts::condition::{
    BuzzDirection, DeliveryTime, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline,
};
use alerts::engine::{Dividend, Engine, Event};
use alerts::metrics::FundamentalFigures;
use alerts::{Alert, Condition};
use jiff::civil::Date;
use market::{Bar, Calendar, Decimal};
use rand::Rng;

use super::market::{MONDAY, Market, alert, cents, moment, moved, price, session};

/// Returns the last `count` sessions before `date`, oldest first.
pub(crate) fn sessions_before(date: Date, count: usize) -> Vec<Date> {
    let calendar = Calendar::nyse();
    let before = |day: &Date| calendar.previous_session_before(*day).map(|it| it.date);
    let mut days: Vec<_> = std::iter::successors(before(&date), before).take(count).collect();
    days.reverse();
    days
}

/// Generates a random walk of daily bars from `start`, about 2 % per day, in whole cents.
pub(crate) fn bars(days: &[Date], start: i64, rng: &mut impl Rng) -> Vec<Bar> {
    let usual: i64 = rng.random_range(100_000..3_000_000);
    let mut last = start;
    days.iter()
        .map(|&date| {
            let mut near = |from, low, high| cents(moved(from, rng.random_range(low..high))).max(500_000);
            let open = near(last, -0.01, 0.01);
            let close = near(open, -0.034, 0.0345);
            let high = near(open.max(close), 0.0, 0.015);
            let low = near(open.min(close), -0.015, 0.0).min(open.min(close));
            last = close;
            Bar {
                date,
                open: price(open),
                high: price(high.max(open.max(close))),
                low: price(low),
                close: price(close),
                volume: moved(usual, rng.random_range(-0.6..1.2)),
            }
        })
        .collect()
}

/// Generates earnings per share: the price divided by 10 to 40.
pub(crate) fn earnings_per_share(price: i64, rng: &mut impl Rng) -> Decimal {
    Decimal::from_micros(price / rng.random_range(10..40))
}

fn side(rng: &mut impl Rng) -> Side {
    if rng.random() { Side::Above } else { Side::Below }
}

/// Generates a condition on the price, the volume, or indicators.
pub(crate) fn market_condition(price_now: i64, eps: Decimal, rng: &mut impl Rng) -> Condition {
    let side = side(rng);
    let percent = Decimal::from_micros(rng.random_range(50..300) * 100_000);
    match rng.random_range(0..100) {
        0..52 => {
            let away = percent.as_f64() / 100.0 * side.pick(1.0, -1.0);
            Condition::Price {
                side,
                threshold: price(cents(moved(price_now, away))),
            }
        }
        52..70 => Condition::PriceChange { side, percent },
        70..75 => Condition::NewExtreme { side },
        75..79 => Condition::MaCrossover { side },
        79..85 => Condition::MaTouch {
            side,
            period: [20, 50, 200][rng.random_range(0..3)],
        },
        85..91 => Condition::Rsi {
            direction: side.pick(RsiDirection::Above, RsiDirection::Below),
            threshold: Decimal::from_micros(side.pick(70, 15) * 1_000_000 + percent.micros() / 2),
        },
        91..96 => Condition::VolumeChange {
            baseline: if rng.random() {
                VolumeBaseline::Ma20
            } else {
                VolumeBaseline::Ma100
            },
            percent: Decimal::from_micros(percent.micros() * 10),
        },
        _ => {
            let ratio = price_now * 1_000_000 / eps.micros();
            let away = percent.as_f64() / 100.0 * side.pick(1.0, -1.0);
            Condition::PeRatio {
                side,
                earnings: EpsBasis::Trailing,
                threshold: Decimal::from_micros(moved(ratio, away)),
            }
        }
    }
}

/// Generates a condition on an instant or a fact.
fn other_condition(rng: &mut impl Rng) -> Condition {
    match rng.random_range(0..7) {
        0 => Condition::DailyReminder(if rng.random() {
            DeliveryTime::MarketOpen
        } else {
            DeliveryTime::AfterMarketClose
        }),
        1 => Condition::EarningsAnnouncement {
            days_ahead: rng.random_range(0..7),
        },
        2 => Condition::DividendExDate {
            days_ahead: rng.random_range(0..7),
        },
        3 => Condition::DividendPayment { shares: None },
        4 => Condition::SocialBuzz(BuzzDirection::Rising),
        5 => Condition::InsiderTransactions(InsiderCriteria {
            threshold_usd: Decimal::from_micros(1_000_000_000_000),
            direction: InsiderDirection::Buy,
            min_executives: 2,
            window_days: 30,
            open_market_only: true,
        }),
        _ => Condition::Reminder {
            at: moment(rng.random_range(0..1_000_000_000)),
        },
    }
}

/// Loads 450 sessions of history, earnings per share and future dates for every stock. The market's prices become the last
/// closes.
pub(crate) fn load_facts(engine: &mut Engine, market: &mut Market, rng: &mut impl Rng) -> Vec<Decimal> {
    let days = sessions_before(MONDAY, 450);
    let before = session().open - jiff::SignedDuration::from_hours(3);
    let ahead = |days: i64| MONDAY.saturating_add(jiff::Span::new().days(days));
    let mut out = Vec::new();
    let mut process = |event: Event<'_>| engine.process(event, before, &mut out).expect("taken");
    let mut all_eps = Vec::with_capacity(market.len());
    for (&symbol, now) in market.symbols.iter().zip(&mut market.prices) {
        for bar in bars(&days, *now, rng) {
            *now = bar.close.micros();
            process(Event::Bar { symbol, bar });
        }
        let eps = earnings_per_share(*now, rng);
        all_eps.push(eps);
        process(Event::Fundamentals {
            symbol,
            figures: FundamentalFigures {
                trailing_eps: Some(eps),
                ..FundamentalFigures::default()
            },
        });
        let dates = [ahead(rng.random_range(0..90))];
        process(Event::Earnings { symbol, dates: &dates });
        let dividends = [Dividend {
            ex_date: ahead(rng.random_range(0..90)),
            payment_date: Some(ahead(rng.random_range(0..90))),
            amount: None,
        }];
        process(Event::Dividends {
            symbol,
            dividends: &dividends,
        });
    }
    all_eps
}

/// Generates alerts of all families: 52 % price levels, 17 % percent changes, and a few of every other kind; one in twenty does
/// not wait for a price.
pub(crate) fn alerts(market: &Market, eps: &[Decimal], count: usize, rng: &mut impl Rng) -> Vec<Alert> {
    market
        .watched(count, rng)
        .into_iter()
        .map(|stock| {
            let at = stock as usize;
            let condition = if rng.random_range(0..20) == 0 {
                other_condition(rng)
            } else {
                market_condition(market.prices[at], eps[at], rng)
            };
            Alert {
                initial_price: Some(price(market.prices[at])),
                ..alert(market.symbols[at], condition, rng)
            }
        })
        .collect()
}
