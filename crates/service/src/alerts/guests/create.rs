//! Creates an alert without an account.

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{AlertId, NewAlert, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AlertOwner, HistoryRow, NewCode, NewMessage, ScopeRole, StoredAlert};
use store::{Abort, UnitOfWork};

use super::{
    LINK_COUNT_WINDOW, LINK_LIFETIME, LINK_RESEND_DELAY, MAX_LINKS_PER_ADDRESS, MAX_LINKS_TOTAL, VERIFY_PURPOSE,
    description, hash, payload, time_before,
};
use crate::alerts::{Created, GuestAlerts};
use foundation::account::{DEFAULT_TIME_ZONE, normalize_email};
use foundation::secret;
use foundation::{ErrorsByField, MadeBy, ServiceError};

/// A validated request of a guest.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestAlertRequest {
    new_alert: NewAlert,
    /// The normalized address.
    email: String,
}

impl GuestAlerts {
    /// Reads and validates a guest's request from the body of a create request. Nothing is written.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] without an email address; [`ServiceError::Invalid`], also for a note, tags or options;
    /// [`ServiceError::Forbidden`] for conditions and channels that guests cannot have; [`ServiceError::UnknownStock`]
    /// for an unknown symbol.
    pub fn guest_alert_request(&self, body: &Value) -> Result<GuestAlertRequest, ServiceError> {
        if body.get("email").is_none_or(Value::is_null) {
            let message = "this request needs an API key or an access token; without one, set email to your address";
            return Err(ServiceError::Unauthenticated(message.to_owned()));
        }
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &TimeZone::get(DEFAULT_TIME_ZONE).unwrap_or(TimeZone::UTC),
            calendar: &self.settings.calendar,
        };
        let new_alert = parse_create(body, &context)?;
        let email = normalize_email(new_alert.email.as_deref().unwrap_or_default());
        plan::check_guest_alert(&new_alert.condition, new_alert.notification)?;
        reject_labels(&new_alert, body)?;
        // The source is asked after the request has been counted.
        self.prices.require_stock_or_source(new_alert.symbol)?;
        Ok(GuestAlertRequest { new_alert, email })
    }

    /// Creates an inactive alert of a guest, and emails the link that activates it. If an equivalent unverified alert
    /// was requested for the address before, that alert is returned, and the link is sent again unless that happened a
    /// moment ago.
    ///
    /// # Errors
    /// [`ServiceError::RateLimited`] if too many links were sent today, to the address or in total;
    /// [`ServiceError::Unavailable`] for a percentage without a price.
    pub async fn create_guest_alert(&self, request: GuestAlertRequest) -> Result<Created, ServiceError> {
        let GuestAlertRequest { new_alert, email } = request;
        self.prices.require_stock(new_alert.symbol).await?;
        let price = self.prices.start_price(new_alert.symbol).await;
        let ports = &self.ports;
        let (now, secret) = (ports.clock.now(), secret::new(&ports.random));
        let id = AlertId(ports.random.uuid());
        let email_content = AccountEmail::GuestAlert {
            symbol: new_alert.symbol.to_string(),
            condition: description::describe(&new_alert),
            link: self.writer.link("verify-alert", &[("token", &secret)]),
        };
        let work = InsertGuestAlert {
            price,
            code: NewCode {
                purpose: VERIFY_PURPOSE,
                account: None,
                subject: email.clone(),
                payload: Some(payload(id)),
                hash: hash(&secret),
                created_at: now,
                expires_at: now.saturating_add(LINK_LIFETIME).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(&email, None, &email_content)?,
            owner: AlertOwner::Guest { email },
            new_alert,
            id,
            now,
        };
        Ok(
            match ports.transaction(work, |work, unit| Box::pin(work.run(unit))).await? {
                InsertResult::Inserted(stored) => Created::New(Box::new(self.alerts.detail(stored))),
                InsertResult::Found(stored) => Created::Existing(Box::new(self.alerts.detail(stored))),
            },
        )
    }
}

/// Refuses a note, tags, options, routing and many stocks: an email to a guest must not carry a stranger's text, and only accounts have lists and
/// repeating alerts.
fn reject_labels(new_alert: &NewAlert, body: &Value) -> Result<(), ServiceError> {
    let sent = [
        ("note", new_alert.note.is_some()),
        ("tags", !new_alert.tags.is_empty()),
        ("managed_by", new_alert.managed_by.is_some()),
        ("options", !new_alert.options.are_default()),
        ("channels", new_alert.routing.route.is_some()),
        ("urgent", new_alert.routing.is_urgent),
        ("templates", new_alert.routing.templates.is_some()),
        ("scope", body.get("scope").is_some_and(|scope| !scope.is_null())),
    ];
    let errors: ErrorsByField = sent
        .into_iter()
        .filter(|(_, is_sent)| *is_sent)
        .map(|(name, _)| {
            (
                name.to_owned(),
                vec!["needs an account; sign in, or omit it".to_owned()],
            )
        })
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ServiceError::fields(errors))
    }
}

struct InsertGuestAlert {
    owner: AlertOwner,
    new_alert: NewAlert,
    id: AlertId,
    price: PriceAvailability,
    code: NewCode,
    message: NewMessage,
    now: Timestamp,
}

enum InsertResult {
    Inserted(StoredAlert),
    Found(StoredAlert),
}

impl InsertGuestAlert {
    /// Returns an equivalent alert that was requested for the address and can still be verified. The read locks further
    /// requests for the address until the commit.
    async fn found(&self, unit: &mut UnitOfWork) -> Result<Option<StoredAlert>, Abort<ServiceError>> {
        let since = time_before(self.now, LINK_LIFETIME);
        let waits = |found: &StoredAlert| found.alert.status == Status::Inactive && found.alert.created_at > since;
        let similar = unit.similar_alerts(&self.owner, &self.new_alert).await?.into_iter();
        Ok(similar
            .filter(waits)
            .find(|found| equivalent(&found.alert, &self.new_alert, self.now)))
    }

    /// Refuses if enough links were sent today, to the address or in total.
    async fn check_link_limits(&self, unit: &mut UnitOfWork) -> Result<Result<(), ServiceError>, Abort<ServiceError>> {
        let (email, day) = (&self.code.subject, time_before(self.now, LINK_COUNT_WINDOW));
        if unit.count_codes(VERIFY_PURPOSE, email, day).await? >= MAX_LINKS_PER_ADDRESS {
            let oldest = unit.oldest_code(VERIFY_PURPOSE, email, day).await?.unwrap_or(self.now);
            let wait = LINK_COUNT_WINDOW.saturating_sub(self.now.duration_since(oldest));
            return Ok(Err(ServiceError::RateLimited {
                message: format!(
                    "this address has received {MAX_LINKS_PER_ADDRESS} verification links within a day, which is the \
                     maximum; open one of them, try again later, or register"
                ),
                retry_after_s: u64::try_from(wait.as_secs()).unwrap_or_default().saturating_add(1),
            }));
        }
        if unit.count_codes_for_purpose(VERIFY_PURPOSE, day).await? >= MAX_LINKS_TOTAL {
            return Ok(Err(ServiceError::RateLimited {
                message: "the daily limit of alerts without an account is reached; try again later, or register"
                    .to_owned(),
                retry_after_s: 3_600,
            }));
        }
        Ok(Ok(()))
    }

    async fn queue_link(&self, unit: &mut UnitOfWork, code: &NewCode) -> Result<(), Abort<ServiceError>> {
        unit.insert_code(code).await?;
        Ok(unit.queue_message(&self.message).await?)
    }

    /// Sends another link for an existing alert, if the limits allow it and none was sent recently.
    async fn queue_link_again(&self, unit: &mut UnitOfWork, id: AlertId) -> Result<(), Abort<ServiceError>> {
        let (id, since) = (payload(id), time_before(self.now, LINK_RESEND_DELAY));
        let is_on_its_way = unit
            .count_codes_with_payload(VERIFY_PURPOSE, &self.code.subject, &id, since)
            .await?
            > 0;
        if is_on_its_way || self.check_link_limits(unit).await?.is_err() {
            return Ok(());
        }
        let code = NewCode {
            payload: Some(id),
            ..self.code.clone()
        };
        self.queue_link(unit, &code).await
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<InsertResult, Abort<ServiceError>> {
        if let Some(found) = self.found(unit).await? {
            self.queue_link_again(unit, found.alert.id).await?;
            return Ok(InsertResult::Found(found));
        }
        self.check_link_limits(unit).await??;
        let unverified = OwnerVerification::Unverified;
        let made = transition::create(self.new_alert.clone(), self.id, unverified, self.price, self.now);
        let made = made.map_err(ServiceError::from)?;
        let row = HistoryRow {
            alert: self.id,
            symbol: made.alert.symbol,
            entry: made.entry,
            at: self.now,
            price: None,
            details: None,
        };
        let stored = StoredAlert {
            alert: made.alert,
            owner: self.owner.clone(),
            created_by: Some(MadeBy::Guest.to_text()),
            role: ScopeRole::Single,
            managed_by: None,
        };
        unit.insert_alert(&stored, &row).await?;
        self.queue_link(unit, &self.code).await?;
        Ok(InsertResult::Inserted(stored))
    }
}
