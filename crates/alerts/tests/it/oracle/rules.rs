//! The conditions that no expression means, with options. Each is judged anew at every event that can change it, from its
//! definition; the state machine has a naive model of its own.

use alerts::Alert;
use alerts::condition::{Condition, RsiDirection, Side};
use alerts::expression::Truth;
use alerts::lifecycle::{Judgement, Observation, Phase, WaitReason, step};
use alerts::options::AlertOptions;
use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{Decimal, Price, Symbol};

use super::dates::{Discussion, days, delivered, insiders_traded};
use super::record::Record;
use super::{Oracle, Outcome, OutcomeKind, OwnedEvent, figures, fired, record};

/// An armed alert with options.
#[derive(Clone, Debug)]
pub(crate) struct WatchedRule {
    pub(crate) alert: Alert,
    /// The side of the threshold on which the RSI was last, since the last firing.
    rsi_side: Option<Side>,
}

/// Returns whether an alert is one of these.
pub(crate) fn is_direct_rule(alert: &Alert) -> bool {
    Alert::has_lifecycle(&alert.condition, &alert.options)
}

impl Oracle {
    pub(super) fn arm_rule(&mut self, alert: &Alert) {
        let record = self.record(alert.symbol);
        let mut alert = alert.clone();
        let rsi_side = match alert.condition {
            Condition::Rsi { threshold, .. } => record.current_rsi().and_then(|rsi| strict_side(rsi, threshold)),
            _ => None,
        };
        let state = alert.lifecycle.as_mut().expect("a state");
        if let Condition::SocialBuzz(direction) = alert.condition {
            // An alert that is made in the state, or while it is unknown, waits.
            let is_elsewhere = record
                .mentions
                .state()
                .is_some_and(|state| state != Discussion::Is(direction));
            state.phase = if is_elsewhere {
                Phase::Armed
            } else {
                Phase::WaitingToRearm
            };
        }
        self.rules.push(WatchedRule { alert, rsi_side });
    }

    /// Judges the rules that an event can change.
    pub(super) fn judge_rules(&mut self, event: &OwnedEvent, since: Timestamp, now: Timestamp) -> Vec<Outcome> {
        let observed: Vec<Symbol> = match event {
            OwnedEvent::Snapshot(seen) => {
                let is_recorded = |symbol: &Symbol| {
                    let last = self.records.get(symbol).and_then(|record| record.observations.last());
                    last.is_some_and(|last| last.at == now)
                };
                let session = self.calendar.session_at(now).is_some();
                let symbols = seen.iter().map(|seen| seen.symbol).filter(is_recorded);
                symbols.filter(|_| session).collect()
            }
            OwnedEvent::Evaluate => self.fresh_symbols(now),
            _ => Vec::new(),
        };
        let (mut outcomes, mut kept) = (Vec::new(), Vec::new());
        for mut rule in std::mem::take(&mut self.rules) {
            let judged_at = match rule.alert.condition {
                Condition::MaCrossover { .. } | Condition::Rsi { .. } => {
                    observed.contains(&rule.alert.symbol).then_some(now)
                }
                Condition::Reminder { .. } | Condition::DailyReminder(_) => match event {
                    OwnedEvent::Clock => self.due_moment(&rule.alert, since, now),
                    _ => None,
                },
                _ => {
                    let is_buzz = matches!(rule.alert.condition, Condition::SocialBuzz(_));
                    let is_own_fact = match event {
                        OwnedEvent::Insiders(symbol, _) | OwnedEvent::InsiderTradesReplaced(symbol, _) => {
                            !is_buzz && *symbol == rule.alert.symbol
                        }
                        OwnedEvent::Mentions(symbol, ..) => is_buzz && *symbol == rule.alert.symbol,
                        OwnedEvent::Clock | OwnedEvent::Evaluate => true,
                        _ => false,
                    };
                    is_own_fact.then_some(now)
                }
            };
            let expired = rule.alert.options.expires().is_some_and(|expiry| expiry <= now);
            let ends = match judged_at {
                Some(at) => self.judge(&mut rule, at, &mut outcomes),
                None => expired && matches!(event, OwnedEvent::Clock),
            };
            if !ends {
                kept.push(rule);
            }
        }
        self.rules = kept;
        outcomes
    }

    /// Returns the moment of a reminder after `since`, up to `now`. A reminder that is snoozed comes at the end of the snooze.
    fn due_moment(&self, alert: &Alert, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let since = since.max(alert.armed_at);
        match alert.condition {
            Condition::Reminder { at } => {
                let due = alert.options.snoozed_until.map_or(at, |end| end.max(at));
                Some(due).filter(|&due| due <= now)
            }
            Condition::DailyReminder(delivery) => days(since, now)
                .find_map(|day| delivered(&self.calendar, delivery, day).filter(|&at| since < at && at <= now)),
            _ => None,
        }
    }

    /// Judges a rule. Returns whether it ends.
    fn judge(&mut self, rule: &mut WatchedRule, at: Timestamp, outcomes: &mut Vec<Outcome>) -> bool {
        let record = self.records.entry(rule.alert.symbol).or_default();
        let side_before = rule.rsi_side;
        let (truth, reached) = truth(&rule.alert.condition, record, &mut rule.rsi_side, at);
        let judgement = |truth_after| Judgement {
            observation: Observation {
                at,
                is_new: true,
                price: None,
                previous_price: None,
            },
            truth,
            truth_after,
            is_rearm_level_reached: false,
        };
        let state = rule.alert.lifecycle.as_deref().expect("a state");
        let options: &AlertOptions = &rule.alert.options;
        let next = |truth_after| step(options, &self.calendar, state, &judgement(truth_after));
        let is_momentary = matches!(rule.alert.condition, Condition::DailyReminder(_));
        let mut stepped = next(if is_momentary { Truth::False } else { truth });
        let is_last = match stepped.outcome {
            alerts::lifecycle::Outcome::Expire { .. } => return true,
            alerts::lifecycle::Outcome::Wait(reason) => {
                // A snoozed alert is not judged.
                if matches!(reason, WaitReason::Snoozed { .. }) {
                    rule.rsi_side = side_before;
                }
                rule.alert.lifecycle = Some(Box::new(stepped.next));
                return false;
            }
            alerts::lifecycle::Outcome::Fire { is_last, .. } => is_last,
        };
        if let Some(rsi_side) = reached {
            // From now on the other side counts.
            stepped = next(Truth::False);
            rule.rsi_side = rsi_side;
        }
        rule.alert.lifecycle = Some(Box::new(stepped.next));
        outcomes.push(fired(&rule.alert, record, at));
        rule.alert.revision = rule.alert.revision.next();
        is_last
    }

    /// Adjusts the initial prices of rules to new shares.
    pub(super) fn split_rules(&mut self, symbol: Symbol, ratio: market::SplitRatio, now: Timestamp) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for rule in self.rules.iter_mut().filter(|rule| rule.alert.symbol == symbol) {
            let alert = &mut rule.alert;
            let initial_price = alert.initial_price.map(|price| record::price_after_split(price, ratio));
            if initial_price != alert.initial_price {
                alert.initial_price = initial_price;
                outcomes.push(adjusted(alert, initial_price, now));
                alert.revision = alert.revision.next();
            }
        }
        outcomes
    }
}

fn adjusted(alert: &Alert, initial_price: Option<Price>, at: Timestamp) -> Outcome {
    Outcome {
        at,
        alert: alert.id,
        revision: alert.revision,
        kind: OutcomeKind::Adjusted {
            threshold: None,
            initial_price,
        },
    }
}

/// Returns the truth of a condition and, of an RSI that has reached the other side, the side on which it is then.
fn truth(
    condition: &Condition,
    record: &Record,
    rsi_side: &mut Option<Side>,
    at: Timestamp,
) -> (Truth, Option<Option<Side>>) {
    let known = |holds: bool| (Truth::from(Some(holds)), None);
    match *condition {
        Condition::MaCrossover { side } => match record.view() {
            Some(view) if view.bars.len() >= 200 => known(figures::has_crossed(&view, side)),
            _ => (Truth::Unknown, None),
        },
        Condition::Rsi {
            direction: RsiDirection::Both,
            threshold,
        } => {
            let Some(rsi) = record.view().and_then(|view| figures::rsi(&view)) else {
                return (Truth::Unknown, None);
            };
            let now = strict_side(rsi, threshold);
            match *rsi_side {
                None => {
                    *rsi_side = now;
                    known(false)
                }
                Some(side) if now == Some(side) => known(false),
                Some(_) => (Truth::True, Some(now)),
            }
        }
        Condition::SocialBuzz(direction) => match record.mentions.state() {
            Some(state) => known(state == Discussion::Is(direction)),
            None => (Truth::Unknown, None),
        },
        Condition::InsiderTransactions(criteria) => known(insiders_traded(&criteria, record, new_york_date(at))),
        // They are judged at their moments.
        Condition::Reminder { .. } | Condition::DailyReminder(_) => known(true),
        ref other => panic!("{other:?} is an expression"),
    }
}

fn strict_side(rsi: i64, threshold: Decimal) -> Option<Side> {
    match rsi - threshold.micros() {
        ..0 => Some(Side::Below),
        0 => None,
        _ => Some(Side::Above),
    }
}
