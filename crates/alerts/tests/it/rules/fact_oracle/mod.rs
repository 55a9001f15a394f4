//! A judgement of a rule at every event that its metrics depend on, computed from the whole record each time. It has no code of
//! the engine, of the metrics and of the life cycle.

mod life;
mod number;
mod past;
mod truth;

use std::collections::BTreeSet;

use alerts::expression::ast::MetricReference;
use alerts::expression::metric::{ChangeBase, Metric};
use alerts::expression::shape::metrics;
use jiff::Timestamp;
use market::{Calendar, Price};

use self::life::{JudgedEvent, Life};
use self::number::Number;
use self::past::{Past, changes, is_of_market};
use self::truth::{Inputs, truths};
use super::fact_world::{FactEvent, FactWorld};
use super::world::Firing;

struct Oracle<'a> {
    world: &'a FactWorld,
    used: Vec<MetricReference>,
    /// The place of the arming in the record.
    armed: usize,
}

fn stock(metric: &MetricReference) -> usize {
    usize::from(metric.symbol.is_some())
}

impl<'a> Oracle<'a> {
    fn past(&self, place: usize) -> Past<'a> {
        Past {
            events: &self.world.record[..=place],
            now: self.world.record[place].0,
            set_at: self.world.alert.threshold_set_at,
        }
    }

    fn value(&self, past: &Past<'_>, prices: &[Number], metric: MetricReference) -> Option<Number> {
        match metric.metric {
            Metric::HighSinceArmed => prices.iter().copied().reduce(Number::larger),
            Metric::LowSinceArmed => prices.iter().copied().reduce(Number::smaller),
            // The alert has no price of another stock at its creation.
            Metric::ChangePct(ChangeBase::Creation) if metric.symbol.is_some() => None,
            Metric::ChangePct(ChangeBase::Creation) => {
                let initial = self.world.alert.initial_price.map(Price::micros)?;
                let initial = past.per_share(0, initial, self.armed);
                let change = past.price(stock(&metric))?.plus(initial.negated());
                change.times(Number::whole(100)).divided_by(initial)
            }
            other => past.value(stock(&metric), other),
        }
    }

    /// Returns the observed stocks if the rule is judged at an event; `None` if it is not judged.
    fn cause(&self, place: usize) -> Option<Vec<usize>> {
        let stocks: BTreeSet<_> = self.used.iter().map(stock).collect();
        let has_market_data = self.used.iter().any(|metric| is_of_market(metric.metric));
        let (now, event) = &self.world.record[place];
        match event {
            FactEvent::Prices(seen) => {
                let observed: Vec<_> = seen.iter().map(|seen| seen.stock).collect();
                let is_judged = observed.iter().any(|stock| stocks.contains(stock));
                (is_judged || !has_market_data).then_some(observed)
            }
            FactEvent::Evaluate if has_market_data => {
                let is_open = Calendar::nyse().session_at(*now).is_some();
                let past = self.past(place);
                let is_fresh = stocks.iter().any(|stock| past.is_fresh(*stock));
                (is_open && is_fresh).then(Vec::new)
            }
            FactEvent::Evaluate | FactEvent::Clock => (!has_market_data).then(Vec::new),
            _ => (!has_market_data && self.is_changed_at(place)).then(Vec::new),
        }
    }

    /// Returns whether the fact at a place of the record changes a metric that the rule uses.
    fn is_changed_at(&self, place: usize) -> bool {
        // With the first insider trades of any stock, those of all stocks are known.
        let are_trades = |(_, event): &(Timestamp, FactEvent)| matches!(event, FactEvent::Trades(..));
        let are_first = are_trades(&self.world.record[place]) && !self.world.record[..place].iter().any(are_trades);
        let is_of_insiders =
            |metric: &MetricReference| matches!(metric.metric, Metric::InsiderBuys(_) | Metric::InsiderSells(_));
        let (_, fact) = &self.world.record[place];
        self.used
            .iter()
            .any(|metric| changes(fact, stock(metric), metric.metric) || are_first && is_of_insiders(metric))
    }

    fn judge(&self, place: usize, observed: &[usize], life: &mut Life) -> Option<bool> {
        let past = self.past(place);
        let options = &self.world.alert.options;
        let snooze = life.snoozed_until(options);
        if let Some(end) = snooze.filter(|end| *end <= past.now) {
            life.end_snooze(end, past.recorded_at(end));
        }
        let is_snoozed = snooze.is_some_and(|end| past.now < end);
        if !is_snoozed {
            life.prices.extend(past.recorded_at(past.now));
        }
        let prices: Vec<_> = life.prices.iter().map(|recorded| past.own_price(*recorded)).collect();
        let inputs = Inputs {
            value: &|metric| self.value(&past, &prices, metric),
            observed,
            now: past.now,
            within: self.within(),
        };
        for crossing in &mut life.crossings {
            crossing.until = crossing.until.filter(|until| past.now <= *until);
        }
        let mut crossings = std::mem::take(&mut life.crossings);
        let found = truths(self.world.expression().condition(), &inputs, &mut crossings.iter_mut());
        life.crossings = crossings;
        if is_snoozed {
            return None;
        }
        let is_rearm_level_reached = self.world.rearm.as_ref().is_some_and(|rearm| {
            let [truth, _] = truths(rearm.condition(), &inputs, &mut [].iter_mut());
            truth == Some(true)
        });
        let judged = JudgedEvent {
            at: past.now,
            truths: found,
            is_observation: !observed.is_empty(),
            is_rearm_level_reached,
            price: past.recorded_at(past.now),
        };
        let fired = life.judge(options, &judged);
        if life.has_rearmed {
            let newest: Vec<_> = past.price(0).into_iter().collect();
            let inputs = Inputs {
                value: &|metric| self.value(&past, &newest, metric),
                ..inputs
            };
            truth::begin_extremes(self.world.expression().condition(), &inputs, &mut life.crossings);
        }
        fired
    }

    fn within(&self) -> Option<alerts::expression::Within> {
        match &self.world.alert.condition {
            alerts::Condition::Expression(condition) => condition.within,
            other => panic!("{other:?}"),
        }
    }

    fn armed(&self) -> Life {
        let past = self.past(self.armed);
        let newest: Vec<_> = past.price(0).into_iter().collect();
        // Prices are compared as of their last observation, facts as of now.
        let as_of = |metric: &MetricReference| match past.last_observed_at(stock(metric)) {
            Some(now) if !past::is_of_fact(metric.metric) => Past { now, ..past },
            _ => past,
        };
        let inputs = Inputs {
            value: &|metric| self.value(&as_of(&metric), &newest, metric),
            observed: &[],
            now: past.now,
            within: None,
        };
        let crossings = truth::crossings(self.world.expression().condition(), &inputs);
        Life::new(past.now, crossings, past.recorded_at(past.now))
    }
}

/// Returns the firings of a world.
pub(crate) fn firings(world: &FactWorld) -> Vec<Firing> {
    let is_armed = |(_, event): &(Timestamp, FactEvent)| matches!(event, FactEvent::Armed);
    let oracle = Oracle {
        world,
        used: metrics(world.expression()),
        armed: world.record.iter().position(is_armed).unwrap(),
    };
    let mut life = oracle.armed();
    let mut firings = Vec::new();
    for place in oracle.armed + 1..world.record.len() {
        let Some(observed) = oracle.cause(place) else {
            continue;
        };
        if let Some(is_last) = oracle.judge(place, &observed, &mut life) {
            firings.push((world.record[place].0, is_last));
            if is_last {
                break;
            }
        }
    }
    firings
}
