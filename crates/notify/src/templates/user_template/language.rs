//! The part of Jinja that templates may use, checked on the tokens of the template.

use minijinja::machinery::{Span, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::TemplateError;
use super::error::quoted;

/// The variables of templates.
pub const VARIABLES: [&str; 11] = [
    "symbol",
    "company_name",
    "condition",
    "price",
    "value",
    "level",
    "change_percent",
    "note",
    "reason",
    "fired_at",
    "link",
];

/// The filters of templates.
pub const FILTERS: [&str; 3] = ["money", "percent", "tojson"];

/// Maximum number of tokens in a pair of `{{ }}` or `{% %}`. The parser recurses into each operator.
pub(super) const MAX_TOKENS_PER_TAG: usize = 100;
/// Maximum number of pairs of `{{ }}` and `{% %}`. The parser recurses into each `elif`.
pub(super) const MAX_TAGS: usize = 300;

/// The words of expressions that are not variables.
const KEYWORDS: [&str; 13] = [
    "and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None",
];

/// Checks that a template uses only what templates may use.
///
/// # Errors
/// [`TemplateError`]
pub(super) fn check(source: &str) -> Result<(), TemplateError> {
    let mut check = Check::default();
    for token in tokenize(source, false, SyntaxConfig::default()) {
        let (token, span) = token.map_err(|error| TemplateError::of_syntax(&error))?;
        check.add(token, span)?;
    }
    Ok(())
}

#[derive(Default)]
struct Check<'a> {
    /// The tokens of the current tag, after its beginning.
    tag: Vec<(Token<'a>, usize)>,
    is_statement: bool,
    tags: usize,
    /// The names of `set`.
    assigned: Vec<&'a str>,
}

impl<'a> Check<'a> {
    fn add(&mut self, token: Token<'a>, span: Span) -> Result<(), TemplateError> {
        let line = usize::from(span.start_line);
        match token {
            Token::TemplateData(_) => {}
            Token::VariableStart | Token::BlockStart => {
                self.is_statement = matches!(token, Token::BlockStart);
                self.tag.clear();
                self.tags += 1;
                if self.tags > MAX_TAGS {
                    return Err(TemplateError::TooManyTags { line });
                }
            }
            Token::VariableEnd | Token::BlockEnd => self.check_tag()?,
            token => {
                self.tag.push((token, line));
                if self.tag.len() > MAX_TOKENS_PER_TAG {
                    return Err(TemplateError::TagTooLong { line });
                }
            }
        }
        Ok(())
    }

    /// Checks the tokens of a complete tag.
    fn check_tag(&mut self) -> Result<(), TemplateError> {
        let tag = std::mem::take(&mut self.tag);
        let mut expression = tag.as_slice();
        let mut new_name = None;
        if self.is_statement {
            expression = match tag.as_slice() {
                [(Token::Ident("if" | "elif" | "else" | "endif"), _), rest @ ..] => rest,
                [
                    (Token::Ident("set"), _),
                    (Token::Ident(name), _),
                    (Token::Assign, _),
                    rest @ ..,
                ] => {
                    new_name = Some(*name);
                    rest
                }
                [(Token::Ident(name), line), ..] => {
                    return Err(TemplateError::UnknownStatement {
                        line: *line,
                        name: quoted(name),
                    });
                }
                // The parser names the problem.
                _ => &[],
            };
        }
        for (index, (token, line)) in expression.iter().enumerate() {
            let before = |distance: usize| Some(&expression.get(index.checked_sub(distance)?)?.0);
            self.check_token(token, *line, before(1), before(2))?;
        }
        // Only later tags may use the name.
        self.assigned.extend(new_name);
        Ok(())
    }

    fn check_token(
        &self,
        token: &Token<'_>,
        line: usize,
        previous: Option<&Token<'_>>,
        second_last: Option<&Token<'_>>,
    ) -> Result<(), TemplateError> {
        let Token::Ident(name) = token else {
            return check_symbol(token, line);
        };
        let is_test = matches!(
            (second_last, previous),
            (_, Some(Token::Ident("is"))) | (Some(Token::Ident("is")), Some(Token::Ident("not")))
        );
        let owned = || quoted(name);
        if matches!(previous, Some(Token::Pipe)) {
            return match FILTERS.contains(name) {
                true => Ok(()),
                false => Err(TemplateError::UnknownFilter { line, name: owned() }),
            };
        }
        if is_test && *name != "not" {
            return match *name {
                "none" => Ok(()),
                _ => Err(TemplateError::UnknownTest { line, name: owned() }),
            };
        }
        let is_known = KEYWORDS.contains(name) || VARIABLES.contains(name) || self.assigned.contains(name);
        if is_known {
            return Ok(());
        }
        Err(TemplateError::UnknownVariable { line, name: owned() })
    }
}

fn check_symbol(token: &Token<'_>, line: usize) -> Result<(), TemplateError> {
    match token {
        Token::Str(_)
        | Token::String(_)
        | Token::Int(_)
        | Token::Int128(_)
        | Token::Float(_)
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::FloorDiv
        | Token::Mod
        | Token::Tilde
        | Token::Pipe
        | Token::Eq
        | Token::Ne
        | Token::Gt
        | Token::Gte
        | Token::Lt
        | Token::Lte
        | Token::ParenOpen
        | Token::ParenClose => Ok(()),
        other => Err(TemplateError::UnknownSymbol {
            line,
            symbol: other.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line_and_the_fix() {
        for (source, expected) in [
            (
                "a\n{{ prize }}",
                "line 2: there is no variable `prize`; use symbol, company_name, condition, price, value, level, change_percent, \
                 note, reason, fired_at, link",
            ),
            (
                "{{ price|round }}",
                "line 1: there is no filter `round`; use money, percent, tojson",
            ),
            (
                "{{ price is odd }}{{ price is not odd }}",
                "line 1: there is no test `is odd`; use `is none`",
            ),
            (
                "{{ price is not odd }}",
                "line 1: there is no test `is odd`; use `is none`",
            ),
            (
                "\n\n{% for x in symbol %}{% endfor %}",
                "line 3: templates have no `{% for %}`; use if, elif, else, endif, or set with a name and a value",
            ),
            (
                "{{ symbol.name }}",
                "line 1: `.` is not permitted; templates have no lists, maps, attributes and powers",
            ),
            (
                "{{ [1] }}",
                "line 1: `[` is not permitted; templates have no lists, maps, attributes and powers",
            ),
            ("{% set a %}b{% endset %}", "line 1: templates have no `{% set %}`"),
            ("{% set a = a %}", "line 1: there is no variable `a`"),
            ("{{ a }}{% set a = 1 %}", "line 1: there is no variable `a`"),
        ] {
            let error = check(source).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{source}: {error}");
        }
    }

    #[test]
    fn tags_and_their_tokens_are_limited() {
        let sum = |count: usize| format!("{{{{ 1{} }}}}", "+1".repeat(count));
        assert_eq!(check(&sum(49)), Ok(()));
        assert_eq!(check(&sum(50)), Err(TemplateError::TagTooLong { line: 1 }));
        assert_eq!(check(&"{{1}}".repeat(300)), Ok(()));
        assert_eq!(check(&"{{1}}".repeat(301)), Err(TemplateError::TooManyTags { line: 1 }));
    }
}
