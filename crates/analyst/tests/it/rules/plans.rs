//! The plan and the owner's input determine the proposals.

use alerts::engine::Dividend;
use alerts::{ConditionFamily, ConditionKind, Plan};
use analyst::{Advice, Intention, Role, advise};
use jiff::civil::date;

use crate::support::{Fixture, assert_sound, bars, fires_at_once, price};

/// A rising year that ends on 2022-01-03, with earnings and an ex-date ahead.
fn fixture() -> Fixture {
    let closes: Vec<i64> = (0..252)
        .map(|day: i64| 100_000_000 + 100_000 * day + 2_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut fixture = Fixture::of(bars(&closes, &[600_000], &[1_000, 2_000, 1_500]));
    fixture.earnings = vec![date(2021, 10, 20), date(2022, 1, 20), date(2022, 4, 20)];
    fixture.dividends = vec![Dividend {
        ex_date: date(2022, 1, 12),
        payment_date: None,
        amount: Some("0.24".parse().unwrap()),
    }];
    fixture
}

fn advice(fixture: &Fixture, intention: Intention) -> Advice {
    let subject = fixture.subject(intention);
    let advice = advise(&subject);
    assert_sound(&subject, &advice);
    assert_eq!(fires_at_once(fixture, &subject, &advice.proposals), []);
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
fn basic_plan_gets_price_alerts_and_reminders_only() {
    let mut fixture = fixture();
    fixture.plan = Plan::Basic;
    for &intention in Intention::ALL {
        let advice = advice(&fixture, intention);
        let is_free = |kind: &ConditionKind| matches!(kind.family(), ConditionFamily::Price | ConditionFamily::Time);
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
fn premium_plan_gets_alerts_on_dates() {
    let advice = advice(&fixture(), Intention::Buy);
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
fn date_too_near_for_a_warning_is_left_out() {
    let mut fixture = fixture();
    (fixture.dividends, fixture.earnings) = (Vec::new(), vec![fixture.calendar.session_at(fixture.now).unwrap().date]);
    assert_eq!(
        kinds(&advice(&fixture, Intention::Buy))
            .iter()
            .filter(|kind| kind.family() == ConditionFamily::Dividend)
            .count(),
        0
    );
    fixture.earnings = vec![fixture.earnings[0].checked_add(jiff::Span::new().days(2)).unwrap()];
    let told = advice(&fixture, Intention::Buy);
    let event = told
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Event)
        .unwrap();
    assert_eq!(event.body["threshold"], 1);
}

#[test]
fn proposals_stay_within_the_plan_quota() {
    let mut fixture = fixture();
    fixture.plan = Plan::Basic;
    for (active, most) in [(0, 5), (17, 3), (18, 2), (19, 1), (20, 0), (25, 0)] {
        fixture.active_alerts = active;
        let count = advice(&fixture, Intention::Sell).proposals.len();
        assert!(
            count <= most && (most > 2 || count == most),
            "{active} active, {count} proposed"
        );
    }
}

#[test]
fn own_target_price_comes_first_if_pending() {
    let mut fixture = fixture();
    for (intention, ahead, behind) in [(Intention::Buy, "100.123", "200"), (Intention::Sell, "160.5", "100")] {
        fixture.target_price = Some(price(ahead));
        let first = &advice(&fixture, intention).proposals[0];
        assert_eq!(
            (first.role, first.body["threshold"].to_string()),
            (Role::OwnTarget, ahead.to_owned())
        );
        fixture.target_price = Some(price(behind));
        let roles: Vec<_> = advice(&fixture, intention)
            .proposals
            .iter()
            .map(|proposal| proposal.role)
            .collect();
        assert!(!roles.contains(&Role::OwnTarget));
    }
}

#[test]
fn same_subject_gets_same_advice() {
    let fixture = fixture();
    assert_eq!(advice(&fixture, Intention::Buy), advice(&fixture, Intention::Buy));
}

#[test]
fn ignores_dates_beyond_the_horizon_and_tiny_dividends() {
    let mut fixture = fixture();
    let events = |fixture: &Fixture| {
        advice(fixture, Intention::Buy)
            .proposals
            .iter()
            .filter(|proposal| proposal.role == Role::Event)
            .count()
    };
    let dividends = std::mem::take(&mut fixture.dividends);
    for (day, expected) in [(date(2022, 2, 7), 1), (date(2022, 2, 8), 0)] {
        fixture.earnings = vec![day];
        assert_eq!(events(&fixture), expected, "{day}");
    }
    // A tenth of a percent of the price of 127.10.
    fixture.dividends = dividends;
    for (amount, expected) in [("0.1271", 1), ("0.1270", 0)] {
        fixture.dividends[0].amount = Some(amount.parse().unwrap());
        assert_eq!(events(&fixture), expected, "{amount}");
    }
}

#[test]
fn rsi_threshold_is_within_reach() {
    let threshold = |closes: &[i64], intention: Intention| {
        let fixture = Fixture::of(bars(closes, &[100_000], &[1_000]));
        let proposals = advice(&fixture, intention).proposals;
        let rsi = proposals
            .into_iter()
            .find(|proposal| proposal.body["condition"] == "rsi_limit")
            .unwrap();
        (
            rsi.body["threshold"].as_i64().unwrap(),
            rsi.body["parameters"]["direction"].as_str().unwrap().to_owned(),
        )
    };
    let steps = |up: i64, down: i64| -> Vec<i64> {
        let moves = (0..40).map(|day| if day % 3 == 0 { down } else { up });
        moves
            .scan(100_000_000, |price, step| {
                *price += step;
                Some(*price)
            })
            .collect()
    };
    let (rising, falling, calm) = (
        steps(500_000, -100_000),
        steps(-500_000, 100_000),
        steps(200_000, -390_000),
    );
    assert_eq!(threshold(&rising, Intention::Buy), (40, "below".into()));
    assert_eq!(threshold(&rising, Intention::Sell), (50, "below".into()));
    assert_eq!(threshold(&falling, Intention::Buy), (50, "above".into()));
    assert_eq!(threshold(&falling, Intention::Sell), (60, "above".into()));
    assert_eq!(threshold(&calm, Intention::Buy), (30, "below".into()));
    assert_eq!(threshold(&calm, Intention::Sell), (70, "above".into()));
}
