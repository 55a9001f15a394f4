//! Expectations of the firings of an alert, for tests.

use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::declaration::EXPECT_KEYS;
use crate::error::ErrorCollector;
use crate::suggestion::did_you_mean;
use crate::syntax::{Node, NodeKind};

/// Days in a year, on average.
const DAYS_PER_YEAR: f64 = 365.25;

/// Expectations of the firings of an alert.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expectations {
    /// The days on which it fires.
    pub fires_on: Vec<Date>,
    /// The days on which it does not fire.
    pub silent_on: Vec<Date>,
    /// The largest number of firings in a year.
    pub at_most_per_year: Option<f64>,
    /// The smallest number of firings in a year.
    pub at_least_per_year: Option<f64>,
}

/// The firings of an alert in a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ObservedFirings {
    /// The days of the firings in New York; a day occurs once for each firing.
    pub days: Vec<Date>,
    /// The number of firings, which may be larger than that of the known days.
    pub count: usize,
    /// The first day of the data.
    pub from: Date,
    /// The last day of the data.
    pub to: Date,
}

impl ObservedFirings {
    /// Returns the number of firings in a year.
    #[must_use]
    pub fn per_year(&self) -> f64 {
        number(self.count) / self.years()
    }

    fn years(&self) -> f64 {
        let days = f64::from((self.to - self.from).get_days() + 1);
        days.max(1.0) / DAYS_PER_YEAR
    }
}

/// Returns a count of firings, which is far below 2^53.
const fn number(firings: usize) -> f64 {
    firings as f64
}

/// An expectation that fails.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ExpectationError {
    /// The alert does not fire on a day.
    #[error("expected a firing on {day}, and there is none; {nearest}")]
    NotFired {
        /// The day.
        day: Date,
        /// The nearest firings, in words.
        nearest: String,
    },
    /// The alert fires on a day on which it must not.
    #[error("expected no firing on {day}, and there are {count}")]
    Fired {
        /// The day.
        day: Date,
        /// The number of firings.
        count: usize,
    },
    /// The data does not cover a day.
    #[error("cannot judge {day}: the data covers {from} to {to}; use data of that day, or remove it from `{key}`")]
    NotCovered {
        /// The day.
        day: Date,
        /// The first day of the data.
        from: Date,
        /// The last day of the data.
        to: Date,
        /// The key of the expectation.
        key: &'static str,
    },
    /// The alert fires too often.
    #[error("expected at most {expected} firings a year, and there are {found:.1}")]
    TooOften {
        /// The expected number.
        expected: f64,
        /// The number of firings in a year.
        found: f64,
    },
    /// The alert fires too rarely.
    #[error("expected at least {expected} firings a year, and there are {found:.1}")]
    TooRarely {
        /// The expected number.
        expected: f64,
        /// The number of firings in a year.
        found: f64,
    },
}

impl Expectations {
    /// Returns whether nothing is expected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the first day that is named.
    #[must_use]
    pub fn first_day(&self) -> Option<Date> {
        self.fires_on.iter().chain(&self.silent_on).min().copied()
    }

    pub(crate) fn read(node: Option<&Node>, errors: &mut ErrorCollector<'_>) -> Option<Self> {
        let Some(node) = node else {
            return Some(Self::default());
        };
        let Some(members) = node.members() else {
            let message = format!(
                "`expect` must be a map such as `fires_on: [2024-08-05]`, not {}",
                node.kind_name()
            );
            errors.add(node.position, message);
            return None;
        };
        let count = errors.errors.len();
        let mut expectations = Self::default();
        for (key, node) in members {
            match key.name.as_str() {
                "fires_on" => expectations.fires_on = dates(&key.name, node, errors),
                "silent_on" => expectations.silent_on = dates(&key.name, node, errors),
                "at_most_per_year" => expectations.at_most_per_year = rate(&key.name, node, errors),
                "at_least_per_year" => expectations.at_least_per_year = rate(&key.name, node, errors),
                unknown => {
                    let hint = did_you_mean(unknown, EXPECT_KEYS);
                    errors.add(key.position, format!("unknown key `{unknown}`; {hint}"));
                }
            }
        }
        (errors.errors.len() == count).then_some(expectations)
    }

    /// Compares the firings of a test with what is expected. Returns all differences.
    #[must_use]
    pub fn check(&self, observed: &ObservedFirings) -> Vec<ExpectationError> {
        let mut errors = Vec::new();
        for (key, days) in [("fires_on", &self.fires_on), ("silent_on", &self.silent_on)] {
            for &day in days {
                let count = observed.days.iter().filter(|fired| **fired == day).count();
                let is_covered = (observed.from..=observed.to).contains(&day);
                match (key, count) {
                    _ if !is_covered => errors.push(ExpectationError::NotCovered {
                        day,
                        from: observed.from,
                        to: observed.to,
                        key,
                    }),
                    ("fires_on", 0) => errors.push(ExpectationError::NotFired {
                        day,
                        nearest: nearest(day, &observed.days),
                    }),
                    ("silent_on", 1..) => errors.push(ExpectationError::Fired { day, count }),
                    _ => {}
                }
            }
        }
        // A year of data may have a day more or less than an average year.
        let (fired, found) = (number(observed.count), observed.per_year());
        let in_period = |per_year: f64| per_year * observed.years();
        if let Some(expected) = self.at_most_per_year.filter(|most| fired > in_period(*most).ceil()) {
            errors.push(ExpectationError::TooOften { expected, found });
        }
        if let Some(expected) = self.at_least_per_year.filter(|least| fired < in_period(*least).floor()) {
            errors.push(ExpectationError::TooRarely { expected, found });
        }
        errors
    }
}

/// Returns the nearest firings before and after a day, in words.
fn nearest(day: Date, fired: &[Date]) -> String {
    let fired: BTreeSet<Date> = fired.iter().copied().collect();
    let before = fired.range(..day).next_back();
    let after = fired.range(day..).next();
    match (before, after) {
        (None, None) => "the alert never fires on this data".to_owned(),
        (Some(before), None) => format!("the last one before is on {before}, and there is none after"),
        (None, Some(after)) => format!("the first one is on {after}"),
        (Some(before), Some(after)) => format!("the nearest ones are on {before} and {after}"),
    }
}

fn dates(key: &str, node: &Node, errors: &mut ErrorCollector<'_>) -> Vec<Date> {
    let Some(items) = node.items() else {
        let message = format!(
            "`{key}` must be a list of dates such as [2024-08-05], not {}",
            node.kind_name()
        );
        errors.add(node.position, message);
        return Vec::new();
    };
    let mut dates = Vec::with_capacity(items.len());
    for item in items {
        match item.as_text().and_then(|text| text.parse().ok()) {
            Some(date) => dates.push(date),
            None => errors.add(item.position, format!("`{key}` must have dates such as 2024-08-05")),
        }
    }
    dates
}

fn rate(key: &str, node: &Node, errors: &mut ErrorCollector<'_>) -> Option<f64> {
    let number = match &node.kind {
        NodeKind::Number(number) => number.as_f64(),
        _ => None,
    };
    let rate = number.filter(|rate| *rate >= 0.0);
    if rate.is_none() {
        errors.add(
            node.position,
            format!("`{key}` must be a number of at least 0, such as 12"),
        );
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn observed(days: &[&str]) -> ObservedFirings {
        ObservedFirings {
            days: days.iter().map(|day| date(day)).collect(),
            count: days.len(),
            from: date("2024-01-01"),
            to: date("2024-12-31"),
        }
    }

    fn messages(expectations: &Expectations, days: &[&str]) -> Vec<String> {
        let errors = expectations.check(&observed(days));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn expected_day_needs_a_firing() {
        let expectations = Expectations {
            fires_on: vec![date("2024-08-05")],
            ..Expectations::default()
        };
        assert_eq!(expectations.check(&observed(&["2024-08-05", "2024-08-05"])), []);
        assert_eq!(
            messages(&expectations, &["2024-08-02", "2024-09-03"]),
            ["expected a firing on 2024-08-05, and there is none; the nearest ones are on 2024-08-02 and 2024-09-03"]
        );
        assert!(messages(&expectations, &[])[0].ends_with("the alert never fires on this data"));
    }

    #[test]
    fn silent_day_must_have_none_and_days_without_data_are_errors() {
        let expectations = Expectations {
            silent_on: vec![date("2024-08-05"), date("2025-01-01")],
            ..Expectations::default()
        };
        let errors = messages(&expectations, &["2024-08-05"]);
        assert_eq!(errors[0], "expected no firing on 2024-08-05, and there are 1");
        assert!(
            errors[1].starts_with("cannot judge 2025-01-01: the data covers 2024-01-01 to 2024-12-31"),
            "{errors:?}"
        );
    }

    #[test]
    fn firings_are_counted_in_years_of_the_data() {
        let expectations = Expectations {
            at_most_per_year: Some(2.0),
            at_least_per_year: Some(1.0),
            ..Expectations::default()
        };
        assert_eq!(messages(&expectations, &["2024-02-01"]), [""; 0]);
        assert_eq!(messages(&expectations, &["2024-02-01"; 3]), [""; 0]);
        let often = messages(&expectations, &["2024-02-01"; 4]);
        assert_eq!(often, ["expected at most 2 firings a year, and there are 4.0"]);
        assert_eq!(
            messages(&expectations, &[]),
            ["expected at least 1 firings a year, and there are 0.0"]
        );
    }
}
