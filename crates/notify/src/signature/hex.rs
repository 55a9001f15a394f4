//! Hexadecimal encoding, in lower case.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(super) fn encode(bytes: &[u8]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

/// Decodes digits in either case; `None` if the text is not hexadecimal.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    rest.is_empty().then(|| bytes.collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_round_trips_and_invalid_text_is_rejected() {
        assert_eq!(encode(&[0, 0x7f, 0xff]), "007fff");
        assert_eq!(decode("007FfF"), Some(vec![0, 0x7f, 0xff]));
        assert_eq!(decode(""), Some(vec![]));
        for text in ["0", "0g", "+1", " 1", "éé"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
