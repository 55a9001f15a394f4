//! Prices of extended hours: for the stocks whose alerts are judged by them, from providers that document them.

use jiff::Timestamp;
use market::Symbol;
use market::records::QuoteRow;

use super::super::LiveContext;
use super::super::poll_round::polling_interval;
use super::super::price_stream::LivePriceStream;
use super::{PriceTask, ReportedBy};
use crate::provider::Capability;
use crate::routing::{PollingConfig, ProviderRouter};

/// Whether the primary of a capability delivers prices of extended hours.
fn primary_has_extended_hours(router: &ProviderRouter, capability: Capability) -> bool {
    let offer = router.providers(capability).next();
    let offer = offer.and_then(|provider| provider.tier().offer(capability));
    offer.is_some_and(|offer| offer.has_extended_hours)
}

impl LiveContext {
    /// Whether a quote must not be used, because it may be a price of the session that its provider dates later: it is dated in
    /// extended hours, the provider does not document such prices, and an alert would be judged by it.
    pub(super) fn is_doubtful_in_extended_hours(&self, quote: &QuoteRow, reported_by: ReportedBy<'_>) -> bool {
        let capability = match reported_by {
            ReportedBy::Stream(_) => Capability::Stream,
            ReportedBy::Answer(_) => Capability::Quotes,
        };
        let is_extended = |time: Timestamp| self.config.calendar.extended_hours_at(time).is_some();
        let is_documented = || {
            let provider = reported_by.provider_of(quote.symbol);
            let mut providers = self.config.router.providers(capability);
            let offer = providers.find(|candidate| Some(candidate.name()) == provider);
            let offer = offer.and_then(|provider| provider.tier().offer(capability));
            offer.is_some_and(|offer| offer.has_extended_hours)
        };
        quote.time.is_some_and(is_extended)
            && self.market_state.is_judged_in_extended_hours(quote.symbol)
            && !is_documented()
    }
}

impl PriceTask {
    /// Returns the stocks to poll outside the session, and whether it is the time of extended hours. One price per stock is enough for
    /// display; those that alerts are judged by are polled again and again.
    pub(super) fn stocks_to_poll_outside_session(&self, now: Timestamp) -> (Vec<Symbol>, bool) {
        let config = &self.context.config;
        let is_extended = config.calendar.extended_hours_at(now).is_some()
            && primary_has_extended_hours(&config.router, Capability::Quotes);
        let live_stream = self.stream.as_ref().filter(|stream| stream.is_live());
        let streamed = live_stream
            .filter(|_| primary_has_extended_hours(&config.router, Capability::Stream))
            .map(LivePriceStream::served)
            .unwrap_or_default();
        let is_polled = |symbol: &&Symbol| {
            let is_judged = || self.context.market_state.is_judged_in_extended_hours(**symbol);
            !self.requested_stocks.contains(*symbol) || is_extended && !streamed.contains(*symbol) && is_judged()
        };
        (self.watched.iter().filter(is_polled).copied().collect(), is_extended)
    }

    /// Returns the time between two rounds, in the session and in extended hours: the rounds of both share the quotas of a day.
    pub(super) fn interval_between_rounds(&self) -> jiff::SignedDuration {
        let config = &self.context.config;
        let is_judged = |symbol: &&Symbol| self.context.market_state.is_judged_in_extended_hours(**symbol);
        let polled = self.stocks_to_poll(false);
        let polling = PollingConfig {
            extended_symbols: polled.iter().filter(is_judged).count(),
            ..config.polling
        };
        polling_interval(&config.router, polled.len(), polling)
    }

    /// Returns when the next round outside the session is due.
    pub(super) fn next_round_outside_session(&self, now: Timestamp, is_extended: bool) -> Timestamp {
        let config = &self.context.config;
        let next = if is_extended {
            now.saturating_add(self.interval_between_rounds()).ok()
        } else if primary_has_extended_hours(&config.router, Capability::Quotes) {
            config.calendar.next_extended_open(now)
        } else {
            None
        };
        next.unwrap_or(Timestamp::MAX)
    }
}
