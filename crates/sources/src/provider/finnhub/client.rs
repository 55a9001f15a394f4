//! Which requests a question takes.

use jiff::{SignedDuration, Span};
use market::calendar::new_york_date;
use url::Url;

use super::{Finnhub, NAME, parse};
use crate::provider::asked::Asked;
use crate::provider::errand::{self, Errand, Page};
use crate::provider::stream::Protocol;
use crate::provider::symbols::Style;
use crate::provider::{Answer, Ask, Days, Fetch, Provider, ProviderError, Tier};

/// The earnings calendar of the whole market is asked for so many days at a time.
const CALENDAR_DAYS: i64 = 3;

impl Provider for Finnhub {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        Box::pin(async move {
            match ask {
                Ask::Earnings(symbols, days) => self.earnings(ask, symbols, *days).await,
                _ => self.one_by_one(ask).await,
            }
        })
    }

    fn stream(&self) -> Option<Box<dyn Protocol>> {
        Some(Box::new(super::FinnhubStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Finnhub {
    async fn one_by_one(&self, ask: &Ask) -> Result<Answer, ProviderError> {
        let pieces = match ask {
            Ask::Catalog => Asked::nobody(),
            _ => Asked::new(ask.symbols(), Style::Dot).pieces(1),
        };
        let requests = Requests {
            of: self,
            ask,
            days: None,
        };
        errand::run(NAME, &self.http, &requests, pieces).await
    }

    /// Symbol by symbol, or stretch by stretch for the whole market: whatever takes fewer requests.
    async fn earnings(&self, ask: &Ask, symbols: &[market::Symbol], days: Days) -> Result<Answer, ProviderError> {
        let asked = Asked::new(symbols, Style::Dot);
        let step = Span::new().days(CALENDAR_DAYS);
        let starts: Vec<_> = days.from.series(step).take_while(|&from| from <= days.to).collect();
        if asked.len() <= starts.len() {
            return self.one_by_one(ask).await;
        }
        let mut answer = Answer::default();
        for from in starts {
            let to = from.saturating_add(Span::new().days(CALENDAR_DAYS - 1)).min(days.to);
            let requests = Requests {
                of: self,
                ask,
                days: Some(Days { from, to }),
            };
            answer.append(errand::run(NAME, &self.http, &requests, vec![asked.clone()]).await?);
        }
        Ok(answer)
    }
}

struct Requests<'a> {
    of: &'a Finnhub,
    ask: &'a Ask,
    /// The stretch of a calendar of the whole market.
    days: Option<Days>,
}

impl Errand for Requests<'_> {
    fn url(&self, piece: &Asked, _: Option<&str>) -> Url {
        let symbol = [("symbol", piece.first())];
        let at = |path: &[&str], more: &[(&str, &str)]| self.of.api.at(path, &[&symbol[..], more].concat());
        let span = |days: Days| [days.from.to_string(), days.to.to_string()];
        match self.ask {
            Ask::Catalog => self.of.api.at(&["stock", "symbol"], &[("exchange", "US")]),
            Ask::Quotes(_) => at(&["quote"], &[]),
            Ask::Fundamentals(_) => at(&["stock", "metric"], &[("metric", "all")]),
            Ask::MinuteBars(_, times) => {
                let [from, to] = [times.from, times.to].map(|time| time.as_second().to_string());
                at(
                    &["stock", "candle"],
                    &[("resolution", "1"), ("from", &from), ("to", &to)],
                )
            }
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => {
                let second = |date: jiff::civil::Date, days: i64| {
                    let date = date.saturating_add(Span::new().days(days));
                    let midnight = date.in_tz("UTC").map(|midnight| midnight.timestamp().as_second());
                    midnight.unwrap_or_default().to_string()
                };
                let (from, to) = (second(days.from, 0), second(days.to, 1));
                at(
                    &["stock", "candle"],
                    &[("resolution", "D"), ("from", &from), ("to", &to)],
                )
            }
            Ask::Earnings(_, days) => {
                let [from, to] = span(self.days.unwrap_or(*days));
                let query = [("from", from.as_str()), ("to", &to)];
                match self.days {
                    Some(_) => self.of.api.at(&["calendar", "earnings"], &query),
                    None => at(&["calendar", "earnings"], &query),
                }
            }
            Ask::Dividends(_, days) | Ask::Splits(_, days) | Ask::InsiderTrades(_, days) => {
                let name = match self.ask {
                    Ask::Dividends(..) => "dividend",
                    Ask::Splits(..) => "split",
                    _ => "insider-transactions",
                };
                let [from, to] = span(*days);
                at(&["stock", name], &[("from", &from), ("to", &to)])
            }
            Ask::Mentions(_) => {
                let today = new_york_date(self.of.setup.clock.now());
                // As long as a week before the last day makes what is usual.
                let [from, to] = span(Days {
                    from: today.saturating_sub(Span::new().days(8)),
                    to: today.saturating_add(Span::new().days(1)),
                });
                at(&["stock", "social-sentiment"], &[("from", &from), ("to", &to)])
            }
        }
    }

    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError> {
        let answer = match self.ask {
            Ask::Catalog => parse::catalog(body),
            Ask::Quotes(_) => parse::quote(body, piece),
            Ask::Fundamentals(_) => parse::metrics(body, piece, new_york_date(self.of.setup.clock.now())),
            Ask::MinuteBars(_, times) => parse::candles(body, piece, |time| times.has(time), false),
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => {
                let date = |time: jiff::Timestamp| time.to_zoned(jiff::tz::TimeZone::UTC).date();
                parse::candles(body, piece, |time| days.has(date(time)), true)
            }
            Ask::Earnings(_, days) => parse::earnings(body, piece, *days),
            Ask::Dividends(_, days) => parse::dividends(body, piece, *days),
            Ask::Splits(_, days) => parse::splits(body, piece, *days),
            Ask::InsiderTrades(_, days) => parse::insiders(body, piece, *days),
            Ask::Mentions(_) => parse::sentiment(body, piece),
        };
        answer.map(Page::from)
    }

    fn most_bytes(&self) -> Option<usize> {
        matches!(self.ask, Ask::Catalog).then_some(self.of.setup.most_catalog_bytes)
    }
}
