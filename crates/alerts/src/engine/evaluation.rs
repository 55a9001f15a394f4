//! Why an alert cannot be judged at present.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::{Session, new_york_date};

use super::Engine;
use super::event::Feed;
use super::hot_line::HotLine;
use super::registry::Watch;
use super::stock::Stock;
use crate::alert::AlertId;
use crate::condition::Condition;

/// Whether an alert is being judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// Whether, and why not.
    pub state: State,
    /// Since when it has been so, as far as is known.
    pub since: Timestamp,
}

/// Whether an alert is being judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It is.
    Ok,
    /// It will be, when what is missing has come about by itself.
    Waiting(NotJudged),
    /// It is not, and something has to be done about it.
    Blind(NotJudged),
}

/// What keeps an alert from being judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotJudged {
    /// No price was observed since it was armed, or ever.
    NoPrice,
    /// Too few completed sessions.
    TooLittleHistory {
        /// How many there are.
        have: u16,
        /// How many it takes.
        need: u16,
    },
    /// The stock has not moved at all, or was not traded, over the whole span of the indicator.
    NoMovement,
    /// A percent change without a price to count from; the first current price becomes it.
    NoInitialPrice,
    /// No earnings per share are known.
    NoEarningsPerShare,
    /// Earnings per share are zero or negative.
    EarningsNotPositive,
    /// No date ahead is known.
    NoDateKnown,
    /// Mentions are not known for eight days without a gap yet.
    TooFewMentions,
    /// Quotes have stopped during the session.
    StaleQuotes,
    /// The last price is dated after the present, so no alert is judged by it.
    LastPriceInFuture {
        /// The time of the price.
        at: Timestamp,
    },
    /// No source delivers what it takes.
    NoSource(Feed),
    /// No source has delivered the data: no mentions of the stock within eight days, or nothing at all of another kind.
    NeverDelivered(Feed),
}

/// Mentions older than this do not count: a stock without newer ones has no source of mentions.
const MENTIONS_MAX_AGE: SignedDuration = SignedDuration::from_hours(8 * 24);

impl fmt::Display for NotJudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrice => f.write_str("no price has been observed yet"),
            Self::TooLittleHistory { have, need } => {
                write!(f, "too little history: {have} completed sessions, it takes {need}")
            }
            Self::NoMovement => f.write_str("the stock has not moved or was not traded over the whole span"),
            Self::NoInitialPrice => {
                f.write_str("there is no initial price to count from yet; the first current price becomes it")
            }
            Self::NoEarningsPerShare => f.write_str("no earnings per share are known"),
            Self::EarningsNotPositive => f.write_str("earnings per share are not above zero, so there is no P/E"),
            Self::NoDateKnown => f.write_str("no date ahead is known"),
            Self::TooFewMentions => f.write_str("mentions are not known for eight days without a gap yet"),
            Self::StaleQuotes => f.write_str("quotes have stopped coming during the session"),
            Self::LastPriceInFuture { at } => write!(
                f,
                "the last price is dated {at:.0}, which lies in the future; the alert waits for the next price"
            ),
            Self::NoSource(feed) => write!(f, "no source delivers {}", feed.name()),
            Self::NeverDelivered(Feed::Mentions) => {
                f.write_str("no source has delivered mentions of this stock in the last eight days")
            }
            Self::NeverDelivered(feed) => write!(f, "no source has delivered {} yet", feed.name()),
        }
    }
}

impl Feed {
    /// What the feed delivers, in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Fundamentals => "fundamentals",
            Self::Earnings => "earnings dates",
            Self::Dividends => "dividends",
            Self::Insiders => "insider trades",
            Self::Mentions => "mentions",
        }
    }

    /// The feed a condition cannot do without; `None` for those of the clock alone.
    #[must_use]
    pub const fn of(condition: &Condition) -> Option<Self> {
        match condition {
            Condition::SocialBuzz(_) => Some(Self::Mentions),
            Condition::InsiderTransactions(_) => Some(Self::Insiders),
            Condition::EarningsAnnouncement { .. } => Some(Self::Earnings),
            Condition::DividendExDate { .. } | Condition::DividendPayment { .. } => Some(Self::Dividends),
            Condition::Reminder { .. } | Condition::DailyReminder(_) => None,
            _ => Some(Self::Quotes),
        }
    }
}

/// A stock whose quotes have stopped coming during the session that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleStock {
    /// The stock.
    pub symbol: Symbol,
    /// When it was observed last.
    pub last_at: Timestamp,
    /// From when on its quotes were stale.
    pub since: Timestamp,
}

/// How many alerts are in which state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Are being judged.
    pub ok: usize,
    /// Will be, by themselves.
    pub waiting: usize,
    /// Will not be unless something is done about it.
    pub blind: usize,
}

impl Engine {
    /// How many of the armed alerts are being judged, and how many not. It looks at each of them.
    #[must_use]
    pub fn tally(&self, now: Timestamp) -> Tally {
        let mut tally = Tally::default();
        for slot in self.registry.live() {
            match self.why_not(self.registry.watch(slot), now) {
                None => tally.ok += 1,
                Some(reason) if reason.is_blind() => tally.blind += 1,
                Some(_) => tally.waiting += 1,
            }
        }
        tally
    }

    /// Whether an alert is being judged, and if not, why; `None` if it is not armed.
    #[must_use]
    pub fn evaluation(&self, id: AlertId, now: Timestamp) -> Option<Evaluation> {
        let watch = self.registry.watch(self.registry.find(id)?);
        let hot = &self.hot[watch.stock.0 as usize];
        let (state, since) = match self.why_not(watch, now) {
            Some(reason @ NotJudged::StaleQuotes) => (State::Blind(reason), self.stale_since(hot, now).unwrap_or(now)),
            Some(reason) if reason.is_blind() => (State::Blind(reason), watch.armed_at),
            Some(reason) => (State::Waiting(reason), watch.armed_at),
            None => (State::Ok, watch.armed_at),
        };
        Some(Evaluation { state, since })
    }

    /// The stocks whose quotes have stopped coming during the session that is open: of which alerts are blind for
    /// [`NotJudged::StaleQuotes`]. It looks at each stock once and at no alert.
    #[must_use]
    pub fn stale_stocks(&self, now: Timestamp) -> Vec<StaleStock> {
        let Some(session) = self.calendar.session_at(now) else {
            return Vec::new();
        };
        if self.feeds.is_lost(Feed::Quotes) {
            return Vec::new();
        }
        let stocks = self.symbols.iter().zip(&self.hot);
        let stale = stocks.filter_map(|(&symbol, hot)| {
            let since = self.stale_from(hot, &session).filter(|since| *since < now)?;
            (hot.last != 0).then_some(StaleStock {
                symbol,
                last_at: hot.last_at(),
                since,
            })
        });
        stale.collect()
    }

    fn why_not(&self, watch: &Watch, now: Timestamp) -> Option<NotJudged> {
        let feed = Feed::of(&watch.condition)?;
        if self.feeds.is_lost(feed) {
            return Some(NotJudged::NoSource(feed));
        }
        if matches!(watch.condition, Condition::PeRatio { .. }) && self.feeds.is_lost(Feed::Fundamentals) {
            return Some(NotJudged::NoSource(Feed::Fundamentals));
        }
        let at = watch.stock.0 as usize;
        let stock = &self.stocks[at];
        if feed != Feed::Quotes {
            if !self.has_delivered(feed, stock, now) {
                return Some(NotJudged::NeverDelivered(feed));
            }
            return missing_fact(stock, &watch.condition, now);
        }
        let hot = &self.hot[at];
        let stale = || (self.stale_since(hot, now)? < now).then_some(NotJudged::StaleQuotes);
        match missing_figure(stock, hot, watch) {
            // The initial price waits for quotes, too, so that they have stopped explains more.
            Some(NotJudged::NoInitialPrice) if hot.last != 0 => stale().or(Some(NotJudged::NoInitialPrice)),
            Some(missing) => Some(missing),
            None if hot.last == 0 => Some(NotJudged::NoPrice),
            None => stale(),
        }
    }

    /// Whether a feed delivers the data that alerts on the stock need. Mentions count for each stock alone: a source leaves out
    /// the stocks that it does not follow.
    fn has_delivered(&self, feed: Feed, stock: &Stock, now: Timestamp) -> bool {
        if feed != Feed::Mentions {
            return self.feeds.has_delivered(feed);
        }
        let newest = stock.facts.as_deref().and_then(|facts| facts.buzz.newest());
        newest.is_some_and(|newest| now.duration_since(newest) <= MENTIONS_MAX_AGE)
    }

    /// From when on a stock's quotes are stale; `None` on a market that is closed.
    fn stale_since(&self, hot: &HotLine, now: Timestamp) -> Option<Timestamp> {
        self.stale_from(hot, &self.calendar.session_at(now)?)
    }

    fn stale_from(&self, hot: &HotLine, session: &Session) -> Option<Timestamp> {
        let last_due = if self.calendar.is_always_open() {
            hot.last_at()
        } else {
            hot.last_at().max(session.open)
        };
        last_due.checked_add(self.settings.stale_after).ok()
    }
}

impl NotJudged {
    /// Whether waiting alone will not help.
    const fn is_blind(self) -> bool {
        matches!(
            self,
            Self::NoEarningsPerShare
                | Self::EarningsNotPositive
                | Self::StaleQuotes
                | Self::NoSource(_)
                | Self::NeverDelivered(_)
        )
    }
}

fn missing_fact(stock: &Stock, condition: &Condition, now: Timestamp) -> Option<NotJudged> {
    let facts = stock.facts.as_deref();
    match condition {
        Condition::SocialBuzz(_) => {
            (!facts.is_some_and(|facts| facts.buzz.is_known())).then_some(NotJudged::TooFewMentions)
        }
        Condition::InsiderTransactions(_) => None,
        _ => {
            let today = new_york_date(now);
            let known = facts.is_some_and(|facts| facts.knows_a_date(condition, today));
            (!known).then_some(NotJudged::NoDateKnown)
        }
    }
}

fn missing_figure(stock: &Stock, hot: &HotLine, watch: &Watch) -> Option<NotJudged> {
    let have = stock.history.len();
    let sessions = |need: u16| {
        let have = u16::try_from(have).unwrap_or(u16::MAX);
        (have < need).then_some(NotJudged::TooLittleHistory { have, need })
    };
    match watch.condition {
        Condition::PriceChange { .. } if watch.initial_price.is_none() => Some(NotJudged::NoInitialPrice),
        Condition::NewExtreme { .. } => sessions(1),
        Condition::MaCrossover { .. } => sessions(200),
        Condition::MaTouch { period, .. } => sessions(period - 1),
        Condition::Rsi { .. } => sessions(14).or_else(|| {
            let price = if hot.last == 0 {
                stock.history.close_back(0)?
            } else {
                hot.last
            };
            stock
                .history
                .rsi()
                .micros_at(price)
                .is_none()
                .then_some(NotJudged::NoMovement)
        }),
        Condition::VolumeChange { baseline, .. } => sessions(baseline.sessions()).or_else(|| {
            let traded = stock
                .history
                .sum_of_volumes(usize::from(baseline.sessions()))
                .is_some_and(|sum| sum > 0);
            (!traded).then_some(NotJudged::NoMovement)
        }),
        Condition::PeRatio { earnings, .. } => match stock.eps.known(earnings) {
            None => Some(NotJudged::NoEarningsPerShare),
            Some(eps) if eps <= 0 => Some(NotJudged::EarningsNotPositive),
            Some(_) => None,
        },
        _ => None,
    }
}
