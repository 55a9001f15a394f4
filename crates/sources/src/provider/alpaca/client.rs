//! Which requests a question takes.

use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use url::Url;

use super::{Alpaca, Feed, NAME, RECENT, parse};
use crate::provider::asked::Asked;
use crate::provider::errand::{self, Errand, Page};
use crate::provider::stream::Protocol;
use crate::provider::symbols::Style;
use crate::provider::{Answer, Ask, Days, Fetch, Provider, ProviderError, Tier};

/// So many rows come on a page at most.
const BARS_A_PAGE: &str = "10000";
const ACTIONS_A_PAGE: &str = "1000";

impl Provider for Alpaca {
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
        Some(Box::new(super::AlpacaStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Alpaca {
    async fn answer(&self, ask: &Ask) -> Result<Answer, ProviderError> {
        let job = match ask {
            Ask::Catalog => Job::Catalog,
            Ask::Quotes(_) => Job::Quotes,
            Ask::MinuteBars(_, times) => Job::Bars {
                timeframe: "1Min",
                feed: self.config.feed.of_bars(),
                span: [
                    times.from.to_string(),
                    self.not_too_recent(times.to.to_string(), times.to),
                ],
            },
            Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => Job::Bars {
                timeframe: "1Day",
                feed: Feed::Sip,
                span: [days.from.to_string(), self.last_day(*days)],
            },
            Ask::Splits(_, days) => Job::Actions("forward_split,reverse_split", *days),
            Ask::Dividends(_, days) => Job::Actions("cash_dividend", *days),
            Ask::Fundamentals(_) | Ask::Earnings(..) | Ask::InsiderTrades(..) | Ask::Mentions(_) => {
                return Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: ask.capability().name(),
                });
            }
        };
        let pieces = match ask {
            Ask::Catalog => Asked::nobody(),
            _ => Asked::new(ask.symbols(), Style::Dot).pieces(self.tier.symbols_a_request(ask.capability())),
        };
        let errand = Requests { of: self, ask, job };
        errand::run(NAME, &self.http, &errand, pieces).await
    }
}

impl Alpaca {
    /// The end of a stretch, in the form `text`; earlier where the plan has nothing that recent of all exchanges.
    fn not_too_recent(&self, text: String, end: Timestamp) -> String {
        if self.config.feed != Feed::DelayedSip {
            return text;
        }
        self.earlier(text, end)
    }

    /// The last of the days; on the free plan up to what all exchanges have told.
    fn last_day(&self, days: Days) -> String {
        let day = days.to.to_string();
        let midnight = days.to.tomorrow().and_then(|next| next.in_tz("America/New_York"));
        match midnight {
            Ok(midnight) if self.config.feed != Feed::Sip => self.earlier(day, midnight.timestamp()),
            _ => day,
        }
    }

    fn earlier(&self, text: String, end: Timestamp) -> String {
        let told = self.setup.clock.now().saturating_sub(RECENT).unwrap_or(Timestamp::MIN);
        if end > told { told.to_string() } else { text }
    }
}

fn span(days: Days) -> [String; 2] {
    [days.from.to_string(), days.to.to_string()]
}

enum Job {
    Catalog,
    Quotes,
    Bars {
        timeframe: &'static str,
        feed: Feed,
        span: [String; 2],
    },
    Actions(&'static str, Days),
}

struct Requests<'a> {
    of: &'a Alpaca,
    ask: &'a Ask,
    job: Job,
}

impl Errand for Requests<'_> {
    fn url(&self, piece: &Asked, page: Option<&str>) -> Url {
        let (symbols, feed) = (piece.list(), self.of.config.feed.name());
        let (path, mut query, span): (&[&str], Vec<(&str, &str)>, [String; 2]);
        match &self.job {
            Job::Catalog => {
                let query = [("status", "active"), ("asset_class", "us_equity")];
                return self.of.trading.at(&["v2", "assets"], &query);
            }
            Job::Quotes => {
                let query = [("symbols", symbols.as_str()), ("feed", feed)];
                return self.of.data.at(&["v2", "stocks", "snapshots"], &query);
            }
            Job::Bars {
                timeframe,
                feed,
                span: of,
            } => {
                span = of.clone();
                path = &["v2", "stocks", "bars"];
                query = vec![
                    ("timeframe", *timeframe),
                    ("limit", BARS_A_PAGE),
                    ("adjustment", "raw"),
                    ("feed", feed.name()),
                ];
            }
            Job::Actions(types, days) => {
                span = self::span(*days);
                path = &["v1", "corporate-actions"];
                query = vec![("types", *types), ("limit", ACTIONS_A_PAGE)];
            }
        }
        query.extend([("symbols", symbols.as_str()), ("start", &span[0]), ("end", &span[1])]);
        query.extend(page.map(|page| ("page_token", page)));
        self.of.data.at(path, &query)
    }

    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError> {
        match &self.job {
            Job::Catalog => parse::assets(body).map(Page::from),
            Job::Quotes => parse::snapshots(body, piece, self.of.config.feed.has_whole_volume()).map(Page::from),
            Job::Bars { .. } => match self.ask {
                Ask::MinuteBars(_, times) => parse::bars(body, piece, |time| times.has(time), false),
                Ask::DailyBars(_, days) | Ask::Benchmark(_, days) => {
                    parse::bars(body, piece, |time| days.has(new_york_date(time)), true)
                }
                _ => Ok(Page::default()),
            },
            Job::Actions(_, days) => parse::actions(body, piece, *days),
        }
    }

    fn most_bytes(&self) -> Option<usize> {
        matches!(self.job, Job::Catalog).then_some(self.of.setup.most_catalog_bytes)
    }
}
