//! Tokens of an expression.

use market::Decimal;

use super::error::{ExpressionProblem, NumberProblem};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    /// The text; for a quoted symbol the text within the quotes; empty at the end.
    pub(super) text: &'a str,
    /// The position in characters, from 1.
    pub(super) position: usize,
    /// The position in bytes, from 0.
    pub(super) offset: usize,
}

/// The kind of a token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind {
    /// A keyword, a metric, or a symbol with a metric after a dot.
    Word,
    /// A symbol in quotes.
    Quoted,
    Number(Decimal),
    /// An operator, a parenthesis, a comma, a dot or a colon.
    Sign,
    /// `'s`
    Possessive,
    /// A text that is not part of the language. The parser reports it when it gets there.
    Invalid(ExpressionProblem),
    End,
}

/// Splits a text into tokens. The last one is [`TokenKind::End`].
pub(super) fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut offset, mut position) = (0, 1);
    while let Some(first) = text[offset..].chars().next() {
        let rest = &text[offset..];
        if first.is_whitespace() {
            offset += first.len_utf8();
            position += 1;
            continue;
        }
        let (kind, length) = token_at(first, rest);
        let whole = &rest[..length];
        let shown = match kind {
            TokenKind::Quoted => whole.trim_matches('"'),
            _ => whole,
        };
        tokens.push(Token {
            kind,
            text: shown,
            position,
            offset,
        });
        offset += length;
        position += whole.chars().count();
    }
    tokens.push(Token {
        kind: TokenKind::End,
        text: "",
        position,
        offset,
    });
    tokens
}

/// Returns the token at the beginning of a text and its length in bytes.
fn token_at(first: char, rest: &str) -> (TokenKind, usize) {
    let starts_number = |text: &str| text.starts_with(|next: char| next.is_ascii_digit());
    match first {
        'a'..='z' | 'A'..='Z' | '_' => (TokenKind::Word, run(rest, is_word_character)),
        '0'..='9' => number(rest),
        '.' if starts_number(&rest[1..]) => number(rest),
        '"' => match rest[1..].find('"') {
            Some(end) => (TokenKind::Quoted, end + 2),
            None => (TokenKind::Invalid(ExpressionProblem::UnclosedQuote), rest.len()),
        },
        '\'' | '’' if rest[first.len_utf8()..].starts_with(['s', 'S']) => {
            (TokenKind::Possessive, first.len_utf8() + 1)
        }
        '=' | '!' => (
            TokenKind::Invalid(ExpressionProblem::Equality),
            run(rest, |next| matches!(next, '=' | '!')),
        ),
        '@' => (TokenKind::Invalid(ExpressionProblem::Timeframe), 1),
        '<' | '>' if rest[1..].starts_with('=') => (TokenKind::Sign, 2),
        '<' | '>' | '+' | '-' | '*' | '/' | '(' | ')' | ',' | '.' | ':' | '#' => (TokenKind::Sign, 1),
        other => (
            TokenKind::Invalid(ExpressionProblem::UnknownCharacter(other)),
            other.len_utf8(),
        ),
    }
}

const fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

/// Returns the length in bytes of the characters at the beginning that fit.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|next| !fits(next)).unwrap_or(text.len())
}

fn number(rest: &str) -> (TokenKind, usize) {
    let digits = |text: &str| run(text, |next| next.is_ascii_digit());
    let whole = digits(rest);
    let decimals = rest[whole..].strip_prefix('.').map(digits);
    let length = whole + decimals.map_or(0, |count| count + 1);
    let suffix = run(&rest[length..], is_word_character);
    let invalid = |problem, length| (TokenKind::Invalid(ExpressionProblem::MalformedNumber(problem)), length);
    match decimals {
        _ if suffix > 0 => invalid(NumberProblem::Suffix, length + suffix),
        Some(0) => invalid(NumberProblem::MissingDecimals, length),
        Some(7..) => invalid(NumberProblem::TooManyDecimals, length),
        _ => match rest[..length].parse() {
            Ok(number) => (TokenKind::Number(number), length),
            Err(_) => invalid(NumberProblem::TooLarge, length),
        },
    }
}
