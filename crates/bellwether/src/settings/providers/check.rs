//! Checks for values that are valid alone but not in combination. Each message names the setting and the fix.

use jiff::civil::time;
use sources::provider::Capability;

use super::{ProviderName, ProviderSelection, SourcesConfig};
use crate::settings::layers::Layers;
use crate::settings::sections::MarketConfig;
use crate::settings::value::SourceKind;

impl SourcesConfig {
    /// Rejects contradictory settings, also in combination with the market's settings.
    pub(in crate::settings) fn check(&self, market: &MarketConfig, layers: &mut Layers) {
        self.check_alpaca(layers);
        for capability in Capability::ALL {
            self.check_named(capability, layers);
        }
        self.check_times(market, layers);
        if market.source == SourceKind::Providers {
            self.check_enough(layers);
        }
    }

    fn check_alpaca(&self, layers: &mut Layers) {
        let (id, secret) = (self.alpaca.key_id.is_some(), self.alpaca.secret.is_some());
        if id && !secret {
            layers.refuse("sources.alpaca.secret", "must be given with sources.alpaca.key_id");
        }
        if secret && !id {
            layers.refuse("sources.alpaca.key_id", "must be given with sources.alpaca.secret");
        }
    }

    /// Each named provider must be set up and offer the capability.
    fn check_named(&self, capability: Capability, layers: &mut Layers) {
        let ProviderSelection::Named(names) = self.selection(capability) else {
            return;
        };
        let key = format!("sources.{capability}");
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                layers.refuse(&key, &format!("names {name} twice; name it once"));
                continue;
            }
            let Some(tier) = self.tier(*name) else {
                let switch = name.required_settings();
                layers.refuse(
                    &key,
                    &format!("names {name}, which is not set up: set {switch}; or name another"),
                );
                continue;
            };
            if tier.offer(capability).is_none() {
                let what = format!(
                    "names {name}, which does not offer {capability} on the plan {}; {}",
                    tier.plan,
                    self.offered_by(capability)
                );
                layers.refuse(&key, &what);
            }
        }
    }

    /// Suggests the providers that offer the capability.
    fn offered_by(&self, capability: Capability) -> String {
        let offers = |name: &ProviderName| self.tier(*name).is_some_and(|tier| tier.offer(capability).is_some());
        let others: Vec<_> = ProviderName::default_order(capability)
            .into_iter()
            .filter(offers)
            .collect();
        match others.as_slice() {
            [] => "remove it: no configured provider offers it".to_owned(),
            others => {
                let names: Vec<_> = others.iter().map(|name| name.name()).collect();
                format!("name one that does: {}", names.join(", "))
            }
        }
    }

    fn check_times(&self, market: &MarketConfig, layers: &mut Layers) {
        if self.quota_share_percent.get() > 100 {
            layers.refuse("sources.quota_share_percent", "must be at most 100");
        }
        if self.late_after > self.quote_stale_after {
            layers.refuse(
                "sources.late_after",
                "must be at most sources.quote_stale_after: a stale quote is late, too",
            );
        }
        if (time(9, 30, 0, 0)..time(16, 0, 0, 0)).contains(&self.nightly_at) {
            layers.refuse(
                "sources.nightly_at",
                "must not be within the session (09:30 to 16:00 in New York): the data for the jobs is complete only after it",
            );
        }
        if market.source != SourceKind::Providers {
            return;
        }
        if self.late_after <= self.poll_every {
            layers.refuse(
                "sources.late_after",
                "must be longer than sources.poll_every: a price can be that old when it is requested",
            );
        }
        if self.late_after >= market.stale_after {
            layers.refuse(
                "sources.late_after",
                "must be less than market.stale_after, or alerts report stale quotes of stocks with a current price",
            );
        }
    }

    /// Prices and daily bars are required: without prices nothing is evaluated, and without completed sessions only
    /// few conditions are.
    fn check_enough(&self, layers: &mut Layers) {
        let has_no_provider = |capability| self.providers_for(capability).is_empty();
        if has_no_provider(Capability::Quotes) && has_no_provider(Capability::Stream) {
            layers.refuse(
                "market.source",
                "is \"providers\", but no provider is set up for prices during the session: set sources.alpaca.key_id and \
                 sources.alpaca.secret, or sources.finnhub.key, and name the provider in sources.quotes or \
                 sources.stream",
            );
        }
        if has_no_provider(Capability::DailyBars) {
            layers.refuse(
                "market.source",
                "is \"providers\", but no provider is set up for daily bars: set sources.alpaca.key_id and \
                 sources.alpaca.secret, or sources.massive.key, or sources.tiingo.key, and name the provider in \
                 sources.daily_bars",
            );
        }
    }
}
