//! The live demo: the very service that `serve` runs, with an account, an API key and alerts that fire while one looks.
//!
//! What fired is read as any receiver reads it: as the account's events, in their order. An alert on a price is set
//! anew a little further off, so that there is always something to see.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use alerts::{AlertId, Plan};
use anyhow::{Context, bail};
use jiff::SignedDuration;
use service::access::{NewKey, NewUser};
use service::alerts::Created;
use service::{Actor, Clock, Scope, Service, ServiceError};

use super::hooks::{self, Hooks};
use super::words::{EMAIL, Made, introduction, json_line, readable_line, tell};
use super::{orders, watchlist};
use crate::metering::Metering;
use crate::serve::{House, end_at_once};
use crate::settings::Settings;
use crate::signals::Signals;

/// How often is looked whether something has fired.
const LOOK_EVERY: SignedDuration = SignedDuration::from_millis(200);
/// So many events are read at once.
const MAX_EVENTS: u32 = 500;
/// How many rows of the catalog are looked at.
const MAX_STOCKS: usize = 100;
/// Where the demo listens if it can.
const USUAL_ADDRESS: &str = "127.0.0.1:8080";

/// How the demo is to be.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// What the simulated market is made of.
    pub seed: u64,
    /// Whether firings are printed as JSON lines.
    pub json: bool,
    /// Where the database is kept; `None`: in a folder that is deleted at the end.
    pub dir: Option<PathBuf>,
    /// Where to listen; `None`: at the usual address, or at any port that is free.
    pub listen: Option<SocketAddr>,
    /// After how long it ends.
    pub lasting: Option<SignedDuration>,
    /// After how many firings it ends. If they do not come in time, it has failed.
    pub firings: Option<u64>,
}

/// Shows the demo until it has come to its end or is told to stop.
///
/// # Errors
/// If the service cannot start or fails, or fewer alerts fire than were wished for.
pub async fn run(wishes: &Wishes, metering: Metering) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let temporary = match wishes.dir {
        Some(_) => None,
        None => Some(tempfile::tempdir().context("cannot make a folder for the database")?),
    };
    let folder = wishes.dir.as_deref().or(temporary.as_ref().map(|dir| dir.path()));
    let folder = folder.context("there is no folder for the database")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let settings = settings(wishes, folder).await?;
    let house = House::open(&settings, metering).await?;
    let mut totals = Totals::default();
    let shown = tokio::select! {
        shown = show(&house, wishes, &mut totals) => shown,
        _ = signals.next() => Ok(()),
    };
    totals.tell();
    let impatience = tokio::spawn(end_at_once(signals));
    let closed = house.close().await;
    impatience.abort();
    shown.and(closed)
}

/// The settings of `serve`, with what makes a demo of it.
async fn settings(wishes: &Wishes, folder: &Path) -> anyhow::Result<Settings> {
    let listen = match wishes.listen {
        Some(address) => address.to_string(),
        None if is_free(USUAL_ADDRESS).await => USUAL_ADDRESS.to_owned(),
        None => "127.0.0.1:0".to_owned(),
    };
    let database = format!("sqlite://{}", folder.join("demo.db").display());
    let seed = wishes.seed.to_string();
    let chosen = [
        ("SERVER__LISTEN", listen.as_str()),
        ("DATABASE__URL", &database),
        ("MARKET__SOURCE", "simulated"),
        ("MARKET__SEED", &seed),
        ("MARKET__ALWAYS_OPEN", "true"),
        ("MARKET__LIVELY", "true"),
        ("WEBHOOKS__ALLOW_PRIVATE_CIDRS", hooks::OPENED),
    ];
    let chosen = chosen.map(|(name, value)| (format!("BELLWETHER_{name}"), value.to_owned()));
    Ok(Settings::load(None, chosen)?)
}

async fn is_free(address: &str) -> bool {
    tokio::net::TcpListener::bind(address).await.is_ok()
}

/// What there was, for the end.
#[derive(Clone, Copy, Default)]
struct Totals {
    fired: u64,
    received: u64,
    trusted: u64,
}

impl Totals {
    fn tell(self) {
        let Self {
            fired,
            received,
            trusted,
        } = self;
        tell(&format!(
            "\n{fired} alerts have fired, {received} webhooks were received, the signatures of {trusted} verified."
        ));
    }
}

async fn show(house: &House, wishes: &Wishes, totals: &mut Totals) -> anyhow::Result<()> {
    let clock = std::sync::Arc::clone(&house.clock);
    tell("Two years of an invented market are being made up ...");
    tokio::select! {
        () = house.up_to_date() => {}
        error = house.failed() => return Err(error),
    }
    let password: String = house
        .chance
        .bytes::<6>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let service = house.service.0.clone();
    let (key, is_new) = account(&service, &password).await?;
    let actor = service.authenticator.authenticate_key(&key).await?;
    let hooks = Hooks::open(&service, &actor).await?;
    let seen = last_event(house, &actor).await?;
    let alerts = order(&service, &actor, clock.as_ref()).await?;
    watchlist::fill(house, &actor).await?;
    tell(&introduction(&Made {
        address: house.address(),
        key: &key,
        password: is_new.then_some(&*password),
        alerts,
        receiver: hooks.address(),
        webhook: hooks.id(),
    }));
    let end = wishes.lasting.and_then(|lasting| clock.now().checked_add(lasting).ok());
    let mut watch = Watch {
        service,
        actor,
        seen,
        fired: 0,
        wished: wishes.firings,
        as_json: wishes.json,
        hooks,
    };
    loop {
        let is_enough = watch.look(house).await?;
        *totals = watch.totals();
        if is_enough {
            watch.catch_up(clock.as_ref()).await;
            *totals = watch.totals();
            return Ok(());
        }
        let next = clock
            .now()
            .saturating_add(LOOK_EVERY)
            .context("the clock stands at its end")?;
        if let Some(end) = end
            && next > end
        {
            watch.catch_up(clock.as_ref()).await;
            *totals = watch.totals();
            return watch.come_to_an_end();
        }
        tokio::select! {
            () = clock.sleep_until(next) => {}
            error = house.failed() => return Err(error),
        }
    }
}

/// The demo's account with a new key for everything, and whether the account is new, too.
async fn account(service: &Service, password: &str) -> anyhow::Result<(String, bool)> {
    let user = NewUser {
        email: EMAIL.to_owned(),
        password: password.to_owned(),
        plan: Plan::Premium,
        is_operator: true,
        is_verified: true,
    };
    let is_new = match service.accounts.create_user(user).await {
        Ok(_) => true,
        // The folder is that of an earlier demo.
        Err(ServiceError::Conflict(_)) => false,
        Err(error) => return Err(error.into()),
    };
    let key = NewKey {
        name: "demo".to_owned(),
        scopes: Scope::ALL.to_vec(),
    };
    Ok((service.accounts.create_key_for(EMAIL, key).await?.secret, is_new))
}

/// Creates the alerts; answers how many there are.
async fn order(service: &Service, actor: &Actor, clock: &dyn Clock) -> anyhow::Result<usize> {
    let stocks = service.stocks.search_stocks("", MAX_STOCKS);
    let mut known = Vec::with_capacity(stocks.len());
    for row in &stocks {
        let view = service.stocks.stock(row.symbol).await?;
        known.push((view, service.stocks.fundamentals(row.symbol).await?));
    }
    let bodies = orders::alerts(&known, clock.now());
    for body in &bodies {
        match service.alerts.create_alert(actor, body).await {
            Ok(Created::New(_) | Created::Existing(_)) => {}
            Err(error) => bail!("cannot create the alert {body}: {error}"),
        }
    }
    Ok(bodies.len())
}

async fn last_event(house: &House, actor: &Actor) -> anyhow::Result<i64> {
    let mut seen = 0;
    loop {
        let events = house.store.events_after(actor.account, seen, MAX_EVENTS).await?;
        match events.last() {
            Some(last) => seen = last.seq,
            None => return Ok(seen),
        }
    }
}

/// What has been seen of the firings.
struct Watch {
    service: Service,
    actor: Actor,
    seen: i64,
    fired: u64,
    wished: Option<u64>,
    as_json: bool,
    hooks: Hooks,
}

impl Watch {
    fn totals(&self) -> Totals {
        let (received, trusted) = self.hooks.counts();
        Totals {
            fired: self.fired,
            received,
            trusted,
        }
    }

    /// Waits for the webhooks that are under way.
    async fn catch_up(&mut self, clock: &dyn Clock) {
        let news = self.hooks.catch_up(self.fired, clock).await;
        self.show_received(&news);
    }

    /// Programs that read firings get nothing else.
    fn show_received(&self, lines: &[String]) {
        for line in lines.iter().filter(|_| !self.as_json) {
            let _ = writeln!(io::stdout(), "{line}");
        }
    }

    /// Prints what has fired since the last look, and sets it anew. Answers whether that was enough.
    async fn look(&mut self, house: &House) -> anyhow::Result<bool> {
        let events = house
            .store
            .events_after(self.actor.account, self.seen, MAX_EVENTS)
            .await?;
        for event in events {
            self.seen = event.seq;
            let line = if self.as_json {
                json_line(&event)
            } else {
                readable_line(&event)
            };
            match writeln!(io::stdout(), "{line}") {
                // Whoever reads our output has read enough (`| head`).
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(true),
                written => written.context("cannot write to standard output")?,
            }
            self.fired += 1;
            if self.wished.is_some_and(|wished| self.fired >= wished) {
                return Ok(true);
            }
            self.set_anew(event.alert).await?;
        }
        // After the firings, because that is how one reads it.
        let news = self.hooks.news();
        self.show_received(&news);
        Ok(false)
    }

    /// Sets an alert on a price anew; others have had their turn.
    async fn set_anew(&self, id: AlertId) -> Result<(), ServiceError> {
        let changed = self.try_set_anew(id).await;
        match changed {
            // Somebody tries the API out, and has deleted or changed it meanwhile.
            Err(ServiceError::NotFound(_) | ServiceError::UnknownStock { .. } | ServiceError::Invalid { .. }) => Ok(()),
            changed => changed,
        }
    }

    async fn try_set_anew(&self, id: AlertId) -> Result<(), ServiceError> {
        let detail = self.service.alerts.alert(&self.actor, id).await?;
        let condition = detail.stored.alert.condition.kind().name();
        let Some(price) = detail.stock.last_price else {
            return Ok(());
        };
        if let Some(body) = orders::anew(condition, price) {
            self.service.alerts.update_alert(&self.actor, id, &body).await?;
            self.service.alerts.activate_alert(&self.actor, id).await?;
        }
        Ok(())
    }

    fn come_to_an_end(&self) -> anyhow::Result<()> {
        match self.wished {
            Some(wished) => bail!("{} alerts fired in time, not {wished}", self.fired),
            None => Ok(()),
        }
    }
}
