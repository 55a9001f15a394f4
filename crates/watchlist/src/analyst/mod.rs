//! The analyst: analyses of stocks, by rules or by a language model.
//!
//! The crate of the same name contains the rules; it does not depend on the engine, the database or the network. In
//! this module `subject.rs` gathers the input of an [`AnalysisRequest`], [`analysis_limiter`] runs the analysis off
//! the request threads, and `model.rs` calls a language model, if one is configured.
//!
//! The rules always run first. Their figures are displayed and are the input of the model. Their alerts are the
//! fallback if the model is not asked, not reached, too slow, or invalid. The result therefore always has alerts
//! that can be created as they are, and names their author ([`StockAdvice`]).
//!
//! A model costs money, so its calls have a daily budget, in total and for each account (`budget.rs`).

mod analysis_limiter;
mod budget;
mod fallback_reason;
mod model;
mod settings;
mod subject;

use std::sync::Arc;

use ::analyst::Advice;
use ::market::Price;
use jiff::Timestamp;
use metrics::counter;

use analysis_limiter::AnalysisLimiter;
use evaluation::catalog::Catalog;
use evaluation::evaluator::Evaluator;
use evaluation::prices::Prices;
use foundation::{Ports, ServiceError};
use model::LanguageModel;
use subject::AnalysisInput;

pub use ::analyst::freshness::StaleReason;
pub use ::analyst::{Analysis, Intention, Proposal};
pub use fallback_reason::FallbackReason;
pub use settings::{AnalystConfig, AnalystError, CallBudget, ModelConfig, ModelKey, TokenLimit, check_base_url};
pub use subject::{AnalysisRequest, RuleAnalysis};

/// The analysis limiter and the optional language model.
#[derive(Debug)]
pub(crate) struct Analyst {
    limiter: AnalysisLimiter,
    model: Option<LanguageModel>,
}

impl Analyst {
    /// Creates the analyst.
    ///
    /// # Errors
    /// [`AnalystError`] if a setting is invalid.
    pub(crate) fn new(settings: &AnalystConfig, ports: &Ports) -> Result<Self, AnalystError> {
        let model = settings.model.clone();
        let model = model.map(|model| {
            LanguageModel::new(
                model,
                &ports.store,
                Arc::clone(&ports.clock),
                Arc::clone(&ports.network.time),
            )
        });
        Ok(Self {
            limiter: AnalysisLimiter::default(),
            model: model.transpose()?,
        })
    }
}

/// The author of proposed alerts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Author {
    /// The rules.
    Rules,
    /// A language model.
    Model(String),
}

impl Author {
    /// Returns the name, as alerts carry it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Rules => "rules",
            Self::Model(name) => name,
        }
    }
}

/// The result of an analysis.
#[derive(Clone, PartialEq, Debug)]
pub struct StockAdvice {
    /// The figures, a summary, and alerts that can be created as they are.
    pub advice: Advice,
    /// The author of the alerts.
    pub author: Author,
    /// Why the rules answered, if a model was to be asked.
    pub fallback: Option<FallbackReason>,
    /// The price that the alerts are based on, per share at that time.
    pub price: Price,
    /// The instant of the analysis.
    pub at: Timestamp,
}

/// Analyses of stocks, by rules or by a language model.
#[derive(Clone)]
pub struct StockAnalysis {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<evaluation::EvaluationConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) analyst: Arc<Analyst>,
    pub(crate) prices: Prices,
}

impl StockAnalysis {
    /// Analyzes a stock by the rules: some milliseconds, without network access.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for an unknown stock; [`ServiceError::Unavailable`] for one without a current price.
    pub async fn analyze_by_rules(&self, request: AnalysisRequest) -> Result<RuleAnalysis, ServiceError> {
        self.prices.require_stock_to_read(request.symbol).await?;
        self.prices.note_read(request.symbol).await;
        let analysis = self.clone();
        let rule_analysis = self
            .analyst
            .limiter
            .run(move || Ok(RuleAnalysis::at(AnalysisInput::of(&analysis, request)?)));
        rule_analysis.await?
    }

    /// Returns the advice for an analyzed stock: by the model if there is one, or else by the rules. On any failure of
    /// the model, and if `stop` comes first, the rules answer.
    pub async fn advise_on(&self, rule_analysis: RuleAnalysis, stop: impl Future<Output = ()>) -> StockAdvice {
        let rule_analysis = Arc::new(rule_analysis);
        let Some(model) = &self.analyst.model else {
            return advised(&rule_analysis, None, Author::Rules, None);
        };
        let asked = tokio::select! {
            biased;
            asked = model.ask(&self.analyst.limiter, &rule_analysis) => asked,
            () = stop => Err(FallbackReason::Stopping),
        };
        match asked {
            Ok(advice) => advised(
                &rule_analysis,
                Some(advice),
                Author::Model(model.name().to_owned()),
                None,
            ),
            Err(why) => {
                if why.needs_attention() {
                    let symbol = rule_analysis.request().symbol;
                    tracing::warn!(%symbol, outcome = why.outcome(), "the language model is no help, so the rules answer: {why}");
                }
                advised(&rule_analysis, None, Author::Rules, Some(why))
            }
        }
    }

    /// Analyzes a stock and returns the advice: [`analyze_by_rules`](Self::analyze_by_rules) and
    /// [`advise_on`](Self::advise_on).
    ///
    /// # Errors
    /// As [`analyze_by_rules`](Self::analyze_by_rules).
    pub async fn advise(
        &self,
        request: AnalysisRequest,
        stop: impl Future<Output = ()>,
    ) -> Result<StockAdvice, ServiceError> {
        let rule_analysis = self.analyze_by_rules(request).await?;
        Ok(self.advise_on(rule_analysis, stop).await)
    }
}

fn advised(
    rule_analysis: &RuleAnalysis,
    by_model: Option<Advice>,
    author: Author,
    fallback: Option<FallbackReason>,
) -> StockAdvice {
    let by = match author {
        Author::Rules => "rules",
        Author::Model(_) => "model",
    };
    let outcome = fallback.as_ref().map_or("ok", FallbackReason::outcome);
    counter!("bellwether_analyst_answers_total", "by" => by, "outcome" => outcome).increment(1);
    StockAdvice {
        advice: by_model.unwrap_or_else(|| rule_analysis.rules.clone()),
        author,
        fallback,
        price: rule_analysis.price(),
        at: rule_analysis.taken_at(),
    }
}
