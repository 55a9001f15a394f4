//! One stock, played through the engine from its first bar to its last.

use std::collections::{BTreeSet, HashMap};

use alerts::engine::{Decision, Dividend, Engine, Event, NotTaken, Quote, Settings, Verdict};
use alerts::request::Context;
use alerts::{Alert, AlertId, Condition, Plan, Revision, Status};
use analyst::{Analysis, Intention, Proposal, Subject, advise, chance};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use market::{Bar, Calendar, Price, Session, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sources::folder::MarketData;
use uuid::Uuid;

use crate::index::Index;
use crate::tally::{Kind, Moves, Outcome, Table};

/// So many sessions an alert waits before it is taken away.
const WAIT: usize = 20;
/// So many sessions after the firing are looked at.
const AFTER: [usize; 3] = [1, 5, 20];
/// So many sessions have to be known before a look.
const BEFORE: usize = 200;

/// An alert on its way.
struct Waiting {
    kind: Kind,
    expected: Option<f64>,
    made_on: usize,
}

pub(crate) struct Player<'a> {
    symbol: Symbol,
    bars: &'a [Bar],
    calendar: &'a Calendar,
    index: &'a Index,
    earnings: Vec<Date>,
    dividends: Vec<Dividend>,
    looks: BTreeSet<usize>,
    engine: Engine,
    waiting: HashMap<AlertId, Waiting>,
    next_id: u128,
}

impl<'a> Player<'a> {
    pub(crate) fn new(
        data: &'a MarketData,
        symbol: Symbol,
        calendar: &'a Calendar,
        index: &'a Index,
        dates_per_stock: usize,
    ) -> Self {
        let bars = data.bars[&symbol].daily.as_slice();
        let earnings = data
            .earnings
            .iter()
            .filter(|row| row.symbol == symbol)
            .map(|row| row.date);
        let dividends = data
            .dividends
            .iter()
            .filter(|row| row.symbol == symbol)
            .map(|row| Dividend {
                ex_date: row.ex_date,
                payment_date: row.payment_date,
                amount: row.amount,
            });
        Self {
            symbol,
            bars,
            calendar,
            index,
            earnings: earnings.collect(),
            dividends: dividends.collect(),
            looks: looks(symbol, bars.len(), dates_per_stock),
            engine: Engine::new(calendar.clone(), Settings::default()),
            waiting: HashMap::new(),
            next_id: 0,
        }
    }

    pub(crate) fn play(mut self, table: &mut Table) -> Result<(), NotTaken> {
        let (symbol, mut out) = (self.symbol, Vec::new());
        let known = Timestamp::MIN;
        self.engine.process(
            Event::Earnings {
                symbol,
                dates: &self.earnings,
            },
            known,
            &mut out,
        )?;
        self.engine.process(
            Event::Dividends {
                symbol,
                dividends: &self.dividends,
            },
            known,
            &mut out,
        )?;
        for (day, bar) in self.bars.iter().enumerate() {
            // The folder's reader leaves out bars of days without a session.
            let Some(session) = self.calendar.session(bar.date) else {
                continue;
            };
            self.session(day, bar, &session, &mut out)?;
            if self.looks.contains(&day) {
                table.add_look(self.moves_after(day));
            }
            for decision in out.drain(..) {
                if let (Verdict::Fire { .. }, Some(waiting)) = (decision.verdict, self.waiting.remove(&decision.alert))
                {
                    let moves = self.moves_after(day);
                    table.add(
                        waiting.kind,
                        Outcome {
                            expected: waiting.expected,
                            fired: Some(moves),
                        },
                    );
                }
            }
            self.take_away(day, session.close, table);
            self.engine
                .process(Event::Bar { symbol, bar: *bar }, session.close, &mut out)?;
        }
        Ok(())
    }

    fn session(&mut self, day: usize, bar: &Bar, session: &Session, out: &mut Vec<Decision>) -> Result<(), NotTaken> {
        let third = session.open.duration_until(session.close) / 3;
        let away = |price: Price| (price.micros() - bar.open.micros()).abs();
        let (nearer, farther) = if away(bar.low) <= away(bar.high) {
            (bar.low, bar.high)
        } else {
            (bar.high, bar.low)
        };
        let prices = [bar.open, nearer, farther, bar.close];
        let stock = self.engine.stock(self.symbol);
        for (place, price) in (0_i32..).zip(prices) {
            let at = if place == 3 {
                session.close
            } else {
                session.open + third * place
            };
            let quote = Quote::new(stock, price);
            let quote = if place == 3 {
                quote.with_volume(bar.volume)
            } else {
                quote
            };
            self.engine.process(Event::Clock, at, out)?;
            self.engine.process(Event::Snapshot(&[quote]), at, out)?;
            if place == 0 && self.looks.contains(&day) {
                self.look(day, price, at, out)?;
            }
        }
        Ok(())
    }

    /// Looks at the stock for a buyer and for a seller, and arms what is proposed.
    fn look(&mut self, day: usize, price: Price, now: Timestamp, out: &mut Vec<Decision>) -> Result<(), NotTaken> {
        let history = self.engine.history(self.symbol).cloned().unwrap_or_default();
        let (time_zone, calendar) = (TimeZone::UTC, self.calendar);
        for &intention in Intention::ALL {
            let subject = Subject {
                symbol: self.symbol,
                intention,
                price,
                target_price: None,
                history: &history,
                session_volume: None,
                earnings: &self.earnings,
                dividends: &self.dividends,
                plan: Plan::Premium,
                active_alerts: 0,
                context: Context {
                    now,
                    time_zone: &time_zone,
                    calendar,
                },
            };
            let advice = advise(&subject);
            for proposal in advice.proposals {
                self.next_id += 1;
                let alert = alert(&proposal, self.next_id, price, now);
                let waiting = Waiting {
                    kind: Kind {
                        intention: intention.name(),
                        role: proposal.role,
                        condition: alert.condition.kind(),
                    },
                    expected: expected(&alert.condition, &subject, &advice.analysis),
                    made_on: day,
                };
                self.waiting.insert(alert.id, waiting);
                self.engine.process(Event::Armed(&alert), now, out)?;
            }
        }
        self.engine.process(Event::Evaluate, now, out)
    }

    /// Counts as not fired what has waited long enough.
    fn take_away(&mut self, day: usize, now: Timestamp, table: &mut Table) {
        let tired: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.made_on + WAIT - 1 <= day)
            .map(|(&id, _)| id)
            .collect();
        for id in tired {
            let _ = self.engine.process(Event::Disarmed(id), now, &mut Vec::new());
            if let Some(waiting) = self.waiting.remove(&id) {
                table.add(
                    waiting.kind,
                    Outcome {
                        expected: waiting.expected,
                        fired: None,
                    },
                );
            }
        }
    }

    fn moves_after(&self, day: usize) -> Moves {
        let (from, base) = (self.bars[day].date, self.bars[day].close.as_f64());
        let each = AFTER.map(|sessions| {
            let to = self.bars.get(day + sessions)?;
            let stock = to.close.as_f64() / base - 1.0;
            Some((stock, stock - self.index.change(from, to.date)?))
        });
        Moves { fired_on: from, each }
    }
}

/// The days on which to look, with so many sessions known before and all of the sessions after that are looked at.
fn looks(symbol: Symbol, sessions: usize, count: usize) -> BTreeSet<usize> {
    let seed = symbol
        .as_str()
        .bytes()
        .fold(11_u64, |seed, byte| seed * 31 + u64::from(byte));
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let end = sessions.saturating_sub(WAIT + AFTER[2]);
    let mut days = BTreeSet::new();
    while BEFORE < end && days.len() < count.min(end - BEFORE) {
        days.insert(chance.random_range(BEFORE..end));
    }
    days
}

fn alert(proposal: &Proposal, id: u128, price: Price, now: Timestamp) -> Alert {
    let new = proposal.alert.clone();
    Alert {
        id: AlertId(Uuid::from_u128(id)),
        revision: Revision(1),
        symbol: new.symbol,
        condition: new.condition,
        notification: new.notification,
        parameters: new.parameters,
        status: Status::Active,
        initial_price: Some(price),
        created_at: now,
        armed_at: now,
        threshold_set_at: now,
        initial_price_set_at: now,
        rsi_side: None,
        triggered_at: None,
    }
}

/// How often a random walk would fire it, if it waits for a price.
fn expected(condition: &Condition, subject: &Subject<'_>, analysis: &Analysis) -> Option<f64> {
    let level = match *condition {
        Condition::Price { threshold, .. } => threshold,
        Condition::NewExtreme { .. } => analysis.high_52_weeks?,
        _ => return None,
    };
    let sessions = u32::try_from(WAIT).ok()?;
    Some(chance::of_touch(
        subject.distance(level),
        analysis.volatility.sigma_day,
        sessions,
    ))
}
