//! What an account may have, and what its owner said, decide what is proposed.

use alerts::engine::Dividend;
use alerts::{ConditionKind, Family, Plan};
use analyst::{Advice, Intention, Role, advise};
use jiff::civil::date;

use crate::support::{Stage, assert_sound, bars, fires_at_once, price};

/// A year that ends on 2022-01-03 rising, with earnings and an ex-date ahead.
fn stage() -> Stage {
    let closes: Vec<i64> = (0..252)
        .map(|day: i64| 100_000_000 + 100_000 * day + 2_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut stage = Stage::of(bars(&closes, &[600_000], &[1_000, 2_000, 1_500]));
    stage.earnings = vec![date(2021, 10, 20), date(2022, 1, 20), date(2022, 4, 20)];
    stage.dividends = vec![Dividend {
        ex_date: date(2022, 1, 12),
        payment_date: None,
        amount: Some("0.24".parse().unwrap()),
    }];
    stage
}

fn advice(stage: &Stage, intention: Intention) -> Advice {
    let subject = stage.subject(intention);
    let advice = advise(&subject);
    assert_sound(&subject, &advice);
    assert_eq!(fires_at_once(stage, &subject, &advice.proposals), []);
    advice
}

fn kinds(advice: &Advice) -> Vec<ConditionKind> {
    advice
        .proposals
        .iter()
        .map(|proposal| proposal.alert.condition.kind())
        .collect()
}

#[test]
fn a_basic_account_gets_price_and_time_alerts_only_and_a_reminder_on_the_eve_of_a_date() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    for &intention in Intention::ALL {
        let advice = advice(&stage, intention);
        let is_free = |kind: &ConditionKind| matches!(kind.family(), Family::Price | Family::Time);
        assert!(kinds(&advice).iter().all(is_free));
        let reminder = advice
            .proposals
            .iter()
            .find(|proposal| proposal.body["condition"] == "reminder")
            .unwrap();
        assert_eq!(reminder.body["parameters"]["date"], "2022-01-11");
    }
}

#[test]
fn a_premium_account_is_told_of_dates_by_alerts_on_them() {
    let advice = advice(&stage(), Intention::Buy);
    let event = advice
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Event)
        .unwrap();
    assert_eq!(
        (&event.body["condition"], &event.body["threshold"]),
        (&"dividend_ex_date".into(), &5.into())
    );
    assert!(
        event.rationale.contains("2022-01-12") && event.rationale.contains("0.24 dollars"),
        "{}",
        event.rationale
    );
    assert_eq!(advice.analysis.events.earnings.unwrap().date, date(2022, 1, 20));
}

#[test]
fn a_date_that_is_too_near_to_warn_of_is_left_out() {
    let mut stage = stage();
    (stage.dividends, stage.earnings) = (Vec::new(), vec![stage.calendar.session_at(stage.now).unwrap().date]);
    assert_eq!(
        kinds(&advice(&stage, Intention::Buy))
            .iter()
            .filter(|kind| kind.family() == Family::Dividend)
            .count(),
        0
    );
    stage.earnings = vec![stage.earnings[0].checked_add(jiff::Span::new().days(2)).unwrap()];
    let told = advice(&stage, Intention::Buy);
    let event = told
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Event)
        .unwrap();
    assert_eq!(event.body["threshold"], 1);
}

#[test]
fn proposals_end_where_the_plan_has_no_room() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    for (active, most) in [(0, 5), (17, 3), (18, 2), (19, 1), (20, 0), (25, 0)] {
        stage.active_alerts = active;
        let count = advice(&stage, Intention::Sell).proposals.len();
        assert!(
            count <= most && (most > 2 || count == most),
            "{active} active, {count} proposed"
        );
    }
}

#[test]
fn the_owners_own_price_comes_first_if_it_is_still_to_come() {
    let mut stage = stage();
    for (intention, ahead, behind) in [(Intention::Buy, "100.123", "200"), (Intention::Sell, "160.5", "100")] {
        stage.target_price = Some(price(ahead));
        let first = &advice(&stage, intention).proposals[0];
        assert_eq!(
            (first.role, first.body["threshold"].to_string()),
            (Role::OwnTarget, ahead.to_owned())
        );
        stage.target_price = Some(price(behind));
        let roles: Vec<_> = advice(&stage, intention)
            .proposals
            .iter()
            .map(|proposal| proposal.role)
            .collect();
        assert!(!roles.contains(&Role::OwnTarget));
    }
}

#[test]
fn the_same_subject_gets_the_same_advice() {
    let stage = stage();
    assert_eq!(advice(&stage, Intention::Buy), advice(&stage, Intention::Buy));
}
