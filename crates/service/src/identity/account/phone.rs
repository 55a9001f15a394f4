//! The telephone number of an account: a code is sent to it, and whoever knows the code has it in their hands.
//!
//! Each code costs the operator money, and there are people who earn by having codes sent to numbers of theirs. So codes are
//! counted for the number and for the account (here), and for all together (where messages are admitted). Accounts are
//! counted for the client's address (where requests come in).

use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use serde_json::Value;
use sha2::Sha256;
use store::model::{Account, AccountId, CodeCheck, NewCode, NewMessage, Phone};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::awake;
use super::number::{self, CallingCode};
use crate::body::Members;
use crate::identity::account::AccountSettings;
use crate::{Actor, ServiceError};

/// What the codes are for.
const PURPOSE: &str = "phone";
/// What the key is for that codes are hashed under: there are so few of them that a plain hash would give them away.
const KEY: &str = "bellwether: codes by text message";
/// How long a code that was sent to a telephone number is good for.
pub const LIFE: SignedDuration = SignedDuration::from_mins(10);
/// So many wrong guesses end a code.
const WRONG_GUESSES: u32 = 5;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// How many codes are sent in how long to a number, whoever asks, and because of an account, whichever numbers it gives.
const LIMITS: [(SignedDuration, u64); 2] = [(HOUR, 3), (DAY, 5)];

impl AccountSettings {
    /// Sends a code to a number: `{phone, sms_consent: true}`. Until it is shown the account keeps the number it has.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for what is no number, or without consent; [`ServiceError::TooMany`].
    pub async fn request_phone(&self, actor: &Actor, body: &Value) -> Result<String, ServiceError> {
        let mut members = Members::of(body)?;
        let number = number(&mut members, &self.settings.messages.sms.allowed_countries);
        if members.value("sms_consent") != Some(&Value::Bool(true)) {
            members.fault(
                "sms_consent",
                "is required and must be true: text messages are sent to those who have agreed to it",
            );
        }
        members.finish()?;
        let ports = &self.ports;
        let now = ports.clock.now();
        let code = code(&ports.chance.bytes());
        let letter = AccountEmail::PhoneCode { code: code.clone() };
        let work = Ask {
            code: NewCode {
                purpose: PURPOSE,
                account: Some(actor.account),
                subject: number.clone(),
                payload: None,
                hash: self.phone_code_hash(actor.account, &number, &code)?,
                created_at: now,
                expires_at: now.saturating_add(LIFE).unwrap_or(Timestamp::MAX),
            },
            account: actor.account,
            message: self.writer.text_message(&number, Some(actor.account), &letter)?,
            now,
        };
        ports.store.write(work).await?;
        Ok(number)
    }

    /// Takes a number for the account's, because the code that was sent to it is shown: `{phone, token}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a code that is wrong, or that cannot be guessed at any more.
    pub async fn verify_phone(&self, actor: &Actor, body: &Value) -> Result<Phone, ServiceError> {
        let mut members = Members::of(body)?;
        // A code that was sent is good, whatever countries are allowed since.
        let number = number(&mut members, &[]);
        let token = members.required("token").unwrap_or_default().trim().to_owned();
        members.finish()?;
        let work = Verify {
            account: actor.account,
            hash: self.phone_code_hash(actor.account, &number, &token)?,
            phone: Phone {
                number,
                verified_at: self.ports.clock.now(),
            },
        };
        let phone = work.phone.clone();
        // That a guess was wrong has to be written down, so it is no refusal of the work.
        match self.ports.store.write(work).await? {
            CodeCheck::Correct => Ok(phone),
            CodeCheck::Wrong(left) => Err(ServiceError::Malformed(format!(
                "this code is wrong; {left} more tries are left"
            ))),
            CodeCheck::NoActiveCode => Err(ServiceError::Malformed(
                "there is no code for this number that is still good; ask for another one (POST /user/account/phone)"
                    .to_owned(),
            )),
        }
    }

    /// What is kept of a code.
    fn phone_code_hash(&self, account: AccountId, number: &str, code: &str) -> Result<[u8; 32], ServiceError> {
        let key = self.ports.vault.derive(KEY);
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key);
        let mut mac = mac.map_err(ServiceError::internal)?;
        for part in [account.0.as_bytes().as_slice(), number.as_bytes(), code.as_bytes()] {
            mac.update(&u64::try_from(part.len()).unwrap_or_default().to_le_bytes());
            mac.update(part);
        }
        Ok(mac.finalize().into_bytes().into())
    }
}

/// Six digits of 256 random bits, so that each code is as likely as any other.
fn code(bits: &[u8; 32]) -> String {
    // Horner's rule: the remainder of the whole number that the bits are.
    let rest = bits
        .iter()
        .fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % 1_000_000);
    format!("{rest:06}")
}

/// A number in the form of E.164 that may be sent a text message.
fn number(members: &mut Members<'_>, allowed: &[CallingCode]) -> String {
    let Some(text) = members.required("phone") else {
        return String::new();
    };
    if let Some(fault) = number::fault(text, allowed) {
        members.fault("phone", fault);
    }
    text.to_owned()
}

struct Ask {
    code: NewCode,
    account: AccountId,
    message: NewMessage,
    now: Timestamp,
}

impl Transaction for Ask {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            awake(unit, self.account).await?;
            for (time, most) in LIMITS {
                let since = self.now.saturating_sub(time).unwrap_or(Timestamp::MIN);
                if unit.count_codes(PURPOSE, &self.code.subject, since).await? >= most
                    || unit.count_codes_of_account(PURPOSE, self.account, since).await? >= most
                {
                    let hours = time.as_hours();
                    return Err(Abort::Refused(ServiceError::TooMany {
                        message: format!(
                            "too many codes were sent in the last {hours} h; use the latest one, or try again later"
                        ),
                        retry_after_s: time.as_secs().unsigned_abs(),
                    }));
                }
            }
            // Only the latest code is good.
            unit.revoke_codes(PURPOSE, self.account, self.now).await?;
            unit.insert_code(&self.code).await?;
            Ok(unit.queue_message(&self.message).await?)
        })
    }
}

struct Verify {
    account: AccountId,
    hash: [u8; 32],
    phone: Phone,
}

impl Transaction for Verify {
    type Output = CodeCheck;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<CodeCheck, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = awake(unit, self.account).await?;
            let (number, now) = (&self.phone.number, self.phone.verified_at);
            let guess = unit.check_code(PURPOSE, self.account, number, self.hash, WRONG_GUESSES, now);
            let guessed = guess.await?;
            if guessed == CodeCheck::Correct {
                let mut changed: Account = account;
                changed.profile.phone = Some(self.phone.clone());
                unit.update_account(&changed).await?;
            }
            Ok(guessed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_six_digits_however_small_it_is() {
        let mut bits = [0; 32];
        assert_eq!(code(&bits), "000000");
        bits[31] = 7;
        assert_eq!(code(&bits), "000007");
        bits[30] = 1;
        assert_eq!(code(&bits), "000263");
        assert_eq!(code(&[255; 32]).len(), 6);
    }
}
