//! The values of metrics, each computed from the whole record. All amounts per share are in the shares of the day on which the
//! rule was set.

use alerts::expression::metric::{ChangeBase, Metric};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::{new_york, new_york_date};

use super::number::Number;
use crate::rules::fact_world::{FactEvent, Trade};

/// The counts of mentions in the last day and in the week before.
const RECENT_HOURS: i64 = 24;
const COUNTED_HOURS: i64 = 8 * 24;
/// The most consecutive hours without a count.
const MAX_MISSING_HOURS: i64 = 6;

/// The events up to a judgement.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) events: &'a [(Timestamp, FactEvent)],
    pub(super) now: Timestamp,
    pub(super) set_at: Timestamp,
}

/// A price in the shares of its day, with its place in the record.
#[derive(Clone, Copy)]
pub(super) struct RecordedPrice {
    micros: i64,
    place: usize,
}

/// A price and the volume so far, in the shares of the day on which the rule was set.
#[derive(Clone, Copy)]
struct Trading {
    date: Date,
    at: Timestamp,
    price: Number,
    recorded: RecordedPrice,
    volume: Option<Number>,
}

impl<'a> Past<'a> {
    fn today(&self) -> Date {
        new_york_date(self.now)
    }

    /// Returns the number of shares at a place of the record for one of the day on which the rule was set.
    fn shares(&self, stock: usize, place: usize) -> Number {
        let mut shares = Number::whole(1);
        for (at, (split_at, event)) in self.events.iter().enumerate() {
            let FactEvent::Split(of, ratio) = event else { continue };
            let ratio = Number::micros(ratio.micros());
            let is_earlier = new_york(new_york_date(*split_at), 0, 0) <= self.set_at;
            if *of != stock || is_earlier == (at <= place) {
                continue;
            }
            shares = if is_earlier {
                shares.divided_by(ratio).unwrap()
            } else {
                shares.times(ratio)
            };
        }
        shares
    }

    /// Returns an amount per share at the end of the record in the shares of the day on which the rule was set.
    pub(super) fn per_share(&self, stock: usize, micros: i64, place: usize) -> Number {
        Number::micros(micros).times(self.shares(stock, place))
    }

    fn trading(&self, stock: usize) -> Vec<Trading> {
        let mut trading = Vec::new();
        for (place, (at, event)) in self.events.iter().enumerate() {
            let FactEvent::Prices(seen) = event else { continue };
            for seen in seen.iter().filter(|seen| seen.stock == stock) {
                let volume = (seen.volume >= 0).then(|| Number::whole(seen.volume));
                trading.push(Trading {
                    date: new_york_date(*at),
                    at: *at,
                    price: self.per_share(stock, seen.price, place),
                    recorded: RecordedPrice {
                        micros: seen.price,
                        place,
                    },
                    volume: volume.map(|volume| volume.divided_by(self.shares(stock, place)).unwrap()),
                });
            }
        }
        trading
    }

    /// Returns the newest price.
    pub(super) fn price(&self, stock: usize) -> Option<Number> {
        self.trading(stock).last().map(|seen| seen.price)
    }

    /// Returns a recorded price of the rule's own stock. A split that becomes known later can change it.
    pub(super) fn own_price(&self, recorded: RecordedPrice) -> Number {
        self.per_share(0, recorded.micros, recorded.place)
    }

    /// Returns the newest price of the rule's own stock at an instant.
    pub(super) fn recorded_at(&self, at: Timestamp) -> Option<RecordedPrice> {
        let trading = self.trading(0);
        let seen = trading.iter().rfind(|seen| seen.at <= at);
        seen.map(|seen| seen.recorded)
    }

    /// Returns the time of the newest price.
    pub(super) fn last_observed_at(&self, stock: usize) -> Option<Timestamp> {
        self.trading(stock).last().map(|seen| seen.at)
    }

    /// Returns whether the stock was observed in the last quarter of an hour.
    pub(super) fn is_fresh(&self, stock: usize) -> bool {
        let newest = self.last_observed_at(stock);
        newest.is_some_and(|at| self.now.duration_since(at) <= SignedDuration::from_mins(15))
    }

    fn session(&self, stock: usize) -> Vec<Trading> {
        let today = self.today();
        let mut trading = self.trading(stock);
        trading.retain(|seen| seen.date == today);
        trading
    }

    fn earlier(&self, stock: usize) -> Vec<Trading> {
        let today = self.today();
        let mut trading = self.trading(stock);
        trading.retain(|seen| seen.date < today);
        trading
    }

    fn newest<T>(&self, mut find: impl FnMut(usize, &'a FactEvent) -> Option<T>) -> Option<T> {
        let events = self.events.iter().enumerate().rev();
        events.into_iter().find_map(|(place, (_, event))| find(place, event))
    }

    /// Returns one of the fundamentals.
    fn figure(&self, stock: usize, figure: usize) -> Option<Number> {
        let (place, micros) = self.newest(|place, event| match event {
            FactEvent::Fundamentals(of, values) if *of == stock => Some((place, values[figure])),
            _ => None,
        })?;
        let is_per_share = figure < 2;
        Some(if is_per_share {
            self.per_share(stock, micros?, place)
        } else {
            Number::micros(micros?)
        })
    }

    fn price_to_earnings(&self, stock: usize, figure: usize) -> Option<Number> {
        let earnings = self.figure(stock, figure).filter(|eps| eps.is_positive())?;
        self.price(stock)?.divided_by(earnings)
    }

    /// Returns the mentions of the last day, and of the week before.
    fn mentions(&self, stock: usize) -> Option<(i64, i64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (_, event) in self.events {
            if let FactEvent::Mentions(of, hour, count) = event
                && *of == stock
            {
                counts.insert(hour.as_second() / 3600, i64::from(*count));
            }
        }
        let (&newest, _) = counts.last_key_value()?;
        let from = newest - COUNTED_HOURS + 1;
        if *counts.first_key_value()?.0 > from {
            return None;
        }
        let mut previous = from - 1;
        for (&hour, _) in counts.range(from..) {
            if hour - previous - 1 > MAX_MISSING_HOURS {
                return None;
            }
            previous = hour;
        }
        let recent = newest - RECENT_HOURS + 1;
        Some((
            counts.range(recent..).map(|(_, n)| n).sum(),
            counts.range(from..recent).map(|(_, n)| n).sum(),
        ))
    }

    /// Returns the value of open-market trades filed within the last days; `None` before any were delivered, of any stock.
    fn insiders(&self, stock: usize, days: u16, bought: bool) -> Option<Number> {
        let mut trades: Vec<&Trade> = Vec::new();
        let mut are_known = false;
        for (_, event) in self.events {
            match event {
                FactEvent::Trades(of, new) => {
                    are_known = true;
                    trades.extend(new.iter().filter(|_| *of == stock));
                }
                FactEvent::TradesReplaced(of, all) if *of == stock => trades = all.iter().collect(),
                _ => {}
            }
        }
        let today = self.today();
        let counts = |trade: &&Trade| {
            let age = trade.filed_on.until(today).unwrap().get_days();
            trade.open_market && trade.bought == bought && (0..i32::from(days)).contains(&age)
        };
        let usd = trades.into_iter().filter(counts).map(|trade| trade.usd).sum();
        are_known.then(|| Number::whole(usd))
    }

    fn days_to(&self, dates: impl IntoIterator<Item = Date>) -> Option<Number> {
        let today = self.today();
        let next = dates.into_iter().filter(|date| *date >= today).min()?;
        Some(Number::whole(today.until(next).unwrap().get_days().into()))
    }

    fn dividends(&self, stock: usize) -> Vec<(Date, Option<Date>)> {
        let newest = self.newest(|_, event| match event {
            FactEvent::Dividends(of, dates) if *of == stock => Some(dates.clone()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    /// Returns the value of a metric that depends on the market alone.
    pub(super) fn value(&self, stock: usize, metric: Metric) -> Option<Number> {
        let session = self.session(stock);
        let earlier = self.earlier(stock);
        match metric {
            Metric::Price => self.price(stock),
            Metric::Open => session.first().map(|seen| seen.price),
            Metric::SessionLow => session.iter().map(|seen| seen.price).reduce(Number::smaller),
            Metric::PrevClose => earlier.last().map(|seen| seen.price),
            Metric::Volume => session.iter().filter_map(|seen| seen.volume).reduce(Number::larger),
            Metric::High(n) => {
                let mut dates: Vec<_> = earlier.iter().map(|seen| seen.date).collect();
                dates.dedup();
                let first = dates[dates.len().checked_sub(n.get().into())?];
                let counted = earlier.iter().filter(|seen| seen.date >= first);
                counted.map(|seen| seen.price).reduce(Number::larger)
            }
            Metric::Eps => self.figure(stock, 0),
            Metric::Pe => self.price_to_earnings(stock, 0),
            Metric::ForwardPe => self.price_to_earnings(stock, 1),
            Metric::MarketCap => self.figure(stock, 2),
            Metric::DividendYield => self.figure(stock, 3),
            Metric::Mentions => Some(Number::whole(self.mentions(stock)?.0)),
            Metric::MentionsRatio => {
                let (day, week) = self.mentions(stock)?;
                Number::whole(day * 7).divided_by(Number::whole(week))
            }
            Metric::InsiderBuys(n) => self.insiders(stock, n.get(), true),
            Metric::InsiderSells(n) => self.insiders(stock, n.get(), false),
            Metric::DaysToEarnings => {
                let dates = self.newest(|_, event| match event {
                    FactEvent::Earnings(of, dates) if *of == stock => Some(dates),
                    _ => None,
                })?;
                self.days_to(dates.iter().copied())
            }
            Metric::DaysToExDividend => self.days_to(self.dividends(stock).into_iter().map(|(ex, _)| ex)),
            Metric::DaysToPayment => self.days_to(self.dividends(stock).into_iter().filter_map(|(_, paid)| paid)),
            other => panic!("{other:?} is not in these worlds"),
        }
    }
}

/// Returns whether a metric depends on a fact besides prices.
pub(super) fn is_of_fact(metric: Metric) -> bool {
    use Metric::{DaysToEarnings, DaysToExDividend, DaysToPayment, DividendYield, Eps, ForwardPe, InsiderBuys};
    use Metric::{InsiderSells, MarketCap, Mentions, MentionsRatio, Pe};
    matches!(
        metric,
        Eps | Pe | ForwardPe | MarketCap | DividendYield | Mentions | MentionsRatio | InsiderBuys(_) | InsiderSells(_)
    ) || matches!(metric, DaysToEarnings | DaysToExDividend | DaysToPayment)
}

/// Returns whether a metric depends on prices or volumes.
pub(super) fn is_of_market(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::Pe | Metric::ForwardPe | Metric::ChangePct(ChangeBase::Creation)
    ) || !is_of_fact(metric)
}

/// Returns whether an event changes a metric of a stock.
pub(super) fn changes(event: &FactEvent, stock: usize, metric: Metric) -> bool {
    use Metric::{DaysToEarnings, DaysToExDividend, DaysToPayment, DividendYield, Eps, ForwardPe, InsiderBuys};
    use Metric::{InsiderSells, MarketCap, Mentions, MentionsRatio, Pe};
    match event {
        FactEvent::Fundamentals(of, _) => {
            *of == stock && matches!(metric, Eps | Pe | ForwardPe | MarketCap | DividendYield)
        }
        FactEvent::Earnings(of, _) => *of == stock && metric == DaysToEarnings,
        FactEvent::Dividends(of, _) => *of == stock && matches!(metric, DaysToExDividend | DaysToPayment),
        FactEvent::Trades(of, _) | FactEvent::TradesReplaced(of, _) => {
            *of == stock && matches!(metric, InsiderBuys(_) | InsiderSells(_))
        }
        FactEvent::Mentions(of, ..) => *of == stock && matches!(metric, Mentions | MentionsRatio),
        _ => false,
    }
}
