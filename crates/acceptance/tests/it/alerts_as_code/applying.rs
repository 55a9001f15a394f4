//! `plan` and `apply`.

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

use super::support::{Repository, alerts, names};

on_both_databases![
    apply_creates_changes_and_deletes_what_the_plan_shows,
    mistake_in_a_file_changes_nothing_and_names_its_place,
    refusal_of_the_server_changes_nothing_and_names_the_places,
    alerts_that_people_made_are_untouched,
    of_two_appliers_one_wins_and_the_other_is_told,
    apply_is_safe_to_repeat,
    values_of_variables_stay_out_of_the_plan,
    plan_of_more_than_one_transaction_is_carried_out_in_parts_on_demand,
];

const DIP: &str = "{name: dip, symbol: AAPL, when: price < 180 and rsi(14) < 30, tags: [swing]}";
const HIGH: &str = "{name: high, symbol: AAPL, condition: new_high, options: {repeat: each_time, cooldown: 1d}}";

async fn start(setup: ServiceSetup) -> (TestEnvironment, Repository) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let repository = Repository::new(&env).await;
    (env, repository)
}

async fn apply_creates_changes_and_deletes_what_the_plan_shows(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    repository.write_alerts(&[DIP, HIGH]);
    let planned = repository.plan(&[]).await.expect(3);
    assert!(planned.stdout.contains("+ dip (AAPL)  alerts.yaml:3"), "{planned:?}");
    assert_eq!(names(&env).await, [""; 0]);
    let applied = repository.apply(&[]).await.expect(0);
    assert!(applied.stdout.contains("2 to create"), "{applied:?}");
    assert_eq!(names(&env).await, ["dip", "high"]);
    let nothing = repository.plan(&["--json"]).await.expect(0);
    assert_eq!(nothing.json_lines()[0]["unchanged"], 2);

    let before = alerts(&env).await;
    repository.write_alerts(&["{name: dip, symbol: AAPL, when: price < 170, tags: [swing]}"]);
    let planned = repository.plan(&["--prune"]).await.expect(3);
    for part in [
        "- when: price < 180 and rsi(14) < 30",
        "+ when: price < 170",
        "- high (AAPL)",
    ] {
        assert!(planned.stdout.contains(part), "{part}: {planned:?}");
    }
    repository.apply(&["--prune"]).await.expect(0);
    let after = alerts(&env).await;
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].1["id"], before[0].1["id"]);
    assert_eq!(after[0].1["parameters"]["when"], "price < 170");
    repository.plan(&["--prune"]).await.expect(0);
}

async fn mistake_in_a_file_changes_nothing_and_names_its_place(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    repository.write_alerts(&[DIP, "{name: b, symbol: AAPL, when: price < smaa(50)}"]);
    let refused = repository.apply(&[]).await.expect(1);
    assert!(refused.stderr.contains("alerts.yaml:4:35: when: "), "{refused:?}");
    assert!(refused.stderr.contains("did you mean `sma`"), "{refused:?}");
    repository.write(
        "alerts.yaml",
        "version: 1\nalerts:\n  - name: a\n    simbol: AAPL\n    when: price < 1\n",
    );
    let refused = repository.apply(&[]).await.expect(1);
    let expected = "alerts.yaml:4:5: unknown key `simbol`; did you mean `symbol`?";
    assert!(refused.stderr.contains(expected), "{refused:?}");
    assert_eq!(names(&env).await, [""; 0]);
}

async fn refusal_of_the_server_changes_nothing_and_names_the_places(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    repository.write_alerts(&[
        DIP,
        "{name: b, symbol: NOPE, when: price < 1}",
        "{name: c, symbol: NOPES, when: price < 1}",
    ]);
    let refused = repository.apply(&[]).await.expect(1);
    for part in [
        "refused 2 of the changes, so nothing was changed",
        "alerts.yaml:4: b: ",
        "alerts.yaml:5: c: ",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    assert_eq!(names(&env).await, [""; 0]);
}

async fn alerts_that_people_made_are_untouched(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 250});
    let by_hand = env.operator.post("/alerts", &body).await.expect_ok(201);
    repository.write_alerts(&["{name: same, symbol: AAPL, condition: price_above, threshold: 250}"]);
    repository.apply(&["--prune"]).await.expect(0);
    assert_eq!(names(&env).await, ["-", "same"]);
    repository.write_alerts(&[]);
    repository.apply(&["--prune"]).await.expect(0);
    let left = alerts(&env).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].1["id"], by_hand.data()["id"]);
}

async fn of_two_appliers_one_wins_and_the_other_is_told(setup: ServiceSetup) {
    let (env, one) = start(setup).await;
    let other = Repository::new(&env).await;
    one.write_alerts(&[
        "{name: a, symbol: AAPL, when: price < 101}",
        "{name: b, symbol: AAPL, when: price < 102}",
    ]);
    other.write_alerts(&[
        "{name: a, symbol: AAPL, when: price < 201}",
        "{name: c, symbol: AAPL, when: price < 202}",
    ]);
    let (first, second) = tokio::join!(one.apply(&["--prune"]), other.apply(&["--prune"]));
    let codes = [first.code, second.code];
    // If one of them began after the other had finished, it has seen the other's alerts, and both have succeeded.
    if codes != [Some(0), Some(0)] {
        let (_, loser) = if first.code == Some(0) {
            (&first, &second)
        } else {
            (&second, &first)
        };
        assert!(
            codes.contains(&Some(0)) && codes.contains(&Some(1)),
            "{first:?} {second:?}"
        );
        assert!(
            loser.stderr.contains("somebody else has changed the alerts of team"),
            "{loser:?}"
        );
    }
    // The alerts are those of one of the two, never a mixture.
    let found: Vec<Value> = alerts(&env)
        .await
        .into_iter()
        .map(|(_, alert)| alert["parameters"]["when"].clone())
        .collect();
    assert!(
        found == ["price < 101", "price < 102"] || found == ["price < 201", "price < 202"],
        "{found:?}"
    );
}

async fn apply_is_safe_to_repeat(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    repository.write_alerts(&[DIP, HIGH]);
    repository.apply(&[]).await.expect(0);
    let before = alerts(&env).await;
    let again = repository.apply(&[]).await.expect(0);
    assert!(again.stdout.contains("2 unchanged"), "{again:?}");
    assert_eq!(alerts(&env).await, before);
}

async fn values_of_variables_stay_out_of_the_plan(setup: ServiceSetup) {
    let (_env, repository) = start(setup).await;
    repository.write_alerts(&["{name: a, symbol: AAPL, when: price < 1, note: 'token ${BELLWETHER_API_KEY}'}"]);
    for more in [&[][..], &["--json"]] {
        let planned = repository.plan(more).await.expect(3);
        assert!(planned.stdout.contains("token ${BELLWETHER_API_KEY}"), "{planned:?}");
        assert!(
            !planned.stdout.contains("sk_") && !planned.stderr.contains("sk_"),
            "{planned:?}"
        );
    }
}

async fn plan_of_more_than_one_transaction_is_carried_out_in_parts_on_demand(setup: ServiceSetup) {
    let (env, repository) = start(setup).await;
    let alerts: Vec<String> = (1..=1_001)
        .map(|number| format!("{{name: dip-{number}, symbol: AAPL, condition: price_below, threshold: 0.{number:04}}}"))
        .collect();
    let alerts: Vec<&str> = alerts.iter().map(String::as_str).collect();
    repository.write_alerts(&alerts);
    let refused = repository.apply(&[]).await.expect(2);
    assert!(refused.stderr.contains("--in-parts"), "{refused:?}");
    assert_eq!(names(&env).await, [""; 0]);
    repository.apply(&["--in-parts"]).await.expect(0);
    let nothing = repository.plan(&["--json"]).await.expect(0);
    assert_eq!(nothing.json_lines()[0]["unchanged"], 1_001);
}
