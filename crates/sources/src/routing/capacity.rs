//! Estimates how many symbols a provider's plan can serve, and how often.

use std::fmt;
use std::time::Duration;

use super::table::format_table;
use crate::provider::http::RequestLimit;
use crate::provider::{Capability, CapabilityOffer, RequestScope, Tier};

/// The length of a regular session: quotes are polled for this long each day.
const SESSION_LENGTH: Duration = Duration::from_secs(390 * 60);
/// The length of extended hours: quotes of some symbols are polled for this long besides.
const EXTENDED_LENGTH: Duration = Duration::from_secs((960 - 390) * 60);

/// The polling of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollingConfig {
    /// The wanted interval between two polls of a symbol, if the plan allows it.
    pub every: Duration,
    /// The share of the plan that polling may use, in percent. The rest is for bars of gaps and for the nightly requests.
    pub share_percent: u32,
    /// The number of the polled symbols that are polled in extended hours, too.
    pub extended_symbols: usize,
}

impl Default for PollingConfig {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(60),
            share_percent: 90,
            extended_symbols: 0,
        }
    }
}

/// The estimate for one capability of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityEstimate {
    /// The capability.
    pub capability: Capability,
    /// The number of requests in a round over all symbols; 0 for a stream.
    pub requests: u64,
    /// The duration of a round; for polled quotes, the time from one round to the next.
    pub round: Duration,
    /// The maximum age of the data.
    pub oldest: Duration,
    /// The number of symbols that are served.
    pub symbols: usize,
    /// Whether the plan serves all symbols as often as wanted.
    pub fits: bool,
}

/// The estimate for a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityEstimate {
    /// The plan.
    pub tier: Tier,
    /// The number of symbols.
    pub symbols: usize,
    /// The wanted polling of quotes.
    pub polling: PollingConfig,
    /// The estimates, ordered by capability.
    pub capabilities: Vec<CapabilityEstimate>,
}

/// Estimates how `tier` serves `symbols` watched symbols. Only watched symbols are requested.
#[must_use]
pub fn estimate_capacity(tier: &Tier, symbols: usize, polling: PollingConfig) -> CapacityEstimate {
    let mut offers = tier.offers.clone();
    offers.sort_by_key(|offer| offer.capability);
    CapacityEstimate {
        tier: tier.clone(),
        symbols,
        polling,
        capabilities: offers
            .into_iter()
            .map(|offer| estimate_capability(offer, &tier.request_limits, symbols, polling))
            .collect(),
    }
}

fn estimate_capability(
    offer: CapabilityOffer,
    quotas: &[RequestLimit],
    symbols: usize,
    polling: PollingConfig,
) -> CapabilityEstimate {
    let requests_for = |symbols: usize| match offer.scope {
        RequestScope::Market => u64::from(symbols > 0),
        RequestScope::Symbols(most) => u64::try_from(symbols)
            .unwrap_or(u64::MAX)
            .div_ceil(u64::from(most.max(1))),
        RequestScope::Subscription(_) => 0,
    };
    let requests = requests_for(symbols);
    let served = match offer.scope {
        RequestScope::Subscription(Some(most)) => symbols.min(usize::try_from(most).unwrap_or(usize::MAX)),
        _ => symbols,
    };
    let (round, fits) = match offer.capability {
        Capability::Stream => (Duration::ZERO, served == symbols),
        Capability::Quotes => {
            let extended = if offer.has_extended_hours {
                polling.extended_symbols.min(symbols)
            } else {
                0
            };
            let rounds = DailyRounds::Polled {
                extended: requests_for(extended),
            };
            let fastest = shortest_round(requests, quotas, polling.share_percent, rounds);
            (fastest.max(polling.every), fastest <= polling.every)
        }
        // A night has ten hours, which several capabilities share.
        _ => {
            let fastest = shortest_round(requests, quotas, 100, DailyRounds::One);
            (fastest, fastest <= Duration::from_secs(3_600))
        }
    };
    CapabilityEstimate {
        capability: offer.capability,
        requests,
        round,
        oldest: round.saturating_add(offer.delay),
        symbols: served,
        fits,
    }
}

/// The rounds of a day.
#[derive(Clone, Copy)]
enum DailyRounds {
    /// One round at a time without other requests.
    One,
    /// Rounds that follow each other in the session, and rounds of `extended` requests in extended hours.
    Polled { extended: u64 },
}

/// Returns the shortest duration of a round of `requests` requests, with this share of each quota. A quota whose window is longer than
/// the session is spread over the hours of the day in which requests are sent.
fn shortest_round(requests: u64, quotas: &[RequestLimit], share_percent: u32, rounds: DailyRounds) -> Duration {
    let of = |quota: &RequestLimit| {
        let allowed = f64::from(quota.requests.max(1)) * f64::from(share_percent.clamp(1, 100)) / 100.0;
        #[expect(clippy::cast_precision_loss, reason = "a number of requests for display")]
        let sent_for = |requests: u64, time: Duration| requests as f64 * time.as_secs_f64();
        let sent = match rounds {
            DailyRounds::One => sent_for(requests, quota.window),
            DailyRounds::Polled { extended } => {
                let more = quota.window.saturating_sub(SESSION_LENGTH).min(EXTENDED_LENGTH);
                sent_for(requests, quota.window.min(SESSION_LENGTH)) + sent_for(extended, more)
            }
        };
        Duration::try_from_secs_f64((sent / allowed).ceil()).unwrap_or(Duration::MAX)
    };
    // Requests that fit into the shortest window at once take no longer than that window.
    quotas.iter().map(of).max().unwrap_or_default()
}

impl CapacityEstimate {
    /// Returns the estimate for `capability`.
    #[must_use]
    pub fn capability(&self, capability: Capability) -> Option<&CapabilityEstimate> {
        self.capabilities.iter().find(|line| line.capability == capability)
    }
}

/// Formats a duration as `90 s`, `12 min`, `3.5 h` or `2.1 days`.
pub(super) fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let short = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match seconds {
        s if s < 120.0 => short(s, "s"),
        s if s < 7_200.0 => short(s / 60.0, "min"),
        s if s < 172_800.0 => short(s / 3_600.0, "h"),
        s => short(s / 86_400.0, "days"),
    }
}

impl fmt::Display for CapacityEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quota = |quota: &RequestLimit| format!("{} in {}", quota.requests, format_duration(quota.window));
        let quotas = self
            .tier
            .request_limits
            .iter()
            .map(quota)
            .collect::<Vec<_>>()
            .join(", ");
        writeln!(
            f,
            "{} ({}): {} symbols, requests at most {quotas}",
            self.tier.provider, self.tier.plan, self.symbols
        )?;
        let head = ["capability", "requests>", "a round takes>", "oldest datum>", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for line in &self.capabilities {
            let result = match (line.fits, line.capability) {
                (true, _) => "fits".to_owned(),
                (false, Capability::Stream) => format!("{} of {} symbols; poll the others", line.symbols, self.symbols),
                (false, Capability::Quotes) => format!("does not fit into {}", format_duration(self.polling.every)),
                (false, _) => "does not fit into an hour".to_owned(),
            };
            let (requests, round) = match line.capability {
                Capability::Stream => ("-".to_owned(), "-".to_owned()),
                _ => (line.requests.to_string(), format_duration(line.round)),
            };
            rows.push(vec![
                line.capability.to_string(),
                requests,
                round,
                format_duration(line.oldest),
                result,
            ]);
        }
        f.write_str(&format_table(&rows))
    }
}

#[cfg(test)]
mod tests;
