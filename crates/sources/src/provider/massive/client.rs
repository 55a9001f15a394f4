//! Which requests a question takes.

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Span};
use market::Symbol;
use market::calendar::new_york_date;
use url::Url;

use super::{Massive, NAME, parse};
use crate::provider::asked::Asked;
use crate::provider::errand::{self, Errand, Page};
use crate::provider::stream::Protocol;
use crate::provider::symbols::Style;
use crate::provider::{Answer, Ask, Days, Fetch, Provider, ProviderError, Tier};

/// More symbols than this, and the snapshot of the whole market is one request instead of many.
const SYMBOLS_A_SNAPSHOT: usize = 250;

impl Provider for Massive {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        Box::pin(self.answer(ask))
    }

    fn stream(&self) -> Option<Box<dyn Protocol>> {
        Some(Box::new(super::MassiveStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Massive {
    async fn answer(&self, ask: &Ask) -> Result<Answer, ProviderError> {
        let asked = Asked::new(ask.symbols(), Style::Dot);
        let pieces = match ask {
            Ask::Catalog => Asked::nobody(),
            Ask::Quotes(_) | Ask::Splits(..) | Ask::Dividends(..) if asked.len() > 0 => vec![asked],
            Ask::DailyBars(symbols, days) => return self.daily_bars(ask, symbols, *days).await,
            Ask::MinuteBars(..) | Ask::Fundamentals(_) | Ask::Benchmark(..) => asked.pieces(1),
            Ask::Quotes(_) | Ask::Splits(..) | Ask::Dividends(..) => Vec::new(),
            Ask::Earnings(..) | Ask::InsiderTrades(..) | Ask::Mentions(_) => {
                return Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: ask.capability().name(),
                });
            }
        };
        let requests = Requests {
            of: self,
            ask,
            day: None,
        };
        errand::run(NAME, &self.http, &requests, pieces).await
    }

    /// Day by day for many symbols, symbol by symbol for few: whatever takes fewer requests.
    async fn daily_bars(&self, ask: &Ask, symbols: &[Symbol], days: Days) -> Result<Answer, ProviderError> {
        let asked = Asked::new(symbols, Style::Dot);
        let is_working = |day: &Date| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        let all = days.from.series(Span::new().days(1)).take_while(|&day| day <= days.to);
        let working: Vec<Date> = all.filter(is_working).collect();
        if asked.len() <= working.len() {
            let requests = Requests {
                of: self,
                ask,
                day: None,
            };
            return errand::run(NAME, &self.http, &requests, asked.pieces(1)).await;
        }
        let mut answer = Answer::default();
        for day in working {
            let requests = Requests {
                of: self,
                ask,
                day: Some(day),
            };
            answer.append(errand::run(NAME, &self.http, &requests, vec![asked.clone()]).await?);
        }
        Ok(answer)
    }
}

struct Requests<'a> {
    of: &'a Massive,
    ask: &'a Ask,
    /// The day of the whole market's bars.
    day: Option<Date>,
}

impl Requests<'_> {
    fn range(&self, symbol: &str, unit: &str, from: &str, to: &str) -> Url {
        let query = [("adjusted", "false"), ("sort", "asc"), ("limit", "50000")];
        self.of
            .api
            .at(&["v2", "aggs", "ticker", symbol, "range", "1", unit, from, to], &query)
    }

    fn events(&self, kind: &str, date: &str, days: Days, piece: &Asked) -> Url {
        let (from, to) = (days.from.to_string(), days.to.to_string());
        let (least, most) = (format!("{date}.gte"), format!("{date}.lte"));
        let mut query = vec![(least.as_str(), from.as_str()), (&most, &to), ("limit", "1000")];
        if piece.len() == 1 {
            query.push(("ticker", piece.first()));
        }
        self.of.api.at(&["v3", "reference", kind], &query)
    }
}

impl Errand for Requests<'_> {
    fn url(&self, piece: &Asked, page: Option<&str>) -> Url {
        if let Some(page) = page {
            return self.of.api.follow(page);
        }
        match self.ask {
            Ask::Catalog => {
                let query = [("market", "stocks"), ("active", "true"), ("limit", "1000")];
                self.of.api.at(&["v3", "reference", "tickers"], &query)
            }
            Ask::Quotes(_) => {
                let list = piece.list();
                let query = [("tickers", list.as_str())];
                let named = if piece.len() <= SYMBOLS_A_SNAPSHOT {
                    &query[..]
                } else {
                    &[]
                };
                self.of.api.at(
                    &["v2", "snapshot", "locale", "us", "markets", "stocks", "tickers"],
                    named,
                )
            }
            Ask::MinuteBars(_, times) => {
                let [from, to] = [times.from, times.to].map(|time| time.as_millisecond().to_string());
                self.range(piece.first(), "minute", &from, &to)
            }
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => match self.day {
                None => self.range(piece.first(), "day", &days.from.to_string(), &days.to.to_string()),
                Some(day) => {
                    let path = [
                        "v2",
                        "aggs",
                        "grouped",
                        "locale",
                        "us",
                        "market",
                        "stocks",
                        &day.to_string(),
                    ];
                    self.of.api.at(&path, &[("adjusted", "false")])
                }
            },
            Ask::Splits(_, days) => self.events("splits", "execution_date", *days, piece),
            Ask::Dividends(_, days) => self.events("dividends", "ex_dividend_date", *days, piece),
            _ => self.of.api.at(&["v3", "reference", "tickers", piece.first()], &[]),
        }
    }

    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError> {
        match self.ask {
            Ask::Catalog => parse::catalog(body),
            Ask::Quotes(_) => parse::snapshots(body, piece).map(Page::from),
            Ask::MinuteBars(_, times) => parse::bars(body, piece, |time| times.has(time), false),
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => {
                parse::bars(body, piece, |time| days.has(new_york_date(time)), true)
            }
            Ask::Splits(_, days) => parse::splits(body, piece, *days),
            Ask::Dividends(_, days) => parse::dividends(body, piece, *days),
            _ => parse::overview(body, piece, new_york_date(self.of.setup.clock.now())).map(Page::from),
        }
    }

    fn most_bytes(&self) -> Option<usize> {
        let is_market = matches!(self.ask, Ask::Catalog | Ask::Quotes(_)) || self.day.is_some();
        is_market.then_some(self.of.setup.most_catalog_bytes)
    }
}
