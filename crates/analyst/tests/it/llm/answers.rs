//! Good answers become alerts; bad answers are rejected, each with its own reason.

use alerts::{ConditionKind, Plan};
use analyst::llm::{AlertViolation, AnswerError, MAX_ANSWER_BYTES, TextViolation, UnfinishedReason};
use analyst::{Advice, Intention, ProposalError};
use serde_json::{Value, json};

use crate::llm::fixture::{MODEL, completion, fixture, good_content, model_alert, parse, parse_changed, parse_for};
use crate::support::fires_at_once;

/// Returns the violation found in an answer with this first alert.
fn violation_of(alert: Value) -> AlertViolation {
    match parse_changed(|content| content["alerts"][0] = alert) {
        Err(AnswerError::Alert { index: 0, violation }) => violation,
        other => panic!("{other:#?}"),
    }
}

#[test]
fn good_answer_becomes_alerts_with_author_that_do_not_fire_at_once() {
    let fixture = fixture();
    let advice: Advice = parse(&fixture, &completion(&good_content().to_string())).unwrap();
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
        fires_at_once(&fixture, &fixture.subject(Intention::Buy), &advice.proposals),
        []
    );
}

#[test]
fn price_is_rounded_to_a_tick() {
    let advice = parse_changed(|content| content["alerts"][0]["threshold"] = json!(100.402_345_678)).unwrap();
    assert_eq!(advice.proposals[0].body["threshold"], json!(100.4));
}

#[test]
fn distinguishes_invalid_refused_and_unfinished_completions() {
    let fixture = fixture();
    let of = |body: &str| parse(&fixture, body.as_bytes()).unwrap_err();
    for body in [
        "",
        "<html>502</html>",
        "null",
        "{}",
        r#"{"choices": []}"#,
        r#"{"choices": [{}]}"#,
    ] {
        assert!(matches!(of(body), AnswerError::NotACompletion(_)), "{body}");
    }
    assert!(matches!(
        of(r#"{"choices": [{"message": {"content": null}}]}"#),
        AnswerError::NotACompletion(_)
    ));
    let refusal = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot"}, "finish_reason": "stop"}]}"#;
    assert_eq!(of(refusal), AnswerError::Refused);
    for (reason, unfinished) in [
        ("length", UnfinishedReason::Length),
        ("content_filter", UnfinishedReason::Filter),
    ] {
        let body = json!({"choices": [{"message": {"content": "{\"summ"}, "finish_reason": reason}]});
        assert_eq!(of(&body.to_string()), AnswerError::Unfinished(unfinished));
    }
    assert_eq!(
        parse(&fixture, &vec![b' '; MAX_ANSWER_BYTES + 1]),
        Err(AnswerError::TooLong(MAX_ANSWER_BYTES + 1))
    );
}

#[test]
fn invalid_content_is_rejected_with_its_place() {
    let fixture = fixture();
    for content in [
        "",
        "Sure! Here are your alerts:",
        "```json\n{}\n```",
        &good_content().to_string()[1..],
        "[".repeat(9_999).as_str(),
    ] {
        assert_eq!(parse(&fixture, &completion(content)), Err(AnswerError::NotJson));
    }
    let place = |change: &dyn Fn(&mut Value)| match parse_changed(change) {
        Err(AnswerError::SchemaMismatch { at, .. }) => at,
        other => panic!("{other:#?}"),
    };
    assert_eq!(place(&|content| *content = json!([])), "the answer");
    assert_eq!(place(&|content| content["more"] = json!(1)), "the answer");
    assert_eq!(place(&|content| content["summary"] = json!(7)), "summary");
    assert_eq!(place(&|content| content["alerts"] = json!({})), "alerts");
    assert_eq!(
        place(&|content| content["alerts"][1] = json!("price_above 110")),
        "alerts[1]"
    );
    assert_eq!(
        place(&|content| drop(content["alerts"][1].as_object_mut().unwrap().remove("role"))),
        "alerts[1]"
    );
    assert_eq!(
        place(&|content| content["alerts"][1]["symbol"] = json!("GME")),
        "alerts[1]"
    );
    assert_eq!(
        place(&|content| content["alerts"][1]["threshold"] = json!("110")),
        "alerts[1].threshold"
    );
    assert_eq!(
        place(&|content| content["alerts"][2]["direction"] = json!("down")),
        "alerts[2].direction"
    );
    assert_eq!(
        place(&|content| content["alerts"][0]["rationale"] = Value::Null),
        "alerts[0].rationale"
    );
}

#[test]
fn rejects_fewer_than_two_and_more_than_five_alerts() {
    let count = |count: usize| {
        parse_changed(|content| {
            let first = content["alerts"][0].clone();
            content["alerts"] = vec![first; count].into();
        })
    };
    for found in [0, 1, 6, 50] {
        assert_eq!(
            count(found),
            Err(AnswerError::AlertCount {
                found,
                least: 2,
                most: 5
            })
        );
    }
}

#[test]
fn rejects_more_alerts_than_the_plan_allows() {
    let mut fixture = fixture();
    fixture.plan = Plan::Basic;
    let mut two = good_content();
    two["alerts"].as_array_mut().unwrap().truncate(2);
    let body = completion(&two.to_string());
    for (active, expected) in [
        (17, Ok(())),
        (
            19,
            Err(AnswerError::AlertCount {
                found: 2,
                least: 1,
                most: 1,
            }),
        ),
        (20, Err(AnswerError::QuotaExhausted)),
    ] {
        fixture.active_alerts = active;
        assert_eq!(parse(&fixture, &body).map(|_| ()), expected);
    }
}

#[test]
fn rejects_conditions_that_were_not_offered() {
    let mut fixture = fixture();
    fixture.plan = Plan::Basic;
    let violation = AlertViolation::ConditionNotOffered;
    assert_eq!(
        parse(&fixture, &completion(&good_content().to_string())),
        Err(AnswerError::Alert { index: 2, violation })
    );
    for condition in [
        "daily_reminder",
        "pe_ratio_below",
        "price_beneath",
        "earnings_announcement",
    ] {
        assert_eq!(
            violation_of(model_alert("event", condition, Value::Null)),
            AlertViolation::ConditionNotOffered,
            "{condition}"
        );
    }
}

#[test]
fn rejects_conditions_that_already_hold() {
    let fulfilled = |kind| AlertViolation::Refused(ProposalError::AlreadyFulfilled(kind));
    assert_eq!(
        violation_of(model_alert("trend", "price_below", json!(108))),
        fulfilled(ConditionKind::PriceBelow)
    );
    assert_eq!(
        violation_of(model_alert("trend", "price_above", json!(101))),
        fulfilled(ConditionKind::PriceAbove)
    );
    let mut rsi = model_alert("momentum", "rsi_limit", json!(20));
    rsi["direction"] = json!("above");
    assert_eq!(violation_of(rsi), fulfilled(ConditionKind::RsiLimit));
    assert_eq!(
        violation_of(model_alert("event", "dividend_ex_date", json!(10))),
        fulfilled(ConditionKind::DividendExDate)
    );
}

#[test]
fn rejects_absurd_levels() {
    for (condition, threshold) in [
        ("price_below", json!(1)),
        ("price_above", json!(1e8)),
        ("price_change_up", json!(900)),
    ] {
        assert!(
            matches!(
                violation_of(model_alert("trend", condition, threshold)),
                AlertViolation::TooFar(_)
            ),
            "{condition}"
        );
    }
    for (condition, threshold) in [("price_below", json!(104.95)), ("price_change_up", json!(0.01))] {
        assert!(
            matches!(
                violation_of(model_alert("trend", condition, threshold)),
                AlertViolation::TooNear(_)
            ),
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
            matches!(
                violation_of(model_alert("trend", condition, threshold)),
                AlertViolation::ThresholdOutOfRange(_)
            ),
            "{condition}"
        );
    }
}

#[test]
fn rejects_alerts_that_are_invalid_requests() {
    for (condition, threshold) in [
        ("price_below", Value::Null),
        ("new_high", json!(120)),
        ("ma_touch_below", json!(50.5)),
        ("dividend_ex_date", json!(2.5)),
    ] {
        let violation = violation_of(model_alert("trend", condition, threshold));
        assert!(
            matches!(violation, AlertViolation::Refused(ProposalError::Request(_))),
            "{condition}: {violation}"
        );
    }
}

#[test]
fn rejects_roles_that_do_not_match_side_or_intention() {
    assert_eq!(
        violation_of(model_alert("entry", "price_above", json!(110))),
        AlertViolation::WrongSide
    );
    assert_eq!(
        violation_of(model_alert("breakout", "price_change_down", json!(5))),
        AlertViolation::WrongSide
    );
    assert_eq!(
        violation_of(model_alert("stop", "price_below", json!(100))),
        AlertViolation::RoleNotOffered
    );
    assert_eq!(
        violation_of(model_alert("own_target", "price_below", json!(100))),
        AlertViolation::RoleNotOffered
    );
    let violation = AlertViolation::RoleNotOffered;
    let for_seller = parse_for(&fixture(), Intention::Sell, &completion(&good_content().to_string()));
    assert_eq!(for_seller, Err(AnswerError::Alert { index: 0, violation }));
}

#[test]
fn rejects_duplicate_alerts() {
    let twice =
        parse_changed(|content| content["alerts"][1] = model_alert("deeper_entry", "price_below", json!(100.3)));
    let violation = AlertViolation::Duplicate(0);
    assert_eq!(twice, Err(AnswerError::Alert { index: 1, violation }));
}

#[test]
fn rejects_answers_without_a_price_alert() {
    let none = parse_changed(|content| drop(content["alerts"].as_array_mut().unwrap().drain(..2)));
    assert!(matches!(none, Err(AnswerError::SchemaMismatch { at, .. }) if at == "alerts"));
}

#[test]
fn rejects_texts_with_links_invisible_characters_or_no_number() {
    let of = |rationale: &str| {
        let mut alert = model_alert("entry", "price_below", json!(100.4));
        alert["rationale"] = json!(rationale);
        match violation_of(alert) {
            AlertViolation::Rationale(violation) => violation,
            other => panic!("{rationale}: {other}"),
        }
    };
    for (rationale, violation) in [
        ("Support at 100.", TextViolation::TooShort),
        (
            "The stock has turned there many times within the last year.",
            TextViolation::NoNumber,
        ),
        (
            "Support at 100, see https://evil.example for the 3 steps to claim.",
            TextViolation::MarkupOrLink,
        ),
        (
            "Support at 100, see evil.example for the 3 steps to claim.",
            TextViolation::MarkupOrLink,
        ),
        (
            "Support at 100. Write to ann@evil for 3 shares for nothing.",
            TextViolation::MarkupOrLink,
        ),
        (
            "Support at 100 <img src=x onerror=alert(1)> and so on.",
            TextViolation::MarkupOrLink,
        ),
        (
            "Support at 100, [click](here) for the 3 steps to claim.",
            TextViolation::MarkupOrLink,
        ),
        (
            "Support at 100\u{202e} and what follows reads backwards.",
            TextViolation::InvisibleCharacter,
        ),
        (
            "Support at 100.\nSubject: something else entirely",
            TextViolation::InvisibleCharacter,
        ),
        (
            &format!("Support at 100{}", " and so on".repeat(60)),
            TextViolation::TooLong,
        ),
    ] {
        assert_eq!(of(rationale), violation, "{rationale}");
    }
    let plain = "In the U.S. the stock has turned at 100.40 three times (e.g. on 2021-11-05), i.e. 4.4% below the price of 105.00.";
    assert!(parse_changed(|content| content["alerts"][0]["rationale"] = json!(plain)).is_ok());
    let summary = parse_changed(|content| content["summary"] = json!("Visit www.evil for 100% more of this."));
    assert_eq!(summary, Err(AnswerError::Summary(TextViolation::MarkupOrLink)));
}

#[test]
fn errors_do_not_repeat_text_of_the_model() {
    let secret = "xyzzy";
    for path in ["role", "condition", "direction", "rationale", "threshold"] {
        let error = parse_changed(|content| content["alerts"][0][path] = json!(secret)).unwrap_err();
        assert!(!error.to_string().contains(secret), "{error}");
        assert!(!error.name().is_empty());
    }
}
