//! The tables and examples of `docs/conditions.md` against the descriptions of the conditions.

use alerts::ConditionKind;
use alerts::condition::ThresholdNeed;
use serde_json::Value;

use crate::requests::support::create;

const PAGE: &str = include_str!("../../../../../docs/conditions.md");

#[test]
fn page_describes_every_condition_and_parameter() {
    let mut rows = Vec::new();
    for kind in ConditionKind::ALL {
        let spec = kind.spec();
        let threshold = match spec.request.threshold {
            None => "none".to_owned(),
            Some(threshold) if threshold.need == ThresholdNeed::Required => threshold.range.to_string(),
            Some(threshold) => format!("optional: {}", threshold.range),
        };
        rows.push(format!(
            "| `{kind}` | {} | {threshold} | {} |",
            spec.fires_when, spec.needs
        ));
        for own in spec.request.parameters {
            let need = if own.is_required { "required: " } else { "" };
            rows.push(format!(
                "| `{kind}` | `{}` | {need}{} | {} |",
                own.name, own.rule, own.description
            ));
        }
    }
    let documented: Vec<_> = PAGE
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with("| `ok`"))
        .collect();
    for row in &rows {
        assert!(
            documented.contains(&row.as_str()),
            "docs/conditions.md lacks this row:\n{row}"
        );
    }
}

#[test]
fn page_has_every_example_and_all_are_valid() {
    for kind in ConditionKind::ALL {
        let example = kind.spec().example;
        assert!(
            PAGE.contains(&format!("{example}\n")),
            "docs/conditions.md lacks this example:\n{example}"
        );
        let body: Value = serde_json::from_str(example).unwrap();
        assert_eq!(create(&body).unwrap().condition.kind(), *kind);
    }
}
