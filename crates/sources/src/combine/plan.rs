//! What a provider's plan is enough for.

use std::fmt;
use std::time::Duration;

use super::table::table;
use crate::provider::http::Quota;
use crate::provider::{Capability, Offer, Reach, Tier};

/// A regular session: quotes are polled for so long a day.
const SESSION: Duration = Duration::from_secs(390 * 60);

/// How prices are to be polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Polling {
    /// Each symbol is to be asked for so often, if the plan allows it.
    pub every: Duration,
    /// How much of the plan polling may use, in percent; the rest is for bars of gaps and for the nightly jobs.
    pub share_percent: u32,
}

impl Default for Polling {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(60),
            share_percent: 90,
        }
    }
}

/// One capability of a plan, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What.
    pub capability: Capability,
    /// How many requests a round over all symbols takes; none of a stream.
    pub requests: u64,
    /// How long a round takes, or for polled quotes the time from one to the next.
    pub round: Duration,
    /// How old a datum can get.
    pub oldest: Duration,
    /// How many symbols are served.
    pub symbols: usize,
    /// Whether that is as often as is wanted, and for all symbols.
    pub fits: bool,
}

/// What a plan is enough for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Whose.
    pub tier: Tier,
    /// For how many symbols.
    pub symbols: usize,
    /// How often quotes are wanted.
    pub polling: Polling,
    /// What it comes to, in the order of the capabilities.
    pub lines: Vec<Line>,
}

/// What `tier` is enough for with so many symbols that somebody watches: nobody else's are asked for.
#[must_use]
pub fn plan(tier: &Tier, symbols: usize, polling: Polling) -> Plan {
    let mut offers = tier.offers.clone();
    offers.sort_by_key(|offer| offer.capability);
    Plan {
        tier: tier.clone(),
        symbols,
        polling,
        lines: offers
            .into_iter()
            .map(|offer| line(offer, &tier.quotas, symbols, polling))
            .collect(),
    }
}

fn line(offer: Offer, quotas: &[Quota], symbols: usize, polling: Polling) -> Line {
    let requests = match offer.reach {
        Reach::Market => 1,
        Reach::Symbols(most) => u64::try_from(symbols)
            .unwrap_or(u64::MAX)
            .div_ceil(u64::from(most.max(1))),
        Reach::Subscription(_) => 0,
    };
    let served = match offer.reach {
        Reach::Subscription(Some(most)) => symbols.min(usize::try_from(most).unwrap_or(usize::MAX)),
        _ => symbols,
    };
    let (round, fits) = match offer.capability {
        Capability::Stream => (Duration::ZERO, served == symbols),
        Capability::Quotes => {
            let fastest = fastest_round(requests, quotas, polling.share_percent, Some(SESSION));
            (fastest.max(polling.every), fastest <= polling.every)
        }
        // A night has ten hours, and there are others who want something.
        _ => {
            let fastest = fastest_round(requests, quotas, 100, None);
            (fastest, fastest <= Duration::from_secs(3_600))
        }
    };
    Line {
        capability: offer.capability,
        requests,
        round,
        oldest: round.saturating_add(offer.delay),
        symbols: served,
        fits,
    }
}

/// How long a round of so many requests takes if it is made over and over, with this share of each quota. A quota of longer than
/// `day` is used up within it.
fn fastest_round(requests: u64, quotas: &[Quota], share_percent: u32, day: Option<Duration>) -> Duration {
    let of = |quota: &Quota| {
        let window = day.map_or(quota.within, |day| quota.within.min(day));
        let allowed = f64::from(quota.requests.max(1)) * f64::from(share_percent.clamp(1, 100)) / 100.0;
        #[expect(clippy::cast_precision_loss, reason = "a number of requests, to tell a person")]
        let rounds = requests as f64 / allowed;
        Duration::try_from_secs_f64((window.as_secs_f64() * rounds).ceil()).unwrap_or(Duration::MAX)
    };
    // What fits into the shortest window at once takes no longer than that window.
    quotas.iter().map(of).max().unwrap_or_default()
}

impl Plan {
    /// What it comes to for `capability`.
    #[must_use]
    pub fn line(&self, capability: Capability) -> Option<&Line> {
        self.lines.iter().find(|line| line.capability == capability)
    }
}

/// `90 s`, `12 min`, `3.5 h`, `2.1 days`.
pub(super) fn span(duration: Duration) -> String {
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

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quota = |quota: &Quota| format!("{} in {}", quota.requests, span(quota.within));
        let quotas = self.tier.quotas.iter().map(quota).collect::<Vec<_>>().join(", ");
        writeln!(
            f,
            "{} ({}): {} symbols, requests at most {quotas}",
            self.tier.provider, self.tier.plan, self.symbols
        )?;
        let head = ["capability", "requests>", "a round takes>", "oldest datum>", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for line in &self.lines {
            let verdict = match (line.fits, line.capability) {
                (true, _) => "fits".to_owned(),
                (false, Capability::Stream) => format!("{} of {} symbols; poll the others", line.symbols, self.symbols),
                (false, Capability::Quotes) => format!("does not fit into {}", span(self.polling.every)),
                (false, _) => "does not fit into an hour".to_owned(),
            };
            let (requests, round) = match line.capability {
                Capability::Stream => ("-".to_owned(), "-".to_owned()),
                _ => (line.requests.to_string(), span(line.round)),
            };
            rows.push(vec![
                line.capability.to_string(),
                requests,
                round,
                span(line.oldest),
                verdict,
            ]);
        }
        f.write_str(&table(&rows))
    }
}

#[cfg(test)]
mod tests;
