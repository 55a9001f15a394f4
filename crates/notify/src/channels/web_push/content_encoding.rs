//! The content encoding `aes128gcm` (RFC 8188), with one record.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

/// Length of the salt, in bytes.
pub(super) const SALT_BYTES: usize = 16;
/// Size of a record in bytes. Push services accept bodies of this size (RFC 8291, section 4).
const RECORD_BYTES: u32 = 4_096;
/// Length of the key, in bytes.
const KEY_BYTES: usize = 16;
/// The delimiter after the content of the last record (RFC 8188, section 2).
const LAST_RECORD_DELIMITER: u8 = 2;

/// Encrypts a content that fits into one record.
///
/// # Errors
/// [`Unspecified`] if the library fails.
pub(super) fn encode(
    salt: [u8; SALT_BYTES],
    key_id: &[u8],
    input_key: &[u8],
    content: &[u8],
) -> Result<Vec<u8>, Unspecified> {
    let key_material = Salt::new(HKDF_SHA256, &salt).extract(input_key);
    let key: [u8; KEY_BYTES] = expand(&key_material, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; NONCE_LEN] = expand(&key_material, &[b"Content-Encoding: nonce\0"])?;
    let mut record = [content, &[LAST_RECORD_DELIMITER]].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?);
    // The nonce is that of the first record. Each message has another salt, and so another key.
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)?;
    let key_id_length = u8::try_from(key_id.len()).map_err(|_| Unspecified)?;
    let header: [&[u8]; 4] = [&salt, &RECORD_BYTES.to_be_bytes(), &[key_id_length], key_id];
    Ok([&header.concat()[..], &record].concat())
}

/// Returns `N` bytes of key material for a purpose (HKDF-Expand of RFC 5869).
pub(super) fn expand<const N: usize>(key_material: &Prk, info: &[&[u8]]) -> Result<[u8; N], Unspecified> {
    let mut bytes = [0; N];
    key_material.expand(info, OutputLength(N))?.fill(&mut bytes)?;
    Ok(bytes)
}

/// The length of the output of HKDF, in bytes.
struct OutputLength(usize);

impl KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn example_of_rfc_8188_section_3_1_is_reproduced() {
        let bytes = |text| URL_SAFE_NO_PAD.decode(text).unwrap();
        let salt = bytes("I1BsxtFttlv3u_Oo94xnmw").try_into().unwrap();
        let encoded = encode(salt, b"", &bytes("yqdlZ-tYemfogSmv7Ws5PQ"), b"I am the walrus");
        let expected = "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg";
        assert_eq!(URL_SAFE_NO_PAD.encode(encoded.unwrap()), expected);
    }
}
