//! The call to a language model.
//!
//! One POST to `{base_url}/chat/completions`, under one deadline that includes waiting for a turn. What the model may
//! say, and what of it is believed, is told in [its module](::analyst::llm); here is only when it is asked, and what
//! can come of that. Nothing is tried again: whoever waits has the rules' answer at once, and the next look asks anew.
//!
//! An endpoint that answers 429 or 503 and says for how long it wants to be left alone (`Retry-After`) is left alone for so
//! long, an hour at most.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::analyst::{Advice, llm};
use jiff::{SignedDuration, Timestamp};
use metrics::counter;
use notify::provider::{ProviderClient, ProviderResponse};
use notify::time::Time;
use serde::Deserialize;
use tokio::sync::Semaphore;
use url::Url;

use super::budget::Spending;
use super::desk::Desk;
use super::settings::{AnalystError, ModelSettings, completions};
use super::subject::Look;
use super::why_not::WhyNot;
use crate::Clock;

/// So many questions are under way at once.
const AT_ONCE: usize = 8;
/// So many wait for their turn. Whoever comes then is answered by the rules.
const WAITING: usize = 100;
/// For no longer is an endpoint left alone, whatever it asks for.
const LONGEST_REST: Duration = Duration::from_secs(3_600);

/// A language model behind an endpoint.
pub(super) struct Model {
    settings: ModelSettings,
    url: Url,
    provider: ProviderClient,
    clock: Arc<dyn Clock>,
    time: Arc<dyn Time>,
    spending: Spending,
    turns: Semaphore,
    /// Those who wait and those who ask.
    places: Semaphore,
    resting_until: Mutex<Option<Timestamp>>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What an answer cost, as far as the endpoint says so.
#[derive(Default, Deserialize)]
struct Costs {
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Model {
    /// # Errors
    /// [`AnalystError`]
    pub(super) fn new(
        settings: ModelSettings,
        clock: Arc<dyn Clock>,
        time: Arc<dyn Time>,
    ) -> Result<Self, AnalystError> {
        Ok(Self {
            url: completions(&settings.base_url).ok_or(AnalystError::BadBaseUrl)?,
            provider: ProviderClient::new(Arc::clone(&time))?,
            spending: Spending::of(settings.budget),
            settings,
            clock,
            time,
            turns: Semaphore::new(AT_ONCE),
            places: Semaphore::new(AT_ONCE + WAITING),
            resting_until: Mutex::default(),
        })
    }

    /// What the endpoint calls it.
    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// What the model makes of a stock.
    ///
    /// # Errors
    /// [`WhyNot`]; then the rules' advice stands.
    pub(super) async fn ask(&self, desk: &Desk, look: &Arc<Look>) -> Result<Advice, WhyNot> {
        if llm::alert_count_limits(&look.sitting.subject()).is_none() {
            return Err(WhyNot::NoRoom);
        }
        self.must_not_rest()?;
        let _place = self.places.try_acquire().map_err(|_| WhyNot::Busy)?;
        let is_asked = AtomicBool::new(false);
        let exchange = self.exchange(desk, look, &is_asked);
        let answer = tokio::select! {
            biased;
            answer = exchange => answer?,
            () = self.time.sleep(self.settings.timeout) => {
                let was_asked = is_asked.load(Ordering::Relaxed);
                return Err(if was_asked { WhyNot::TimedOut } else { WhyNot::Busy });
            }
        };
        count_costs(&answer.body);
        self.judge(&answer)?;
        let (look, name) = (Arc::clone(look), self.settings.name.clone());
        let read = desk.run(move || {
            let analysis = look.analysis();
            look.sitting
                .with_brief(analysis, |brief| llm::parse_answer(&answer.body, &name, brief))
        });
        Ok(read.await.map_err(|_| WhyNot::Internal)??)
    }

    async fn exchange(&self, desk: &Desk, look: &Arc<Look>, is_asked: &AtomicBool) -> Result<ProviderResponse, WhyNot> {
        let _turn = self.turns.acquire().await.map_err(|_| WhyNot::Stopping)?;
        // Somebody may have been told meanwhile.
        self.must_not_rest()?;
        let body = {
            let (look, name, tokens) = (Arc::clone(look), self.settings.name.clone(), self.settings.tokens);
            let write = desk.run(move || {
                let analysis = look.analysis();
                let request = look
                    .sitting
                    .with_brief(analysis, |brief| llm::chat_request(&name, tokens, brief));
                request.to_string().into_bytes()
            });
            write.await.map_err(|_| WhyNot::Internal)?
        };
        self.spending.take(look.wish().account, self.clock.now())?;
        is_asked.store(true, Ordering::Relaxed);
        let ModelSettings { key, timeout, .. } = &self.settings;
        let key = key.as_ref().map(|key| &key.0);
        let most = llm::MAX_ANSWER_BYTES;
        Ok(self.provider.post_json(&self.url, key, body, *timeout, most).await?)
    }

    /// What a status comes to.
    fn judge(&self, answer: &ProviderResponse) -> Result<(), WhyNot> {
        if matches!(answer.status, 429 | 503)
            && let Some(wait) = answer.retry_after
        {
            self.rest(wait);
        }
        match answer.status {
            200..=299 => Ok(()),
            401 | 403 => Err(WhyNot::NotAuthenticated(answer.status)),
            429 => Err(WhyNot::RateLimited),
            status => Err(WhyNot::Status(status)),
        }
    }

    fn rest(&self, wait: Duration) {
        let wait = SignedDuration::try_from(wait.min(LONGEST_REST)).unwrap_or_default();
        let until = self.clock.now().saturating_add(wait).unwrap_or(Timestamp::MAX);
        let mut resting_until = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        *resting_until = resting_until.max(Some(until));
    }

    fn must_not_rest(&self) -> Result<(), WhyNot> {
        let until = *self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        match until {
            Some(until) if self.clock.now() < until => Err(WhyNot::Resting),
            _ => Ok(()),
        }
    }
}

/// Counts what an answer cost, be it a good one or not.
fn count_costs(answer: &[u8]) {
    let costs: Costs = serde_json::from_slice(answer).unwrap_or_default();
    if let Some(usage) = costs.usage {
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            counter!("bellwether_analyst_tokens_total", "kind" => kind).increment(tokens);
        }
    }
}
