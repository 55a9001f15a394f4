//! Encryption of a message for a browser (RFC 8291).

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};

use super::content_encoding::{SALT_BYTES, encode, expand};
use super::subscription_keys::SubscriptionKeys;
use crate::channels::RandomBytes;

/// Maximum length of a message before its encryption in bytes (RFC 8291, section 4): what a body of 4,096 bytes has without header,
/// delimiter and tag.
pub(super) const MAX_CONTENT_BYTES: usize = 3_993;
/// Number of attempts to generate a key. One in 2^32 random numbers exceeds the order of the curve.
const KEY_ATTEMPTS: usize = 4;
/// Length of the input key of the content encoding, in bytes.
const INPUT_KEY_BYTES: usize = 32;

/// The random values of a message. Each message needs others.
pub(super) struct MessageSecrets {
    salt: [u8; SALT_BYTES],
    private_key: PrivateKey,
}

impl MessageSecrets {
    /// Generates the values of a message.
    ///
    /// # Errors
    /// [`Unspecified`] if the random numbers are no keys.
    pub(super) fn generate(random: &RandomBytes) -> Result<Self, Unspecified> {
        let mut salt = [0; SALT_BYTES];
        salt.copy_from_slice(&random()[..SALT_BYTES]);
        Ok(Self {
            salt,
            private_key: private_key(random)?,
        })
    }
}

/// Generates a private key from random numbers.
pub(super) fn private_key(random: &RandomBytes) -> Result<PrivateKey, Unspecified> {
    let mut keys = std::iter::repeat_with(|| PrivateKey::from_private_key(&ECDH_P256, &random())).take(KEY_ATTEMPTS);
    keys.find_map(Result::ok).ok_or(Unspecified)
}

/// Encrypts a message of at most [`MAX_CONTENT_BYTES`].
///
/// # Errors
/// [`Unspecified`] if the library fails.
pub(super) fn encrypt(
    keys: &SubscriptionKeys,
    secrets: &MessageSecrets,
    content: &[u8],
) -> Result<Vec<u8>, Unspecified> {
    let own_public_key = secrets.private_key.compute_public_key()?;
    let browser_key = UnparsedPublicKey::new(&ECDH_P256, &keys.p256dh);
    let input_key = agree(&secrets.private_key, browser_key, Unspecified, |shared_secret| {
        let key_material = Salt::new(HKDF_SHA256, &keys.auth).extract(shared_secret);
        let info: [&[u8]; 3] = [b"WebPush: info\0", &keys.p256dh, own_public_key.as_ref()];
        expand::<INPUT_KEY_BYTES>(&key_material, &info)
    })?;
    encode(secrets.salt, own_public_key.as_ref(), &input_key, content)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn example_of_rfc_8291_appendix_a_is_reproduced() {
        let bytes = |text| URL_SAFE_NO_PAD.decode(text).unwrap();
        let keys = SubscriptionKeys::parse(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        );
        let private_key = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
        let secrets = MessageSecrets {
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
            private_key: PrivateKey::from_private_key(&ECDH_P256, &private_key).unwrap(),
        };
        let encrypted = encrypt(&keys.unwrap(), &secrets, b"When I grow up, I want to be a watermelon");
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(encrypted.unwrap()), expected);
    }

    #[test]
    fn longest_message_results_in_a_body_of_4096_bytes() {
        let keys = SubscriptionKeys::parse(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        );
        let random: RandomBytes = Box::new(|| [7; 32]);
        let secrets = MessageSecrets::generate(&random).unwrap();
        let body = encrypt(&keys.unwrap(), &secrets, &[b'x'; MAX_CONTENT_BYTES]).unwrap();
        assert_eq!(body.len(), 4_096);
    }

    #[test]
    fn random_number_that_is_no_key_is_replaced_by_the_next_one() {
        let count = std::sync::atomic::AtomicU8::new(0);
        let random: RandomBytes = Box::new(move || match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => [255; 32],
            _ => [7; 32],
        });
        assert!(private_key(&random).is_ok());
        let never: RandomBytes = Box::new(|| [0; 32]);
        assert!(private_key(&never).is_err());
    }
}
