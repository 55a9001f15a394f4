//! What is told in an invented world, and when.

use alerts::engine::{Dividend, InsiderTrade};
use alerts::{Alert, Revision, Status};
use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};
use market::{Bar, Calendar, Decimal, Price, Symbol};

use super::{Act, ActKind, AlertPlan, BarShape, SPLIT_AT_NIGHT, StockPlan, World};
use crate::common::{alert, id};
use crate::oracle::{Seen, Told};

/// A dollar is two ticks; closes stay near this one.
const USUAL_TICK: i64 = 20;

/// What is known while the script is written.
struct Stock<'a> {
    plan: &'a StockPlan,
    symbol: Symbol,
    tick: i64,
    /// The shares that one of today's shares will be, as a fraction: prices are coarse in the shares of the end, so that no
    /// split ever rounds.
    shares: (i64, i64),
    /// The session's lowest and highest tick and thousands of shares, of the last session with an observation.
    session: Option<(Date, i64, i64, i64)>,
    /// The last hour with a count of mentions.
    told_until: Timestamp,
}

struct Script<'a> {
    calendar: &'a Calendar,
    stocks: Vec<Stock<'a>>,
    told: Vec<(Timestamp, Told)>,
    revisions: u32,
}

impl World {
    /// Everything that is told, in order.
    pub(crate) fn script(&self, calendar: &Calendar) -> Vec<(Timestamp, Told)> {
        let first = date(2019, 3, 1) + i64::from(self.start).days();
        let stocks = self
            .stocks
            .iter()
            .enumerate()
            .map(|(at, plan)| Stock::new(at, plan, self.days.len(), calendar, first));
        let mut script = Script {
            calendar,
            stocks: stocks.collect(),
            told: Vec::new(),
            revisions: 0,
        };
        script.warm_up(first);
        for plan in &self.alerts {
            script.arm(plan, calendar.daily_moment(first) - 9.hours());
        }
        for (number, acts) in self.days.iter().enumerate() {
            script.day(first + i64::try_from(number).expect("few").days(), number, acts);
        }
        script.told
    }
}

impl<'a> Stock<'a> {
    fn new(at: usize, plan: &'a StockPlan, days: usize, calendar: &Calendar, first: Date) -> Self {
        let mut shares = (1, 1);
        for &(_, _, ratio) in plan.splits.iter().filter(|split| usize::from(split.0) < days) {
            shares = times(shares, ratio);
        }
        Self {
            plan,
            symbol: format!("S{at}").parse().expect("a symbol"),
            tick: USUAL_TICK,
            shares,
            session: None,
            told_until: calendar.daily_moment(first) - 12.hours(),
        }
    }

    fn step(&self, step: i64) -> i64 {
        let from = if self.plan.walks { self.tick } else { USUAL_TICK };
        (from + step).clamp(12, 32)
    }

    fn quarters(&self, quarters: i64) -> Price {
        Price::from_micros(quarters * 250_000 * self.shares.0 / self.shares.1).expect("a price")
    }

    fn price(&self, tick: i64) -> Price {
        self.quarters(tick * 2)
    }

    /// So many thousands of shares of the end in today's shares.
    fn volume(&self, thousands: i64) -> i64 {
        thousands * 12_000 * self.shares.1 / self.shares.0
    }

    fn eps(&self, quarters: Option<i64>) -> Option<Decimal> {
        quarters.map(|quarters| Decimal::from_micros(quarters * 250_000 * self.shares.0 / self.shares.1))
    }

    fn bar(&self, date: Date, close: i64, shape: &BarShape) -> Bar {
        let open = close + shape.open;
        Bar {
            date,
            open: self.price(open),
            high: self.price(open.max(close) + shape.high),
            low: self.price(open.min(close) - shape.low),
            close: self.price(close),
            volume: self.volume(shape.volume),
        }
    }
}

/// When a completed session is known, also where the market never closes.
fn midnight_after(date: Date) -> Timestamp {
    market::calendar::new_york(date + 1.day(), 0, 0)
}

fn times((new, old): (i64, i64), ratio: &str) -> (i64, i64) {
    match ratio {
        "0.5" => (new, old * 2),
        whole => (new * whole.parse::<i64>().expect("a whole number"), old),
    }
}

/// The shares that are left to come after a split by `ratio`.
fn over((new, old): (i64, i64), ratio: &str) -> (i64, i64) {
    match ratio {
        "0.5" => (new * 2, old),
        whole => (new, old * whole.parse::<i64>().expect("a whole number")),
    }
}

impl Script<'_> {
    fn warm_up(&mut self, first: Date) {
        for at in 0..self.stocks.len() {
            let (plan, symbol) = (self.stocks[at].plan, self.stocks[at].symbol);
            let mut day = first;
            let mut sessions: Vec<_> = std::iter::repeat_with(|| {
                let session = self.calendar.previous_session_before(day).expect("a session");
                day = session.date;
                session
            })
            .take(plan.bars.len())
            .collect();
            sessions.reverse();
            for (session, shape) in sessions.iter().zip(&plan.bars) {
                let stock = &mut self.stocks[at];
                stock.tick = stock.step(shape.close);
                let bar = stock.bar(session.date, stock.tick, shape);
                self.told.push((midnight_after(session.date), Told::Bar(symbol, bar)));
            }
            let (hours, count) = plan.talk;
            let until = self.stocks[at].told_until;
            for hour in (0..i64::from(hours)).rev() {
                self.told
                    .push((until, Told::Mentions(symbol, until - hour.hours(), count)));
            }
            let eps = plan.eps.map(|eps| self.stocks[at].eps(eps));
            self.told.push((until, Told::Fundamentals(symbol, eps)));
        }
        self.told.sort_by_key(|(at, _)| *at);
    }

    fn day(&mut self, today: Date, number: usize, acts: &[Act]) {
        let moment = self.calendar.daily_moment(today);
        // Acts stay within their day, after the splits of the night.
        let day_of = |act: &&Act| market::calendar::new_york_date(moment + act.minute.minutes());
        let acts = acts
            .iter()
            .filter(|act| act.minute > SPLIT_AT_NIGHT && day_of(act) == today);
        let mut acts: Vec<_> = acts.cloned().chain(self.splits(number)).collect();
        acts.push(Act {
            minute: 0,
            what: ActKind::Clock,
        });
        acts.sort_by_key(|act| act.minute);
        for act in acts {
            self.act(&act.what, today, moment + act.minute.minutes());
        }
    }

    fn splits(&self, day: usize) -> Vec<Act> {
        let mut acts = Vec::new();
        for (stock, plan) in (0..).zip(self.stocks.iter().map(|stock| stock.plan)) {
            let of_today = plan.splits.iter().filter(|split| usize::from(split.0) == day);
            acts.extend(of_today.map(|&(_, minute, ratio)| Act {
                minute,
                what: ActKind::Split { stock, ratio },
            }));
        }
        acts
    }

    fn arm(&mut self, plan: &AlertPlan, now: Timestamp) {
        let stock = &self.stocks[usize::from(plan.stock) % self.stocks.len()];
        let condition = plan.wish.condition(now, |quarters| stock.quarters(quarters));
        self.revisions += 100;
        let alert = Alert {
            revision: Revision(self.revisions),
            status: if plan.is_active { Status::Active } else { Status::Paused },
            initial_price: plan.has_initial.then(|| stock.price(stock.tick)),
            ..alert(plan.number.into(), stock.symbol, condition, now)
        };
        self.told.push((now, Told::Armed(alert)));
    }

    fn act(&mut self, what: &ActKind, today: Date, now: Timestamp) {
        let len = self.stocks.len();
        let of = |stock: &u8| usize::from(*stock) % len;
        let day = |days: &i16| today + i64::from(*days).days();
        let told = match what {
            ActKind::Snapshot(steps) => self.snapshot(steps, now),
            ActKind::Split { stock, ratio } => {
                let stock = &mut self.stocks[of(stock)];
                stock.shares = over(stock.shares, ratio);
                Told::Split(stock.symbol, ratio.parse().expect("a ratio"))
            }
            ActKind::Bars => return self.bars(today, now),
            ActKind::Bar {
                stock,
                back,
                agrees,
                shape,
            } => match self.bar(of(stock), *back, *agrees, shape, now) {
                Some(told) => told,
                None => return,
            },
            ActKind::TodaysBar { stock, shape } => {
                let stock = &self.stocks[of(stock)];
                Told::Bar(stock.symbol, stock.bar(today, stock.step(shape.close), shape))
            }
            ActKind::Fundamentals { stock, eps } => {
                let stock = &self.stocks[of(stock)];
                Told::Fundamentals(stock.symbol, eps.map(|eps| stock.eps(eps)))
            }
            ActKind::Earnings { stock, days } => {
                Told::Earnings(self.stocks[of(stock)].symbol, days.iter().map(day).collect())
            }
            ActKind::Dividends { stock, days } => {
                let dividend = |(ahead, later): &(i16, Option<u8>)| Dividend {
                    ex_date: day(ahead),
                    payment_date: later.map(|later| day(ahead) + i64::from(later).days()),
                    amount: None,
                };
                Told::Dividends(self.stocks[of(stock)].symbol, days.iter().map(dividend).collect())
            }
            ActKind::Insiders { stock, anew, trades } => {
                let trade = |trade: &super::TradePlan| InsiderTrade {
                    filed_on: today - i64::from(trade.filed_days_ago).days(),
                    insider: format!("insider {}", trade.insider),
                    bought: trade.bought,
                    open_market: trade.open_market,
                    value_usd: Decimal::from_units(trade.ten_thousands * 10_000).expect("small"),
                };
                let (symbol, trades) = (self.stocks[of(stock)].symbol, trades.iter().map(trade).collect());
                match anew {
                    true => Told::InsidersAnew(symbol, trades),
                    false => Told::Insiders(symbol, trades),
                }
            }
            ActKind::Mentions {
                stock,
                silent,
                hours,
                count,
                correction,
            } => {
                self.stocks[of(stock)].told_until += i64::from(*silent).hours();
                return self.mentions(of(stock), i64::from(*hours), *count, *correction, now);
            }
            ActKind::Arm(plan) => return self.arm(plan, now),
            ActKind::Disarm(number) => Told::Disarmed(id((*number).into())),
            ActKind::Clock => Told::Clock,
            ActKind::Evaluate => Told::Evaluate,
        };
        self.told.push((now, told));
    }

    fn snapshot(&mut self, steps: &[Option<(i64, Option<i64>)>], now: Timestamp) -> Told {
        let session = self.calendar.session_at(now).map(|session| session.date);
        let mut seen = Vec::new();
        for (stock, step) in self.stocks.iter_mut().zip(steps) {
            let Some((step, volume)) = *step else {
                continue;
            };
            stock.tick = stock.step(step);
            if let Some(today) = session {
                let (tick, shares) = (stock.tick, volume.unwrap_or(0));
                stock.session = match stock.session {
                    Some((date, low, high, volume)) if date == today => {
                        Some((date, low.min(tick), high.max(tick), volume.max(shares)))
                    }
                    _ => Some((today, tick, tick, shares)),
                };
            }
            let volume = volume.map(|volume| stock.volume(volume));
            seen.push(Seen {
                symbol: stock.symbol,
                price: stock.price(stock.tick),
                volume,
            });
        }
        Told::Snapshot(seen)
    }

    /// Today's session as it was observed.
    fn bars(&mut self, today: Date, now: Timestamp) {
        for stock in &self.stocks {
            if let Some((_, low, high, volume)) = stock.session.filter(|session| session.0 == today) {
                let shape = BarShape {
                    close: 0,
                    open: 0,
                    high: high - stock.tick,
                    low: stock.tick - low,
                    volume,
                };
                self.told
                    .push((now, Told::Bar(stock.symbol, stock.bar(today, stock.tick, &shape))));
            }
        }
    }

    fn bar(&self, stock: usize, back: u8, agrees: bool, shape: &BarShape, now: Timestamp) -> Option<Told> {
        let tomorrow = market::calendar::new_york_date(now).tomorrow().ok()?;
        let mut session = self.calendar.previous_session_before(tomorrow)?;
        if session.close > now {
            session = self.calendar.previous_session_before(session.date)?;
        }
        for _ in 0..back {
            session = self.calendar.previous_session_before(session.date)?;
        }
        let stock = &self.stocks[stock];
        let close = if agrees { stock.tick } else { stock.step(shape.close) };
        Some(Told::Bar(stock.symbol, stock.bar(session.date, close, shape)))
    }

    fn mentions(&mut self, stock: usize, hours: i64, count: u32, correction: Option<(u8, u32)>, now: Timestamp) {
        let stock = &mut self.stocks[stock];
        for _ in 0..hours {
            if stock.told_until + 1.hour() <= now {
                stock.told_until += 1.hour();
                self.told
                    .push((now, Told::Mentions(stock.symbol, stock.told_until, count)));
            }
        }
        if let Some((hours_ago, count)) = correction {
            let hour = stock.told_until - i64::from(hours_ago).hours();
            self.told.push((now, Told::Mentions(stock.symbol, hour, count)));
        }
    }
}
