//! Checks for values that are valid alone but not in combination. Each message names the fix.

use jiff::civil::time;
use sources::provider::Capability;

use super::{ProviderName, ProviderSelection, SourcesConfig};
use crate::settings::layers::Layers;
use crate::settings::{MarketConfig, SourceKind};

impl SourcesConfig {
    /// Rejects contradictory settings, also in combination with the market's settings.
    pub(in crate::settings) fn check(&self, market: &MarketConfig, layers: &mut Layers) {
        let (id, secret) = (self.alpaca.key_id.is_some(), self.alpaca.secret.is_some());
        let (id_key, secret_key) = ("sources.alpaca.key_id", "sources.alpaca.secret");
        layers.require(secret || !id, secret_key, &format!("must be given with {id_key}"));
        layers.require(id || !secret, id_key, &format!("must be given with {secret_key}"));
        for capability in Capability::ALL {
            self.check_named(capability, layers);
        }
        self.check_times(layers);
        if market.source == SourceKind::Providers {
            self.check_polling(market, layers);
            self.check_coverage(layers);
        }
    }

    /// Each named provider must be set up and offer the capability.
    fn check_named(&self, capability: Capability, layers: &mut Layers) {
        let ProviderSelection::Named(names) = self.selection(capability) else {
            return;
        };
        for (at, name) in names.iter().enumerate() {
            let problem = if names[..at].contains(name) {
                format!("names {name} twice; name it once")
            } else {
                match self.tier(*name) {
                    Some(tier) if tier.offer(capability).is_some() => continue,
                    Some(tier) => format!(
                        "names {name}, which does not offer {capability} on the plan {}; {}",
                        tier.plan,
                        self.alternatives(capability)
                    ),
                    None => {
                        let switch = name.required_settings();
                        format!("names {name}, which is not set up: set {switch}; or name another")
                    }
                }
            };
            layers.refuse(&format!("sources.{capability}"), &problem);
        }
    }

    /// Suggests the providers that offer the capability.
    fn alternatives(&self, capability: Capability) -> String {
        let names: Vec<_> = self.offering(capability).map(ProviderName::name).collect();
        match names.as_slice() {
            [] => "remove it: no configured provider offers it".to_owned(),
            names => format!("name one that does: {}", names.join(", ")),
        }
    }

    fn check_times(&self, layers: &mut Layers) {
        let share = self.quota_share_percent.get();
        layers.require(share <= 100, "sources.quota_share_percent", "must be at most 100");
        layers.require(
            self.late_after <= self.quote_stale_after,
            "sources.late_after",
            "must be at most sources.quote_stale_after: a stale quote is late, too",
        );
        layers.require(
            !(time(9, 30, 0, 0)..time(16, 0, 0, 0)).contains(&self.nightly_at),
            "sources.nightly_at",
            "must not be within the session (09:30 to 16:00 in New York): the data for the jobs is complete only after it",
        );
    }

    fn check_polling(&self, market: &MarketConfig, layers: &mut Layers) {
        layers.require(
            self.late_after > self.poll_every,
            "sources.late_after",
            "must be longer than sources.poll_every: a price can be that old when it is requested",
        );
        layers.require(
            self.late_after < market.stale_after,
            "sources.late_after",
            "must be less than market.stale_after, or alerts report stale quotes of stocks with a current price",
        );
    }

    /// Prices and daily bars are required: without prices nothing is evaluated, and without completed sessions only
    /// few conditions are.
    fn check_coverage(&self, layers: &mut Layers) {
        let has_provider = |capability| !self.providers_for(capability).is_empty();
        layers.require(
            has_provider(Capability::Quotes) || has_provider(Capability::Stream),
            "market.source",
            "is \"providers\", but no provider is set up for prices during the session: set sources.alpaca.key_id and \
             sources.alpaca.secret, or sources.finnhub.key, and name the provider in sources.quotes or \
             sources.stream",
        );
        layers.require(
            has_provider(Capability::DailyBars),
            "market.source",
            "is \"providers\", but no provider is set up for daily bars: set sources.alpaca.key_id and \
             sources.alpaca.secret, or sources.massive.key, or sources.tiingo.key, and name the provider in \
             sources.daily_bars",
        );
    }
}
