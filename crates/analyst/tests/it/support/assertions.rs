//! Assertions for sound advice.

use std::collections::BTreeSet;

use alerts::condition::Side;
use alerts::request::parse_create;
use alerts::{Channel, Condition, equivalence, plan};
use analyst::propose::{MAX_PROPOSALS, MIN_PROPOSALS};
use analyst::{Advice, AnalysisSubject, Intention, Proposal, Role, TrendDirection, tick};
use market::Price;

use super::oracle::as_alert;

/// Panics unless the advice keeps all promises of the rules.
pub(crate) fn assert_sound(subject: &AnalysisSubject<'_>, advice: &Advice) {
    let limit = subject.remaining_alerts().map_or(MAX_PROPOSALS, |limit| limit as usize);
    let proposals = &advice.proposals;
    assert!(
        (MIN_PROPOSALS.min(limit)..=MAX_PROPOSALS.min(limit)).contains(&proposals.len()),
        "{proposals:#?}"
    );
    for proposal in proposals {
        assert_one_sound(subject, proposal);
    }
    for (place, proposal) in proposals.iter().enumerate() {
        for other in &proposals[..place] {
            let existing = as_alert(other, subject, 1);
            assert!(
                !equivalence::equivalent(&existing, &proposal.alert, existing.created_at),
                "{other:#?} {proposal:#?}"
            );
        }
    }
    assert_in_order(subject, advice);
    assert_texts_agree(advice);
    assert!(advice.summary.chars().count() > 20);
}

/// Panics if a text contradicts itself or the figures that it shows.
fn assert_texts_agree(advice: &Advice) {
    let rationales = advice.proposals.iter().map(|proposal| &proposal.rationale);
    for text in rationales.chain([&advice.summary]) {
        let has = |words: &str| text.contains(words);
        assert!(!(has("no known turning point") && has("may do so again")), "{text}");
        assert!(
            !has("the trend is not broken") || advice.analysis.trend.direction == TrendDirection::Up,
            "{text}"
        );
        let words: Vec<&str> = text.split(' ').collect();
        for pair in words.windows(5) {
            if pair[1] == "is" && pair[3] == "its" && pair[4] == "50-day" {
                // "100.00 is above its 50-day average of": the next word is the average.
                let average = text.split("its 50-day average of ").nth(1).unwrap_or_default();
                let is_same =
                    average.starts_with(pair[0]) && !average[pair[0].len()..].starts_with(|c: char| c.is_ascii_digit());
                assert_eq!(pair[2] == "at", is_same, "{text}");
            }
        }
    }
    if let Some((_, rest)) = advice.summary.split_once("Its RSI is ") {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let rsi: u32 = rest[..end].parse().unwrap();
        assert_eq!(
            rest[end..].starts_with(", which counts as overbought"),
            rsi >= 70,
            "{rest}"
        );
        assert_eq!(
            rest[end..].starts_with(", which counts as oversold"),
            rsi <= 30,
            "{rest}"
        );
    }
}

fn assert_one_sound(subject: &AnalysisSubject<'_>, proposal: &Proposal) {
    let read = parse_create(&proposal.body, &subject.context).unwrap();
    assert_eq!(read, proposal.alert);
    assert_eq!(read.symbol, subject.symbol);
    let kind = read.condition.kind();
    assert_eq!(plan::check_alert_features(subject.plan, kind, Channel::Email), Ok(()));
    let parameters = read.parameters.as_ref().unwrap();
    assert_eq!(
        (&parameters["source"], &parameters["analyst"]),
        (&"ai".into(), &"rules".into())
    );
    assert_eq!(parameters["rationale"], proposal.rationale.as_str());
    assert!(
        proposal.rationale.chars().any(|c| c.is_ascii_digit()),
        "{}",
        proposal.rationale
    );
    assert!((40..800).contains(&proposal.rationale.len()), "{}", proposal.rationale);
    assert!(
        !proposal.rationale.contains("NaN") && !proposal.rationale.contains("inf"),
        "{}",
        proposal.rationale
    );
    if let Condition::Price { side, threshold } = read.condition {
        assert!(
            side.pick(threshold > subject.price, threshold < subject.price),
            "{proposal:#?}"
        );
        let is_quoted = threshold.micros() % tick::tick_micros(threshold.micros()) == 0;
        assert!(is_quoted || proposal.role == Role::OwnTarget, "{proposal:#?}");
        assert_fits(subject.intention, side, proposal.role);
    }
}

fn assert_fits(intention: Intention, side: Side, role: Role) {
    let roles: &[Role] = match (intention, side) {
        (Intention::Buy, Side::Below) => &[Role::OwnTarget, Role::Entry, Role::DeeperEntry],
        (Intention::Buy, Side::Above) => &[Role::Breakout],
        (Intention::Sell, Side::Above) => &[Role::OwnTarget, Role::Target, Role::FartherTarget],
        (Intention::Sell, Side::Below) => &[Role::Stop],
    };
    assert!(roles.contains(&role), "{role} {side:?} for {intention}");
}

/// Levels lie around the price, the nearest first, and the second level lies beyond the first.
fn assert_in_order(subject: &AnalysisSubject<'_>, advice: &Advice) {
    let levels = &advice.analysis.levels;
    let is_sorted = |prices: &[Price]| prices.windows(2).all(|pair| pair[0] < pair[1]);
    let mut all: Vec<Price> = levels.supports.iter().rev().map(|level| level.price).collect();
    all.push(subject.price);
    all.extend(levels.resistances.iter().map(|level| level.price));
    assert!(is_sorted(&all), "{all:?}");

    let of = |role: Role| {
        advice
            .proposals
            .iter()
            .find(|proposal| proposal.role == role)
            .and_then(|proposal| {
                let Condition::Price { threshold, .. } = proposal.alert.condition else {
                    return None;
                };
                Some(threshold)
            })
    };
    let around: Vec<Price> = match subject.intention {
        Intention::Buy => [
            of(Role::DeeperEntry),
            of(Role::Entry),
            Some(subject.price),
            of(Role::Breakout),
        ],
        Intention::Sell => [
            of(Role::Stop),
            Some(subject.price),
            of(Role::Target),
            of(Role::FartherTarget),
        ],
    }
    .into_iter()
    .flatten()
    .collect();
    let distinct: BTreeSet<_> = around.iter().collect();
    assert!(is_sorted(&around) && distinct.len() == around.len(), "{around:?}");
}
