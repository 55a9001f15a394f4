//! The examples and tables of `docs/rules.md`.

use alerts::options::parse_options;
use serde_json::{Value, json};

use crate::requests::support::{NOW, in_berlin_at};

const PAGE: &str = include_str!("../../../../../docs/rules.md");

#[test]
fn page_has_a_row_for_each_option() {
    let unknown = in_berlin_at(NOW, |context| parse_options(&json!({"no_such_option": 1}), context)).unwrap_err();
    let message = &unknown.of("options.no_such_option")[0];
    let (_, names) = message.split_once("give ").unwrap();
    let names: Vec<_> = names
        .split([',', ' '])
        .filter(|name| !name.is_empty() && *name != "or")
        .collect();
    assert_eq!(names.len(), 12);
    for name in names {
        assert!(
            PAGE.contains(&format!("\n| `{name}` |")),
            "docs/rules.md lacks `{name}`"
        );
    }
}

#[test]
fn examples_of_the_page_are_canonical() {
    let examples: Vec<_> = PAGE
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 4);
    for example in examples {
        let sent: Value = serde_json::from_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        let options = in_berlin_at(NOW, |context| parse_options(&sent, context));
        let options = options.unwrap_or_else(|errors| panic!("{example}: {errors}"));
        assert_eq!(Value::Object(options.to_json()), sent);
    }
}
