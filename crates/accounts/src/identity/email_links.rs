//! Links sent by email: one flow for all of them. It does the same work for unknown addresses.

use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use store::model::{Account, NewCode, NewMessage};
use store::{Abort, UnitOfWork};

use crate::identity::AccountAccess;
use foundation::ServiceError;
use foundation::secret;

/// Purpose of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkPurpose {
    /// Confirms the address of a new account.
    Confirm,
    /// Signs in.
    SignIn,
    /// Sets a new password.
    Reset,
}

/// Maximum number of links for one purpose that are sent to an address within their lifetime. Further requests by an
/// attacker cannot lock the owner out: the mailbox then has valid links.
const MAX_VALID_LINKS_PER_ADDRESS: u64 = 5;
const ONE_DAY: SignedDuration = SignedDuration::from_hours(24);
/// Maximum number of registration emails per day, for all addresses together.
const MAX_REGISTRATIONS_PER_DAY: u64 = 2_000;
/// Minimum time since the last link, by the number of links for one purpose within a day. Repeated requests neither
/// flood a mailbox nor block it for good: the owner signs in with the last link or the next one.
const LINK_INTERVALS: [(u64, SignedDuration); 5] = [
    (9, SignedDuration::from_hours(4)),
    (8, SignedDuration::from_hours(2)),
    (7, SignedDuration::from_hours(1)),
    (6, SignedDuration::from_mins(30)),
    (5, SignedDuration::from_mins(15)),
];

impl LinkPurpose {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm_address",
            Self::SignIn => "sign_in",
            Self::Reset => "reset_password",
        }
    }

    /// Returns the lifetime of a link.
    pub(super) const fn lifetime(self) -> SignedDuration {
        match self {
            Self::Confirm => SignedDuration::from_hours(48),
            Self::SignIn => SignedDuration::from_mins(15),
            Self::Reset => SignedDuration::from_hours(1),
        }
    }

    /// Hashes a link's secret. The link to reset a password also contains the address; the other links are found by
    /// their secret alone.
    pub(super) fn hash(self, email: &str, secret: &str) -> [u8; 32] {
        let subject = if self == Self::Reset { email } else { "" };
        secret::hash(self.name(), subject, secret)
    }
}

/// A link and the email that contains it.
pub(super) struct EmailLink {
    pub(super) code: NewCode,
    pub(super) message: NewMessage,
}

impl AccountAccess {
    /// Creates a link for an email address. The account is not known yet.
    pub(super) fn email_link(
        &self,
        purpose: LinkPurpose,
        email: &str,
        now: Timestamp,
    ) -> Result<EmailLink, ServiceError> {
        let secret = secret::new(&self.ports.random);
        let token = ("token", secret.as_str());
        let content = match purpose {
            LinkPurpose::Confirm => AccountEmail::ConfirmAddress {
                link: self.writer.link("confirm", &[token]),
            },
            LinkPurpose::SignIn => AccountEmail::MagicLink {
                link: self.writer.link("sign-in", &[token]),
            },
            LinkPurpose::Reset => AccountEmail::ResetPassword {
                link: self.writer.link("reset-password", &[("email", email), token]),
            },
        };
        Ok(EmailLink {
            code: NewCode {
                purpose: purpose.name(),
                account: None,
                subject: email.to_owned(),
                payload: None,
                hash: purpose.hash(email, &secret),
                created_at: now,
                expires_at: now.saturating_add(purpose.lifetime()).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(email, None, &content)?,
        })
    }

    /// Sends a link to the account of an address. The result does not reveal whether an account exists.
    pub(super) async fn send_link(&self, purpose: LinkPurpose, email: String) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        let link = self.email_link(purpose, &email, now)?;
        let inputs = (link, purpose, now);
        let transaction = self.ports.transaction(inputs, |&(ref link, purpose, now), unit| {
            Box::pin(async move {
                let code = &link.code;
                if !may_send_link(unit, purpose, &code.subject, now).await? {
                    return Ok(());
                }
                match unit.account_by_email(&code.subject).await? {
                    Some(account) => queue_link(unit, link, &account).await?,
                    None => {
                        // Writes as many rows as for an existing account, and sends nothing.
                        unit.insert_code(code).await?;
                        unit.revoke_code(code.hash, now).await?;
                    }
                }
                Ok(())
            })
        });
        transaction.await
    }
}

/// Returns whether another link for a purpose may be sent to an address.
pub(super) async fn may_send_link(
    unit: &mut UnitOfWork,
    purpose: LinkPurpose,
    email: &str,
    now: Timestamp,
) -> Result<bool, Abort<ServiceError>> {
    let before = |time: SignedDuration| now.saturating_sub(time).unwrap_or(Timestamp::MIN);
    if unit
        .count_codes(purpose.name(), email, before(purpose.lifetime()))
        .await?
        >= MAX_VALID_LINKS_PER_ADDRESS
    {
        return Ok(false);
    }
    let mailed = unit.count_codes(purpose.name(), email, before(ONE_DAY)).await?;
    let Some((_, space)) = LINK_INTERVALS.iter().find(|(many, _)| mailed >= *many) else {
        return Ok(true);
    };
    Ok(unit.count_codes(purpose.name(), email, before(*space)).await? == 0)
}

/// Checks the daily limit of registrations. Registration emails must leave enough of the day's limit for existing
/// accounts. The error does not depend on the address.
pub(super) async fn check_registration_limit(unit: &mut UnitOfWork, now: Timestamp) -> Result<(), Abort<ServiceError>> {
    let since = now.saturating_sub(ONE_DAY).unwrap_or(Timestamp::MIN);
    if unit.count_codes_for_purpose(LinkPurpose::Confirm.name(), since).await? < MAX_REGISTRATIONS_PER_DAY {
        return Ok(());
    }
    Err(Abort::Refused(ServiceError::RateLimited {
        message: "too many registrations today; try again later".to_owned(),
        retry_after_s: 3_600,
    }))
}

/// Stores a link for an account and queues the email with it.
pub(super) async fn queue_link(
    unit: &mut UnitOfWork,
    link: &EmailLink,
    account: &Account,
) -> Result<(), Abort<ServiceError>> {
    let code = NewCode {
        account: Some(account.id),
        ..link.code.clone()
    };
    unit.insert_code(&code).await?;
    let message = NewMessage {
        account: Some(account.id),
        ..link.message.clone()
    };
    Ok(unit.queue_message(&message).await?)
}

/// Uses a link and returns its account, locked. A link is invalid if the account has another address now.
pub(super) async fn redeem_link(
    unit: &mut UnitOfWork,
    hash: [u8; 32],
    now: Timestamp,
) -> Result<RedeemedLink, Abort<ServiceError>> {
    let bad = || Abort::Refused(invalid_link());
    let used = unit.use_code(hash, now).await?.ok_or_else(bad)?;
    let account = unit.lock_account(used.account.ok_or_else(bad)?).await?;
    let account = account.filter(|account| account.email == used.subject && account.profile.deleted_at.is_none());
    Ok(RedeemedLink {
        account: account.ok_or_else(bad)?,
        created_at: used.created_at,
    })
}

/// The account of a used link.
pub(super) struct RedeemedLink {
    pub(super) account: Account,
    /// Creation time of the link.
    pub(super) created_at: Timestamp,
}

/// Returns the same error for every reason why a link is invalid.
pub(super) fn invalid_link() -> ServiceError {
    let message = "this link is unknown, already used or expired; request a new one";
    ServiceError::Malformed(message.to_owned())
}
