//! Plans: what is created, changed, replaced, renamed, deleted and kept.

use alert_files::{FileSet, PlannedKind, plan_as_json, plan_as_text};
use serde_json::json;

use crate::support::{after, alerts, plan, present, read, try_plan};

const DIP: &str = "{name: dip, symbol: AAPL, when: price < 180}";

fn dip(number: u128, name: &str, when: &str) -> client::RemoteAlert {
    present(
        number,
        name,
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}}),
    )
}

/// Returns the actions of a plan: `create dip`.
fn actions(plan: &alert_files::Plan) -> Vec<String> {
    let json = plan_as_json(plan);
    let changes = json["changes"].as_array().unwrap().iter();
    changes
        .map(|change| {
            format!(
                "{} {}",
                change["action"].as_str().unwrap(),
                change["name"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn new_alert_is_created_under_its_name() {
    let plan = plan(&alerts(&[DIP]), &[]);
    assert_eq!(actions(&plan), ["create dip"]);
    let batch = plan.to_batch(12);
    let expected = json!({
        "symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 180"},
        "managed_by": {"source": "team", "name": "dip"},
    });
    assert_eq!(batch["create"], json!([expected]));
    assert_eq!(
        (&batch["source"], &batch["expected_source_revision"]),
        (&json!("team"), &json!(12))
    );
    assert_eq!(
        plan_as_text(&plan, false),
        "+ dip (AAPL)  alerts.yaml:3\n    + symbol: AAPL\n    + when: price < 180\nteam: 1 to create, 0 to change, 0 to replace, 0 to delete, 0 unchanged\n"
    );
}

#[test]
fn second_plan_has_nothing_to_do() {
    let files = alerts(&[
        DIP,
        "{name: b, symbol: msft, condition: price_above, threshold: 500.10, note: ' sell ', tags: [a, a]}",
        "{name: c, scope: {symbols: [SPY, AAPL, SPY]}, condition: new_high, options: {repeat: once}}",
        "{name: d, symbol: AAPL, condition: rsi_limit, threshold: 30, parameters: {direction: below}, notify: {channels: [phone]}}",
    ]);
    let plan_of_new = plan(&files, &[]);
    assert_eq!(plan_of_new.changes.len(), 4);
    let again = plan(&files, &after(&plan_of_new));
    assert_eq!((actions(&again), again.unchanged), (Vec::<String>::new(), 4));
    assert!(again.is_empty());
}

#[test]
fn other_spelling_of_an_expression_is_no_change() {
    let plan = plan(&alerts(&[DIP]), &[dip(1, "dip", "(price < 180.00)")]);
    assert!(plan.is_empty(), "{:?}", actions(&plan));
}

#[test]
fn update_has_only_the_parts_that_differ() {
    let mut alert = dip(1, "dip", "price < 190");
    alert.note = Some("sell".to_owned());
    alert.options = json!({"snoozed_until": "2027-01-01T00:00:00.000Z"})
        .as_object()
        .cloned();
    let file = "{name: dip, symbol: AAPL, when: price < 180, options: {repeat: each_time}}";
    let plan = plan(&alerts(&[file]), &[alert]);
    let batch = plan.to_batch(0);
    let expected = json!({
        "condition": "expression", "threshold": null, "parameters": {"when": "price < 180"},
        // A snooze is kept: people set it.
        "options": {"repeat": "each_time", "snoozed_until": "2027-01-01T00:00:00.000Z"},
        "note": null,
    });
    assert_eq!(batch["update"][0]["alert"], expected);
    let text = plan_as_text(&plan, false);
    assert!(
        text.contains("    - when: price < 190\n    + when: price < 180\n"),
        "{text}"
    );
    assert!(text.contains("    - note: sell\n"), "{text}");
}

#[test]
fn other_stock_replaces_the_alert() {
    let plan = plan(
        &alerts(&["{name: dip, symbol: MSFT, when: price < 180}"]),
        &[dip(1, "dip", "price < 180")],
    );
    assert_eq!(actions(&plan), ["replace dip"]);
    let batch = plan.to_batch(0);
    assert_eq!(batch["delete"].as_array().unwrap().len(), 1);
    assert_eq!(batch["create"][0]["managed_by"]["name"], "dip");
    assert_eq!(plan.request_count(), 2);
}

#[test]
fn alert_with_another_name_keeps_its_history() {
    let plan = plan(&alerts(&[DIP]), &[dip(1, "old", "price < 180")]);
    let PlannedKind::Update { body, former_name, .. } = &plan.changes[0].kind else {
        panic!("{plan:?}");
    };
    assert_eq!(former_name.as_deref(), Some("old"));
    assert_eq!(*body, json!({"managed_by": {"source": "team", "name": "dip"}}));
    assert!(plan_as_text(&plan, false).starts_with("~ dip (AAPL), until now old"));
    // Which of two equal ones was renamed is unknown.
    let two = [dip(1, "old", "price < 180"), dip(2, "older", "price < 180")];
    assert_eq!(actions(&self::plan(&alerts(&[DIP]), &two)), ["create dip"]);
}

#[test]
fn alerts_without_a_file_are_kept_unless_the_plan_prunes() {
    let present = [dip(1, "dip", "price < 180"), dip(2, "gone", "price < 90")];
    let kept = plan(&alerts(&[DIP]), &present);
    assert_eq!(
        (actions(&kept), kept.kept.as_slice()),
        (vec![], &["gone".to_owned()][..])
    );
    let pruned = try_plan(&alerts(&[DIP]), &present, true).unwrap();
    assert_eq!(actions(&pruned), ["delete gone"]);
    assert_eq!(pruned.to_batch(0)["delete"], json!([present[1].id]));
}

#[test]
fn alerts_of_people_and_of_other_sources_are_not_touched() {
    let mut by_hand = dip(1, "dip", "price < 90");
    by_hand.managed_by = None;
    let mut of_other = dip(2, "dip", "price < 90");
    of_other.managed_by.as_mut().unwrap().source = "desk".to_owned();
    let plan = try_plan(&alerts(&[DIP]), &[by_hand, of_other], true).unwrap();
    assert_eq!(actions(&plan), ["create dip"]);
    assert!(plan.kept.is_empty());
}

#[test]
fn reminder_whose_moment_has_passed_is_unchanged() {
    let file = "{name: r, symbol: AAPL, condition: reminder, parameters: {date: '2026-11-20'}}";
    let alert = present(
        1,
        "r",
        json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2026-11-20"}}),
    );
    assert!(plan(&alerts(&[file]), &[alert]).is_empty());
    let errors = try_plan(&alerts(&[file]), &[], false).unwrap_err();
    assert!(errors.to_string().contains("in the past"), "{errors}");
}

#[test]
fn values_of_variables_are_not_shown() {
    let text = "version: 1\nalerts:\n  - {name: dip, symbol: AAPL, when: price < 180, note: 'token ${SECRET}'}\n";
    let files: FileSet = read(text).unwrap();
    let new = plan(&files, &[]);
    assert_eq!(new.to_batch(0)["create"][0]["note"], "token hunter2");
    let mut alert = dip(1, "dip", "price < 180");
    alert.note = Some("token hunter1".to_owned());
    let changed = plan(&files, &[alert]);
    for plan in [&new, &changed] {
        let shown = format!("{}{}", plan_as_text(plan, true), plan_as_json(plan));
        assert!(
            shown.contains("token ${SECRET}") && !shown.contains("hunter"),
            "{shown}"
        );
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut alert = dip(1, "dip", "price < 180");
    alert.note = Some("\u{1b}[2Jgone".to_owned());
    let text = plan_as_text(&plan(&alerts(&[DIP]), &[alert]), false);
    assert!(!text.contains('\u{1b}') && text.contains("gone"), "{text}");
}

#[test]
fn larger_plan_has_parts_for_one_transaction_each() {
    let items: Vec<String> = (0..1_500)
        .map(|n| {
            format!(
                "{{name: a{n}, symbol: AAPL, condition: price_above, threshold: {}}}",
                n + 1
            )
        })
        .collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let present = [dip(1, "gone", "price < 90")];
    let plan = try_plan(&alerts(&items), &present, true).unwrap();
    assert!(!plan.fits_one_batch());
    let parts = plan.parts();
    assert_eq!(
        parts.iter().map(|part| part.request_count()).collect::<Vec<_>>(),
        [1_000, 501]
    );
    assert!(matches!(parts[0].changes[0].kind, PlannedKind::Delete { .. }));
}

#[test]
fn refused_item_of_the_batch_is_found_in_the_plan() {
    let files = alerts(&[DIP, "{name: b, symbol: MSFT, when: price < 1}"]);
    let plan = plan(&files, &[dip(1, "b", "price < 1")]);
    assert_eq!(plan.change_of_item("create", 1).unwrap().name, "b");
    assert_eq!(plan.change_of_item("delete", 0).unwrap().name, "b");
    assert_eq!(plan.change_of_item("update", 0), None);
}

#[test]
fn plan_of_ten_thousand_equal_alerts_has_no_changes() {
    let items: String = (0..10_000)
        .map(|n| {
            format!(
                "  - name: alert {n}\n    symbol: AAPL\n    when: price < {} and rsi(14) < 30\n    tags: [a]\n",
                n + 1
            )
        })
        .collect();
    let text = format!("version: 1\nalerts:\n{items}");
    let present: Vec<_> = after(&plan(&read(&text).unwrap(), &[]));
    let before = testkit::processor_time();
    let plan = plan(&read(&text).unwrap(), &present);
    let used = (testkit::processor_time() - before).as_secs_f64();
    assert_eq!(plan.unchanged, 10_000);
    testkit::print_goal(
        "at most 2 s of processor time, without optimisation",
        &format!("{used:.2} s"),
        used < 2.0,
    );
}
