//! Messages of use cases in the words of the pages.
//!
//! A use case names the members of the API: "set options.repeat to each_time". Pages name their inputs instead.

use std::collections::BTreeMap;

use alerts::ConditionKind;
use alerts::expression::{ExpressionError, ExpressionProblem};
use alerts::options::Repeat;

use crate::screens::builder::alert_form::label_of;
use crate::texts;

/// The beginnings of what an agent wrote about a change: the note and the tags.
const LABELS: [&str; 2] = [", note: ", ", tags: "];
/// The beginnings of remarks in parentheses that are for programs.
const REMARKS: [&str; 5] = [" (GET /", " (POST /", " (PUT /", " (PATCH /", " (DELETE /"];
/// The members of the API that have members themselves.
const GROUPS: [&str; 3] = ["options.", "parameters.", "scope."];
/// The first words of messages whose subject is their field.
const PREDICATES: [&str; 7] = ["must ", "is ", "has ", "cannot ", "does ", "may ", "needs "];

/// Returns a message about no field.
#[must_use]
pub fn message(text: &str) -> String {
    capitalized(&in_page_words(text))
}

/// Returns the words of a change that an agent requests. The JSON of its options is omitted if the page shows the `sentence` of the
/// alert, which has them. The note and the tags, which the agent wrote, stay as they are.
#[must_use]
pub fn of_change(text: &str, sentence: Option<&str>) -> String {
    const OPTIONS: &str = ", with the options {";
    let labels = LABELS.iter().filter_map(|begin| text.find(begin)).min();
    let (head, labels) = text.split_at(labels.unwrap_or(text.len()));
    let options = sentence.and_then(|_| head.split_once(OPTIONS));
    let Some((before, rest)) = options else {
        return message(head) + labels;
    };
    let mut depth = 1_usize;
    let end = rest.find(|sign: char| {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let after = end.map_or("", |end| &rest[end + 1..]);
    message(&format!("{before}{after}")) + labels
}

/// Returns the messages of refused fields in one line, each with the label of its input.
#[must_use]
pub fn of_fields(fields: &BTreeMap<String, Vec<String>>) -> String {
    let all = fields.iter().map(|(name, messages)| of_field(name, messages));
    all.collect::<Vec<_>>().join("; ")
}

/// Returns the messages of a field, with the label of its input where they need one.
#[must_use]
pub fn of_field(name: &str, messages: &[String]) -> String {
    let text = at_input(messages);
    match PREDICATES.iter().any(|predicate| text.starts_with(predicate)) {
        true => format!("{} {text}", label_of(name)),
        false => capitalized(&text),
    }
}

/// Returns the messages beside the input of their field.
#[must_use]
pub fn at_input(messages: &[String]) -> String {
    in_page_words(&messages.join("; "))
}

/// Returns the message of a rule's error. The page marks its place in the rule.
#[must_use]
pub fn of_rule(error: &ExpressionError) -> String {
    let text = error.without_position();
    match &error.problem {
        ExpressionProblem::UnexpectedEnd => {
            let rest = text.split_once(';').map_or("", |(_, rest)| rest);
            let end = texts::text("rule-incomplete");
            message(&if rest.is_empty() { end } else { format!("{end};{rest}") })
        }
        _ => message(&text),
    }
}

/// Returns the name of a member or a value in words: `volumeBaseline` is "Volume baseline".
#[must_use]
pub(crate) fn in_words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        match letter {
            '_' => words.push(' '),
            letter if words.is_empty() => words.extend(letter.to_uppercase()),
            letter if letter.is_uppercase() => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
    }
    words
}

/// Returns a label within a sentence. An abbreviation such as RSI keeps its capitals.
fn within_sentence(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain([second]).chain(letters).collect()
        }
        _ => label.to_owned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Replaces the names of the API, and omits remarks for programs. Code in backticks is quoted as it is.
fn in_page_words(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (index, part) in without_remarks(text).split('`').enumerate() {
        let is_code = index % 2 == 1;
        match is_code {
            true => shown.push_str(&format!("“{part}”")),
            false => part
                .split_inclusive(|letter: char| !is_of_name(letter))
                .for_each(|piece| shown.push_str(&page_word(piece))),
        }
    }
    shown
}

fn without_remarks(text: &str) -> String {
    let mut shown = text.to_owned();
    for remark in REMARKS {
        if let Some(from) = shown.find(remark)
            && let Some(length) = shown[from..].find(')')
        {
            shown.replace_range(from..=from + length, "");
        }
    }
    shown
}

const fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_')
}

/// Returns a name with the sign after it in the words of the page.
fn page_word(piece: &str) -> String {
    // A full stop ends a sentence.
    let name = piece.trim_end_matches(|letter: char| !is_of_name(letter) || letter == '.');
    let rest = &piece[name.len()..];
    let word = if GROUPS.iter().any(|group| name.starts_with(group)) {
        format!("“{}”", label_of(name))
    } else if let Some(kind) = ConditionKind::from_name(name).filter(|_| name.contains('_')) {
        within_sentence(kind.spec().label)
    } else if Repeat::ALL
        .iter()
        .any(|repeat| repeat.name() == name && name.contains('_'))
    {
        format!("“{}”", in_words(name))
    } else {
        return piece.to_owned();
    };
    format!("{word}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_values_are_named_as_on_the_page() {
        assert_eq!(
            message("set options.repeat to once_per_day."),
            "Set “Fires” to “Once per day”."
        );
        assert_eq!(message("give parameters.reminder_date"), "Give “Reminder date”");
        assert_eq!(
            message("use ma_touch_above instead of `price > sma(200)`"),
            "Use price rises to its average instead of “price > sma(200)”"
        );
    }

    #[test]
    fn remarks_for_programs_are_omitted() {
        assert_eq!(
            message("swap its intention (PUT /watchlist/order), or (as before) remove it"),
            "Swap its intention, or (as before) remove it"
        );
    }

    #[test]
    fn requested_change_has_neither_names_of_conditions_nor_json() {
        let text = r#"Make an alert: AAPL price_above 200, notified by email, with the options {"rearm":{"percent":2}}, note: a"#;
        assert_eq!(
            of_change(text, Some("AAPL rises to 200.00 or above")),
            "Make an alert: AAPL price at or above 200, notified by email, note: a"
        );
    }

    #[test]
    fn requested_change_keeps_options_that_no_sentence_shows_and_the_note_of_the_agent() {
        let text = r#"Make an alert: AAPL price_above 200, with the options {"repeat":"each_time"}, note: price_above (GET /x)"#;
        let shown = r#", note: price_above (GET /x)"#;
        assert!(of_change(text, None).contains(r#"with the options {"repeat":"#));
        assert!(of_change(text, None).ends_with(shown) && of_change(text, Some("")).ends_with(shown));
        let note = "Pause the alert AAPL price_above 200, note: ok, with the options {a";
        assert!(of_change(note, Some("")).ends_with(", note: ok, with the options {a"));
    }

    #[test]
    fn predicates_get_the_label_of_their_input_and_sentences_stand_alone() {
        let text = |name: &str, text: &str| of_field(name, &[text.to_owned()]);
        assert_eq!(
            text("threshold", "must be greater than 0"),
            "Threshold must be greater than 0"
        );
        assert_eq!(text("options.hold", "must be a time"), "Must hold for must be a time");
        assert_eq!(
            text("status", "only an active alert can be paused"),
            "Only an active alert can be paused"
        );
    }

    #[test]
    fn names_become_words() {
        assert_eq!(in_words("volumeBaseline"), "Volume baseline");
        assert_eq!(in_words("market_open"), "Market open");
    }
}
