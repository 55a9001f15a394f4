//! The router that sends requests to the providers of a capability, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use market::Symbol;

use super::{ProviderAnswers, ProviderReport, ProviderStatus};
use crate::provider::{Capability, DataRequest, DataResponse, PriceAdjustment, Provider, ProviderError};
use clock::Clock;

/// The providers of each capability, in the order in which they are used.
#[derive(Debug)]
pub struct ProviderRouter {
    clock: Arc<dyn Clock>,
    chains: BTreeMap<Capability, Vec<ChainedProvider>>,
}

/// A provider in one of its capabilities.
#[derive(Debug)]
struct ChainedProvider {
    provider: Arc<dyn Provider>,
    status: Mutex<ProviderStatus>,
    answers: Mutex<ProviderAnswers>,
}

/// The data that one or more providers returned for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedData {
    /// The providers that answered, the one with the largest share first.
    pub providers: Vec<&'static str>,
    /// The provider of each quote.
    pub quoted_by: BTreeMap<Symbol, &'static str>,
    /// The stocks whose bars are adjusted for splits; other providers may have sent the bars of other stocks as traded.
    pub adjusted_for_splits: BTreeSet<Symbol>,
    /// The data.
    pub answer: DataResponse,
    /// The providers that failed before.
    pub failed_attempts: Vec<FailedAttempt>,
}

/// The reason why a provider did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailedAttempt {
    /// The request failed.
    Failed(ProviderError),
    /// The provider is backing off until the instant, so no request was sent.
    BackingOff(&'static str, Timestamp),
}

impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::BackingOff(provider, until) => write!(f, "{provider} failed before and is not used until {until}"),
        }
    }
}

/// The error that no provider answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingError {
    /// The requested capability.
    pub capability: Capability,
    /// The failed attempts; empty if no provider is configured for the capability.
    pub failed_attempts: Vec<FailedAttempt>,
}

impl fmt::Display for RoutingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capability = self.capability;
        if self.failed_attempts.is_empty() {
            return write!(
                f,
                "no provider is configured for {capability}; configure one that offers it"
            );
        }
        write!(f, "no provider answers for {capability}")?;
        self.failed_attempts
            .iter()
            .try_for_each(|attempt| write!(f, "; {attempt}"))
    }
}

impl std::error::Error for RoutingError {}

impl ProviderRouter {
    /// Creates a router without providers.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            chains: BTreeMap::new(),
        }
    }

    /// Adds a provider for `capability`. The first one added is the primary, the others are fallbacks.
    #[must_use]
    pub fn with(mut self, capability: Capability, provider: Arc<dyn Provider>) -> Self {
        self.chains.entry(capability).or_default().push(ChainedProvider {
            provider,
            status: Mutex::default(),
            answers: Mutex::default(),
        });
        self
    }

    /// Adds a provider for all capabilities of its plan, after those that were added before.
    #[must_use]
    pub fn with_all_capabilities_of(mut self, provider: &Arc<dyn Provider>) -> Self {
        for capability in provider.tier().capabilities() {
            self = self.with(capability, Arc::clone(provider));
        }
        self
    }

    /// Reports what each provider has answered in each of its capabilities.
    #[must_use]
    pub fn reports(&self) -> Vec<ProviderReport> {
        let now = self.clock.now();
        let chains = self.chains.iter();
        let reports = chains.flat_map(|(capability, chain)| chain.iter().map(|link| link.report(*capability, now)));
        reports.collect()
    }

    /// Iterates over the capabilities that have at least one provider.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> {
        self.chains.keys().copied()
    }

    /// Returns whether `capability` has at least one provider.
    #[must_use]
    pub fn offers(&self, capability: Capability) -> bool {
        self.chains.contains_key(&capability)
    }

    /// Iterates over the providers of `capability`, the primary first.
    pub fn providers(&self, capability: Capability) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.chains
            .get(&capability)
            .into_iter()
            .flatten()
            .map(|chained| &chained.provider)
    }

    /// Sends a request to the providers in order until one answers. Symbols that it does not know are requested from the
    /// next provider.
    ///
    /// # Errors
    /// [`RoutingError`] if no provider answers.
    pub async fn fetch(&self, request: &DataRequest) -> Result<FetchedData, RoutingError> {
        self.fetch_excluding(request, &[]).await
    }

    /// Fetches like [`Self::fetch`], but skips the providers named in `excluded`. This gives a second source.
    ///
    /// # Errors
    /// [`RoutingError`] if no other provider answers.
    pub async fn fetch_excluding(&self, request: &DataRequest, excluded: &[&str]) -> Result<FetchedData, RoutingError> {
        let capability = request.capability();
        let mut failed_attempts = Vec::new();
        let mut fetched: Option<FetchedData> = None;
        let chain = self.chains.get(&capability).map_or(&[] as &[_], Vec::as_slice);
        for chained in chain
            .iter()
            .filter(|chained| !excluded.contains(&chained.provider.name()))
        {
            let rest = fetched
                .as_ref()
                .map(|fetched| request.with_symbols(&fetched.answer.unknown));
            match chained.fetch(rest.as_ref().unwrap_or(request), &*self.clock).await {
                Ok(answer) => {
                    let name = chained.provider.name();
                    fetched = Some(match fetched {
                        None => FetchedData {
                            providers: vec![name],
                            quoted_by: quoted_by(name, &answer).collect(),
                            adjusted_for_splits: adjusted_for_splits(&answer).collect(),
                            answer,
                            failed_attempts: Vec::new(),
                        },
                        Some(before) => before.merged_with(name, answer),
                    });
                }
                Err(why) => failed_attempts.push(why),
            }
            if fetched
                .as_ref()
                .is_some_and(|fetched| fetched.answer.unknown.is_empty())
            {
                break;
            }
        }
        match fetched {
            Some(fetched) => Ok(FetchedData {
                failed_attempts,
                ..fetched
            }),
            None => Err(RoutingError {
                capability,
                failed_attempts,
            }),
        }
    }
}

impl FetchedData {
    /// Adds the answer of another provider about the symbols that were unknown.
    fn merged_with(mut self, name: &'static str, mut answer: DataResponse) -> Self {
        let unknown = std::mem::take(&mut answer.unknown);
        if !answer.is_empty() {
            self.providers.push(name);
        }
        self.quoted_by.extend(quoted_by(name, &answer));
        self.adjusted_for_splits.extend(adjusted_for_splits(&answer));
        self.answer.append(answer);
        self.answer.unknown = unknown;
        self
    }
}

/// Returns the quoted symbols of a response, each with the provider's name.
fn quoted_by(name: &'static str, answer: &DataResponse) -> impl Iterator<Item = (Symbol, &'static str)> {
    answer.batch.quotes.iter().map(move |quote| (quote.symbol, name))
}

/// Returns the symbols of the bars of a provider that adjusts them for splits.
fn adjusted_for_splits(answer: &DataResponse) -> impl Iterator<Item = Symbol> {
    let is_adjusted = answer.price_adjustment == PriceAdjustment::AdjustedForSplits;
    let bars = answer.batch.bars.iter().filter(move |_| is_adjusted);
    bars.map(|row| row.symbol)
}

impl ChainedProvider {
    async fn fetch(&self, request: &DataRequest, clock: &dyn Clock) -> Result<DataResponse, FailedAttempt> {
        let status = *self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = status.backing_off(clock.now()) {
            return Err(FailedAttempt::BackingOff(self.provider.name(), until));
        }
        let answer = self.provider.fetch(request).await;
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock.now();
        match answer {
            Ok(answer) => {
                status.record_success();
                answers.record_answer(&answer, now);
                Ok(answer)
            }
            Err(error) => {
                status.record_failure(&error, now);
                answers.record_failure(&error, now);
                Err(FailedAttempt::Failed(error))
            }
        }
    }

    fn report(&self, capability: Capability, now: Timestamp) -> ProviderReport {
        let tier = self.provider.tier();
        let status = *self.status.lock().unwrap_or_else(PoisonError::into_inner);
        ProviderReport {
            provider: tier.provider,
            plan: tier.plan,
            capability,
            answers: self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            backing_off_until: status.backing_off(now),
            request_limits: tier.request_limits.clone(),
        }
    }
}
