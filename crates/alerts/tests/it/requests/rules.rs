//! Requests with expressions and options.

use alerts::lifecycle::Phase;
use alerts::options::{Expiry, PercentBase, Repeat};
use alerts::plan::{Plan, check_alert_features, check_guest_alert};
use alerts::request::{FieldErrors, RequestError, without_snooze};
use alerts::transition::OwnerVerification;
use alerts::transition::{
    HistoryAction, PriceAvailability, Transition, TransitionError, activate, expire, fire, update,
};
use alerts::{Alert, Channel, Status};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::support::{
    self, NOW, alert, body, condition, create, current_at, equivalent, errors_of, in_berlin_at, instant, parsed,
};

fn when(text: &str) -> Value {
    json!({"parameters": {"when": text}})
}

fn expression_errors(text: &str) -> FieldErrors {
    errors_of(create(&body("expression", &when(text))))
}

fn with_options(options: &Value) -> Value {
    json!({"threshold": 200, "options": options})
}

fn later() -> Timestamp {
    instant("2024-07-01T15:05:00Z")
}

fn changed(done: Result<Transition, TransitionError>, action: HistoryAction) -> Alert {
    let Ok(Transition::Changed(changed)) = done else {
        panic!("{done:?}");
    };
    assert_eq!(changed.entry.action, action);
    changed.alert
}

#[test]
fn invalid_expression_has_its_position_and_suggestions() {
    for (text, position, suggestions) in [
        ("price > smaa(20)", 9, vec!["sma"]),
        ("price > 100 and", 16, vec![]),
        ("prise > 100", 1, vec!["price"]),
        ("price > 1 and SPY.high_since_armed > 2", 15, vec![]),
        ("SPY.change_pct(creation) < 1", 1, vec![]),
    ] {
        let errors = expression_errors(text);
        assert_eq!(errors.of("parameters.when").len(), 1, "{text}: {errors}");
        let error = errors.expression_error().unwrap();
        assert_eq!(error.position, position, "{text}");
        assert_eq!(error.suggestions.is_empty(), suggestions.is_empty(), "{text}");
        assert!(
            suggestions
                .iter()
                .all(|name| error.suggestions.iter().any(|found| found == name)),
            "{text}"
        );
    }
    let unexpected = expression_errors("price > 100 and");
    assert!(!unexpected.expression_error().unwrap().expected.is_empty());
    // Errors of other fields have no position.
    let errors = errors_of(create(&body("expression", &json!({}))));
    assert_eq!(
        (errors.of("parameters.when").len(), errors.expression_error()),
        (1, None)
    );
}

#[test]
fn own_symbol_written_out_becomes_canonical() {
    let named = parsed("expression", &when("AAPL.price > 200 AND MSFT.price < 400"));
    assert_eq!(
        named.condition,
        condition("expression", &when("price > 200 and MSFT.price < 400"))
    );
    assert_eq!(
        named.parameters.unwrap()["when"],
        json!("price > 200 and MSFT.price < 400")
    );
}

#[test]
fn invalid_parameters_of_an_expression_have_one_sentence_each() {
    let within = |within: Value| {
        body(
            "expression",
            &json!({"parameters": {"when": "price crosses 5", "within": within}}),
        )
    };
    for (sent, message) in [
        (
            json!(5),
            "parameters.within: must be \"session\" or a duration from 1m to 30d, not a number",
        ),
        (
            json!("31d"),
            "parameters.within: must be \"session\" or a duration from 1m to 30d, such as \"15m\", \"2h\" or \"5d\"",
        ),
    ] {
        assert_eq!(errors_of(create(&within(sent))).to_string(), message);
    }
    for sent in [json!("1m"), json!("30d"), json!("session"), json!(null)] {
        assert!(create(&within(sent)).is_ok());
    }
    let errors = errors_of(create(&body("expression", &json!({"parameters": {"when": 5}}))));
    assert_eq!(
        errors.to_string(),
        "parameters.when: must be an expression of at most 1000 characters, not a number"
    );
}

#[test]
fn options_are_read_strictly() {
    let found = parsed(
        "price_above",
        &with_options(&json!({"repeat": "each_time", "expires_at": "2024-07-02"})),
    );
    assert_eq!(found.options.repeat, Repeat::EachTime);
    assert_eq!(
        found.options.expires_at,
        Some(Expiry::Date(jiff::civil::date(2024, 7, 2)))
    );
    for (options, field) in [
        (json!({"repeat": "each_time", "cooldwon": "1h"}), "options.cooldwon"),
        (json!({"cooldown": "59s"}), "options.cooldown"),
        (json!({"expires_at": "2024-06-30"}), "options.expires_at"),
        (json!({"expires_at": NOW}), "options.expires_at"),
        (json!({"rearm": {"at": 200}}), "options.rearm.at"),
        (json!({"trigger": "bit"}), "options.trigger"),
        (json!([]), "options"),
    ] {
        let errors = errors_of(create(&body("price_above", &with_options(&options))));
        assert_eq!(errors.of(field).len(), 1, "{options}: {errors}");
    }
    for options in [
        json!({"cooldown": "1m"}),
        json!({"expires_at": "2024-07-01"}),
        json!({"expires_at": "2024-07-01T15:00:00.001Z"}),
        json!({"rearm": {"at": 199.999_999}}),
        json!(null),
        json!({}),
    ] {
        assert!(
            create(&body("price_above", &with_options(&options))).is_ok(),
            "{options}"
        );
    }
    assert!(
        create(&body("price_above", &with_options(&json!(null))))
            .unwrap()
            .options
            .are_default()
    );
}

#[test]
fn snooze_becomes_the_option() {
    let current = alert("price_above", &with_options(&json!({"cooldown": "1h"})));
    let snoozed = |patch: Value| in_berlin_at(NOW, |context| without_snooze(&current, &patch, context));
    let until = |patch: Value| {
        let body = snoozed(patch).unwrap();
        let change = support::update(&current, &body).unwrap();
        assert_eq!(change.options.cooldown, current.options.cooldown);
        change.options.snoozed_until
    };
    assert_eq!(until(json!({"snooze": "2h"})), Some(instant("2024-07-01T17:00:00Z")));
    assert_eq!(until(json!({"snooze": "1m"})), Some(instant("2024-07-01T15:01:00Z")));
    assert_eq!(
        until(json!({"snooze": "next_open"})),
        Some(instant("2024-07-02T13:30:00Z"))
    );
    assert_eq!(until(json!({"snooze": null})), None);
    for wrong in [
        json!({"snooze": "59s"}),
        json!({"snooze": 2}),
        json!({"snooze": "tomorrow"}),
        json!({"snooze": "2h", "options": {}}),
    ] {
        let Err(RequestError::Invalid(errors)) = snoozed(wrong.clone()) else {
            panic!("{wrong}");
        };
        assert_eq!(errors.of("snooze").len(), 1, "{wrong}");
    }
    let other = json!({"threshold": 5});
    assert_eq!(snoozed(other.clone()), Ok(other));
}

#[test]
fn repeating_alert_stays_active_until_its_last_firing() {
    let options = json!({"repeat": "each_time", "max_firings": 2});
    let active = alert("price_above", &with_options(&options));
    let mut state = active.lifecycle.clone().unwrap();
    for (firings, status) in [(1, Status::Active), (2, Status::Triggered)] {
        state.firings = firings;
        state.phase = Phase::WaitingToRearm;
        let fired = changed(fire(&active, later(), Some(&state)), HistoryAction::Triggered);
        assert_eq!((fired.status, fired.triggered_at), (status, Some(later())));
        assert_eq!(
            (fired.lifecycle, fired.revision),
            (Some(state.clone()), active.revision.next())
        );
    }
    let once = alert("expression", &when("price > 5"));
    let mut state = once.lifecycle.clone().unwrap();
    state.firings = 1;
    let fired = changed(fire(&once, later(), Some(&state)), HistoryAction::Triggered);
    assert_eq!(fired.status, Status::Triggered);
}

#[test]
fn expired_alert_needs_a_new_expiry_to_be_activated() {
    let active = alert(
        "price_above",
        &with_options(&json!({"expires_at": "2024-07-01T15:05:00Z"})),
    );
    let expired = changed(expire(&active), HistoryAction::Expired);
    assert_eq!((expired.status, expired.has_expired()), (Status::Inactive, true));
    assert_eq!(expire(&expired), Err(TransitionError::NotActive(Status::Inactive)));
    let activated = |at: &str| {
        let price = PriceAvailability::Current(current_at("200", instant(at)));
        activate(&expired, OwnerVerification::Verified, price, instant(at))
    };
    // Nothing is judged at the instant itself.
    assert_eq!(
        activated("2024-07-01T15:05:00Z"),
        Err(TransitionError::Expired(later()))
    );
    assert!(activated("2024-07-01T15:04:59Z").is_ok());
}

#[test]
fn update_keeps_the_firings_and_activation_does_not() {
    let options = json!({"repeat": "each_time"});
    let mut active = alert("price_above", &with_options(&options));
    let mut state = active.lifecycle.clone().unwrap();
    (state.firings, state.phase) = (3, Phase::WaitingToRearm);
    active.lifecycle = Some(state);
    let change = support::update(&active, &json!({"threshold": 210})).unwrap();
    let updated = changed(
        update(&active, change, PriceAvailability::Unknown, later()),
        HistoryAction::Updated,
    );
    let state = updated.lifecycle.unwrap();
    assert_eq!((state.firings, state.phase, state.armed_at), (3, Phase::Armed, later()));
    let change = support::update(&active, &json!({"options": null})).unwrap();
    let updated = changed(
        update(&active, change, PriceAvailability::Unknown, later()),
        HistoryAction::Updated,
    );
    assert_eq!(updated.lifecycle, None);
    active.status = Status::Triggered;
    let price = PriceAvailability::Current(current_at("200", later()));
    let again = changed(
        activate(&active, OwnerVerification::Verified, price, later()),
        HistoryAction::Reactivated,
    );
    assert_eq!(again.lifecycle.unwrap().firings, 0);
}

#[test]
fn update_of_the_condition_forgets_the_crossings_of_the_old_one() {
    let parameters = |within: &str| json!({"parameters": {"when": "price crosses above 5", "within": within}});
    let mut active = alert("expression", &parameters("15m"));
    let mut state = active.lifecycle.clone().unwrap();
    state.firings = 3;
    active.lifecycle = Some(state);
    let change = support::update(&active, &parameters("1h")).unwrap();
    let updated = changed(
        update(&active, change, PriceAvailability::Unknown, later()),
        HistoryAction::Updated,
    );
    let state = updated.lifecycle.unwrap();
    assert_eq!((state.firings, state.crossings.within()), (3, "1h".parse().ok()));
}

#[test]
fn expression_and_options_belong_to_equivalence() {
    let same = |one: &Value, other: &Value| equivalent(&alert("expression", one), &parsed("expression", other));
    assert!(same(&when("price > 5"), &when("AAPL.price > 5.0")));
    assert!(!same(&when("price > 5"), &when("price >= 5")));
    let within = |within: &str| json!({"parameters": {"when": "price crosses 5", "within": within}});
    assert!(same(&within("60m"), &within("1h")));
    assert!(!same(&within("1h"), &within("61m")));
    let options = |options: Value| json!({"parameters": {"when": "price > 5"}, "options": options});
    assert!(same(&options(json!({"repeat": "once"})), &when("price > 5")));
    assert!(!same(&options(json!({"cooldown": "1h"})), &when("price > 5")));
    assert!(same(
        &options(json!({"cooldown": "1h"})),
        &options(json!({"cooldown": "1h"}))
    ));
}

#[test]
fn plan_of_an_expression_depends_on_its_metrics() {
    for (text, is_free) in [
        ("price > 5", true),
        ("drawdown(90) > 20 and price < 0.9 * high_since_armed", true),
        ("change_pct(open) > 3 or gap_pct < -3", true),
        ("price > sma(20)", false),
        ("price > 5 and volume > 100", false),
        ("rsi > 70", false),
        ("mentions > 5", false),
    ] {
        let condition = condition("expression", &when(text));
        let basic = check_alert_features(Plan::Basic, &condition, Channel::Email);
        assert_eq!(basic.is_ok(), is_free, "{text}");
        assert_eq!(check_guest_alert(&condition, Channel::Email).is_ok(), is_free, "{text}");
        assert!(
            check_alert_features(Plan::Premium, &condition, Channel::Email).is_ok(),
            "{text}"
        );
    }
}

#[test]
fn alert_can_be_written_back_after_its_snooze_and_its_end() {
    let mut current = alert("expression", &when("price > 5"));
    current.options.snoozed_until = Some(instant("2024-07-01T14:00:00Z"));
    let snoozed = json!({"options": {"snoozed_until": "2024-07-01T14:00:00.000Z"}});
    let change = support::update(&current, &snoozed).unwrap();
    assert_eq!(change.options.snoozed_until, None);
    assert!(equivalent(&current, &parsed("expression", &when("price > 5"))));
    current.options.snoozed_until = None;
    current.options.expires_at = Some(Expiry::Instant(instant("2024-07-01T14:00:00.000123Z")));
    let expired = |until: &str| support::update(&current, &json!({"options": {"expires_at": until}}));
    assert!(expired("2024-07-01T14:00:00.000Z").is_ok());
    assert!(expired("2024-07-01T14:00:01.000Z").is_err());
}

#[test]
fn alert_keeps_options_that_do_not_fit_until_they_change() {
    let mut current = alert("expression", &when("price > 5"));
    current.options.base = PercentBase::Open;
    for body in [
        json!({"note": "mine"}),
        json!({"options": {"base": "open"}}),
        json!({"condition": "expression", "parameters": {"when": "price > 5"}, "options": {"base": "open"}}),
    ] {
        assert!(support::update(&current, &body).is_ok(), "{body}");
    }
    for body in [
        json!({"options": {"base": "open", "hold": "1h"}}),
        json!({"parameters": {"when": "price > 6"}}),
    ] {
        assert!(support::update(&current, &body).is_err(), "{body}");
    }
}

#[test]
fn omitted_options_must_fit_too() {
    let within = json!({"parameters": {"when": "price > 5", "within": "15m"}});
    let errors = errors_of(create(&body("expression", &within)));
    assert_eq!(errors.of("parameters.within").len(), 1);
    let errors = errors_of(create(&body("expression", &when("SPY.change_pct > 5"))));
    assert_eq!(errors.of("options.base").len(), 1);
}
