//! The example repository: its tests pass on the data of this checkout, and a server accepts its files.

use std::fs;
use std::os::unix::fs::symlink;

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::Value;

use super::support::{Repository, names, root};

on_both_databases![
    example_repository_is_tested_and_applied,
    pipeline_of_the_example_repository_tests_plans_and_applies
];

const DATA: &str = "tests/data/sample/us500";

async fn example_repository_is_tested_and_applied(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["ZQAL", "ZQBO", "ZQCU", "ZQDI"]).await;
    let repository = Repository::new(&env).await;
    let example = root().join("examples/alerts-as-code/alerts");
    let (example, data) = (example.to_str().unwrap(), root().join(DATA));
    let tested = repository
        .run(&["test", "-f", example, "--data", data.to_str().unwrap()])
        .await
        .expect(0);
    assert!(tested.stdout.contains("ok"), "{tested:?}");
    repository
        .run(&["apply", "-f", example, "--source", "example", "--yes"])
        .await
        .expect(0);
    let expected = [
        "al-below-its-average",
        "cu-new-highs",
        "daily-review",
        "four-stocks-oversold",
    ];
    assert_eq!(names(&env).await, expected);
    repository
        .run(&["plan", "-f", example, "--source", "example"])
        .await
        .expect(0);

    // An expectation that fails is an error with a readable difference.
    repository.write(
        "wrong.yaml",
        "version: 1\nalerts:\n  - name: never\n    symbol: ZQAL\n    when: price < 0.01\n    expect: {fires_on: [2020-03-16]}\n",
    );
    let failed = repository
        .run(&["test", "-f", "wrong.yaml", "--data", data.to_str().unwrap()])
        .await
        .expect(1);
    assert!(failed.stdout.contains("FAILED"), "{failed:?}");
    let expected = "wrong.yaml:6:13: never: expected a firing on 2020-03-16, and there is none; the alert never fires on this data";
    assert!(failed.stderr.contains(expected), "{failed:?}");
}

/// Returns the command of a step of the example's pipeline.
fn step(pipeline: &Value, name: &str) -> String {
    let steps = pipeline["jobs"]["alerts"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    step["run"].as_str().unwrap().to_owned()
}

async fn pipeline_of_the_example_repository_tests_plans_and_applies(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["ZQAL", "ZQBO", "ZQCU", "ZQDI"]).await;
    let repository = Repository::new(&env).await;
    let example = root().join("examples/alerts-as-code");
    symlink(example.join("alerts"), repository.path("alerts")).unwrap();
    symlink(root().join(DATA), repository.path("data")).unwrap();
    let pipeline = fs::read_to_string(example.join(".github/workflows/alerts.yaml")).unwrap();
    let pipeline: Value = yaml_serde::from_str(&pipeline).unwrap();

    let run = async |name: &str| repository.shell(&step(&pipeline, name)).await.expect(0);
    run("Test on recorded prices").await;
    let planned = run("Show the plan").await;
    assert!(planned.stdout.contains("+ daily-review"), "{planned:?}");
    assert_eq!(names(&env).await, [""; 0]);
    run("Apply").await;
    assert_eq!(names(&env).await.len(), 4);
    let planned = run("Show the plan").await;
    assert!(!planned.stdout.contains("+ daily-review"), "{planned:?}");
}
