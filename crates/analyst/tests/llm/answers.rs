//! Good answers become alerts; bad ones are refused, each with its own reason.

use alerts::{ConditionKind, Plan};
use analyst::llm::{AlertFault, AnswerError, MAX_ANSWER_BYTES, TextFault, Unfinished};
use analyst::{Advice, Intention, Refusal};
use serde_json::{Value, json};

use crate::support::fires_at_once;
use crate::world::{MODEL, answer, answer_for, changed, completion, good, said, stage};

/// What was found wrong with the first alert when it is this one.
fn fault_of(alert: Value) -> AlertFault {
    match changed(|said| said["alerts"][0] = alert) {
        Err(AnswerError::Alert { place: 0, fault }) => fault,
        other => panic!("{other:#?}"),
    }
}

#[test]
fn a_good_answer_becomes_alerts_that_carry_their_author_and_do_not_fire_at_once() {
    let stage = stage();
    let advice: Advice = answer(&stage, &completion(&good().to_string())).unwrap();
    let kinds: Vec<_> = advice
        .proposals
        .iter()
        .map(|proposal| proposal.alert.condition.kind().name())
        .collect();
    assert_eq!(kinds, ["price_below", "price_above", "rsi_limit", "dividend_ex_date"]);
    let parameters = advice.proposals[2].alert.parameters.as_ref().unwrap();
    assert_eq!(
        (&parameters["source"], &parameters["analyst"]),
        (&json!("ai"), &json!(MODEL))
    );
    assert_eq!(
        (&parameters["direction"], &parameters["role"]),
        (&json!("below"), &json!("momentum"))
    );
    assert!(advice.summary.starts_with("TEST swings"));
    assert_eq!(
        fires_at_once(&stage, &stage.subject(Intention::Buy), &advice.proposals),
        []
    );
}

#[test]
fn a_price_is_rounded_to_what_the_exchange_quotes() {
    let advice = changed(|said| said["alerts"][0]["threshold"] = json!(100.402_345_678)).unwrap();
    assert_eq!(advice.proposals[0].body["threshold"], json!(100.4));
}

#[test]
fn what_is_no_completion_is_told_apart_from_a_refusal_and_from_an_unfinished_one() {
    let stage = stage();
    let of = |body: &str| answer(&stage, body.as_bytes()).unwrap_err();
    for body in [
        "",
        "<html>502</html>",
        "null",
        "{}",
        r#"{"choices": []}"#,
        r#"{"choices": [{}]}"#,
    ] {
        assert!(matches!(of(body), AnswerError::NoCompletion(_)), "{body}");
    }
    assert!(matches!(
        of(r#"{"choices": [{"message": {"content": null}}]}"#),
        AnswerError::NoCompletion(_)
    ));
    let refusal = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot"}, "finish_reason": "stop"}]}"#;
    assert_eq!(of(refusal), AnswerError::Refused);
    for (reason, unfinished) in [("length", Unfinished::Length), ("content_filter", Unfinished::Filter)] {
        let body = json!({"choices": [{"message": {"content": "{\"summ"}, "finish_reason": reason}]});
        assert_eq!(of(&body.to_string()), AnswerError::Unfinished(unfinished));
    }
    assert_eq!(
        answer(&stage, &vec![b' '; MAX_ANSWER_BYTES + 1]),
        Err(AnswerError::TooLong(MAX_ANSWER_BYTES + 1))
    );
}

#[test]
fn content_that_is_no_json_or_of_another_form_names_the_place() {
    let stage = stage();
    for content in [
        "",
        "Sure! Here are your alerts:",
        "```json\n{}\n```",
        &good().to_string()[1..],
        "[".repeat(9_999).as_str(),
    ] {
        assert_eq!(answer(&stage, &completion(content)), Err(AnswerError::NotJson));
    }
    let place = |change: &dyn Fn(&mut Value)| match changed(change) {
        Err(AnswerError::Form { at, .. }) => at,
        other => panic!("{other:#?}"),
    };
    assert_eq!(place(&|said| *said = json!([])), "the answer");
    assert_eq!(place(&|said| said["more"] = json!(1)), "the answer");
    assert_eq!(place(&|said| said["summary"] = json!(7)), "summary");
    assert_eq!(place(&|said| said["alerts"] = json!({})), "alerts");
    assert_eq!(place(&|said| said["alerts"][1] = json!("price_above 110")), "alerts[1]");
    assert_eq!(
        place(&|said| drop(said["alerts"][1].as_object_mut().unwrap().remove("role"))),
        "alerts[1]"
    );
    assert_eq!(place(&|said| said["alerts"][1]["symbol"] = json!("GME")), "alerts[1]");
    assert_eq!(
        place(&|said| said["alerts"][1]["threshold"] = json!("110")),
        "alerts[1].threshold"
    );
    assert_eq!(
        place(&|said| said["alerts"][2]["direction"] = json!("down")),
        "alerts[2].direction"
    );
    assert_eq!(
        place(&|said| said["alerts"][0]["rationale"] = Value::Null),
        "alerts[0].rationale"
    );
}

#[test]
fn fewer_than_two_and_more_than_five_alerts_are_refused() {
    let count = |count: usize| {
        changed(|said| {
            let first = said["alerts"][0].clone();
            said["alerts"] = vec![first; count].into();
        })
    };
    for found in [0, 1, 6, 50] {
        assert_eq!(
            count(found),
            Err(AnswerError::Count {
                found,
                least: 2,
                most: 5
            })
        );
    }
}

#[test]
fn as_many_alerts_are_taken_as_the_plan_has_room_for() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    let mut two = good();
    two["alerts"].as_array_mut().unwrap().truncate(2);
    let body = completion(&two.to_string());
    for (active, expected) in [
        (17, Ok(())),
        (
            19,
            Err(AnswerError::Count {
                found: 2,
                least: 1,
                most: 1,
            }),
        ),
        (20, Err(AnswerError::NoRoom)),
    ] {
        stage.active_alerts = active;
        assert_eq!(answer(&stage, &body).map(|_| ()), expected);
    }
}

#[test]
fn a_condition_that_the_plan_does_not_have_or_that_was_not_offered_is_refused() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    let fault = AlertFault::NotOffered;
    assert_eq!(
        answer(&stage, &completion(&good().to_string())),
        Err(AnswerError::Alert { place: 2, fault })
    );
    for condition in [
        "daily_reminder",
        "pe_ratio_below",
        "price_beneath",
        "earnings_announcement",
    ] {
        assert_eq!(
            fault_of(said("event", condition, Value::Null)),
            AlertFault::NotOffered,
            "{condition}"
        );
    }
}

#[test]
fn a_level_that_holds_already_is_refused() {
    let fulfilled = |kind| AlertFault::Refused(Refusal::Fulfilled(kind));
    assert_eq!(
        fault_of(said("trend", "price_below", json!(108))),
        fulfilled(ConditionKind::PriceBelow)
    );
    assert_eq!(
        fault_of(said("trend", "price_above", json!(101))),
        fulfilled(ConditionKind::PriceAbove)
    );
    let mut rsi = said("momentum", "rsi_limit", json!(20));
    rsi["direction"] = json!("above");
    assert_eq!(fault_of(rsi), fulfilled(ConditionKind::RsiLimit));
    assert_eq!(
        fault_of(said("event", "dividend_ex_date", json!(10))),
        fulfilled(ConditionKind::DividendExDate)
    );
}

#[test]
fn absurd_levels_are_refused() {
    for (condition, threshold) in [
        ("price_below", json!(1)),
        ("price_above", json!(1e8)),
        ("price_change_up", json!(900)),
    ] {
        assert!(
            matches!(fault_of(said("trend", condition, threshold)), AlertFault::TooFar(_)),
            "{condition}"
        );
    }
    for (condition, threshold) in [("price_below", json!(104.95)), ("price_change_up", json!(0.01))] {
        assert!(
            matches!(fault_of(said("trend", condition, threshold)), AlertFault::TooNear(_)),
            "{condition}"
        );
    }
    for (condition, threshold) in [
        ("price_below", json!(-5)),
        ("price_above", json!(1e300)),
        ("price_change_down", json!(-3)),
        ("rsi_limit", json!(99.5)),
        ("ma_touch_below", json!(1)),
        ("volume_change", json!(1_000_000)),
        ("dividend_ex_date", json!(365)),
    ] {
        assert!(
            matches!(fault_of(said("trend", condition, threshold)), AlertFault::Threshold(_)),
            "{condition}"
        );
    }
}

#[test]
fn what_a_users_request_would_be_refused_for_is_refused() {
    for (condition, threshold) in [
        ("price_below", Value::Null),
        ("new_high", json!(120)),
        ("ma_touch_below", json!(50.5)),
        ("dividend_ex_date", json!(2.5)),
    ] {
        let fault = fault_of(said("trend", condition, threshold));
        assert!(
            matches!(fault, AlertFault::Refused(Refusal::Request(_))),
            "{condition}: {fault}"
        );
    }
}

#[test]
fn a_level_on_the_wrong_side_for_its_role_and_a_role_of_the_other_side_are_refused() {
    assert_eq!(
        fault_of(said("entry", "price_above", json!(110))),
        AlertFault::Misplaced
    );
    assert_eq!(
        fault_of(said("breakout", "price_change_down", json!(5))),
        AlertFault::Misplaced
    );
    assert_eq!(
        fault_of(said("stop", "price_below", json!(100))),
        AlertFault::NoSuchRole
    );
    assert_eq!(
        fault_of(said("own_target", "price_below", json!(100))),
        AlertFault::NoSuchRole
    );
    let fault = AlertFault::NoSuchRole;
    let for_seller = answer_for(&stage(), Intention::Sell, &completion(&good().to_string()));
    assert_eq!(for_seller, Err(AnswerError::Alert { place: 0, fault }));
}

#[test]
fn the_same_news_twice_is_refused() {
    let twice = changed(|said| said["alerts"][1] = crate::world::said("deeper_entry", "price_below", json!(100.3)));
    let fault = AlertFault::Repeats(0);
    assert_eq!(twice, Err(AnswerError::Alert { place: 1, fault }));
}

#[test]
fn an_answer_without_an_alert_on_a_price_is_refused() {
    let none = changed(|said| drop(said["alerts"].as_array_mut().unwrap().drain(..2)));
    assert!(matches!(none, Err(AnswerError::Form { at, .. }) if at == "alerts"));
}

#[test]
fn texts_that_lead_elsewhere_hide_something_or_say_nothing_are_refused() {
    let of = |rationale: &str| {
        let mut alert = said("entry", "price_below", json!(100.4));
        alert["rationale"] = json!(rationale);
        match fault_of(alert) {
            AlertFault::Rationale(fault) => fault,
            other => panic!("{rationale}: {other}"),
        }
    };
    for (rationale, fault) in [
        ("Support at 100.", TextFault::Short),
        (
            "The stock has turned there many times within the last year.",
            TextFault::NoNumber,
        ),
        (
            "Support at 100, see https://evil.example for the 3 steps to claim.",
            TextFault::Leads,
        ),
        (
            "Support at 100, see evil.example for the 3 steps to claim.",
            TextFault::Leads,
        ),
        (
            "Support at 100. Write to ann@evil for 3 shares for nothing.",
            TextFault::Leads,
        ),
        (
            "Support at 100 <img src=x onerror=alert(1)> and so on.",
            TextFault::Leads,
        ),
        (
            "Support at 100, [click](here) for the 3 steps to claim.",
            TextFault::Leads,
        ),
        (
            "Support at 100\u{202e} and what follows reads backwards.",
            TextFault::Invisible,
        ),
        (
            "Support at 100.\nSubject: something else entirely",
            TextFault::Invisible,
        ),
        (&format!("Support at 100{}", " and so on".repeat(60)), TextFault::Long),
    ] {
        assert_eq!(of(rationale), fault, "{rationale}");
    }
    let plain = "In the U.S. the stock has turned at 100.40 three times (e.g. on 2021-11-05), i.e. 4.4% below the price of 105.00.";
    assert!(changed(|said| said["alerts"][0]["rationale"] = json!(plain)).is_ok());
    let summary = changed(|said| said["summary"] = json!("Visit www.evil for 100% more of this."));
    assert_eq!(summary, Err(AnswerError::Summary(TextFault::Leads)));
}

#[test]
fn no_error_repeats_what_the_model_said() {
    let secret = "xyzzy";
    for path in ["role", "condition", "direction", "rationale", "threshold"] {
        let error = changed(|said| said["alerts"][0][path] = json!(secret)).unwrap_err();
        assert!(!error.to_string().contains(secret), "{error}");
        assert!(!error.name().is_empty());
    }
}
