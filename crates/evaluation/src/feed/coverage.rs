//! Startup warnings about kinds of data that no provider delivers.

use sources::provider::Capability;
use sources::routing::ProviderRouter;

/// Returns the consequence of a capability without a provider; `None` if there is a substitute.
const fn consequence(missing: Capability) -> Option<&'static str> {
    Some(match missing {
        Capability::Catalog => "stocks have no names, and a symbol is known only after a provider has a price for it",
        Capability::Quotes => "price alerts cannot be evaluated",
        Capability::MinuteBars => "prices missed during an outage of the feed or the service are not filled in",
        Capability::DailyBars => "indicators, candles and analyses have no data from before the first observed session",
        Capability::Benchmark => "performance cannot be compared with the benchmark",
        Capability::Fundamentals => "P/E alerts cannot be evaluated",
        Capability::Earnings => "earnings alerts cannot be evaluated",
        Capability::Dividends => "dividend alerts cannot be evaluated, and paper trades earn no dividends",
        Capability::Splits => "splits are not noticed, and thresholds are not adjusted to them",
        Capability::InsiderTrades => "insider alerts cannot be evaluated",
        Capability::Mentions => "social buzz alerts cannot be evaluated",
        // Without a stream, prices are polled.
        Capability::Stream => return None,
    })
}

/// Returns the capabilities that are not offered, each with its consequence.
fn missing(is_offered: impl Fn(Capability) -> bool) -> impl Iterator<Item = (Capability, &'static str)> {
    let missing = Capability::ALL
        .into_iter()
        .filter(move |&capability| !is_offered(capability));
    missing.filter_map(|capability| Some((capability, consequence(capability)?)))
}

/// Logs a warning for each capability without a provider.
pub(super) fn warn_about_missing(router: &ProviderRouter) {
    for (capability, consequence) in missing(|capability| router.offers(capability)) {
        tracing::warn!(%capability, "no provider is set for {capability}: {consequence}; see [sources] in the settings");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_each_missing_capability_except_stream() {
        let offered = [Capability::Quotes, Capability::DailyBars, Capability::Benchmark];
        let names: Vec<_> = missing(|capability| offered.contains(&capability))
            .map(|(capability, _)| capability.name())
            .collect();
        let expected = [
            "catalog",
            "minute_bars",
            "fundamentals",
            "earnings",
            "dividends",
            "splits",
            "insider_trades",
            "mentions",
        ];
        assert_eq!(names, expected);
        assert_eq!(missing(|_| true).count(), 0);
    }
}
