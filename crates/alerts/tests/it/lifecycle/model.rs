//! A naive model of the life cycle: for each judgement it looks through all earlier ones, without a state.

use alerts::expression::Truth;
use alerts::lifecycle::Judgement;
use alerts::options::{AlertOptions, Repeat, SessionScope, TriggerPrice};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use market::{Calendar, Price};

use super::generator::Scenario;

/// The result of a judgement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expected {
    Expired,
    Snoozed,
    NotTrue,
    NoData,
    Cooldown {
        until: Timestamp,
        is_limit: bool,
    },
    WaitingToRearm,
    WaitingForChange,
    SecondJudgement,
    Holding {
        since: Timestamp,
        remaining: SignedDuration,
    },
    Fired {
        since: Timestamp,
        is_last: bool,
    },
}

/// The results of the judgements up to the end of the alert, with the extremes after each.
pub(crate) fn results(scenario: &Scenario) -> Vec<(Expected, Option<(Price, Price)>)> {
    let mut model = Model {
        scenario,
        judged: Vec::new(),
        fired: Vec::new(),
        rearmed: Vec::new(),
    };
    let mut results = Vec::new();
    for index in 0..scenario.judgements.len() {
        let expected = model.judge(index);
        let ends = matches!(expected, Expected::Expired | Expected::Fired { is_last: true, .. });
        results.push((expected, model.extremes()));
        if ends {
            break;
        }
    }
    results
}

struct Model<'a> {
    scenario: &'a Scenario,
    /// The indexes of judgements that were neither snoozed nor after the expiry.
    judged: Vec<usize>,
    /// The indexes of firings.
    fired: Vec<usize>,
    /// The indexes of judgements at which the condition was left for the first time after a firing.
    rearmed: Vec<usize>,
}

impl Model<'_> {
    fn judge(&mut self, index: usize) -> Expected {
        let options = &self.scenario.options;
        let at = self.at(index);
        if options.expires().is_some_and(|expiry| expiry <= at) {
            return Expected::Expired;
        }
        let is_snoozed = self
            .scenario
            .snooze
            .is_some_and(|(from, until)| from <= index && self.scenario.armed_at < until && at < until);
        if is_snoozed {
            return Expected::Snoozed;
        }
        self.judged.push(index);
        let expected = self.decide(index, options);
        if matches!(expected, Expected::Fired { .. }) {
            self.fired.push(index);
        }
        if !self.was_left(index) && is_left(options, self.judgement(index)) {
            self.rearmed.push(index);
        }
        expected
    }

    fn decide(&self, index: usize, options: &AlertOptions) -> Expected {
        let judgement = self.judgement(index);
        let at = self.at(index);
        match judgement.truth {
            Truth::False => return Expected::NotTrue,
            Truth::Unknown => return Expected::NoData,
            Truth::True => {}
        }
        if let Some(last) = self.last_firing() {
            let until = cooldown_end(options, self.at(last));
            let is_limit = options.repeat == Repeat::EachTime && options.cooldown.is_none();
            if let Some(until) = until.filter(|until| at < *until) {
                return Expected::Cooldown { until, is_limit };
            }
            let refires = options.cooldown_refire && until.is_some();
            if !self.was_left(index) && !refires {
                return Expected::WaitingToRearm;
            }
        } else if !self.was_left(index) {
            return Expected::WaitingForChange;
        }
        let Some(since) = self.true_since(index, options) else {
            return Expected::SecondJudgement;
        };
        if let Some(hold) = options.hold {
            let held = session_time(options.session, since, at);
            if held < hold.session_time() {
                let remaining = hold.session_time() - held;
                return Expected::Holding { since, remaining };
            }
        }
        let count = self.fired.len() + 1;
        let is_last = match options.repeat {
            Repeat::Once => true,
            _ => options.max_firings.is_some_and(|max| count >= usize::from(max)),
        };
        Expected::Fired { since, is_last }
    }

    /// Whether the condition was left since the last firing; if the alert fires on changes only, also since it was armed and since
    /// the condition was unknown.
    fn was_left(&self, index: usize) -> bool {
        let since_firing = self.last_firing().unwrap_or_default();
        let mut rearmed = self.rearmed.iter().filter(|rearmed| **rearmed >= since_firing);
        if !self.scenario.fires_on_change {
            return self.last_firing().is_none() || rearmed.next().is_some();
        }
        let armed = self.first_armed_anew();
        let unknown =
            |judged: &&usize| (armed..index).contains(*judged) && self.judgement(**judged).truth == Truth::Unknown;
        let last_unknown = self.judged.iter().rev().find(unknown);
        rearmed.any(|rearmed| *rearmed >= armed && last_unknown.is_none_or(|unknown| rearmed > unknown))
    }

    /// Since when the condition is true without interruption; `None` if a second judgement is needed.
    fn true_since(&self, index: usize, options: &AlertOptions) -> Option<Timestamp> {
        let first = self.first_since_arming();
        let since_arming = || self.judged.iter().copied().filter(|judged| *judged >= first);
        // A crossing that is over interrupts the truth after its judgement.
        let is_uninterrupted = |judged: &usize| {
            let Judgement { truth, truth_after, .. } = self.judgement(*judged);
            *truth == Truth::True && (*judged == index || *truth_after == Truth::True)
        };
        let run = since_arming().rev().take_while(is_uninterrupted);
        let is_observation = |judged: &usize| self.judgement(*judged).observation.is_new;
        let is_second_price = |judged: &usize| {
            let mut earlier = since_arming().rev().skip_while(|earlier| earlier >= judged);
            let last_price = earlier.find(is_observation);
            is_observation(judged) && last_price.is_some_and(|last| self.judgement(last).truth == Truth::True)
        };
        let is_confirmed = |judged: &usize| options.trigger != TriggerPrice::TwoLasts || is_second_price(judged);
        run.filter(is_confirmed).last().map(|judged| self.at(judged))
    }

    /// The highest and the lowest price since arming.
    fn extremes(&self) -> Option<(Price, Price)> {
        let first = self.first_since_arming();
        let mut prices = Vec::new();
        if let Some(rearmed) = self
            .rearmed
            .last()
            .filter(|rearmed| **rearmed >= self.first_armed_anew())
        {
            prices.push(self.judgement(*rearmed).observation.price);
        } else if let Some((_, until)) = self.end_of_snooze() {
            let observation = self.judgement(first).observation;
            let is_later = observation.is_new && observation.at > until;
            prices.push(if is_later {
                observation.previous_price
            } else {
                observation.price
            });
        } else {
            prices.push(self.scenario.first_price);
        }
        let judged = self.judged.iter().filter(|judged| **judged >= first);
        prices.extend(judged.map(|judged| self.judgement(*judged).observation.price));
        let prices: Vec<Price> = prices.into_iter().flatten().collect();
        prices.iter().max().copied().zip(prices.iter().min().copied())
    }

    /// The index of the first judgement that comes after the last arming or re-arming.
    fn first_since_arming(&self) -> usize {
        let rearmed = self.rearmed.last().map_or(0, |rearmed| rearmed + 1);
        rearmed.max(self.first_armed_anew())
    }

    /// The index of the first judgement after a snooze, or of the first one.
    fn first_armed_anew(&self) -> usize {
        self.end_of_snooze().map_or(0, |(first, _)| first)
    }

    /// The first judgement at or after the end of a snooze, and this end.
    fn end_of_snooze(&self) -> Option<(usize, Timestamp)> {
        let (from, until) = self.scenario.snooze?;
        if until <= self.scenario.armed_at {
            return None;
        }
        let first = self
            .judged
            .iter()
            .find(|judged| **judged >= from && self.at(**judged) >= until)?;
        Some((*first, until))
    }

    /// The last firing since the alert was armed anew.
    fn last_firing(&self) -> Option<usize> {
        let last = self.fired.last().copied();
        last.filter(|fired| *fired >= self.first_armed_anew())
    }

    fn judgement(&self, index: usize) -> &Judgement {
        &self.scenario.judgements[index]
    }

    fn at(&self, index: usize) -> Timestamp {
        self.judgement(index).observation.at
    }
}

fn is_left(options: &AlertOptions, judgement: &Judgement) -> bool {
    match options.rearm {
        Some(_) => judgement.is_rearm_level_reached && judgement.truth_after != Truth::True,
        None => judgement.truth == Truth::False || judgement.truth_after == Truth::False,
    }
}

fn cooldown_end(options: &AlertOptions, fired_at: Timestamp) -> Option<Timestamp> {
    let cooldown = options.cooldown.map(|cooldown| fired_at + cooldown.duration());
    match options.repeat {
        Repeat::Once => None,
        Repeat::EachTime if options.rearm.is_some() => cooldown,
        Repeat::EachTime => cooldown.or(Some(fired_at + 60.seconds())),
        Repeat::OncePerDay => {
            let local = fired_at.to_zoned(TimeZone::get("America/New_York").unwrap());
            let midnight = local.tomorrow().unwrap().start_of_day().unwrap().timestamp();
            Some(cooldown.map_or(midnight, |cooldown| cooldown.max(midnight)))
        }
    }
}

/// The session time between two instants, day by day.
pub(crate) fn session_time(session: SessionScope, from: Timestamp, to: Timestamp) -> SignedDuration {
    let zone = TimeZone::get("America/New_York").unwrap();
    let mut total = SignedDuration::ZERO;
    let mut day = from.to_zoned(zone.clone()).date();
    while day <= to.to_zoned(zone.clone()).date() {
        if let Some(hours) = Calendar::nyse().session(day) {
            let local = |hour| day.at(hour, 0, 0, 0).to_zoned(zone.clone()).unwrap().timestamp();
            let (begin, end) = match session {
                SessionScope::Regular => (hours.open, hours.close),
                SessionScope::Extended => (local(4), local(20)),
            };
            let overlap = to.min(end).as_nanosecond() - from.max(begin).as_nanosecond();
            total += SignedDuration::from_nanos_i128(overlap.max(0));
        }
        day = day.tomorrow().unwrap();
    }
    total
}
