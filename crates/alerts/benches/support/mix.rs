//! Alerts of all families, and the histories and facts they are judged by.

use alerts::condition::{
    BuzzDirection, DeliveryTime, Earnings, InsiderDirection, InsiderWatch, RsiDirection, Side, VolumeBaseline,
};
use alerts::engine::{Dividend, Engine, Event};
use alerts::{Alert, Condition};
use jiff::civil::Date;
use market::{Bar, Calendar, Decimal};
use rand::Rng;

use super::world::{MONDAY, Market, alert, cents, moment, moved, price, session};

/// The last `count` sessions before `date`, oldest first.
pub(crate) fn sessions_before(date: Date, count: usize) -> Vec<Date> {
    let calendar = Calendar::nyse();
    let before = |day: &Date| calendar.previous_session_before(*day).map(|it| it.date);
    let mut days: Vec<_> = std::iter::successors(before(&date), before).take(count).collect();
    days.reverse();
    days
}

/// A random walk of daily bars from `start`, about 2 % a day, in whole cents.
pub(crate) fn bars(days: &[Date], start: i64, chance: &mut impl Rng) -> Vec<Bar> {
    let usual: i64 = chance.random_range(100_000..3_000_000);
    let mut last = start;
    days.iter()
        .map(|&date| {
            let mut near = |from, low, high| cents(moved(from, chance.random_range(low..high))).max(500_000);
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
                volume: moved(usual, chance.random_range(-0.6..1.2)),
            }
        })
        .collect()
}

/// What a stock earns a share: its price divided by 10 to 40.
pub(crate) fn earnings_per_share(price: i64, chance: &mut impl Rng) -> Decimal {
    Decimal::from_micros(price / chance.random_range(10..40))
}

fn side(chance: &mut impl Rng) -> Side {
    if chance.random() { Side::Above } else { Side::Below }
}

/// A condition that is judged by the price, the volume, or what both of them make of the history.
pub(crate) fn market_condition(price_now: i64, eps: Decimal, chance: &mut impl Rng) -> Condition {
    let side = side(chance);
    let percent = Decimal::from_micros(chance.random_range(50..300) * 100_000);
    match chance.random_range(0..100) {
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
            period: [20, 50, 200][chance.random_range(0..3)],
        },
        85..91 => Condition::Rsi {
            direction: side.pick(RsiDirection::Above, RsiDirection::Below),
            threshold: Decimal::from_micros(side.pick(70, 15) * 1_000_000 + percent.micros() / 2),
        },
        91..96 => Condition::VolumeChange {
            baseline: if chance.random() {
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
                earnings: Earnings::Trailing,
                threshold: Decimal::from_micros(moved(ratio, away)),
            }
        }
    }
}

/// A condition that waits for an instant or a fact.
fn other_condition(chance: &mut impl Rng) -> Condition {
    match chance.random_range(0..7) {
        0 => Condition::DailyReminder(if chance.random() {
            DeliveryTime::MarketOpen
        } else {
            DeliveryTime::AfterMarketClose
        }),
        1 => Condition::EarningsAnnouncement {
            days_ahead: chance.random_range(0..7),
        },
        2 => Condition::DividendExDate {
            days_ahead: chance.random_range(0..7),
        },
        3 => Condition::DividendPayment { shares: None },
        4 => Condition::SocialBuzz(BuzzDirection::Rising),
        5 => Condition::InsiderTransactions(InsiderWatch {
            threshold_usd: Decimal::from_micros(1_000_000_000_000),
            direction: InsiderDirection::Buy,
            min_executives: 2,
            window_days: 30,
            open_market_only: true,
        }),
        _ => Condition::Reminder {
            at: moment(chance.random_range(0..1_000_000_000)),
        },
    }
}

/// Every stock gets 450 sessions of history, earnings per share and dates ahead; the market's prices become the last closes.
pub(crate) fn tell_facts(engine: &mut Engine, market: &mut Market, chance: &mut impl Rng) -> Vec<Decimal> {
    let days = sessions_before(MONDAY, 450);
    let before = session().open - jiff::SignedDuration::from_hours(3);
    let ahead = |days: i64| MONDAY.saturating_add(jiff::Span::new().days(days));
    let mut out = Vec::new();
    let mut tell = |event: Event<'_>| engine.process(event, before, &mut out).expect("taken");
    let mut all_eps = Vec::with_capacity(market.len());
    for (&symbol, now) in market.symbols.iter().zip(&mut market.prices) {
        for bar in bars(&days, *now, chance) {
            *now = bar.close.micros();
            tell(Event::Bar { symbol, bar });
        }
        let eps = earnings_per_share(*now, chance);
        all_eps.push(eps);
        tell(Event::Fundamentals {
            symbol,
            eps_ttm: Some(eps),
            eps_forward: None,
        });
        let dates = [ahead(chance.random_range(0..90))];
        tell(Event::Earnings { symbol, dates: &dates });
        let dividends = [Dividend {
            ex_date: ahead(chance.random_range(0..90)),
            payment_date: Some(ahead(chance.random_range(0..90))),
            amount: None,
        }];
        tell(Event::Dividends {
            symbol,
            dividends: &dividends,
        });
    }
    all_eps
}

/// Alerts of all families: 52 % prices, 17 % changes, and some of each of the others; one in twenty waits for no price at all.
pub(crate) fn alerts(market: &Market, eps: &[Decimal], count: usize, chance: &mut impl Rng) -> Vec<Alert> {
    market
        .watched(count, chance)
        .into_iter()
        .map(|stock| {
            let at = stock as usize;
            let condition = if chance.random_range(0..20) == 0 {
                other_condition(chance)
            } else {
                market_condition(market.prices[at], eps[at], chance)
            };
            Alert {
                initial_price: Some(price(market.prices[at])),
                ..alert(market.symbols[at], condition, chance)
            }
        })
        .collect()
}
