//! The call to a language model.
//!
//! One POST to `{base_url}/chat/completions`, under one deadline that includes the wait for a permit. The [prompt
//! and the validation of the response](::analyst::llm) are elsewhere; this module decides when the model is asked
//! and handles the errors. A failed request is not repeated: the rules answer at once, and the next analysis asks
//! again.
//!
//! After a 429 or 503 response with `Retry-After`, the endpoint is not asked for that time, one hour at most.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::analyst::{Advice, llm};
use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use metrics::counter;
use notify::provider::{ProviderClient, ProviderResponse};
use serde::Deserialize;
use store::Store;
use tokio::sync::Semaphore;
use url::Url;

use super::analysis_limiter::AnalysisLimiter;
use super::budget::BudgetUsage;
use super::fallback_reason::FallbackReason;
use super::settings::{AnalystError, ModelConfig, chat_completions_url};
use super::subject::RuleAnalysis;

/// The number of concurrent requests.
const MAX_CONCURRENT_REQUESTS: usize = 8;
/// The number of waiting requests. The rules answer any further one.
const MAX_WAITING_REQUESTS: usize = 100;
/// The maximum pause that an endpoint can ask for.
const MAX_BACKOFF: Duration = Duration::from_secs(3_600);

/// A language model behind an endpoint.
pub(super) struct LanguageModel {
    settings: ModelConfig,
    url: Url,
    provider: ProviderClient,
    clock: Arc<dyn Clock>,
    time: Arc<dyn Clock>,
    budget_usage: BudgetUsage,
    request_slots: Semaphore,
    /// Permits for waiting and running requests.
    queue_slots: Semaphore,
    backoff_until: Mutex<Option<Timestamp>>,
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The token usage of a response, if the endpoint reports it.
#[derive(Default, Deserialize)]
struct ResponseUsage {
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct TokenUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl LanguageModel {
    /// Creates the client.
    ///
    /// # Errors
    /// [`AnalystError`]
    pub(super) fn new(
        settings: ModelConfig,
        store: &Store,
        clock: Arc<dyn Clock>,
        time: Arc<dyn Clock>,
    ) -> Result<Self, AnalystError> {
        Ok(Self {
            url: chat_completions_url(&settings.base_url).ok_or(AnalystError::BadBaseUrl)?,
            provider: ProviderClient::new(Arc::clone(&time))?,
            budget_usage: BudgetUsage::of(settings.budget, store),
            settings,
            clock,
            time,
            request_slots: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            queue_slots: Semaphore::new(MAX_CONCURRENT_REQUESTS + MAX_WAITING_REQUESTS),
            backoff_until: Mutex::default(),
        })
    }

    /// Returns the endpoint's name of the model.
    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Asks the model for advice.
    ///
    /// # Errors
    /// [`FallbackReason`]: the rules' advice applies.
    pub(super) async fn ask(
        &self,
        limiter: &AnalysisLimiter,
        rule_analysis: &Arc<RuleAnalysis>,
    ) -> Result<Advice, FallbackReason> {
        if llm::alert_count_limits(&rule_analysis.input.subject()).is_none() {
            return Err(FallbackReason::NoAlertQuota);
        }
        self.check_backoff()?;
        let _queue_slot = self.queue_slots.try_acquire().map_err(|_| FallbackReason::Busy)?;
        let is_sent = AtomicBool::new(false);
        let exchange = self.exchange(limiter, rule_analysis, &is_sent);
        let answer = tokio::select! {
            biased;
            answer = exchange => answer?,
            () = self.time.sleep(self.settings.timeout) => {
                let was_sent = is_sent.load(Ordering::Relaxed);
                return Err(if was_sent { FallbackReason::TimedOut } else { FallbackReason::Busy });
            }
        };
        count_tokens(&answer.body);
        self.check_status(&answer)?;
        let (rule_analysis, name) = (Arc::clone(rule_analysis), self.settings.name.clone());
        let read = limiter.run(move || {
            let analysis = rule_analysis.analysis();
            rule_analysis
                .input
                .with_brief(analysis, |brief| llm::parse_answer(&answer.body, &name, brief))
        });
        Ok(read.await.map_err(|_| FallbackReason::Internal)??)
    }

    async fn exchange(
        &self,
        limiter: &AnalysisLimiter,
        rule_analysis: &Arc<RuleAnalysis>,
        is_sent: &AtomicBool,
    ) -> Result<ProviderResponse, FallbackReason> {
        let _request_slot = self
            .request_slots
            .acquire()
            .await
            .map_err(|_| FallbackReason::Stopping)?;
        // The endpoint may have asked for a pause meanwhile.
        self.check_backoff()?;
        let body = {
            let (rule_analysis, name, tokens) = (
                Arc::clone(rule_analysis),
                self.settings.name.clone(),
                self.settings.tokens,
            );
            let write = limiter.run(move || {
                let analysis = rule_analysis.analysis();
                let request = rule_analysis
                    .input
                    .with_brief(analysis, |brief| llm::chat_request(&name, tokens, brief));
                request.to_string().into_bytes()
            });
            write.await.map_err(|_| FallbackReason::Internal)?
        };
        self.budget_usage
            .take(rule_analysis.request().account, self.clock.now())
            .await?;
        is_sent.store(true, Ordering::Relaxed);
        let ModelConfig { key, timeout, .. } = &self.settings;
        let key = key.as_ref().map(|key| &key.0);
        let most = llm::MAX_ANSWER_BYTES;
        Ok(self.provider.post_json(&self.url, key, body, *timeout, most).await?)
    }

    /// Checks the status of a response.
    fn check_status(&self, answer: &ProviderResponse) -> Result<(), FallbackReason> {
        if matches!(answer.status, 429 | 503)
            && let Some(wait) = answer.retry_after
        {
            self.back_off(wait);
        }
        match answer.status {
            200..=299 => Ok(()),
            401 | 403 => Err(FallbackReason::NotAuthenticated(answer.status)),
            429 => Err(FallbackReason::RateLimited),
            status => Err(FallbackReason::Status(status)),
        }
    }

    fn back_off(&self, wait: Duration) {
        let wait = SignedDuration::try_from(wait.min(MAX_BACKOFF)).unwrap_or_default();
        let until = self.clock.now().saturating_add(wait).unwrap_or(Timestamp::MAX);
        let mut backoff_until = self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner);
        *backoff_until = backoff_until.max(Some(until));
    }

    fn check_backoff(&self) -> Result<(), FallbackReason> {
        let until = *self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner);
        match until {
            Some(until) if self.clock.now() < until => Err(FallbackReason::BackingOff),
            _ => Ok(()),
        }
    }
}

/// Counts the tokens of a response, valid or not.
fn count_tokens(answer: &[u8]) {
    let response: ResponseUsage = serde_json::from_slice(answer).unwrap_or_default();
    if let Some(usage) = response.usage {
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            counter!("bellwether_analyst_tokens_total", "kind" => kind).increment(tokens);
        }
    }
}
