//! Which requests a question takes.

use jiff::{SignedDuration, Span};
use market::calendar::new_york_date;
use url::Url;

use super::parse::{self, Part};
use super::{NAME, Tiingo};
use crate::provider::asked::Asked;
use crate::provider::errand::{self, Errand, Page};
use crate::provider::symbols::Style;
use crate::provider::{Answer, Ask, Fetch, Provider, ProviderError, Tier};

impl Provider for Tiingo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        Box::pin(self.answer(ask))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Tiingo {
    async fn answer(&self, ask: &Ask) -> Result<Answer, ProviderError> {
        let asked = Asked::new(ask.symbols(), Style::Dash);
        match ask {
            Ask::Fundamentals(_) => return self.fundamentals(&asked).await,
            Ask::Catalog | Ask::Earnings(..) | Ask::InsiderTrades(..) | Ask::Mentions(_) => {
                return Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: ask.capability().name(),
                });
            }
            _ => {}
        }
        let pieces = asked.pieces(self.tier.symbols_a_request(ask.capability()));
        errand::run(NAME, &self.http, &Requests { of: self, ask }, pieces).await
    }

    /// Two requests a symbol: what was earned, and what it all is worth.
    async fn fundamentals(&self, asked: &Asked) -> Result<Answer, ProviderError> {
        let today = new_york_date(self.setup.clock.now());
        let mut answer = Answer::default();
        for piece in asked.pieces(1) {
            let name = piece.first();
            let at = |what: &str, query: &[(&str, &str)]| self.api.at(&["tiingo", "fundamentals", name, what], query);
            // Five quarters and the time until they are filed.
            let since = today.saturating_sub(Span::new().days(600)).to_string();
            let statements = at("statements", &[("startDate", &since), ("asReported", "true")]);
            let statements = match self.http.get(statements).await {
                Ok(statements) => statements,
                Err(ProviderError::NotFound { .. }) => {
                    answer.unknown.extend(piece.missing(|_| false));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let eps = parse::trailing_eps(&statements, name)?;
            let since = today.saturating_sub(Span::new().days(10)).to_string();
            let daily = self.http.get(at("daily", &[("startDate", &since)])).await?;
            let cap = parse::market_cap(&daily, name)?;
            answer.append(parse::fundamentals(&piece, eps, cap));
        }
        Ok(answer)
    }
}

struct Requests<'a> {
    of: &'a Tiingo,
    ask: &'a Ask,
}

impl Errand for Requests<'_> {
    fn url(&self, piece: &Asked, _: Option<&str>) -> Url {
        match self.ask {
            Ask::Quotes(_) => self.of.api.at(&["iex", ""], &[("tickers", &piece.list())]),
            Ask::MinuteBars(_, times) => {
                // It takes days only.
                let [from, to] = [times.from, times.to].map(|time| new_york_date(time).to_string());
                let query = [
                    ("startDate", from.as_str()),
                    ("endDate", &to),
                    ("resampleFreq", "1min"),
                    ("columns", "open,high,low,close,volume"),
                ];
                self.of.api.at(&["iex", piece.first(), "prices"], &query)
            }
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) | Ask::Splits(_, days) | Ask::Dividends(_, days) => {
                let (from, to) = (days.from.to_string(), days.to.to_string());
                let query = [("startDate", from.as_str()), ("endDate", &to)];
                self.of.api.at(&["tiingo", "daily", piece.first(), "prices"], &query)
            }
            _ => self.of.api.at(&[], &[]),
        }
    }

    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError> {
        let answer = match self.ask {
            Ask::Quotes(_) => parse::quotes(body, piece),
            Ask::MinuteBars(_, times) => parse::minutes(body, piece, *times),
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => parse::daily(body, piece, *days, Part::Bars),
            Ask::Splits(_, days) => parse::daily(body, piece, *days, Part::Splits),
            Ask::Dividends(_, days) => parse::daily(body, piece, *days, Part::Dividends),
            _ => Ok(Answer::default()),
        };
        answer.map(Page::from)
    }
}
