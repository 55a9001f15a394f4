//! Warnings at the start about kinds of data that no provider delivers.

use sources::provider::{Capability, CapabilitySet};

/// The consequence of a capability that no provider is set for; `None` if something else stands in for it.
const fn consequence(missing: Capability) -> Option<&'static str> {
    Some(match missing {
        Capability::Catalog => "stocks go by their symbols, and a symbol is known once a provider has a price of it",
        Capability::Quotes => "no price alert can be judged",
        Capability::MinuteBars => "prices that were missed while the feed or the service was down are not made up for",
        Capability::DailyBars => "indicators, candles and analyses know no session before the first observed one",
        Capability::Benchmark => "performance cannot be compared with the benchmark",
        Capability::Fundamentals => "P/E alerts cannot be judged",
        Capability::Earnings => "earnings alerts cannot be judged",
        Capability::Dividends => "dividend alerts cannot be judged, and paper trades earn no dividends",
        Capability::Splits => "splits go unnoticed, and thresholds stay in old shares",
        Capability::InsiderTrades => "insider alerts cannot be judged",
        Capability::Mentions => "social buzz alerts cannot be judged",
        // Prices are polled instead.
        Capability::Stream => return None,
    })
}

/// The capabilities that no provider is set for, each with its consequence.
pub(super) fn missing(set: CapabilitySet) -> impl Iterator<Item = (Capability, &'static str)> {
    let missing = Capability::ALL
        .into_iter()
        .filter(move |&capability| !set.has(capability));
    missing.filter_map(|capability| Some((capability, consequence(capability)?)))
}

/// Logs a warning for each capability that no provider is set for.
pub(super) fn warn_about_missing(set: CapabilitySet) {
    for (capability, consequence) in missing(set) {
        tracing::warn!(%capability, "no provider is set for {capability}: {consequence}; see [sources] in the settings");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_without_a_provider_is_named_and_polling_stands_in_for_a_stream() {
        let set = [Capability::Quotes, Capability::DailyBars, Capability::Benchmark]
            .into_iter()
            .collect();
        let names: Vec<String> = missing(set).map(|(capability, _)| capability.to_string()).collect();
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
        assert_eq!(names.len(), expected.len(), "{names:?}");
        assert!(
            expected.iter().all(|name| names.iter().any(|found| found == name)),
            "{names:?}"
        );
        assert_eq!(missing(Capability::ALL.into_iter().collect()).count(), 0);
    }
}
