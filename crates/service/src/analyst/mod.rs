//! The analyst at work: a stock of the catalog looked at, by the rules or by a language model.
//!
//! What it makes of a stock is told in the room of the same name, which knows no engine, no database and no network.
//! Here a [`Wish`] becomes a look: `subject.rs` gathers what is known, [`desk`] has it looked at off the threads that answer
//! requests, and `model.rs` asks a language model, where one is set.
//!
//! The rules always look first. Their figures are what everybody is shown and what a model is told, and their alerts are
//! there when a model is not asked, not reached, not in time or not to be believed. So whoever asks gets alerts that can be
//! created as they are, and is told who thought of them ([`Advised`]).
//!
//! A model costs money, so it is asked within a budget a day, and one account gets no more than its share (`budget.rs`).

mod budget;
mod desk;
mod model;
mod settings;
mod subject;
mod why_not;

use std::sync::Arc;

use ::analyst::Advice;
use ::market::Price;
use jiff::Timestamp;
use metrics::counter;

use crate::ServiceError;
use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::Prices;
use crate::start::Ports;
use desk::Desk;
use model::Model;
use subject::Sitting;

pub use ::analyst::freshness::StaleReason;
pub use ::analyst::{Analysis, Intention, Proposal};
pub use settings::{AnalystError, Budget, Key, ModelSettings, Settings, TokenLimit, check_base_url};
pub use subject::{Look, Wish};
pub use why_not::WhyNot;

/// Who looks at stocks.
#[derive(Debug)]
pub(crate) struct Analyst {
    desk: Desk,
    model: Option<Model>,
}

impl Analyst {
    /// # Errors
    /// [`AnalystError`], if a setting is none to work with.
    pub(crate) fn new(settings: &Settings, ports: &Ports) -> Result<Self, AnalystError> {
        let model = settings.model.clone();
        let model = model.map(|model| Model::new(model, Arc::clone(&ports.clock), Arc::clone(&ports.network.time)));
        Ok(Self {
            desk: Desk::default(),
            model: model.transpose()?,
        })
    }
}

/// Who thought of alerts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Author {
    /// The rules.
    Rules,
    /// A language model.
    Model(String),
}

impl Author {
    /// The name, as alerts carry it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Rules => "rules",
            Self::Model(name) => name,
        }
    }
}

/// What came of looking at a stock.
#[derive(Clone, PartialEq, Debug)]
pub struct Advised {
    /// The figures, a summary, and alerts that can be created as they are.
    pub advice: Advice,
    /// Who thought of them.
    pub author: Author,
    /// Why it was the rules where a model was to be asked.
    pub fell_back: Option<WhyNot>,
    /// The price around which the alerts were made, per share of that time.
    pub price: Price,
    /// When.
    pub at: Timestamp,
}

/// Analyses of stocks, by rules or by a language model.
#[derive(Clone)]
pub struct StockAnalysis {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::Settings>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) analyst: Arc<Analyst>,
    pub(crate) prices: Prices,
}

impl StockAnalysis {
    /// Looks at a stock by the rules: some milliseconds, without any network.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a stock that is not known, [`ServiceError::Unavailable`] for one without a current price.
    pub async fn look_at(&self, wish: Wish) -> Result<Look, ServiceError> {
        self.prices.require_stock_to_read(wish.symbol).await?;
        self.prices.note_read(wish.symbol).await;
        let analysis = self.clone();
        let look = self
            .analyst
            .desk
            .run(move || Ok(Look::at(Sitting::of(&analysis, wish)?)));
        look.await?
    }

    /// What is made of a stock that was looked at: by the model, if there is one, or else by the rules. Whatever goes wrong
    /// with a model, and if `stop` comes first, it is by the rules.
    pub async fn advise_on(&self, look: Look, stop: impl Future<Output = ()>) -> Advised {
        let look = Arc::new(look);
        let Some(model) = &self.analyst.model else {
            return advised(&look, None, Author::Rules, None);
        };
        let asked = tokio::select! {
            biased;
            asked = model.ask(&self.analyst.desk, &look) => asked,
            () = stop => Err(WhyNot::Stopping),
        };
        match asked {
            Ok(advice) => advised(&look, Some(advice), Author::Model(model.name().to_owned()), None),
            Err(why) => {
                if why.is_trouble() {
                    let symbol = look.wish().symbol;
                    tracing::warn!(%symbol, outcome = why.outcome(), "the language model is no help, so the rules answer: {why}");
                }
                advised(&look, None, Author::Rules, Some(why))
            }
        }
    }

    /// Looks at a stock, and says what is made of it: [`look_at`](Self::look_at) and [`advise_on`](Self::advise_on).
    ///
    /// # Errors
    /// As [`look_at`](Self::look_at).
    pub async fn advise(&self, wish: Wish, stop: impl Future<Output = ()>) -> Result<Advised, ServiceError> {
        let look = self.look_at(wish).await?;
        Ok(self.advise_on(look, stop).await)
    }
}

fn advised(look: &Look, by_model: Option<Advice>, author: Author, fell_back: Option<WhyNot>) -> Advised {
    let by = match author {
        Author::Rules => "rules",
        Author::Model(_) => "model",
    };
    let outcome = fell_back.as_ref().map_or("ok", WhyNot::outcome);
    counter!("bellwether_analyst_answers_total", "by" => by, "outcome" => outcome).increment(1);
    Advised {
        advice: by_model.unwrap_or_else(|| look.rules.clone()),
        author,
        fell_back,
        price: look.price(),
        at: look.taken_at(),
    }
}
