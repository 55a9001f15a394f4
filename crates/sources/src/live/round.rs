//! A round of polling: the newest prices of some stocks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use crate::combine::{Combination, Fetched, NoAnswer, Polling, plan};
use crate::provider::{Ask, Capability};

/// Something that is under way; whoever waits for nothing waits for ever.
#[derive(Default)]
pub(super) struct UnderWay<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> UnderWay<T> {
    pub(super) const fn nothing() -> Self {
        Self(None)
    }

    pub(super) fn begin(&mut self, work: impl Future<Output = T> + Send + 'static) {
        self.0 = Some(Box::pin(work));
    }

    pub(super) const fn is_something(&self) -> bool {
        self.0.is_some()
    }

    /// Waits for its end. Nothing is lost if this is dropped before.
    pub(super) async fn end(&mut self) -> T {
        let Some(work) = &mut self.0 else {
            return std::future::pending().await;
        };
        let done = work.await;
        self.0 = None;
        done
    }
}

/// What came of a round.
#[derive(Debug)]
pub(super) struct Round {
    /// About whom.
    pub(super) symbols: Vec<Symbol>,
    /// When it began.
    pub(super) began: Timestamp,
    /// The answer.
    pub(super) outcome: Result<Fetched, NoAnswer>,
}

/// Asks for the newest prices.
pub(super) async fn poll(combination: Arc<Combination>, symbols: Vec<Symbol>, began: Timestamp) -> Round {
    let outcome = combination.fetch(&Ask::Quotes(symbols.clone())).await;
    Round {
        symbols,
        began,
        outcome,
    }
}

/// How long after the beginning of a round the next one begins: as is wished, or as the primary's plan allows.
pub(super) fn pace(combination: &Combination, symbols: usize, polling: Polling) -> SignedDuration {
    let primary = combination.providers(Capability::Quotes).next();
    let line = primary.and_then(|provider| {
        plan(provider.tier(), symbols, polling)
            .line(Capability::Quotes)
            .map(|line| line.round)
    });
    signed(line.unwrap_or(polling.every))
}

/// How old the newest price is that the primary of `capability` tells.
pub(super) fn delay(combination: &Combination, capability: Capability) -> SignedDuration {
    let primary = combination.providers(capability).next();
    let offer = primary.and_then(|provider| provider.tier().offer(capability));
    signed(offer.map(|offer| offer.delay).unwrap_or_default())
}

/// By how much the primary's clock is ahead of ours.
pub(super) fn skew(combination: &Combination, capability: Capability) -> SignedDuration {
    let primary = combination.providers(capability).next();
    primary.and_then(|provider| provider.clock_skew()).unwrap_or_default()
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
