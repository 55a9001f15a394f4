//! Phone number of an account, verified by a code sent as a text message.
//!
//! Each code costs the operator money, and fraudsters earn money with codes sent to their numbers. So codes are limited
//! per number and per account (here), and in total (by the message limits). Requests are limited per client address (by
//! the server).

use foundation::account::lock_active_account;
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use serde_json::Value;
use sha2::Sha256;
use store::Abort;
use store::model::{AccountId, CodeCheck, NewCode, Phone};

use crate::identity::account::AccountSettings;
use crate::identity::requests::{PhoneCodeRequest, VerifyPhoneRequest};
use delivery::phone_number::{self, CallingCode};
use foundation::request::{BodyReader, Request};
use foundation::{Actor, ServiceError};

/// Purpose of the codes.
const CODE_PURPOSE: &str = "phone";
/// Purpose of the key for the codes' HMAC. There are only a million codes, so a plain hash would reveal them.
const CODE_KEY_PURPOSE: &str = "bellwether: codes by text message";
/// Lifetime of a code sent to a phone number.
pub const CODE_LIFETIME: SignedDuration = SignedDuration::from_mins(10);
/// Maximum number of wrong guesses per code.
const MAX_WRONG_GUESSES: u32 = 5;

const ONE_HOUR: SignedDuration = SignedDuration::from_hours(1);
const ONE_DAY: SignedDuration = SignedDuration::from_hours(24);

/// Maximum number of codes per period, for each number and for each account.
const CODE_LIMITS: [(SignedDuration, u64); 2] = [(ONE_HOUR, 3), (ONE_DAY, 5)];

impl AccountSettings {
    /// Sends a code to a number: `{phone, sms_consent: true}`. The account keeps its number until the code is verified.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid number or without consent, [`ServiceError::RateLimited`].
    pub async fn request_phone(&self, actor: &Actor, body: &Value) -> Result<String, ServiceError> {
        let allowed = &self.delivery_settings.messages.sms.allowed_countries;
        let number = PhoneCodeRequest::read_and(body, |body| check_number(body, allowed))?
            .phone
            .0;
        let ports = &self.ports;
        let now = ports.clock.now();
        let code = code(&ports.random.bytes());
        let letter = AccountEmail::PhoneCode { code: code.clone() };
        let inputs = (
            NewCode {
                purpose: CODE_PURPOSE,
                account: Some(actor.account),
                subject: number.clone(),
                payload: None,
                hash: self.phone_code_hash(actor.account, &number, &code)?,
                created_at: now,
                expires_at: now.saturating_add(CODE_LIFETIME).unwrap_or(Timestamp::MAX),
            },
            actor.account,
            self.writer.text_message(&number, Some(actor.account), &letter)?,
            now,
        );
        let transaction = ports.transaction(inputs, |&(ref code, account, ref message, now), unit| {
            Box::pin(async move {
                lock_active_account(unit, account).await?;
                for (time, most) in CODE_LIMITS {
                    let since = now.saturating_sub(time).unwrap_or(Timestamp::MIN);
                    if unit.count_codes(CODE_PURPOSE, &code.subject, since).await? >= most
                        || unit.count_codes_of_account(CODE_PURPOSE, account, since).await? >= most
                    {
                        let hours = time.as_hours();
                        return Err(Abort::Refused(ServiceError::RateLimited {
                            message: format!(
                                "too many codes were sent in the last {hours} h; use the latest one, or try again later"
                            ),
                            retry_after_s: time.as_secs().unsigned_abs(),
                        }));
                    }
                }
                // Only the latest code is valid.
                unit.revoke_codes(CODE_PURPOSE, account, now).await?;
                unit.insert_code(code).await?;
                Ok(unit.queue_message(message).await?)
            })
        });
        transaction.await?;
        Ok(number)
    }

    /// Verifies a number with the code sent to it: `{phone, token}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a wrong code, or if no valid code exists.
    pub async fn verify_phone(&self, actor: &Actor, body: &Value) -> Result<Phone, ServiceError> {
        // A sent code stays valid if the allowed countries change.
        let request = VerifyPhoneRequest::read_and(body, |body| check_number(body, &[]))?;
        let number = request.phone.0;
        let hash = self.phone_code_hash(actor.account, &number, &request.token.0)?;
        let phone = Phone {
            number,
            verified_at: self.ports.clock.now(),
        };
        // A wrong guess must be committed, so it is not an error of the transaction.
        let inputs = (actor.account, hash, phone.clone());
        let transaction = self.ports.transaction(inputs, |&(account, hash, ref phone), unit| {
            Box::pin(async move {
                let mut account = lock_active_account(unit, account).await?;
                let (number, now) = (&phone.number, phone.verified_at);
                let guess = unit.check_code(CODE_PURPOSE, account.id, number, hash, MAX_WRONG_GUESSES, now);
                let guessed = guess.await?;
                if guessed == CodeCheck::Correct {
                    account.profile.phone = Some(phone.clone());
                    unit.update_account(&account).await?;
                }
                Ok(guessed)
            })
        });
        match transaction.await? {
            CodeCheck::Correct => Ok(phone),
            CodeCheck::Wrong(left) => Err(ServiceError::Malformed(format!(
                "this code is wrong; {left} attempts are left"
            ))),
            CodeCheck::NoActiveCode => Err(ServiceError::Malformed(
                "there is no valid code for this number; request a new one (POST /user/account/phone)".to_owned(),
            )),
        }
    }

    /// Returns the HMAC of a code.
    fn phone_code_hash(&self, account: AccountId, number: &str, code: &str) -> Result<[u8; 32], ServiceError> {
        let key = self.ports.vault.derive(CODE_KEY_PURPOSE);
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key);
        let mut mac = mac.map_err(ServiceError::internal)?;
        for part in [account.0.as_bytes().as_slice(), number.as_bytes(), code.as_bytes()] {
            mac.update(&u64::try_from(part.len()).unwrap_or_default().to_le_bytes());
            mac.update(part);
        }
        Ok(mac.finalize().into_bytes().into())
    }
}

/// Derives six digits from 256 random bits, so that all codes are equally likely.
fn code(bits: &[u8; 32]) -> String {
    // Horner's rule: the remainder of the 256-bit number.
    let rest = bits
        .iter()
        .fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % 1_000_000);
    format!("{rest:06}")
}

/// Checks that a phone number is in E.164 format and may receive text messages.
fn check_number(body: &mut BodyReader<'_>, allowed: &[CallingCode]) {
    let number = body.value("phone").and_then(Value::as_str);
    if let Some(error) = number.and_then(|number| phone_number::violation(number, allowed)) {
        body.add_error("phone", error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_padded_to_six_digits() {
        let mut bits = [0; 32];
        assert_eq!(code(&bits), "000000");
        bits[31] = 7;
        assert_eq!(code(&bits), "000007");
        bits[30] = 1;
        assert_eq!(code(&bits), "000263");
        assert_eq!(code(&[255; 32]).len(), 6);
    }
}
