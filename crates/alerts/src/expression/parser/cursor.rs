//! The position of the parser in the tokens, and the limits that it checks on the way.

use market::Symbol;

use crate::expression::error::{ExpressionError, ExpressionProblem};
use crate::expression::lexer::{Token, TokenKind};
use crate::expression::limits::{MAX_COMPARISONS, MAX_DEPTH, MAX_NUMBERS, MAX_SYMBOLS};
use crate::expression::suggest::nearest;

pub(super) type ParseResult<T> = Result<T, ExpressionError>;

/// The state of the parser.
pub(super) struct Parser<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) at: usize,
    /// The alert's own symbol, if known.
    pub(super) own: Option<Symbol>,
    /// Whether the price may be omitted on the left of the first comparison, as in `AAPL < 180`.
    pub(super) may_omit_price: bool,
    /// The symbols that the text names, with their positions.
    pub(super) named: Vec<(Symbol, usize)>,
    /// The error of the first metric that no new alert can have.
    pub(super) unsuitable: Option<ExpressionError>,
    symbols: Vec<Option<Symbol>>,
    comparisons: usize,
    numbers: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: Vec<Token<'a>>, own: Option<Symbol>, may_omit_price: bool) -> Self {
        Self {
            tokens,
            at: 0,
            own,
            may_omit_price,
            named: Vec::new(),
            unsuitable: None,
            symbols: Vec::new(),
            comparisons: 0,
            numbers: 0,
            depth: 0,
        }
    }

    /// Returns the token that is `ahead` of the current one; at the end always the last token.
    pub(super) fn peek(&self, ahead: usize) -> &Token<'a> {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)]
    }

    /// Returns the current token.
    pub(super) fn token(&self) -> &Token<'a> {
        self.peek(0)
    }

    pub(super) fn position(&self) -> usize {
        self.token().position
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Returns whether the token `ahead` is a word, and not a symbol before `'s`.
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek(ahead);
        token.kind == TokenKind::Word
            && token.text.eq_ignore_ascii_case(word)
            && self.peek(ahead + 1).kind != TokenKind::Possessive
    }

    /// Returns whether the next tokens are these words.
    pub(super) fn is_at(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| self.is_word(ahead, word))
    }

    /// Passes these words if they are next.
    pub(super) fn pass(&mut self, words: &[&str]) -> bool {
        let found = self.is_at(words);
        if found {
            self.at += words.len();
        }
        found
    }

    /// Passes the words of the first entry that is next, and returns its meaning.
    pub(super) fn pass_any<T: Copy>(&mut self, entries: &[(&[&str], T)]) -> Option<T> {
        let found = entries.iter().find(|(words, _)| self.is_at(words));
        found.map(|(words, meaning)| {
            self.at += words.len();
            *meaning
        })
    }

    /// Returns whether a sign is next.
    pub(super) fn is_at_sign(&self, sign: &str) -> bool {
        let token = self.token();
        token.kind == TokenKind::Sign && token.text == sign
    }

    /// Passes a sign if it is next.
    pub(super) fn pass_sign(&mut self, sign: &str) -> bool {
        let found = self.is_at_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    /// Returns the error that the current token is none of `expected`.
    pub(super) fn unexpected(&self, expected: &[&'static str]) -> ExpressionError {
        let token = self.token();
        let problem = match &token.kind {
            TokenKind::Invalid(problem) => problem.clone(),
            TokenKind::End => ExpressionProblem::UnexpectedEnd,
            _ => ExpressionProblem::Unexpected(token.text.to_owned()),
        };
        let suggestions = match token.kind {
            TokenKind::Word => nearest(token.text, expected.iter().copied()),
            _ => Vec::new(),
        };
        ExpressionError::new(problem, token.position)
            .expecting(expected.iter().copied())
            .suggesting(suggestions)
    }

    /// Parses a place within parentheses, `not` or a minus sign at `position`.
    pub(super) fn nested<T>(
        &mut self,
        position: usize,
        parse: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == MAX_DEPTH {
            return Err(ExpressionError::new(ExpressionProblem::TooDeep, position));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(super) fn count_comparison(&mut self, position: usize) -> ParseResult<()> {
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            return Err(ExpressionError::new(ExpressionProblem::TooManyComparisons, position));
        }
        Ok(())
    }

    /// Returns the number of constants and metrics so far.
    pub(super) const fn numbers(&self) -> usize {
        self.numbers
    }

    pub(super) fn count_number(&mut self, position: usize) -> ParseResult<()> {
        self.numbers += 1;
        if self.numbers > MAX_NUMBERS {
            return Err(ExpressionError::new(ExpressionProblem::TooLong, position));
        }
        Ok(())
    }

    /// Returns the symbol of a metric; `None` is the alert's own symbol.
    pub(super) fn count_symbol(&mut self, symbol: Option<Symbol>, position: usize) -> ParseResult<Option<Symbol>> {
        self.named.extend(symbol.map(|symbol| (symbol, position)));
        let symbol = symbol.filter(|_| symbol != self.own);
        if !self.symbols.contains(&symbol) {
            if self.symbols.len() == MAX_SYMBOLS {
                return Err(ExpressionError::new(ExpressionProblem::TooManySymbols, position));
            }
            self.symbols.push(symbol);
        }
        Ok(symbol)
    }
}
