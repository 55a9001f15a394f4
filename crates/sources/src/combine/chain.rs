//! Who is asked for what, and in which order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use market::Symbol;

use super::Standing;
use crate::Clock;
use crate::provider::{Answer, Ask, Capability, CapabilitySet, Provider, ProviderError};

/// Several providers, by capability.
#[derive(Debug)]
pub struct Combination {
    clock: Arc<dyn Clock>,
    chains: BTreeMap<Capability, Vec<Member>>,
}

/// A provider in one of its capabilities.
#[derive(Debug)]
struct Member {
    provider: Arc<dyn Provider>,
    standing: Mutex<Standing>,
}

/// An answer, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Who answered, first the one who did the most of it.
    pub providers: Vec<&'static str>,
    /// The provider of each quote.
    pub quoted_by: BTreeMap<Symbol, &'static str>,
    /// What.
    pub answer: Answer,
    /// Who was asked in vain before.
    pub tried: Vec<Tried>,
}

/// Why a provider did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// It was asked.
    Failed(ProviderError),
    /// It is left alone until then.
    LeftAlone(&'static str, Timestamp),
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::LeftAlone(provider, until) => write!(f, "{provider} failed before and is left alone until {until}"),
        }
    }
}

/// Nobody answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// What was asked for.
    pub capability: Capability,
    /// Who was asked, and why they did not answer; nobody if no provider is set for it.
    pub tried: Vec<Tried>,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capability = self.capability;
        if self.tried.is_empty() {
            return write!(f, "nobody is set for {capability}; set a provider that offers it");
        }
        write!(f, "nobody answers for {capability}")?;
        self.tried.iter().try_for_each(|tried| write!(f, "; {tried}"))
    }
}

impl std::error::Error for NoAnswer {}

impl Combination {
    /// Nobody yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            chains: BTreeMap::new(),
        }
    }

    /// Puts a provider behind those that are set for `capability` already: the first is the primary.
    #[must_use]
    pub fn with(mut self, capability: Capability, provider: Arc<dyn Provider>) -> Self {
        self.chains.entry(capability).or_default().push(Member {
            provider,
            standing: Mutex::default(),
        });
        self
    }

    /// Sets a provider for everything it offers on its plan, behind those that are set already.
    #[must_use]
    pub fn with_all_of(mut self, provider: &Arc<dyn Provider>) -> Self {
        for capability in provider.tier().capabilities().iter() {
            self = self.with(capability, Arc::clone(provider));
        }
        self
    }

    /// What somebody is set for.
    #[must_use]
    pub fn capabilities(&self) -> CapabilitySet {
        self.chains.keys().copied().collect()
    }

    /// Who is set for `capability`, the primary first.
    pub fn providers(&self, capability: Capability) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.chains
            .get(&capability)
            .into_iter()
            .flatten()
            .map(|member| &member.provider)
    }

    /// Asks one after the other until somebody answers; about symbols that one does not know, the next.
    ///
    /// # Errors
    /// [`NoAnswer`] when nobody does.
    pub async fn fetch(&self, ask: &Ask) -> Result<Fetched, NoAnswer> {
        self.fetch_from_others(ask, &[]).await
    }

    /// Fetches like [`Self::fetch`], but not from the providers with the names `but`: for a second source.
    ///
    /// # Errors
    /// [`NoAnswer`] if no other provider answers.
    pub async fn fetch_from_others(&self, ask: &Ask, but: &[&str]) -> Result<Fetched, NoAnswer> {
        let capability = ask.capability();
        let mut tried = Vec::new();
        let mut fetched: Option<Fetched> = None;
        let members = self.chains.get(&capability).map_or(&[] as &[_], Vec::as_slice);
        for member in members.iter().filter(|member| !but.contains(&member.provider.name())) {
            let rest = fetched.as_ref().map(|fetched| ask.about(&fetched.answer.unknown));
            match member.fetch(rest.as_ref().unwrap_or(ask), &*self.clock).await {
                Ok(answer) => {
                    let name = member.provider.name();
                    fetched = Some(match fetched {
                        None => Fetched {
                            providers: vec![name],
                            quoted_by: quoted_by(name, &answer).collect(),
                            answer,
                            tried: Vec::new(),
                        },
                        Some(before) => before.completed_by(name, answer),
                    });
                }
                Err(why) => tried.push(why),
            }
            if fetched
                .as_ref()
                .is_some_and(|fetched| fetched.answer.unknown.is_empty())
            {
                break;
            }
        }
        match fetched {
            Some(fetched) => Ok(Fetched { tried, ..fetched }),
            None => Err(NoAnswer { capability, tried }),
        }
    }
}

impl Fetched {
    /// With what another one knows of those that were unknown.
    fn completed_by(mut self, name: &'static str, mut answer: Answer) -> Self {
        let unknown = std::mem::take(&mut answer.unknown);
        if !answer.is_empty() {
            self.providers.push(name);
        }
        self.quoted_by.extend(quoted_by(name, &answer));
        self.answer.append(answer);
        self.answer.unknown = unknown;
        self
    }
}

/// The stocks that a provider quotes, each with its name.
fn quoted_by(name: &'static str, answer: &Answer) -> impl Iterator<Item = (Symbol, &'static str)> {
    answer.batch.quotes.iter().map(move |quote| (quote.symbol, name))
}

impl Member {
    async fn fetch(&self, ask: &Ask, clock: &dyn Clock) -> Result<Answer, Tried> {
        let standing = *self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = standing.left_alone(clock.now()) {
            return Err(Tried::LeftAlone(self.provider.name(), until));
        }
        let answer = self.provider.fetch(ask).await;
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(answer) => {
                standing.succeeded();
                Ok(answer)
            }
            Err(error) => {
                standing.failed(&error, clock.now());
                Err(Tried::Failed(error))
            }
        }
    }
}
