//! Feeding: what the source delivers is taken into the service, one delivery after the other.
//!
//! The source is a task of its own behind a short channel: when the service is slower, the source has to wait. A
//! delivery that cannot be taken in because the database fails is tried again until it can: without it the service
//! would know less than it was told.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use jiff::SignedDuration;
use market::records::QuoteRow;
use market::{Bar, Calendar, Symbol};
use metrics::counter;
use service::market::NotIngested;
use service::prices::PriceSourceConfig;
use service::{Clock, Service, ServiceError};
use sources::Delivery;
use sources::file::{self, Health};
use sources::folder::FolderError;
use sources::provider::Capability;
use sources::simulated::{self, Known, KnownStock};
use store::model::LatestQuote;
use store::{Store, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::coverage;
use super::live::Live;
use crate::settings::{Market, SourceKind};
use crate::wiring;
use crate::wiring::sources::Sources;

/// So many deliveries wait at most.
const WAITING: usize = 4;
/// How long after a failure a delivery is tried again.
const TRY_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// How often the folder of the file source is looked at.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// Of the rows of one delivery that could not be taken in, so many are logged.
const MAX_REJECTED_LOGGED: usize = 5;

/// A source at work, and the task that takes in what it delivers.
#[derive(Debug)]
pub(super) struct Feeding {
    source: JoinHandle<()>,
    intake: JoinHandle<()>,
    stop: watch::Sender<bool>,
    up_to_date: watch::Receiver<bool>,
    /// Why the source has ended.
    ended: watch::Receiver<Option<String>>,
}

/// What a source needs to know to begin.
#[derive(Debug)]
pub(super) struct Beginning {
    known: Option<Known>,
    providers: Option<Sources>,
}

impl Beginning {
    /// What is known of the market from before, and who is asked. To be asked before anything is taken in.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn of(market: &Market, store: &Store, providers: Option<Sources>) -> Result<Self, StoreError> {
        let known = match market.source {
            SourceKind::Simulated => known_stocks(&store.latest_quotes().await?),
            SourceKind::File | SourceKind::Push | SourceKind::Providers => None,
        };
        Ok(Self { known, providers })
    }
}

/// What the simulated market goes on from.
fn known_stocks(quotes: &[LatestQuote]) -> Option<Known> {
    let at = quotes.iter().map(|quote| quote.at).max()?;
    let stocks: BTreeMap<Symbol, KnownStock> = quotes
        .iter()
        .map(|quote| {
            let today = Bar {
                date: quote.session,
                open: quote.open,
                high: quote.high,
                low: quote.low,
                close: quote.last,
                volume: quote.volume.unwrap_or_default(),
            };
            let known = KnownStock {
                price: quote.last,
                today: Some(today),
            };
            (quote.symbol, known)
        })
        .collect();
    Some(Known { at, stocks })
}

impl Feeding {
    /// Starts the source that is set; none if nothing but pushed data comes in.
    #[must_use]
    pub(super) fn start(
        market: &Market,
        beginning: Beginning,
        service: &Service,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let source = source(market, beginning, service, Arc::clone(clock), sender)?;
        let (stop, stopped) = watch::channel(false);
        let (arrived, up_to_date) = watch::channel(false);
        let intake = Intake {
            service: service.clone(),
            live: (market.source == SourceKind::Providers).then(|| wiring::calendar(market)),
            clock: Arc::clone(clock),
            stopped,
            arrived,
        };
        let (told, ended) = watch::channel(None);
        let source = async move {
            let why = match tokio::spawn(source).await {
                Ok(Ok(())) => "it has come to its end".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            told.send_replace(Some(why));
        };
        Some(Self {
            source: tokio::spawn(source),
            intake: tokio::spawn(intake.run(receiver)),
            stop,
            up_to_date,
            ended,
        })
    }

    /// Waits until the first news has been taken in, after all that was known before.
    pub(super) async fn up_to_date(&self) {
        if self
            .up_to_date
            .clone()
            .wait_for(|up_to_date| *up_to_date)
            .await
            .is_err()
        {
            // The intake has ended, and no news will come.
            std::future::pending().await
        }
    }

    /// Waits until the source ends without having been told to.
    pub(super) async fn failed(&self) -> anyhow::Error {
        match self.ended.clone().wait_for(Option::is_some).await {
            Ok(why) => anyhow::anyhow!(
                "the source of market data has ended: {}",
                why.as_deref().unwrap_or_default()
            ),
            Err(_) => anyhow::anyhow!("the source of market data has ended"),
        }
    }

    /// Stops the source. What is being taken in is taken in to its end.
    pub(super) async fn stop(self) {
        self.stop.send_replace(true);
        for (task, name) in [(self.intake, "intake"), (self.source, "source")] {
            if let Err(error) = task.await {
                tracing::error!(%error, task = name, "a task ended badly");
            }
        }
    }
}

/// A source at work, until nobody listens any more.
type Source = Pin<Box<dyn Future<Output = Result<(), FolderError>> + Send>>;

fn source(
    market: &Market,
    beginning: Beginning,
    service: &Service,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<Delivery>,
) -> Option<Source> {
    let calendar = wiring::calendar(market);
    match (market.source, &market.data_dir) {
        (SourceKind::Simulated, _) => {
            let options = simulated::Options {
                seed: market.seed,
                companies: usize::try_from(market.companies.get()).unwrap_or(usize::MAX),
                pace: market.pace,
                lively: market.lively,
                ..simulated::Options::default()
            };
            Some(Box::pin(async move {
                simulated::run(options, calendar, beginning.known, clock, sender).await;
                Ok(())
            }))
        }
        (SourceKind::File, Some(dir)) => {
            let options = file::Options {
                dir: dir.clone(),
                every: LOOK_EVERY,
                // All of it comes again after a restart: the folder may have got older bars meanwhile, and what is
                // known already changes nothing.
                bars_from: None,
            };
            service.prices.first_load_begins();
            Some(Box::pin(file::run(options, calendar, Health::default(), clock, sender)))
        }
        (SourceKind::Providers, _) => {
            let sources = beginning.providers?;
            let set = sources.combination.capabilities();
            coverage::warn_about_missing(set);
            let requests = service.prices.connect_price_source(PriceSourceConfig {
                current_for: sources.limits.late_after.saturating_add(sources.limits.delay),
                has_daily_bars: set.has(Capability::DailyBars),
            });
            let live = Live {
                sources,
                requests,
                calendar,
                benchmark: market.benchmark,
                service: service.clone(),
                clock,
            };
            Some(Box::pin(async move {
                live.run(sender).await;
                Ok(())
            }))
        }
        // The settings see to it that the file source has its folder.
        (SourceKind::Push, _) | (SourceKind::File, None) => {
            if service.prices.is_without_stocks() {
                tracing::warn!("this service knows no stock yet: push market data (POST /market/ingest)");
            }
            None
        }
    }
}

/// Takes in what comes.
struct Intake {
    service: Service,
    /// When the market is open, if quotes are of now and their times are to be trusted.
    live: Option<Calendar>,
    clock: Arc<dyn Clock>,
    stopped: watch::Receiver<bool>,
    arrived: watch::Sender<bool>,
}

impl Intake {
    async fn run(mut self, mut receiver: mpsc::Receiver<Delivery>) {
        loop {
            let delivery = tokio::select! {
                biased;
                _ = self.stopped.wait_for(|stopped| *stopped) => return,
                delivery = receiver.recv() => match delivery {
                    Some(delivery) => delivery,
                    // Why it has ended is told elsewhere.
                    None => return,
                },
            };
            let is_news = !delivery.backfill;
            self.take_in(delivery).await;
            if is_news {
                self.service.prices.first_load_ended();
                self.arrived
                    .send_if_modified(|arrived| !std::mem::replace(arrived, true));
            }
        }
    }

    /// A quote of a session that has closed since, while the database was away, say, is judged as missed.
    fn note_close(&self, delivery: &mut Delivery) {
        let Some(calendar) = &self.live else { return };
        if calendar.session_at(self.clock.now()).is_some() {
            return;
        }
        let is_of_a_session = |quote: &mut QuoteRow| quote.time.is_some_and(|time| calendar.session_at(time).is_some());
        let closed = delivery.batch.quotes.extract_if(.., is_of_a_session);
        delivery.missed.quotes.extend(closed);
        delivery.missed.quotes.sort_by_key(|quote| quote.time);
    }

    /// What was missed comes before what is news: it was made before.
    async fn try_to_take_in(&self, delivery: &Delivery) -> Result<Vec<NotIngested>, ServiceError> {
        if !delivery.missed.quotes.is_empty() {
            let missed = service::market::Missed {
                quotes: delivery.missed.quotes.clone(),
                is_behind: delivery.missed.is_behind,
            };
            // To judge it again after a failure is safe.
            let outcome = self.service.market_intake.judge_missed(missed).await?;
            tracing::info!(?outcome, "what was missed has been judged");
        }
        if delivery.batch.is_empty() {
            return Ok(Vec::new());
        }
        self.service.market_intake.ingest(delivery.batch.clone()).await
    }

    /// Takes one delivery in, however often it takes; gives up only when the service stops.
    async fn take_in(&mut self, delivery: Delivery) {
        let mut delivery = delivery;
        loop {
            self.note_close(&mut delivery);
            match self.try_to_take_in(&delivery).await {
                Ok(rejected) => {
                    counter!("bellwether_deliveries_total").increment(1);
                    counter!("bellwether_rows_left_out_total").increment(rejected.len() as u64);
                    for row in rejected.iter().take(MAX_REJECTED_LOGGED) {
                        tracing::warn!(
                            kind = row.kind,
                            index = row.index,
                            reason = row.reason,
                            "a row was left out"
                        );
                    }
                    return;
                }
                Err(error) => {
                    counter!("bellwether_deliveries_failed_total").increment(1);
                    tracing::error!(%error, "a delivery could not be taken in; it is tried again");
                }
            }
            let again = self.clock.now().saturating_add(TRY_AGAIN_AFTER).unwrap_or_default();
            tokio::select! {
                () = self.clock.sleep_until(again) => {}
                _ = self.stopped.wait_for(|stopped| *stopped) => return,
            }
        }
    }
}
