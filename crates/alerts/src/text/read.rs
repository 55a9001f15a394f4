//! Reads the options and the channel after the expression of a text.

use market::Decimal;
use serde_json::{Map, Value, json};

use super::phrases::{PHRASES, Phrase, PhraseValue, TextOption};
use super::words::{PlacedWord, split};
use crate::alert::Channel;
use crate::expression::{ExpressionError, nearest_names};
use crate::json::number;

/// The place of a phrase in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PhrasePlace {
    pub(super) text: String,
    pub(super) position: usize,
}

/// The options of a text, each with its place.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ReadPhrases {
    /// The value of `within`, which belongs to the parameters.
    pub(super) within: Option<String>,
    values: Vec<(TextOption, Value)>,
    places: Vec<(TextOption, PhrasePlace)>,
}

impl ReadPhrases {
    /// Returns the place of an option.
    pub(super) fn place_of(&self, option: TextOption) -> Option<&PhrasePlace> {
        self.places.iter().find(|(of, _)| *of == option).map(|(_, place)| place)
    }

    /// Adds the options and the channel to the body of a create request.
    pub(super) fn add_to(&self, body: &mut Map<String, Value>) {
        let mut options = Map::new();
        for (option, value) in &self.values {
            match option.field().strip_prefix("options.") {
                Some(name) => options.insert(name.to_owned(), value.clone()),
                None => body.insert(option.field().to_owned(), value.clone()),
            };
        }
        if !options.is_empty() {
            body.insert("options".to_owned(), Value::Object(options));
        }
    }
}

/// A reader of phrases.
pub(super) struct PhraseReader<'a> {
    words: Vec<PlacedWord<'a>>,
    at: usize,
    end: usize,
    read: ReadPhrases,
}

type Read<T> = Result<T, ExpressionError>;

impl<'a> PhraseReader<'a> {
    /// Creates a reader of the text after an expression, which begins at a position.
    pub(super) fn new(rest: &'a str, position: usize) -> Self {
        let (words, end) = split(rest, position);
        Self {
            words,
            at: 0,
            end,
            read: ReadPhrases::default(),
        }
    }

    /// Reads all phrases.
    pub(super) fn read(mut self) -> Read<ReadPhrases> {
        while let Some(&first) = self.words.get(self.at) {
            let Some(&(words, option, value)) = PHRASES.iter().find(|(words, ..)| self.is_at(words)) else {
                return Err(self.no_phrase());
            };
            if self.read.place_of(option).is_some() {
                let problem = "this was said before; say it once".to_owned();
                return Err(ExpressionError::unsuitable(first.text, problem, first.position));
            }
            self.at += words.len();
            let place = PhrasePlace {
                text: words.join(" "),
                position: first.position,
            };
            let value = self.value(value)?;
            if option == TextOption::Within {
                self.read.within = value.as_str().map(str::to_owned);
            } else {
                self.read.values.push((option, value));
            }
            self.read.places.push((option, place));
        }
        Ok(self.read)
    }

    fn is_at(&self, words: &[&str]) -> bool {
        let rest = self.words.get(self.at..).unwrap_or_default();
        rest.len() >= words.len()
            && rest
                .iter()
                .zip(words)
                .all(|(found, word)| found.text.eq_ignore_ascii_case(word))
    }

    /// Passes one of these words if it is next.
    fn pass(&mut self, words: &[&str]) -> bool {
        let found = words.iter().any(|word| self.is_at(&[word]));
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, value: PhraseValue) -> Read<Value> {
        Ok(match value {
            PhraseValue::Fixed(text) => text.into(),
            PhraseValue::Flag => true.into(),
            PhraseValue::Word(expected) => self.next(expected)?.text.into(),
            PhraseValue::Times => {
                let times = self.decimal("a number of firings", "")?;
                if !self.pass(&["times", "time"]) {
                    return Err(self.unexpected(&["times"]));
                }
                times
            }
            PhraseValue::Level => json!({"at": self.decimal("a number", "")?}),
            PhraseValue::Percent => {
                let percent = self.decimal("a percentage", "%")?;
                self.pass(&["percent"]);
                json!({"percent": percent})
            }
            PhraseValue::Channel => self.channel()?,
        })
    }

    fn next(&mut self, expected: &'static str) -> Read<PlacedWord<'a>> {
        let word = self.words.get(self.at).copied();
        let word = word.ok_or_else(|| self.unexpected(&[expected]))?;
        self.at += 1;
        Ok(word)
    }

    /// Reads a number, with or without a suffix.
    fn decimal(&mut self, expected: &'static str, suffix: &str) -> Read<Value> {
        let word = self.words.get(self.at).map_or("", |word| word.text);
        let digits = word.strip_suffix(suffix).unwrap_or(word);
        let found = digits.parse::<Decimal>().ok().and_then(number);
        let found = found.ok_or_else(|| self.unexpected(&[expected]))?;
        self.at += 1;
        Ok(Value::Number(found))
    }

    fn channel(&mut self) -> Read<Value> {
        let names: Vec<&'static str> = Channel::ALL.iter().map(|channel| channel.name()).collect();
        let word = self.words.get(self.at).map_or("", |word| word.text);
        let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(word)) else {
            let error = self.unexpected(&names);
            // Few channels exist, so each of them is a suggestion for an unknown one.
            return Err(if error.suggestions.is_empty() && !word.is_empty() {
                error.suggesting(names.iter().map(|&name| name.to_owned()).collect())
            } else {
                error
            });
        };
        self.at += 1;
        Ok((*name).into())
    }

    /// Returns the error that no phrase begins here, or that a phrase has not been finished.
    fn no_phrase(&self) -> ExpressionError {
        const BEFORE: &[&str] = &["and", "or"];
        let is_begun = |(words, ..): &&Phrase| words.len() > 1 && self.is_at(&words[..1]);
        let begun: Vec<&Phrase> = PHRASES.iter().filter(is_begun).collect();
        if begun.is_empty() {
            let mut expected: Vec<&'static str> = BEFORE.to_vec();
            for (words, ..) in PHRASES {
                if !expected.contains(&words[0]) {
                    expected.push(words[0]);
                }
            }
            return self.unexpected(&expected);
        }
        let phrases: Vec<String> = begun.iter().map(|(words, ..)| words.join(" ")).collect();
        self.unexpected(&[]).expecting(phrases.iter().map(String::as_str))
    }

    /// Returns the error that the next word is none of `expected`.
    fn unexpected(&self, expected: &[&'static str]) -> ExpressionError {
        let Some(word) = self.words.get(self.at) else {
            return ExpressionError::unexpected_end(self.end).expecting(expected.iter().copied());
        };
        ExpressionError::unexpected_word(word.text, word.position)
            .expecting(expected.iter().copied())
            .suggesting(nearest_names(word.text, expected.iter().copied()))
    }
}
