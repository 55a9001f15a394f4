//! Templates that try to use up memory, time or the stack. Each ends with an error, on the small stack of a test thread.

use super::{MAX_SOURCE_BYTES, TemplateError, TemplateKind, TemplateVariables, UserTemplate};

/// Stack of the thread that renders: a quarter of that of a worker.
const STACK_BYTES: usize = 512 * 1024;

/// Parses and renders a template on a small stack.
fn outcome(source: String) -> Result<String, TemplateError> {
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || UserTemplate::parse(TemplateKind::Text, &source)?.render(&TemplateVariables::example()));
    thread.unwrap().join().unwrap()
}

/// Repeats a piece up to the maximum size of a source.
fn repeated(before: &str, piece: &str, after: &str) -> String {
    let count = (MAX_SOURCE_BYTES - before.len() - after.len()) / piece.len();
    format!("{before}{}{after}", piece.repeat(count))
}

#[test]
fn deep_expressions_are_refused() {
    for piece in [
        "+1",
        "~symbol",
        "*1",
        "-",
        "not ",
        "(",
        "[",
        "{",
        ".a",
        "[0]",
        "()",
        "|money",
        "**2",
        " or 1",
        " if 1 else 1",
        " is none",
        "<1",
    ] {
        for before in ["{{ 1", "{{ "] {
            outcome(repeated(before, piece, " }}")).unwrap_err();
        }
    }
}

#[test]
fn deep_statements_are_refused() {
    for (before, piece, after) in [
        ("", "{% if 1 %}", ""),
        ("{% if 0 %}", "{% elif 0 %}", "{% endif %}"),
        ("", "{% for x in symbol %}", ""),
        ("", "{% with a=1 %}", ""),
        ("", "{% set a = 1 %}", ""),
    ] {
        outcome(repeated(before, piece, after)).unwrap_err();
    }
    let nested = |count: usize| format!("{}a{}", "{% if 1 %}".repeat(count), "{% endif %}".repeat(count));
    assert_eq!(outcome(nested(40)).unwrap(), "a");
    outcome(nested(149)).unwrap();
    outcome(nested(151)).unwrap_err();
    let elif = |count: usize| format!("{{% if 0 %}}{}{{% else %}}a{{% endif %}}", "{% elif 0 %}".repeat(count));
    assert_eq!(outcome(elif(297)).unwrap(), "a");
}

#[test]
fn giant_results_end_while_they_are_created() {
    for source in [
        "{{ 'a' * 100000000 }}",
        "{{ symbol * 100000000 * 100000000 }}",
        "{{ 'a' * 600000 ~ 'a' * 600000 }}",
        "{% set a = 'a' * 600000 %}{% set b = a * 600000 %}{{ b }}",
    ] {
        assert_eq!(outcome(source.to_owned()), Err(TemplateError::TooManySteps), "{source}");
    }
    let doubled = format!("{{% set a = symbol %}}{}{{{{ a }}}}", "{% set a = a ~ a %}".repeat(100));
    assert_eq!(outcome(doubled), Err(TemplateError::TooManySteps));
    let repeated = format!("{{% set a = 'a' * 1000 %}}{}", "{{ a }}".repeat(200));
    assert_eq!(outcome(repeated), Err(TemplateError::ResultTooLong));
    let compared = format!(
        "{{% set a = 'a' * 100000 %}}{}",
        "{% if a in a %}{% endif %}".repeat(149)
    );
    outcome(compared).unwrap_err();
}

#[test]
fn lists_loops_calls_and_attributes_are_refused() {
    for source in [
        "{% set a = [1] %}{% set a = a + a %}{{ a }}",
        "{% for x in range(1000000000) %}{{ x }}{% endfor %}",
        "{% for x in symbol %}{% for y in symbol %}{% endfor %}{% endfor %}",
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{{ range(1000000000) }}",
        "{{ symbol() }}",
        "{{ symbol.__class__ }}",
        "{{ symbol['__class__'] }}",
        "{{ self }}",
        "{{ loop }}",
        "{{ super() }}",
        "{{ debug() }}",
        "{{ env }}",
        "{{ caller() }}",
        "{% include 'a' %}",
        "{% import 'a' as b %}",
        "{% from 'a' import b %}",
        "{% extends 'a' %}",
        "{% block a %}{% endblock %}",
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{% call a() %}{% endcall %}",
        "{% do a() %}",
        "{% filter money %}1{% endfilter %}",
        "{% autoescape true %}{% endautoescape %}",
        "{{ 9 ** 99999999 }}",
        "{{ symbol|upper }}",
        "{{ symbol|safe }}",
        "{{ {'a': 1} }}",
        "{{ (1, 2) }}",
        "{{ 1 / 0 }}",
        "{{ 1 % 0 }}",
        "{{ symbol",
        "{% if 1 %}",
        "{% endif %}",
        "{% %}",
        "{% 1 %}",
        "{{ }}",
        "{{ 'a }}",
        "{% raw %}{{",
        "{# a",
        "{{ \u{0} }}",
        "{{ none + 1 }}",
        "{{ symbol - 1 }}",
        "{% set symbol.a = 1 %}",
        "{% set true = 1 %}",
        "{% if 0 %}{% set a = 1 %}{% endif %}{{ a }}",
    ] {
        let outcome = outcome(source.to_owned());
        assert!(outcome.is_err(), "{source}: {outcome:?}");
    }
}
