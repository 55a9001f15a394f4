//! Metrics by name and in words.

use market::{Decimal, Symbol};

use super::cursor::{ParseResult, Parser};
use crate::expression::ast::MetricReference;
use crate::expression::error::{ExpressionError, ExpressionProblem};
use crate::expression::lexer::{Token, TokenKind, tokenize};
use crate::expression::metric::{
    Argument, BandWidth, ChangeBase, METRICS, Metric, MetricPeriod, MetricSignature, MetricSpec,
};
use crate::expression::suggest::nearest;
use crate::expression::words::{KEYWORDS, OPERATOR_WORDS};

/// The words of the bases of a change in a sentence.
const BASES_IN_WORDS: &[(&[&str], ChangeBase)] = &[
    (&["its", "base"], ChangeBase::OfAlert),
    (&["creation"], ChangeBase::Creation),
    (&["the", "previous", "close"], ChangeBase::PrevClose),
    (&["the", "open"], ChangeBase::Open),
];

/// The number of words that an error shows of an unknown phrase.
const WORDS_SHOWN: usize = 3;

/// The length up to which a word in capitals is taken for a symbol, although it resembles a metric.
const MAX_LIKELY_SYMBOL_LEN: usize = 4;

impl Parser<'_> {
    /// Parses a metric. Returns `None` if none is next.
    pub(super) fn metric(&mut self) -> ParseResult<Option<MetricReference>> {
        let token = self.token().clone();
        let next = self.peek(1);
        let dotted = token.kind == TokenKind::Quoted && next.kind == TokenKind::Sign && next.text == ".";
        match token.kind {
            TokenKind::Word | TokenKind::Quoted if next.kind == TokenKind::Possessive => {
                self.at += 2;
                let symbol = parse_symbol(token.text, token.position)?;
                self.phrase(Some(symbol), token.position).map(Some)
            }
            TokenKind::Quoted if dotted => {
                self.at += 2;
                let name = self.token().clone();
                if name.kind != TokenKind::Word {
                    return Err(self.unexpected(&["a metric"]));
                }
                let symbol = parse_symbol(token.text, token.position)?;
                self.named_metric(Some((symbol, token.position)), name.text, name.position)
                    .map(Some)
            }
            TokenKind::Quoted => {
                self.advance();
                Err(self.unexpected(&["."]))
            }
            TokenKind::Word if self.pass(&["its"]) => self.phrase(None, token.position).map(Some),
            TokenKind::Word if is_keyword(token.text) => Ok(None),
            TokenKind::Word => match token.text.rsplit_once('.') {
                Some((symbol, name)) => {
                    let position = token.position + symbol.chars().count() + 1;
                    let symbol = parse_symbol(symbol, token.position)?;
                    self.named_metric(Some((symbol, token.position)), name, position)
                        .map(Some)
                }
                None => self.named_metric(None, token.text, token.position).map(Some),
            },
            _ => Ok(None),
        }
    }

    /// Parses the rest of a metric whose name is the current token.
    fn named_metric(
        &mut self,
        symbol: Option<(Symbol, usize)>,
        name: &str,
        position: usize,
    ) -> ParseResult<MetricReference> {
        let specs: Vec<_> = METRICS
            .iter()
            .filter(|spec| spec.name.eq_ignore_ascii_case(name))
            .collect();
        let Some(first) = specs.first() else {
            let mut suggestions = nearest(name, METRICS.iter().map(|spec| spec.name));
            // A long word like a metric is misspelt; `GE` is more likely a stock than `pe`.
            if symbol.is_none() && (suggestions.is_empty() || name.len() <= MAX_LIKELY_SYMBOL_LEN) {
                suggestions.splice(0..0, self.metrics_of_symbol(name));
            }
            let unknown = ExpressionProblem::UnknownMetric(name.to_owned());
            return Err(ExpressionError::new(unknown, position)
                .expecting(["a metric"])
                .suggesting(suggestions));
        };
        let symbol_position = symbol.map_or(position, |(_, position)| position);
        let symbol = self.count_symbol(symbol.map(|(symbol, _)| symbol), symbol_position)?;
        self.advance();
        let metric = if self.pass_sign("(") {
            let has_arguments = |spec: &&&MetricSpec| !spec.signature.arguments().is_empty();
            let spec = specs.iter().find(has_arguments).unwrap_or(first);
            self.arguments(spec, position)?
        } else {
            let metric = specs.iter().find_map(|spec| spec.signature.with_defaults());
            let missing = ExpressionProblem::MissingArguments(first.usage());
            metric.ok_or_else(|| ExpressionError::new(missing, self.position()).expecting(["("]))?
        };
        if let TokenKind::Invalid(problem @ ExpressionProblem::Timeframe) = &self.token().kind {
            return Err(ExpressionError::new(problem.clone(), self.position()));
        }
        Ok(self.noted(MetricReference { symbol, metric }, symbol_position))
    }

    /// Returns the metrics that are meant if the current word is no metric but a symbol: `SPY > 500`, `BF-B.price`.
    fn metrics_of_symbol(&self, word: &str) -> Vec<String> {
        let (minus, class) = (self.peek(1), self.peek(2));
        let is_joined = minus.text == "-"
            && minus.offset == self.token().offset + word.len()
            && class.offset == minus.offset + 1
            && class.kind == TokenKind::Word;
        let named = class.text.split_once('.').filter(|(class, name)| {
            let is_metric = |spec: &MetricSpec| spec.name.eq_ignore_ascii_case(name);
            !class.is_empty() && METRICS.iter().any(is_metric)
        });
        if let Some((class, name)) = named.filter(|_| is_joined) {
            return vec![format!("{word}.{class}.{name}"), format!("\"{word}-{class}\".{name}")];
        }
        let is_symbol = word
            .chars()
            .all(|next| next.is_ascii_uppercase() || next.is_ascii_digit());
        let symbol = word.parse::<Symbol>().ok().filter(|_| is_symbol);
        symbol.map(|symbol| format!("{symbol}.price")).into_iter().collect()
    }

    /// Parses arguments after their opening parenthesis.
    fn arguments(&mut self, spec: &MetricSpec, position: usize) -> ParseResult<Metric> {
        let count = spec.signature.arguments().len();
        let wrong_count = || ExpressionError::new(ExpressionProblem::ArgumentCount(spec.usage()), position);
        let mut arguments = Vec::new();
        loop {
            if arguments.len() == count {
                return Err(wrong_count());
            }
            arguments.push(self.argument(spec, arguments.len())?);
            if self.pass_sign(")") {
                break;
            }
            if !self.pass_sign(",") {
                return Err(self.unexpected(&[",", ")"]));
            }
        }
        spec.signature.build(&arguments).ok_or_else(wrong_count)
    }

    fn argument(&mut self, spec: &MetricSpec, index: usize) -> ParseResult<Argument> {
        let token = self.token();
        let argument = match token.kind {
            TokenKind::Number(number) => argument_from(spec.signature, index, number),
            TokenKind::Word if matches!(spec.signature, MetricSignature::Base(_)) => {
                let named = ChangeBase::NAMED
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(token.text));
                named.map(|(_, base)| Argument::Base(*base))
            }
            TokenKind::Word | TokenKind::Sign if token.text != ")" => None,
            _ => return Err(self.unexpected(&["a number"])),
        };
        let argument = argument.ok_or_else(|| {
            let names = ChangeBase::NAMED.iter().map(|(name, _)| *name);
            let suggestions = match spec.signature {
                MetricSignature::Base(_) => nearest(token.text, names),
                _ => Vec::new(),
            };
            out_of_range(spec, index, token.position).suggesting(suggestions)
        })?;
        self.advance();
        Ok(argument)
    }

    /// Parses the words of a metric after `its` or a symbol with `'s`.
    fn phrase(&mut self, symbol: Option<Symbol>, position: usize) -> ParseResult<MetricReference> {
        let symbol = self.count_symbol(symbol, position)?;
        let start = self.position();
        let longest = METRICS
            .iter()
            .filter_map(|spec| Some((self.match_phrase(spec)?, spec)))
            .max_by_key(|((end, _), _)| *end);
        let Some(((end, arguments), spec)) = longest else {
            let shown: Vec<_> = (0..WORDS_SHOWN).map(|ahead| self.peek(ahead).text).collect();
            let unknown = ExpressionProblem::UnknownPhrase(shown.join(" ").trim().to_owned());
            return Err(ExpressionError::new(unknown, start).expecting(["a metric"]));
        };
        let invalid = arguments.iter().position(Option::is_none);
        if let Some(index) = invalid {
            return Err(out_of_range(spec, index, start));
        }
        self.at = end;
        let arguments: Vec<_> = arguments.into_iter().flatten().collect();
        let metric = spec.signature.build(&arguments);
        let metric = metric.ok_or_else(|| out_of_range(spec, 0, start))?;
        Ok(self.noted(MetricReference { symbol, metric }, position))
    }

    /// Returns the index of the token after the words of a metric, and its arguments: `None` for one that is out of range.
    fn match_phrase(&self, spec: &MetricSpec) -> Option<(usize, Vec<Option<Argument>>)> {
        let mut at = self.at;
        let mut arguments = Vec::new();
        for part in tokenize(spec.phrase) {
            let rest = self.tokens.get(at..)?;
            if part.text == "#" {
                let (length, argument) = argument_in_words(spec.signature, arguments.len(), rest)?;
                arguments.push(argument);
                at += length;
            } else if part.kind != TokenKind::End {
                let is_same = rest.first()?.text.eq_ignore_ascii_case(part.text);
                at += usize::from(is_same.then_some(true)?);
            }
        }
        Some((at, arguments))
    }
}

/// Returns the number of tokens of an argument in words, and the argument if it is in range.
fn argument_in_words(
    signature: MetricSignature,
    index: usize,
    tokens: &[Token<'_>],
) -> Option<(usize, Option<Argument>)> {
    let begins_with = |words: &[&str], tokens: &[Token<'_>]| {
        tokens.len() > words.len()
            && words
                .iter()
                .zip(tokens)
                .all(|(word, token)| token.text.eq_ignore_ascii_case(word))
    };
    let named = BASES_IN_WORDS.iter().find(|(words, _)| begins_with(words, tokens));
    if let (MetricSignature::Base(_), Some((words, base))) = (signature, named) {
        return Some((words.len(), Some(Argument::Base(*base))));
    }
    let TokenKind::Number(number) = tokens.first()?.kind else {
        return None;
    };
    let argument = argument_from(signature, index, number);
    if !matches!(signature, MetricSignature::Base(_)) {
        return Some((1, argument));
    }
    let unit = [["session", "ago"], ["sessions", "ago"]];
    unit.iter()
        .any(|words| begins_with(words, &tokens[1..]))
        .then_some((3, argument))
}

/// Returns the argument that a number states, or `None` if it is out of range.
fn argument_from(signature: MetricSignature, index: usize, number: Decimal) -> Option<Argument> {
    let period = || MetricPeriod::from_decimal(number);
    match (signature, index) {
        (MetricSignature::Base(_), _) => period().map(ChangeBase::Sessions).map(Argument::Base),
        (MetricSignature::Bollinger(_), 1) => BandWidth::new(number).map(Argument::Width),
        _ => period().map(Argument::Period),
    }
}

fn out_of_range(spec: &MetricSpec, index: usize, position: usize) -> ExpressionError {
    let arguments = spec.signature.arguments();
    let (name, allowed) = arguments
        .get(index)
        .map_or(("", ""), |argument| (argument.name, argument.allowed));
    let problem = ExpressionProblem::Argument(spec.usage(), name, allowed);
    ExpressionError::new(problem, position).expecting([allowed])
}

fn parse_symbol(text: &str, position: usize) -> ParseResult<Symbol> {
    text.parse().map_err(|error: market::SymbolError| {
        ExpressionError::new(ExpressionProblem::MalformedSymbol(error.to_string()), position)
    })
}

fn is_keyword(word: &str) -> bool {
    let mut keywords = KEYWORDS.iter().chain(OPERATOR_WORDS);
    keywords.any(|keyword| keyword.eq_ignore_ascii_case(word))
}
