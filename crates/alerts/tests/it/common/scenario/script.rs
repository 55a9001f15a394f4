//! The events of a generated scenario.

use alerts::engine::{Dividend, InsiderTrade};
use alerts::lifecycle::Lifecycle;
use alerts::options::AlertOptions;
use alerts::{Alert, Condition, Revision, Status};
use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};
use market::{Bar, Calendar, Decimal, Price, Symbol};

use super::{Action, ActionKind, AlertPlan, BarShape, SPLIT_AT_NIGHT, Scenario, StockPlan};
use crate::common::{alert, id};
use crate::oracle::{OwnedEvent, TestQuote};

/// The tick around which closes stay. A dollar is two ticks.
const USUAL_TICK: i64 = 20;

/// The state of a stock while the script is written.
struct Stock<'a> {
    plan: &'a StockPlan,
    symbol: Symbol,
    tick: i64,
    /// The number of final shares per today's share, as a fraction. Prices are coarse in final shares, so that no split ever
    /// rounds.
    shares: (i64, i64),
    /// The date, the lowest and highest tick, and the thousands of shares of the last observed session.
    session: Option<(Date, i64, i64, i64)>,
    /// The last hour with a count of mentions.
    mentions_until: Timestamp,
}

struct Script<'a> {
    calendar: &'a Calendar,
    stocks: Vec<Stock<'a>>,
    events: Vec<(Timestamp, OwnedEvent)>,
    revisions: u32,
}

/// Returns the life cycle of an alert that is created.
fn lifecycle(condition: &Condition, options: &AlertOptions, now: Timestamp) -> Option<Box<Lifecycle>> {
    let state = match condition {
        Condition::SocialBuzz(_) => Lifecycle::new_on_change(now),
        _ => Lifecycle::new(now, None, None),
    };
    Alert::has_lifecycle(condition, options).then(|| Box::new(state))
}

impl Scenario {
    /// Returns all events, in order.
    pub(crate) fn script(&self, calendar: &Calendar) -> Vec<(Timestamp, OwnedEvent)> {
        let first = date(2019, 3, 1) + i64::from(self.start).days();
        let stocks = self
            .stocks
            .iter()
            .enumerate()
            .map(|(at, plan)| Stock::new(at, plan, self.days.len(), calendar, first));
        let mut script = Script {
            calendar,
            stocks: stocks.collect(),
            events: Vec::new(),
            revisions: 0,
        };
        script.warm_up(first);
        for plan in &self.alerts {
            script.arm(plan, calendar.daily_evaluation_time(first) - 9.hours());
        }
        for (number, actions) in self.days.iter().enumerate() {
            script.day(first + i64::try_from(number).expect("few").days(), number, actions);
        }
        script.events
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
            mentions_until: calendar.daily_evaluation_time(first) - 12.hours(),
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

    /// Converts thousands of final shares to today's shares.
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

/// Returns the time at which a completed session is known, also on a market that never closes.
fn midnight_after(date: Date) -> Timestamp {
    market::calendar::new_york(date + 1.day(), 0, 0)
}

fn times((new, old): (i64, i64), ratio: &str) -> (i64, i64) {
    match ratio {
        "0.5" => (new, old * 2),
        whole => (new * whole.parse::<i64>().expect("a whole number"), old),
    }
}

/// Returns the remaining share ratio after a split by `ratio`.
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
                self.events
                    .push((midnight_after(session.date), OwnedEvent::Bar(symbol, bar)));
            }
            let (hours, count) = plan.mentions;
            let until = self.stocks[at].mentions_until;
            for hour in (0..i64::from(hours)).rev() {
                self.events
                    .push((until, OwnedEvent::Mentions(symbol, until - hour.hours(), count)));
            }
            let eps = plan.eps.map(|eps| self.stocks[at].eps(eps));
            self.events.push((until, OwnedEvent::Fundamentals(symbol, eps)));
        }
        self.events.sort_by_key(|(at, _)| *at);
    }

    fn day(&mut self, today: Date, number: usize, actions: &[Action]) {
        let moment = self.calendar.daily_evaluation_time(today);
        // Actions stay within their day, after the splits of the night.
        let day_of = |action: &&Action| market::calendar::new_york_date(moment + action.minute.minutes());
        let actions = actions
            .iter()
            .filter(|action| action.minute > SPLIT_AT_NIGHT && day_of(action) == today);
        let mut actions: Vec<_> = actions.cloned().chain(self.splits(number)).collect();
        actions.push(Action {
            minute: 0,
            kind: ActionKind::Clock,
        });
        actions.sort_by_key(|action| action.minute);
        for action in actions {
            self.apply(&action.kind, today, moment + action.minute.minutes());
        }
    }

    fn splits(&self, day: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        for (stock, plan) in (0..).zip(self.stocks.iter().map(|stock| stock.plan)) {
            let of_today = plan.splits.iter().filter(|split| usize::from(split.0) == day);
            actions.extend(of_today.map(|&(_, minute, ratio)| Action {
                minute,
                kind: ActionKind::Split { stock, ratio },
            }));
        }
        actions
    }

    fn arm(&mut self, plan: &AlertPlan, now: Timestamp) {
        let stock = &self.stocks[usize::from(plan.stock) % self.stocks.len()];
        let condition = plan.condition.build(now, |quarters| stock.quarters(quarters));
        self.revisions += 100;
        let options = plan.options.build(&condition, now);
        let alert = Alert {
            revision: Revision(self.revisions),
            status: if plan.is_active { Status::Active } else { Status::Paused },
            initial_price: plan.has_initial.then(|| stock.price(stock.tick)),
            lifecycle: lifecycle(&condition, &options, now),
            options,
            ..alert(plan.number.into(), stock.symbol, condition, now)
        };
        self.events.push((now, OwnedEvent::Armed(Box::new(alert))));
    }

    fn apply(&mut self, kind: &ActionKind, today: Date, now: Timestamp) {
        let len = self.stocks.len();
        let of = |stock: &u8| usize::from(*stock) % len;
        let day = |days: &i16| today + i64::from(*days).days();
        let event = match kind {
            ActionKind::Snapshot(steps) => self.snapshot(steps, now),
            ActionKind::Split { stock, ratio } => {
                let stock = &mut self.stocks[of(stock)];
                stock.shares = over(stock.shares, ratio);
                OwnedEvent::Split(stock.symbol, ratio.parse().expect("a ratio"))
            }
            ActionKind::Bars => return self.bars(today, now),
            ActionKind::Bar {
                stock,
                back,
                agrees,
                shape,
            } => match self.bar(of(stock), *back, *agrees, shape, now) {
                Some(event) => event,
                None => return,
            },
            ActionKind::TodaysBar { stock, shape } => {
                let stock = &self.stocks[of(stock)];
                OwnedEvent::Bar(stock.symbol, stock.bar(today, stock.step(shape.close), shape))
            }
            ActionKind::Fundamentals { stock, eps } => {
                let stock = &self.stocks[of(stock)];
                OwnedEvent::Fundamentals(stock.symbol, eps.map(|eps| stock.eps(eps)))
            }
            ActionKind::Earnings { stock, days } => {
                OwnedEvent::Earnings(self.stocks[of(stock)].symbol, days.iter().map(day).collect())
            }
            ActionKind::Dividends { stock, days } => {
                let dividend = |(ahead, later): &(i16, Option<u8>)| Dividend {
                    ex_date: day(ahead),
                    payment_date: later.map(|later| day(ahead) + i64::from(later).days()),
                    amount: None,
                };
                OwnedEvent::Dividends(self.stocks[of(stock)].symbol, days.iter().map(dividend).collect())
            }
            ActionKind::Insiders {
                stock,
                replaces,
                trades,
            } => {
                let trade = |trade: &super::TradePlan| InsiderTrade {
                    filed_on: today - i64::from(trade.filed_days_ago).days(),
                    insider: format!("insider {}", trade.insider),
                    bought: trade.bought,
                    open_market: trade.open_market,
                    value_usd: Decimal::from_units(trade.ten_thousands * 10_000).expect("small"),
                };
                let (symbol, trades) = (self.stocks[of(stock)].symbol, trades.iter().map(trade).collect());
                match replaces {
                    true => OwnedEvent::InsiderTradesReplaced(symbol, trades),
                    false => OwnedEvent::Insiders(symbol, trades),
                }
            }
            ActionKind::Mentions {
                stock,
                silent,
                hours,
                count,
                correction,
            } => {
                self.stocks[of(stock)].mentions_until += i64::from(*silent).hours();
                return self.mentions(of(stock), i64::from(*hours), *count, *correction, now);
            }
            ActionKind::Arm(plan) => return self.arm(plan, now),
            ActionKind::Disarm(number) => OwnedEvent::Disarmed(id((*number).into())),
            ActionKind::Clock => OwnedEvent::Clock,
            ActionKind::Evaluate => OwnedEvent::Evaluate,
        };
        self.events.push((now, event));
    }

    fn snapshot(&mut self, steps: &[Option<(i64, Option<i64>)>], now: Timestamp) -> OwnedEvent {
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
            seen.push(TestQuote {
                symbol: stock.symbol,
                price: stock.price(stock.tick),
                volume,
            });
        }
        OwnedEvent::Snapshot(seen)
    }

    /// Adds the bars of today's session, made of its observations.
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
                self.events
                    .push((now, OwnedEvent::Bar(stock.symbol, stock.bar(today, stock.tick, &shape))));
            }
        }
    }

    fn bar(&self, stock: usize, back: u8, agrees: bool, shape: &BarShape, now: Timestamp) -> Option<OwnedEvent> {
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
        Some(OwnedEvent::Bar(stock.symbol, stock.bar(session.date, close, shape)))
    }

    fn mentions(&mut self, stock: usize, hours: i64, count: u32, correction: Option<(u8, u32)>, now: Timestamp) {
        let stock = &mut self.stocks[stock];
        for _ in 0..hours {
            if stock.mentions_until + 1.hour() <= now {
                stock.mentions_until += 1.hour();
                self.events
                    .push((now, OwnedEvent::Mentions(stock.symbol, stock.mentions_until, count)));
            }
        }
        if let Some((hours_ago, count)) = correction {
            let hour = stock.mentions_until - i64::from(hours_ago).hours();
            self.events.push((now, OwnedEvent::Mentions(stock.symbol, hour, count)));
        }
    }
}
