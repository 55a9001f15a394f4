//! The section on expressions in `docs/conditions.md` against the table of metrics.

use alerts::expression::Expression;
use alerts::expression::metric::METRICS;

const PAGE: &str = include_str!("../../../../../docs/conditions.md");

#[test]
fn page_describes_every_metric() {
    let rows: Vec<String> = METRICS
        .iter()
        .map(|spec| {
            let needs: Vec<_> = spec.needs.iter().map(ToString::to_string).collect();
            let defaults: Vec<_> = spec
                .signature
                .arguments()
                .iter()
                .filter_map(|argument| argument.default)
                .collect();
            let default = match spec.signature.with_defaults() {
                Some(metric) if !metric.arguments().is_empty() => {
                    let defaults: Vec<_> = defaults.iter().map(ToString::to_string).collect();
                    format!(". Default: {}", defaults.join(", "))
                }
                _ => String::new(),
            };
            format!(
                "| `{}` | {}{default} | {} | {} | {} | {} |",
                spec.usage(),
                spec.definition,
                spec.unit,
                spec.exactness,
                spec.family,
                needs.join(", ")
            )
        })
        .collect();
    let table = rows.join("\n");
    assert!(PAGE.contains(&table), "docs/conditions.md lacks this table:\n{table}");
}

#[test]
fn examples_of_the_page_are_canonical() {
    let (_, section) = PAGE.split_once("## Expressions\n").unwrap();
    let examples = section.split("```\n").nth(1).unwrap();
    assert!(examples.lines().count() >= 6);
    for example in examples.lines() {
        let expression: Expression = example.parse().unwrap_or_else(|error| panic!("{example}: {error}"));
        assert_eq!(expression.to_string(), example);
    }
}
