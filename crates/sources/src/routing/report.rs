//! Reports about providers, for operators: what each has answered since the start, and how late its prices are.

use jiff::{SignedDuration, Timestamp};

use crate::provider::http::RequestLimit;
use crate::provider::{Capability, DataResponse, ProviderError};

/// The answers of a provider in one capability since the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReport {
    /// The provider's name.
    pub provider: &'static str,
    /// The name of the operator's plan.
    pub plan: &'static str,
    /// The capability.
    pub capability: Capability,
    /// The answers and failures.
    pub answers: ProviderAnswers,
    /// The end of the backoff after failures; `None` if requests can be sent.
    pub backing_off_until: Option<Timestamp>,
    /// The request limits of the plan, which all capabilities share.
    pub request_limits: Vec<RequestLimit>,
}

/// The answers and failures of a provider in one capability.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderAnswers {
    /// The number of answered requests.
    pub answered: u64,
    /// The number of failed requests.
    pub failed: u64,
    /// The time of the last answer.
    pub last_answer_at: Option<Timestamp>,
    /// The time of the newest price that the provider has delivered, and how old it was on arrival.
    pub newest_quote: Option<(Timestamp, SignedDuration)>,
    /// The last failure.
    pub last_error: Option<(Timestamp, ProviderError)>,
}

impl ProviderAnswers {
    pub(super) fn record_answer(&mut self, answer: &DataResponse, now: Timestamp) {
        self.answered = self.answered.saturating_add(1);
        self.last_answer_at = Some(now);
        let times = answer.batch.quotes.iter().filter_map(|quote| quote.time);
        let known = self.newest_quote.map(|(at, _)| at);
        // After the close, the last price is delivered again and again.
        let newest = times.filter(|at| *at <= now).max().filter(|at| Some(*at) > known);
        self.newest_quote = newest.map(|at| (at, now.duration_since(at))).or(self.newest_quote);
    }

    pub(super) fn record_failure(&mut self, error: &ProviderError, now: Timestamp) {
        self.failed = self.failed.saturating_add(1);
        self.last_error = Some((now, error.clone()));
    }
}

#[cfg(test)]
mod tests {
    use market::Price;
    use market::records::QuoteRow;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn answer(second: i64) -> DataResponse {
        let mut answer = DataResponse::default();
        answer.batch.quotes.push(QuoteRow {
            symbol: "AAPL".parse().unwrap(),
            price: Price::from_micros(1).unwrap(),
            volume: None,
            time: Some(at(second)),
            bid: None,
            ask: None,
            vwap: None,
        });
        answer
    }

    #[test]
    fn newest_price_keeps_the_delay_of_its_arrival() {
        let mut answers = ProviderAnswers::default();
        answers.record_answer(&answer(100), at(103));
        for second in [90, 100, 201] {
            answers.record_answer(&answer(second), at(200));
            assert_eq!(answers.newest_quote, Some((at(100), SignedDuration::from_secs(3))));
        }
        assert_eq!((answers.answered, answers.last_answer_at), (4, Some(at(200))));
    }

    #[test]
    fn failures_are_counted_and_the_last_is_kept() {
        let mut answers = ProviderAnswers::default();
        answers.record_failure(&ProviderError::Unauthorized { provider: "test" }, at(1));
        let cut = ProviderError::Truncated { provider: "test" };
        answers.record_failure(&cut, at(2));
        assert_eq!((answers.failed, answers.last_error), (2, Some((at(2), cut))));
    }
}
