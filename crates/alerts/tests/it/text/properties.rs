//! Writing and reading are inverse.

use alerts::expression::Expression;
use alerts::expression::metric::{ChangeBase, Metric};
use alerts::expression::shape::metrics;
use alerts::text::sentence;
use proptest::prelude::*;
use proptest::sample::select;

use super::reading::read;
use crate::expression::generator::expression;

/// Generates options, of which many do not fit together.
fn options() -> impl Strategy<Value = String> {
    let phrases = vec![
        "each time",
        "once per day",
        "once",
        "up to 7 times",
        "cooldown 90m",
        "at most every 2d",
        "again after cooldown",
        "re-arm at 190.25",
        "re-arm after 2.5%",
        "for 2h",
        "holding 1d",
        "until 2027-01-31",
        "until 2027-01-31T09:30:00.125-05:00",
        "notify on expiry",
        "snoozed until 2024-03-09 09:30",
        "snoozed until 2024-03-09T09:30",
        "in extended hours",
        "on two lasts",
        "on the bid",
        "on the close",
        "since the previous close",
        "since the open",
        "within 3h",
        "within the session",
        "to sms",
        "to email",
    ];
    proptest::collection::vec(select(phrases), 0..5).prop_map(|phrases| phrases.join(" "))
}

/// Whether an expression names a figure of another stock since the creation of the alert, which is refused.
fn names_since_creation_of_others(expression: &Expression) -> bool {
    metrics(expression).iter().any(|used| {
        let is_since_creation = matches!(
            used.metric,
            Metric::HighSinceArmed
                | Metric::LowSinceArmed
                | Metric::ChangePct(ChangeBase::Creation | ChangeBase::OfAlert)
        );
        used.symbol.is_some() && is_since_creation
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sentence_is_read_as_the_same_alert(expression in expression(2_000_000_000), options in options()) {
        for start in [format!("AAPL: {expression}"), expression.sentence("BF-B".parse().unwrap())] {
            let Ok(parsed) = read(&format!("{start} {options}")) else {
                continue;
            };
            let sentence = sentence(&parsed.alert).unwrap();
            let again = read(&sentence).unwrap_or_else(|error| panic!("{sentence}: {error}"));
            prop_assert_eq!(&again.alert, &parsed.alert, "{}", sentence);
        }
    }

    #[test]
    fn every_expression_is_read_without_options(expression in expression(2_000_000_000)) {
        prop_assume!(!names_since_creation_of_others(&expression));
        let read_again = read(&format!("AAPL: {expression}"));
        prop_assert!(read_again.is_ok(), "{}: {:?}", expression, read_again);
    }

    #[test]
    fn no_text_panics(text in "[A-Z]{1,4} ?[<>a-z0-9 .%:,;é\"'-]{0,60}") {
        let _ = read(&text);
    }
}
