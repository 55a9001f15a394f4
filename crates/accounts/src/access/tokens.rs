//! Access tokens: JWTs that signed-in clients send with each request (RFC 9068).
//!
//! Tokens are signed with Ed25519. The signing key is derived from the vault's key, so it is the same after a restart
//! and in every process. A token names the account and the session. The database decides whether the session is live,
//! so signing out invalidates its tokens. Time is a parameter here; the library's own expiry check is off.

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::model::{AccountId, SessionId};
use uuid::Uuid;

use foundation::vault::Vault;
use foundation::{Random, ServiceError};

/// Lifetime of an access token.
pub const ACCESS_TOKEN_LIFETIME: SignedDuration = SignedDuration::from_mins(15);
/// Maximum clock difference between two processes, in seconds.
const CLOCK_SKEW_SECONDS: i64 = 30;
/// The `typ` header of access tokens, so that no other JWT is accepted as one.
const TOKEN_TYPE: &str = "at+jwt";
/// Maximum length of a token in bytes. Longer texts are rejected.
const MAX_TOKEN_BYTES: usize = 4096;

/// Issues and verifies access tokens.
pub(crate) struct AccessTokens {
    signing_key: EncodingKey,
    verifying_key: DecodingKey,
    /// Public key, in base64url.
    public: String,
    kid: String,
    issuer: String,
    audience: String,
}

impl fmt::Debug for AccessTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessTokens")
            .field("kid", &self.kid)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

/// JWT claims.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    /// Account.
    sub: Uuid,
    exp: i64,
    iat: i64,
    jti: Uuid,
    /// Session.
    sid: Uuid,
}

/// Content of a valid token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VerifiedToken {
    pub(crate) account: AccountId,
    pub(crate) session: SessionId,
}

/// Public key that verifies access tokens, in the form of RFC 8037.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// Key id, as in the tokens' headers.
    pub kid: String,
    /// Key, in base64url.
    pub x: String,
}

impl AccessTokens {
    /// Creates the signer with the vault's key, for the service at `public_url`.
    ///
    /// # Errors
    /// If the library rejects the key, which does not happen.
    pub(crate) fn new(vault: &Vault, public_url: &str) -> Result<Self, ServiceError> {
        let seed = vault.derive("access tokens: ed25519");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|error| internal(&error))?;
        let document = pair.to_pkcs8v1().map_err(|error| internal(&error))?;
        let public = pair.public_key().as_ref();
        let issuer = public_url.trim_end_matches('/').to_owned();
        Ok(Self {
            signing_key: EncodingKey::from_ed_der(document.as_ref()),
            verifying_key: DecodingKey::from_ed_der(public),
            public: URL_SAFE_NO_PAD.encode(public),
            kid: URL_SAFE_NO_PAD.encode(&Sha256::digest(public)[..12]),
            audience: format!("{issuer}/api/v1"),
            issuer,
        })
    }

    pub(crate) fn public_key(&self) -> PublicKey {
        PublicKey {
            kid: self.kid.clone(),
            x: self.public.clone(),
        }
    }

    /// Issues a token.
    ///
    /// # Errors
    /// If the library fails to sign, which does not happen.
    pub(crate) fn issue(
        &self,
        random: &Random,
        account: AccountId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<String, ServiceError> {
        let head = Header {
            typ: Some(TOKEN_TYPE.to_owned()),
            kid: Some(self.kid.clone()),
            ..Header::new(Algorithm::EdDSA)
        };
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: account.0,
            exp: now.as_second().saturating_add(ACCESS_TOKEN_LIFETIME.as_secs()),
            iat: now.as_second(),
            jti: random.uuid(),
            sid: session.0,
        };
        jsonwebtoken::encode(&head, &claims, &self.signing_key).map_err(ServiceError::internal)
    }

    /// Verifies a token. Returns `None` if its signature or its claims are invalid, or if it is expired.
    pub(crate) fn verify(&self, token: &str, now: Timestamp) -> Option<VerifiedToken> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let head = jsonwebtoken::decode_header(token).ok()?;
        let is_ours = head.typ.as_deref() == Some(TOKEN_TYPE) && head.kid.as_deref() == Some(&self.kid);
        // Keys inside the token are ignored, and unknown critical headers are rejected.
        if !is_ours || head.alg != Algorithm::EdDSA || head.crit.is_some() {
            return None;
        }
        let mut rules = Validation::new(Algorithm::EdDSA);
        rules.set_audience(&[&self.audience]);
        rules.set_issuer(&[&self.issuer]);
        // Without this, a token without an audience would be accepted.
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        rules.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(token, &self.verifying_key, &rules)
            .ok()?
            .claims;
        let now = now.as_second();
        let is_current = now < claims.exp && claims.iat <= now.saturating_add(CLOCK_SKEW_SECONDS);
        is_current.then_some(VerifiedToken {
            account: AccountId(claims.sub),
            session: SessionId(claims.sid),
        })
    }
}

fn internal(error: &impl ToString) -> ServiceError {
    ServiceError::internal(error.to_string())
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
