//! Current prices: their sources, and the fallbacks without one.
//!
//! An old price is never a starting point. Everything that starts from a price (an alert, a paper trade, an
//! analysis) takes a [`CurrentPrice`], and only [`PriceFreshness`] creates one, from the market's calendar, the
//! clock and the limit of the source. An old price is displayed with its time and used for nothing else.
//!
//! * [`interest`]: a stock stays wanted for a while after a read, a rejected request or a pause, so that live
//!   sources request it.
//! * [`loading`]: the first load of a source.
//! * [`source`]: asks the live source for the price of one stock and waits a short time.
//! * [`initial`]: sets the initial price of alerts that became active without a current price.

pub(crate) mod arrivals;
pub mod awaited;
pub mod initial;
pub mod initial_stocks;
pub mod interest;
pub(crate) mod loading;
pub(crate) mod source;

use std::sync::Arc;

use ::alerts::transition::PriceAvailability;
use market::calendar::new_york_date;
use market::{CurrentPrice, ObservedPrice, PriceFreshness, Symbol};

use crate::EvaluationConfig;
use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::market::MarketIntake;
use crate::prices::arrivals::PriceArrivals;
use crate::prices::initial_stocks::InitialPrices;
use crate::prices::interest::StockInterest;
use crate::prices::loading::FirstLoad;
use crate::prices::source::PriceSource;
use foundation::{Ports, ServiceError};
use source::PriceRequestOutcome;

pub use source::PriceSourceConfig;

/// The maximum number of stocks of one read that the source is asked about.
const MAX_STOCKS_ASKED_PER_READ: usize = 8;

/// Current prices of stocks.
#[derive(Clone)]
pub struct Prices {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) interest: Arc<StockInterest>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) price_source: Arc<PriceSource>,
    pub(crate) price_arrivals: PriceArrivals,
    pub(crate) loading: Arc<FirstLoad>,
    pub(crate) market_intake: MarketIntake,
}

impl Prices {
    /// Returns the rule for current prices that holds now.
    fn freshness(&self) -> PriceFreshness {
        let settings = &self.settings;
        let confirmed_limit = settings.engine.stale_after;
        let limit = self.price_source.current_for();
        PriceFreshness {
            calendar: settings.calendar.clone(),
            limit: limit.unwrap_or(confirmed_limit).min(confirmed_limit),
            confirmed_limit,
        }
    }

    /// Returns the current price of a stock, if one is known. It asks no source.
    pub fn current_price(&self, symbol: Symbol) -> Option<CurrentPrice> {
        let observed = self.evaluator.last_observed(symbol)?;
        self.as_current(symbol, observed)
    }

    /// Returns `observed` as a current price, if it is one.
    pub fn as_current(&self, symbol: Symbol, observed: ObservedPrice) -> Option<CurrentPrice> {
        let confirmed_at = self.interest.confirmed_at(symbol);
        self.freshness().current(observed, confirmed_at, self.ports.clock.now())
    }

    /// Returns the current price of a stock as it is stored, if it is later than the known one. In a cluster, an accepted quote is stored, and
    /// this node may not have received it yet.
    async fn stored_price(&self, symbol: Symbol) -> Option<CurrentPrice> {
        if self.evaluator.is_single() {
            return None;
        }
        let stored = self.ports.store.latest_quote(symbol).await;
        let stored = stored
            .inspect_err(|error| tracing::warn!(%error, "the stored price could not be read; the known one is used"))
            .ok()??;
        let stored = self.evaluator.stored_price(&stored);
        let known = self.evaluator.last_observed(symbol);
        let is_later = known.is_none_or(|known| known.at < stored.at);
        is_later.then(|| self.as_current(symbol, stored)).flatten()
    }

    /// Returns the start price of an alert or a trade. It asks the source if the known price is not current.
    pub async fn start_price(&self, symbol: Symbol) -> PriceAvailability {
        let now = self.ports.clock.now();
        self.interest.renew(symbol, now);
        let stored = self.stored_price(symbol).await;
        if let Some(current) = stored.or_else(|| self.current_price(symbol)) {
            return PriceAvailability::Current(current);
        }
        let asked = self.ask_source(symbol).await;
        if let Some(current) = self.current_price(symbol) {
            return PriceAvailability::Current(current);
        }
        match asked {
            PriceRequestOutcome::Answered => PriceAvailability::Awaited,
            PriceRequestOutcome::NoSource | PriceRequestOutcome::NoAnswer | PriceRequestOutcome::Unknown => {
                match self.evaluator.last_observed(symbol) {
                    Some(_) => PriceAvailability::Outdated,
                    None => PriceAvailability::Unknown,
                }
            }
        }
    }

    /// Records a read of a stock. The first read of a lease waits for the source if the known price is not current, and
    /// for daily bars if there are none. At the maximum number of wanted stocks, the read neither makes the stock
    /// wanted nor asks the source.
    pub async fn note_read(&self, symbol: Symbol) {
        let now = self.ports.clock.now();
        if !self.interest.renew_by_read(symbol, now) {
            return;
        }
        let needs_price = self.current_price(symbol).is_none();
        let needs_bars = self.price_source.has_daily_bars() && !self.has_stored_bars(symbol).await;
        if !(needs_price || needs_bars) || !self.interest.begin_first_read(symbol, now) {
            return;
        }
        let price = async {
            if needs_price {
                self.ask_source(symbol).await;
            }
        };
        let bars = async {
            if needs_bars {
                self.wait_for_bars(symbol).await;
            }
        };
        tokio::join!(price, bars);
    }

    /// Requires that this service or a source knows a stock.
    ///
    /// # Errors
    /// [`ServiceError::UnknownStock`]; [`ServiceError::NotFound`] while there is no market data at all;
    /// [`ServiceError::Unavailable`] if no source answers.
    pub async fn require_stock(&self, symbol: Symbol) -> Result<(), ServiceError> {
        if self.is_listed(symbol) {
            return Ok(());
        }
        match self.ask_source(symbol).await {
            PriceRequestOutcome::Answered => {
                self.interest.renew(symbol, self.ports.clock.now());
                self.list_stock(symbol).await
            }
            PriceRequestOutcome::NoSource | PriceRequestOutcome::Unknown | PriceRequestOutcome::NoAnswer
                if self.is_listed(symbol) =>
            {
                Ok(())
            }
            PriceRequestOutcome::NoAnswer => {
                self.interest.renew(symbol, self.ports.clock.now());
                let message = format!(
                    "{symbol} is not in the catalog, and no source of market data answered for it; try again in a minute"
                );
                Err(ServiceError::Unavailable(message))
            }
            PriceRequestOutcome::NoSource | PriceRequestOutcome::Unknown => Err(self.refused_stock(symbol)),
        }
    }

    /// Requires a known stock for a read. It asks the source about an unknown stock only while reads may still ask.
    ///
    /// # Errors
    /// As [`Self::require_stock`]; [`ServiceError::Unavailable`] also if the source was not asked.
    pub async fn require_stock_to_read(&self, symbol: Symbol) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        let is_answered =
            self.is_listed(symbol) || !self.price_source.is_connected() || self.interest.is_unknown(symbol, now);
        if !is_answered && !self.interest.begin_unlisted_read(now) {
            let message = format!(
                "{symbol} is not in the catalog, and too many other unknown stocks were requested; try again in a few minutes"
            );
            return Err(ServiceError::Unavailable(message));
        }
        self.require_stock(symbol).await
    }

    /// Returns the stocks of a list that can be read without a request to the source, and the first few of the others.
    #[must_use]
    pub fn bounded_reads(&self, symbols: &[Symbol]) -> Vec<Symbol> {
        let now = self.ports.clock.now();
        let mut left = MAX_STOCKS_ASKED_PER_READ;
        let is_read = |symbol: &Symbol| {
            if self.interest.is_wanted(*symbol, now) {
                return true;
            }
            let needs_request = self.current_price(*symbol).is_none() && !self.interest.is_unknown(*symbol, now);
            let may_ask = left > 0 && needs_request;
            left -= usize::from(may_ask);
            may_ask
        };
        symbols.iter().copied().filter(is_read).collect()
    }

    /// Requires a known stock or a source that can be asked about it.
    ///
    /// # Errors
    /// As [`Self::require_stock`]; [`ServiceError::Unavailable`] also while data is being loaded.
    pub fn require_stock_or_source(&self, symbol: Symbol) -> Result<(), ServiceError> {
        if self.is_listed(symbol) || self.price_source.is_connected() {
            Ok(())
        } else {
            Err(self.refused_stock(symbol))
        }
    }

    fn refused_stock(&self, symbol: Symbol) -> ServiceError {
        if self.loading.is_loading() {
            let message = "market data is still being loaded; try again in a moment";
            return ServiceError::Unavailable(message.to_owned());
        }
        if self.is_without_stocks() && !self.price_source.is_connected() {
            return ServiceError::NotFound("market data");
        }
        self.unknown_stock(symbol)
    }

    /// Whether a stock is in the catalog or has a price.
    #[must_use]
    pub fn is_listed(&self, symbol: Symbol) -> bool {
        self.catalog.get(symbol).is_some() || self.evaluator.last_observed(symbol).is_some()
    }

    /// Adds a stock that a source knows to the catalog under its symbol, unless it is there.
    async fn list_stock(&self, symbol: Symbol) -> Result<(), ServiceError> {
        if self.catalog.get(symbol).is_some() {
            return Ok(());
        }
        let batch = market::records::Batch {
            stocks: vec![market::records::StockRow::named(symbol, symbol.as_str())],
            ..market::records::Batch::default()
        };
        self.market_intake.ingest(batch).await.map(drop)
    }

    /// Whether the catalog is empty.
    #[must_use]
    pub fn is_without_stocks(&self) -> bool {
        self.catalog.is_empty()
    }

    /// Returns whether a read finds daily bars of a stock. The engine has bars a moment before they are stored, so it cannot tell.
    /// Bars that were found once are not searched for again while the stock is wanted. If the database fails, a read does not wait.
    async fn has_stored_bars(&self, symbol: Symbol) -> bool {
        if self.interest.has_bars(symbol) {
            return true;
        }
        let today = new_york_date(self.ports.clock.now());
        let bar = self.ports.store.bar_at(symbol, today).await;
        if matches!(bar, Ok(Some(_))) {
            self.interest.note_bars(symbol);
        }
        !matches!(bar, Ok(None))
    }

    /// Returns the stocks that are wanted because of a recent read, rejected request or pause.
    #[must_use]
    pub fn stocks_of_interest(&self) -> Vec<Symbol> {
        self.interest.symbols(self.ports.clock.now())
    }
}

/// Returns the error for a stock without a current price.
pub fn no_current_price(symbol: Symbol, last: Option<ObservedPrice>) -> ServiceError {
    let last = last.map_or_else(String::new, |ObservedPrice { price, at }| {
        format!(
            "; its last known price is {price}, of {}",
            at.strftime("%Y-%m-%d %H:%M:%S UTC")
        )
    });
    ServiceError::Unavailable(format!(
        "no current price of {symbol} is available{last}; try again in a few minutes"
    ))
}
