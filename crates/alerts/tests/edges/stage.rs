//! An engine with one stock.

use alerts::Alert;
use alerts::condition::Condition;
use alerts::engine::{Engine, Event, NotTaken, Settings, State, Verdict};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Calendar, Price, Symbol};

use crate::common::{alert, at, id, price, tell};
use crate::oracle::{Seen, Told};

pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) calendar: Calendar,
    pub(crate) symbol: Symbol,
    /// What would be told to a new engine after a restart.
    kept: Vec<(Timestamp, Told)>,
    armed: Vec<Alert>,
}

/// No alert.
pub(crate) const NOTHING: [u32; 0] = [];

/// A bar whose four prices are one.
pub(crate) fn flat(date: Date, price: Price) -> Bar {
    Bar {
        date,
        open: price,
        high: price,
        low: price,
        close: price,
        volume: 1000,
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::on(Calendar::nyse())
    }

    pub(crate) fn on(calendar: Calendar) -> Self {
        Self {
            engine: Engine::new(calendar.clone(), Settings::default()),
            calendar,
            symbol: "ACME".parse().expect("a symbol"),
            kept: Vec::new(),
            armed: Vec::new(),
        }
    }

    /// The sessions before `date`, each of them flat at one of `closes`, which are given in order.
    pub(crate) fn after_closes(mut self, date: &str, closes: &[&str]) -> Self {
        let mut day: Date = date.parse().expect("a date");
        let mut bars = Vec::new();
        for close in closes.iter().rev() {
            day = self.calendar.previous_session_before(day).expect("a session").date;
            bars.push(flat(day, price(close)));
        }
        for bar in bars.into_iter().rev() {
            let close = self.calendar.session(bar.date).expect("a session").close;
            self.taken(&Told::Bar(self.symbol, bar), close)
                .expect("a completed session");
        }
        self
    }

    pub(crate) fn taken(&mut self, told: &Told, now: Timestamp) -> Result<Vec<u32>, NotTaken> {
        match told {
            Told::Armed(alert) => self.armed.push(alert.clone()),
            Told::Snapshot(_) | Told::Clock | Told::Evaluate | Told::Disarmed(_) => {}
            _ => self.kept.push((now, told.clone())),
        }
        let (decisions, taken) = tell(&mut self.engine, told, now);
        let fired = decisions
            .iter()
            .filter(|decision| matches!(decision.verdict, Verdict::Fire { .. }));
        let mut fired: Vec<_> = fired
            .map(|decision| u32::try_from(decision.alert.0.as_u128()).expect("small"))
            .collect();
        fired.sort_unstable();
        self.armed
            .retain(|alert| !fired.iter().any(|&number| id(number) == alert.id));
        taken.map(|()| fired)
    }

    /// The numbers of the alerts that fire when this is told.
    pub(crate) fn tell(&mut self, told: &Told, now: &str) -> Vec<u32> {
        self.taken(told, at(now)).expect("taken")
    }

    pub(crate) fn arm(&mut self, number: u32, condition: Condition, now: &str) {
        self.arm_from(number, condition, None, now);
    }

    /// With an initial price.
    pub(crate) fn arm_from(&mut self, number: u32, condition: Condition, initial: Option<&str>, now: &str) {
        let alert = Alert {
            initial_price: initial.map(price),
            ..alert(number, self.symbol, condition, at(now))
        };
        assert_eq!(self.tell(&Told::Armed(alert), now), Vec::<u32>::new());
    }

    pub(crate) fn quote(&self, text: &str, volume: Option<i64>) -> Told {
        Told::Snapshot(vec![Seen {
            symbol: self.symbol,
            price: price(text),
            volume,
        }])
    }

    /// The numbers of the alerts that fire when this price is seen.
    pub(crate) fn see(&mut self, text: &str, now: &str) -> Vec<u32> {
        self.tell(&self.quote(text, None), now)
    }

    pub(crate) fn bar(&mut self, date: &str, close: &str, now: &str) -> Vec<u32> {
        self.tell(
            &Told::Bar(self.symbol, flat(date.parse().expect("a date"), price(close))),
            now,
        )
    }

    pub(crate) fn state(&self, number: u32, now: &str) -> State {
        self.engine.evaluation(id(number), at(now)).expect("it is armed").state
    }

    /// Since when the stock's quotes are stale.
    pub(crate) fn stale_since(&self, now: &str) -> Option<Timestamp> {
        let stale = self.engine.stale_stocks(at(now));
        assert!(stale.iter().all(|stock| stock.symbol == self.symbol));
        stale.first().map(|stock| stock.since)
    }

    /// A new engine in the place of this one, built from what a service keeps.
    pub(crate) fn restart(&mut self, now: &str) {
        let mut engine = Engine::new(self.calendar.clone(), Settings::default());
        for (at, told) in &self.kept {
            tell(&mut engine, told, *at).1.expect("taken before");
        }
        let mut silently = |event| engine.process(event, at(now), &mut Vec::new()).expect("taken");
        if let Some(session) = self.engine.session_so_far(self.symbol) {
            silently(Event::Resume {
                symbol: self.symbol,
                session,
            });
        }
        silently(Event::Clock);
        for alert in &self.armed {
            silently(Event::Armed(alert));
        }
        self.engine = engine;
    }
}
