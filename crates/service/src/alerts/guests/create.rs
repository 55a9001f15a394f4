//! Asking for an alert without an account.

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{AlertId, NewAlert, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AlertOwner, HistoryRow, NewCode, NewMessage, StoredAlert};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{ANOTHER_LINK_AFTER, DAY, LIFE, LINKS_IN_ALL, LINKS_TO_ADDRESS, PURPOSE, before, hash, payload, wish};
use crate::ServiceError;
use crate::access::accounts::{DEFAULT_TIME_ZONE, normal_email};
use crate::alerts::{Created, GuestAlerts, MadeBy};
use crate::identity::secret;

/// What a guest asks for, found sound.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestWish {
    asked: NewAlert,
    /// As addresses are kept.
    email: String,
}

impl GuestAlerts {
    /// Reads what a guest asks for from the body of a create request. Nothing is written.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] without an address, [`ServiceError::Invalid`], [`ServiceError::Forbidden`] for what
    /// guests cannot have, [`ServiceError::UnknownStock`] for an unknown symbol.
    pub fn guest_wish(&self, body: &Value) -> Result<GuestWish, ServiceError> {
        if body.get("email").is_none_or(Value::is_null) {
            let message = "this needs an API key or an access token; without one, give your address as email";
            return Err(ServiceError::Unauthenticated(message.to_owned()));
        }
        let context = ParseContext {
            now: self.ports.clock.now(),
            time_zone: &TimeZone::get(DEFAULT_TIME_ZONE).unwrap_or(TimeZone::UTC),
            calendar: &self.settings.calendar,
        };
        let asked = parse_create(body, &context)?;
        let email = normal_email(asked.email.as_deref().unwrap_or_default());
        plan::check_guest_alert(asked.condition.kind(), asked.notification)?;
        // A source is asked once the request has been counted.
        self.prices.require_stock_or_source(asked.symbol)?;
        Ok(GuestWish { asked, email })
    }

    /// Makes a guest's alert, inactive, and has a link mailed to the address that makes it active. If strangers have asked
    /// for the same with that address already and it was not verified yet, that alert is answered, and the link mailed
    /// again, unless that was done a moment ago.
    ///
    /// # Errors
    /// [`ServiceError::TooMany`] if the address, or all guests together, were mailed too many links today;
    /// [`ServiceError::Unavailable`] for a percentage without a price.
    pub async fn create_guest_alert(&self, wish: GuestWish) -> Result<Created, ServiceError> {
        let GuestWish { asked, email } = wish;
        self.prices.require_stock(asked.symbol).await?;
        let price = self.prices.start_price(asked.symbol).await;
        let ports = &self.ports;
        let (now, secret) = (ports.clock.now(), secret::new(&ports.chance));
        let id = AlertId(ports.chance.uuid());
        let letter = AccountEmail::GuestAlert {
            symbol: asked.symbol.to_string(),
            condition: wish::in_words(&asked),
            link: self.writer.link("verify-alert", &[("token", &secret)]),
        };
        let work = Create {
            price,
            code: NewCode {
                purpose: PURPOSE,
                account: None,
                subject: email.clone(),
                payload: Some(payload(id)),
                hash: hash(&secret),
                created_at: now,
                expires_at: now.saturating_add(LIFE).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(&email, None, &letter)?,
            owner: AlertOwner::Guest { email },
            asked,
            id,
            now,
        };
        Ok(match ports.store.write(work).await? {
            Done::Inserted(stored) => Created::New(Box::new(self.alerts.detail(stored))),
            Done::Found(stored) => Created::Existing(Box::new(self.alerts.detail(stored))),
        })
    }
}

struct Create {
    owner: AlertOwner,
    asked: NewAlert,
    id: AlertId,
    price: PriceAvailability,
    code: NewCode,
    message: NewMessage,
    now: Timestamp,
}

enum Done {
    Inserted(StoredAlert),
    Found(StoredAlert),
}

impl Create {
    /// What strangers have asked for already in the name of that address, if it still can be verified. Whoever asks for
    /// something for the same address waits from here on.
    async fn found(&self, unit: &mut UnitOfWork) -> Result<Option<StoredAlert>, Abort<ServiceError>> {
        let since = before(self.now, LIFE);
        let waits = |found: &StoredAlert| found.alert.status == Status::Inactive && found.alert.created_at > since;
        let similar = unit.similar_alerts(&self.owner, &self.asked).await?.into_iter();
        Ok(similar
            .filter(waits)
            .find(|found| equivalent(&found.alert, &self.asked)))
    }

    /// Refuses if the address, or all of them, were mailed enough links today.
    async fn may_be_mailed(&self, unit: &mut UnitOfWork) -> Result<Result<(), ServiceError>, Abort<ServiceError>> {
        let (email, day) = (&self.code.subject, before(self.now, DAY));
        if unit.count_codes(PURPOSE, email, day).await? >= LINKS_TO_ADDRESS {
            let oldest = unit.oldest_code(PURPOSE, email, day).await?.unwrap_or(self.now);
            let wait = DAY.saturating_sub(self.now.duration_since(oldest));
            return Ok(Err(ServiceError::TooMany {
                message: format!(
                    "{LINKS_TO_ADDRESS} links to verify alerts were mailed to this address within a day, and that is \
                     all; open them, or try again later, or register"
                ),
                retry_after_s: u64::try_from(wait.as_secs()).unwrap_or_default().saturating_add(1),
            }));
        }
        if unit.count_codes_for_purpose(PURPOSE, day).await? >= LINKS_IN_ALL {
            return Ok(Err(ServiceError::TooMany {
                message:
                    "more alerts were asked for without an account today than are mailed about; try again later, or \
                          register"
                        .to_owned(),
                retry_after_s: 3_600,
            }));
        }
        Ok(Ok(()))
    }

    async fn mail(&self, unit: &mut UnitOfWork, code: &NewCode) -> Result<(), Abort<ServiceError>> {
        unit.insert_code(code).await?;
        Ok(unit.queue_message(&self.message).await?)
    }

    /// Mails a link for an alert that was asked for before, if one may be mailed and none is on its way.
    async fn mail_again(&self, unit: &mut UnitOfWork, id: AlertId) -> Result<(), Abort<ServiceError>> {
        let (id, since) = (payload(id), before(self.now, ANOTHER_LINK_AFTER));
        let is_on_its_way = unit
            .count_codes_with_payload(PURPOSE, &self.code.subject, &id, since)
            .await?
            > 0;
        if is_on_its_way || self.may_be_mailed(unit).await?.is_err() {
            return Ok(());
        }
        let code = NewCode {
            payload: Some(id),
            ..self.code.clone()
        };
        self.mail(unit, &code).await
    }
}

impl Transaction for Create {
    type Output = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            if let Some(found) = self.found(unit).await? {
                self.mail_again(unit, found.alert.id).await?;
                return Ok(Done::Found(found));
            }
            self.may_be_mailed(unit).await?.map_err(Abort::Refused)?;
            let unverified = OwnerVerification::Unverified;
            let made = transition::create(self.asked.clone(), self.id, unverified, self.price, self.now);
            let made = made.map_err(|refused| Abort::Refused(refused.into()))?;
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
            };
            unit.insert_alert(&stored, &row).await?;
            self.mail(unit, &self.code).await?;
            Ok(Done::Inserted(stored))
        })
    }
}
