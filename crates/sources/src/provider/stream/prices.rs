//! The consumer's end of a stream.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use market::Symbol;
use market::records::QuoteRow;
use tokio::sync::{Notify, watch};

use super::StreamFault;
use super::board::Board;
use crate::provider::Times;

/// The symbols that a stream is to bring.
pub type Wanted = watch::Receiver<Arc<BTreeSet<Symbol>>>;

/// What is new.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// The newest price of each symbol that has a new one.
    pub quotes: Vec<QuoteRow>,
    /// A stretch of which nothing was heard, now that the stream is back.
    pub gap: Option<Times>,
}

/// How a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// It is being connected.
    #[default]
    Connecting,
    /// Prices come in.
    Live,
    /// It is connected and answers, but has brought no price since then although stocks are traded.
    Silent(Timestamp),
    /// The connection was lost; the next one is made at this instant.
    Waiting(Timestamp),
    /// It has ended.
    Ended,
}

/// How a stream is and what it has been through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How it is.
    pub state: State,
    /// How often it was connected.
    pub connected: u64,
    /// How often a connection was lost.
    pub lost: u64,
    /// What the provider complained of last.
    pub last_fault: Option<StreamFault>,
    /// When something was heard last.
    pub heard_at: Option<Timestamp>,
    /// Messages that came in.
    pub messages: u64,
    /// Trades that nobody was told of, because lower, higher and newer ones came before anybody took them.
    pub conflated: u64,
    /// What made no sense.
    pub unreadable: u64,
    /// Trades that make no last price.
    pub passed_over: u64,
    /// Symbols that are wanted but beyond what the plan has.
    pub left_out: usize,
    /// Wanted symbols that the provider may have refused ([`Prices::refused`]).
    pub refused: usize,
}

/// What the task and the consumer share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<Inner>,
    pub(super) bell: Notify,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) board: Board,
    pub(super) gap: Option<Times>,
    pub(super) report: Report,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Widens the gap to be told by another one.
    pub(super) fn add_gap(&mut self, gap: Times) {
        let known = self.gap.unwrap_or(gap);
        self.gap = Some(Times {
            from: known.from.min(gap.from),
            to: known.to.max(gap.to),
        });
    }
}

/// What comes in. The stream ends when this is dropped.
#[derive(Debug)]
pub struct Prices {
    pub(super) shared: Arc<Shared>,
    /// Its end tells the task that nobody listens any more; the task's end tells us that nothing will come.
    pub(super) line: watch::Receiver<()>,
}

impl Prices {
    /// Waits for something new and takes all of it; `None` when the stream has ended and everything is taken.
    pub async fn next(&mut self) -> Option<News> {
        loop {
            if let Some(news) = self.take() {
                return Some(news);
            }
            tokio::select! {
                () = self.shared.bell.notified() => {}
                _ = self.line.changed() => return self.take(),
            }
        }
    }

    /// Waits until prices can come in, or the connection was lost, or the stream has ended.
    pub async fn settled(&mut self) -> State {
        loop {
            match self.report().state {
                State::Connecting => {}
                state => return state,
            }
            tokio::select! {
                () = self.shared.bell.notified() => {}
                _ = self.line.changed() => return self.report().state,
            }
        }
    }

    /// What is new already, if anything is.
    pub fn take(&mut self) -> Option<News> {
        let mut inner = self.shared.lock();
        let news = News {
            quotes: inner.board.take(),
            gap: inner.gap.take(),
        };
        (!news.quotes.is_empty() || news.gap.is_some()).then_some(news)
    }

    /// The wanted symbols that the provider may have refused to stream: it has said that there are too many, and these have
    /// had no trade.
    #[must_use]
    pub fn refused(&self) -> BTreeSet<Symbol> {
        self.shared.lock().board.refused_names().collect()
    }

    /// How the stream is.
    #[must_use]
    pub fn report(&self) -> Report {
        let inner = self.shared.lock();
        Report {
            conflated: inner.board.conflated,
            refused: inner.board.refused_names().count(),
            ..inner.report.clone()
        }
    }
}
