//! Passwords: what will do, and how they are kept.

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};

use super::hashing::HashBuffer;
use crate::ServiceError;
use crate::access::Authenticator;

/// The fewest characters of a password.
const MIN_CHARACTERS: usize = 8;
/// The most characters of a password: long enough for any sentence, short enough to be hashed.
const MAX_CHARACTERS: usize = 200;
/// The bytes of a salt, as the PHC string format recommends.
const SALT_BYTES: usize = 16;

/// What a password is compared with where there is none to compare with: so that an address without an account takes as
/// long as one with. No password is known that fits.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$TmVyIE1lbnNjaCB3ZWlzcw$5S1uq3lU5aVB6lm8q0q0cPyVZ2G2bS0s9l5WmQf1oXA";

/// The fewest guesses that a password must withstand. Attackers try the first few thousand entries of lists of common
/// passwords on every account.
const MIN_GUESSES: u64 = 10_000;

/// The fault of a password, if it has one: its length, or that it is a common one, a repetition or a sequence.
pub(crate) fn fault(password: &str) -> Option<String> {
    let characters = password.chars().count();
    if !(MIN_CHARACTERS..=MAX_CHARACTERS).contains(&characters) {
        return Some(format!(
            "must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, but has {characters}"
        ));
    }
    is_common(password).then(|| {
        "is too common: it is among the first that anybody tries; choose several unrelated words, or let a password manager \
         make one"
            .to_owned()
    })
}

/// Whether a password is on a list of common ones, or as easily guessed.
fn is_common(password: &str) -> bool {
    zxcvbn::zxcvbn(password, &[]).guesses() < MIN_GUESSES
}

impl Authenticator {
    /// Hashes a password with argon2id on a hashing thread.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String, ServiceError> {
        let salt: [u8; SALT_BYTES] = self.ports.chance.bytes();
        let hashing = &self.reception.hashing;
        hashing.run(move |buffer| hash(&password, &salt, buffer)).await?
    }

    /// Whether a password is the one that is kept. Without one that is kept it takes as long, and is not.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub(crate) async fn is_password(&self, password: String, kept: Option<String>) -> Result<bool, ServiceError> {
        let fits = move |buffer: &mut HashBuffer| {
            let (kept, is_somebodys) = match &kept {
                Some(kept) => (kept.as_str(), true),
                None => (NOBODYS, false),
            };
            Ok(verify(&password, kept, buffer)? && is_somebodys)
        };
        self.reception.hashing.run(fits).await?
    }
}

fn hash(password: &str, salt: &[u8], buffer: &mut HashBuffer) -> Result<String, ServiceError> {
    let (algorithm, version, params) = (Algorithm::default(), Version::default(), Params::default());
    let texts = ParamsString::try_from(&params).map_err(text_error)?;
    let output = output(password, salt, (algorithm, version, params), buffer)?;
    let hash = PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: texts,
        salt: Some(Salt::new(salt).map_err(text_error)?),
        hash: Some(output),
    };
    Ok(hash.to_string())
}

/// Whether a password has that hash, which may have been made with other parameters than today's.
fn verify(password: &str, kept: &str, buffer: &mut HashBuffer) -> Result<bool, ServiceError> {
    let kept = PasswordHash::new(kept).map_err(text_error)?;
    let (Some(salt), Some(expected)) = (kept.salt, kept.hash) else {
        return Ok(false);
    };
    let algorithm = Algorithm::try_from(kept.algorithm.as_str()).map_err(text_error)?;
    let version = kept.version.map(Version::try_from).transpose().map_err(text_error)?;
    let params = Params::try_from(&kept).map_err(text_error)?;
    let context = (algorithm, version.unwrap_or_default(), params);
    // `Output` compares in constant time.
    Ok(output(password, &salt, context, buffer)? == expected)
}

fn output(
    password: &str,
    salt: &[u8],
    (algorithm, version, params): (Algorithm, Version, Params),
    buffer: &mut HashBuffer,
) -> Result<Output, ServiceError> {
    let blocks = params.block_count();
    if buffer.len() < blocks {
        buffer.resize(blocks, Block::default());
    }
    let mut bytes = [0; Output::MAX_LENGTH];
    let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let bytes = bytes
        .get_mut(..length)
        .ok_or_else(|| ServiceError::internal("a password hash is too long"))?;
    Argon2::new(algorithm, version, params)
        .hash_password_into_with_memory(password.as_bytes(), salt, bytes, &mut buffer[..blocks])
        .map_err(text_error)?;
    Output::new(bytes).map_err(text_error)
}

fn text_error(error: impl std::fmt::Display) -> ServiceError {
    ServiceError::internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn eight_characters_will_do_and_seven_or_two_hundred_and_one_will_not() {
        assert_eq!(fault("vqz7-km2"), None);
        assert_eq!(fault(&"correct horse ".repeat(20)[..200]), None);
        assert_eq!(
            fault("1234567").as_deref(),
            Some("must have 8 to 200 characters, but has 7")
        );
        assert!(fault(&"a".repeat(201)).is_some());
    }

    #[test]
    fn a_common_password_is_refused_and_an_unusual_one_is_not() {
        for password in [
            "password",
            "Password1",
            "12345678",
            "aaaaaaaa",
            "qwertyuiop",
            "iloveyou",
            "sunshine",
            "password123",
            "abcdefgh",
            "11112222",
        ] {
            assert!(
                fault(password).is_some_and(|fault| fault.contains("too common")),
                "{password}"
            );
        }
        for password in [
            "correct horse",
            "battery staple",
            "another battery",
            "vqz7-km2",
            "p:a/s s+w%ö",
        ] {
            assert_eq!(fault(password), None, "{password}");
        }
    }

    #[test]
    fn what_nobodys_password_is_kept_as_costs_what_others_cost_and_fits_none() {
        let parsed = PasswordHash::new(NOBODYS).unwrap();
        assert_eq!(parsed.hash.as_ref().map(|hash| hash.as_bytes().len()), Some(32));
        let params = Params::try_from(&parsed).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (19_456, 2, 1));
        assert!(!verify("", NOBODYS, &mut HashBuffer::new()).unwrap());
    }

    #[test]
    fn a_hash_is_argon2id_and_fits_only_its_password() {
        let mut buffer = HashBuffer::new();
        let hash = hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(verify("correct horse", &hash, &mut buffer).unwrap());
        assert!(!verify("correct horsf", &hash, &mut buffer).unwrap());
        // Hashes of versions before this one were made and verified with the library's own buffers.
        let parsed = PasswordHash::new(&hash).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &parsed).is_ok());
        let theirs: PasswordHash = Argon2::default()
            .hash_password_with_salt(b"correct horse", &[7; SALT_BYTES])
            .unwrap();
        assert_eq!(theirs.to_string(), hash);
    }

    #[test]
    fn a_reused_buffer_gives_the_same_hash_as_a_new_one_and_does_not_grow() {
        let mut buffer = HashBuffer::new();
        let first = hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap();
        let place = (buffer.as_ptr(), buffer.len());
        hash("something else", &[8; SALT_BYTES], &mut buffer).unwrap();
        assert_eq!(hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap(), first);
        assert_eq!((buffer.as_ptr(), buffer.len()), place);
        assert_eq!(buffer.len(), 19_456);
    }

    #[test]
    fn a_hash_with_other_parameters_is_verified_with_them() {
        let params = Params::new(64, 3, 2, Some(16)).unwrap();
        let theirs: PasswordHash = Argon2::from(params)
            .hash_password_with_salt(b"correct horse", &[7; SALT_BYTES])
            .unwrap();
        let mut buffer = HashBuffer::new();
        assert!(verify("correct horse", &theirs.to_string(), &mut buffer).unwrap());
        assert!(!verify("correct horsf", &theirs.to_string(), &mut buffer).unwrap());
    }
}
