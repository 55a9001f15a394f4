//! The replay of one stock through the engine, from its first bar to its last.

use std::collections::{BTreeSet, HashMap};

use alerts::engine::{AlertAction, Decision, Dividend, Engine, EngineConfig, Event, EventError, Quote};
use alerts::request::ParseContext;
use alerts::{Alert, AlertId, Condition, Plan, Revision, Status};
use analyst::{Analysis, AnalysisSubject, Intention, Proposal, advise, probability};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use market::{Bar, Calendar, Price, Session, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sources::folder::MarketData;
use uuid::Uuid;

use crate::benchmark::Benchmark;
use crate::table::{AlertGroup, AlertOutcome, Moves, OutcomeTable};

/// The number of sessions that an alert waits before it is removed.
const WAIT_SESSIONS: usize = 20;
/// The numbers of sessions after a firing at which moves are measured.
const MOVE_SESSIONS: [usize; 3] = [1, 5, 20];
/// The minimum number of sessions before an analysis.
const MIN_HISTORY_SESSIONS: usize = 200;

/// An armed alert that has not fired.
struct WaitingAlert {
    kind: AlertGroup,
    expected: Option<f64>,
    made_on: usize,
}

pub(crate) struct Replay<'a> {
    symbol: Symbol,
    bars: &'a [Bar],
    calendar: &'a Calendar,
    benchmark: &'a Benchmark,
    earnings: Vec<Date>,
    dividends: Vec<Dividend>,
    analysis_days: BTreeSet<usize>,
    engine: Engine,
    waiting: HashMap<AlertId, WaitingAlert>,
    next_id: u128,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(
        data: &'a MarketData,
        symbol: Symbol,
        calendar: &'a Calendar,
        benchmark: &'a Benchmark,
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
            benchmark,
            earnings: earnings.collect(),
            dividends: dividends.collect(),
            analysis_days: analysis_days(symbol, bars.len(), dates_per_stock),
            engine: Engine::new(calendar.clone(), EngineConfig::default()),
            waiting: HashMap::new(),
            next_id: 0,
        }
    }

    pub(crate) fn run(mut self, table: &mut OutcomeTable) -> Result<(), EventError> {
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
            if self.analysis_days.contains(&day) {
                table.add_analysis_day(self.moves_after(day));
            }
            for decision in out.drain(..) {
                if let (AlertAction::Fire { .. }, Some(waiting)) =
                    (decision.action, self.waiting.remove(&decision.alert))
                {
                    let moves = self.moves_after(day);
                    table.add(
                        waiting.kind,
                        AlertOutcome {
                            expected: waiting.expected,
                            fired: Some(moves),
                        },
                    );
                }
            }
            self.remove_expired(day, session.close, table);
            self.engine
                .process(Event::Bar { symbol, bar: *bar }, session.close, &mut out)?;
        }
        Ok(())
    }

    fn session(&mut self, day: usize, bar: &Bar, session: &Session, out: &mut Vec<Decision>) -> Result<(), EventError> {
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
            if place == 0 && self.analysis_days.contains(&day) {
                self.analyse(day, price, at, out)?;
            }
        }
        Ok(())
    }

    /// Analyses the stock for a buyer and for a seller, and arms the proposals.
    fn analyse(&mut self, day: usize, price: Price, now: Timestamp, out: &mut Vec<Decision>) -> Result<(), EventError> {
        let history = self.engine.history(self.symbol).cloned().unwrap_or_default();
        let (time_zone, calendar) = (TimeZone::UTC, self.calendar);
        for &intention in Intention::ALL {
            let subject = AnalysisSubject {
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
                context: ParseContext {
                    now,
                    time_zone: &time_zone,
                    calendar,
                },
            };
            let advice = advise(&subject);
            for proposal in advice.proposals {
                self.next_id += 1;
                let alert = alert(&proposal, self.next_id, price, now);
                let waiting = WaitingAlert {
                    kind: AlertGroup {
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

    /// Removes the alerts that have waited long enough and counts them as not fired.
    fn remove_expired(&mut self, day: usize, now: Timestamp, table: &mut OutcomeTable) {
        let expired: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.made_on + WAIT_SESSIONS - 1 <= day)
            .map(|(&id, _)| id)
            .collect();
        for id in expired {
            let _ = self.engine.process(Event::Disarmed(id), now, &mut Vec::new());
            if let Some(waiting) = self.waiting.remove(&id) {
                table.add(
                    waiting.kind,
                    AlertOutcome {
                        expected: waiting.expected,
                        fired: None,
                    },
                );
            }
        }
    }

    fn moves_after(&self, day: usize) -> Moves {
        let (from, base) = (self.bars[day].date, self.bars[day].close.as_f64());
        let each = MOVE_SESSIONS.map(|sessions| {
            let to = self.bars.get(day + sessions)?;
            let stock = to.close.as_f64() / base - 1.0;
            Some((stock, stock - self.benchmark.change(from, to.date)?))
        });
        Moves { fired_on: from, each }
    }
}

/// Picks the days of the analyses, with enough sessions before and after.
fn analysis_days(symbol: Symbol, sessions: usize, count: usize) -> BTreeSet<usize> {
    let seed = symbol
        .as_str()
        .bytes()
        .fold(11_u64, |seed, byte| seed * 31 + u64::from(byte));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let end = sessions.saturating_sub(WAIT_SESSIONS + MOVE_SESSIONS[2]);
    let mut days = BTreeSet::new();
    while MIN_HISTORY_SESSIONS < end && days.len() < count.min(end - MIN_HISTORY_SESSIONS) {
        days.insert(rng.random_range(MIN_HISTORY_SESSIONS..end));
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
        note: None,
        tags: alerts::Tags::default(),
        options: alerts::options::AlertOptions::default(),
        routing: alerts::Routing::default(),
        lifecycle: None,
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

/// The probability that a random walk fires the alert, if it waits for a price.
fn expected(condition: &Condition, subject: &AnalysisSubject<'_>, analysis: &Analysis) -> Option<f64> {
    let level = match *condition {
        Condition::Price { threshold, .. } => threshold,
        Condition::NewExtreme { .. } => analysis.high_52_weeks?,
        _ => return None,
    };
    let sessions = u32::try_from(WAIT_SESSIONS).ok()?;
    Some(probability::touch_probability(
        subject.distance(level),
        analysis.volatility.sigma_day,
        sessions,
    ))
}
