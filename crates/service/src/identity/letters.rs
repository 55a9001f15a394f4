//! Links that are mailed to an address: one use case for all of them, that does as much for an address that is not
//! known.

use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use store::model::{Account, NewCode, NewMessage};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::secret;
use crate::ServiceError;
use crate::identity::Identity;

/// What a link is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Confirming the address that somebody registered with.
    Confirm,
    /// Signing in.
    SignIn,
    /// Choosing a new password.
    Reset,
}

/// So many links for one purpose are mailed to an address within the time that one is good for. So whoever asks for more
/// of them in somebody else's name cannot keep them from getting in: by then there are good ones in their mailbox.
const MAILED_AT_MOST: u64 = 5;
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// So many are mailed a link within a day because they have registered, all together.
const REGISTRATIONS_IN_ALL: u64 = 2_000;
/// After how many links for one purpose within a day the next comes how long after the last, at the earliest. So whoever
/// asks for them all day floods nobody, and never comes to an end of them: whoever reads that mail gets in by the last one, or
/// by the next.
const SPACED: [(u64, SignedDuration); 5] = [
    (9, SignedDuration::from_hours(4)),
    (8, SignedDuration::from_hours(2)),
    (7, SignedDuration::from_hours(1)),
    (6, SignedDuration::from_mins(30)),
    (5, SignedDuration::from_mins(15)),
];

impl Purpose {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm_address",
            Self::SignIn => "sign_in",
            Self::Reset => "reset_password",
        }
    }

    /// How long a link is good for.
    pub(super) const fn life(self) -> SignedDuration {
        match self {
            Self::Confirm => SignedDuration::from_hours(48),
            Self::SignIn => SignedDuration::from_mins(15),
            Self::Reset => SignedDuration::from_hours(1),
        }
    }

    /// What is kept of a link's secret. A link to reset a password has the address beside it; the others are found by
    /// their secret alone.
    pub(super) fn hash(self, email: &str, secret: &str) -> [u8; 32] {
        let subject = if self == Self::Reset { email } else { "" };
        secret::hash(self.name(), subject, secret)
    }
}

/// A link, and the letter that it is in.
pub(super) struct Mailing {
    pub(super) code: NewCode,
    pub(super) message: NewMessage,
}

impl Identity {
    /// A new link to that address. Whose account it is for is not known yet.
    pub(super) fn mailing(&self, purpose: Purpose, email: &str, now: Timestamp) -> Result<Mailing, ServiceError> {
        let secret = secret::new(&self.ports.chance);
        let token = ("token", secret.as_str());
        let letter = match purpose {
            Purpose::Confirm => AccountEmail::ConfirmAddress {
                link: self.writer.link("confirm", &[token]),
            },
            Purpose::SignIn => AccountEmail::MagicLink {
                link: self.writer.link("sign-in", &[token]),
            },
            Purpose::Reset => AccountEmail::ResetPassword {
                link: self.writer.link("reset-password", &[("email", email), token]),
            },
        };
        Ok(Mailing {
            code: NewCode {
                purpose: purpose.name(),
                account: None,
                subject: email.to_owned(),
                payload: None,
                hash: purpose.hash(email, &secret),
                created_at: now,
                expires_at: now.saturating_add(purpose.life()).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(email, None, &letter)?,
        })
    }

    /// Mails a link to the account of an address. Whether it has one cannot be told from outside.
    pub(super) async fn mail_link(&self, purpose: Purpose, email: String) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        let mailing = self.mailing(purpose, &email, now)?;
        let work = Mail { mailing, purpose, now };
        Ok(self.ports.store.write(work).await?)
    }
}

struct Mail {
    mailing: Mailing,
    purpose: Purpose,
    now: Timestamp,
}

impl Transaction for Mail {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let code = &self.mailing.code;
            if !may_be_mailed(unit, self.purpose, &code.subject, self.now).await? {
                return Ok(());
            }
            match unit.account_by_email(&code.subject).await? {
                Some(account) => send(unit, &self.mailing, &account).await?,
                None => {
                    // As many rows are written as for an account, and nothing is sent.
                    unit.insert_code(code).await?;
                    unit.revoke_code(code.hash, self.now).await?;
                }
            }
            Ok(())
        })
    }
}

/// Whether another link for that purpose may be mailed to an address.
pub(super) async fn may_be_mailed(
    unit: &mut UnitOfWork,
    purpose: Purpose,
    email: &str,
    now: Timestamp,
) -> Result<bool, Abort<ServiceError>> {
    let before = |time: SignedDuration| now.saturating_sub(time).unwrap_or(Timestamp::MIN);
    if unit.count_codes(purpose.name(), email, before(purpose.life())).await? >= MAILED_AT_MOST {
        return Ok(false);
    }
    let mailed = unit.count_codes(purpose.name(), email, before(DAY)).await?;
    let Some((_, space)) = SPACED.iter().find(|(many, _)| mailed >= *many) else {
        return Ok(true);
    };
    Ok(unit.count_codes(purpose.name(), email, before(*space)).await? == 0)
}

/// Refuses whoever registers if too many have registered today: their letters must leave some of the day's letters for those
/// who have an account. It says nothing of any address.
pub(super) async fn may_register(unit: &mut UnitOfWork, now: Timestamp) -> Result<(), Abort<ServiceError>> {
    let since = now.saturating_sub(DAY).unwrap_or(Timestamp::MIN);
    if unit.count_codes_for_purpose(Purpose::Confirm.name(), since).await? < REGISTRATIONS_IN_ALL {
        return Ok(());
    }
    Err(Abort::Refused(ServiceError::TooMany {
        message: "more people have registered today than are mailed to; try again later".to_owned(),
        retry_after_s: 3_600,
    }))
}

/// Writes a link down for an account, and queues the letter with it.
pub(super) async fn send(
    unit: &mut UnitOfWork,
    mailing: &Mailing,
    account: &Account,
) -> Result<(), Abort<ServiceError>> {
    let code = NewCode {
        account: Some(account.id),
        ..mailing.code.clone()
    };
    unit.insert_code(&code).await?;
    let message = NewMessage {
        account: Some(account.id),
        ..mailing.message.clone()
    };
    Ok(unit.queue_message(&message).await?)
}

/// Uses a link up, and finds the account that it is for, locked. A link to an address that is not the account's any more
/// is good for nothing.
pub(super) async fn redeem(
    unit: &mut UnitOfWork,
    hash: [u8; 32],
    now: Timestamp,
) -> Result<Redeemed, Abort<ServiceError>> {
    let bad = || Abort::Refused(bad_link());
    let used = unit.use_code(hash, now).await?.ok_or_else(bad)?;
    let account = unit.lock_account(used.account.ok_or_else(bad)?).await?;
    let account = account.filter(|account| account.email == used.subject && account.profile.deleted_at.is_none());
    Ok(Redeemed {
        account: account.ok_or_else(bad)?,
        made_at: used.created_at,
    })
}

/// What a link was good for.
pub(super) struct Redeemed {
    pub(super) account: Account,
    /// When it was made.
    pub(super) made_at: Timestamp,
}

/// One refusal for all that can be wrong with a link.
pub(super) fn bad_link() -> ServiceError {
    let message = "this link is not known, was used already, or its time is over; ask for another one";
    ServiceError::Malformed(message.to_owned())
}
