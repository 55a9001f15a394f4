//! The note of an alert: free text of its owner, shown in every notification.

use crate::condition::MAX_NOTE_CHARACTERS;

/// A note: trimmed, not empty, at most [`MAX_NOTE_CHARACTERS`] Unicode characters.
///
/// Line breaks and tabs are kept. No other control characters are allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note(Box<str>);

/// An error: the text is not a valid note.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoteError {
    /// The text is too long.
    #[error("must have at most {MAX_NOTE_CHARACTERS} characters, but has {0}; shorten it")]
    TooLong(usize),
    /// The text has a control character.
    #[error("must not have control characters other than line breaks and tabs; remove them")]
    ControlCharacter,
}

impl Note {
    /// Reads a note. A blank text is no note.
    ///
    /// # Errors
    /// [`NoteError`] for a text that is too long or has control characters.
    pub fn read(text: &str) -> Result<Option<Self>, NoteError> {
        let text = text.trim();
        let length = text.chars().count();
        if length > MAX_NOTE_CHARACTERS {
            return Err(NoteError::TooLong(length));
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            return Err(NoteError::ControlCharacter);
        }
        Ok((!text.is_empty()).then(|| Self(text.into())))
    }

    /// Returns the text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_trimmed_and_a_blank_one_is_none() {
        let note = Note::read(" sell half\r\n\tthen wait \n").unwrap().unwrap();
        assert_eq!(note.as_str(), "sell half\r\n\tthen wait");
        for blank in ["", "  ", "\r\n\t", "\u{a0}"] {
            assert_eq!(Note::read(blank), Ok(None), "{blank:?}");
        }
    }

    #[test]
    fn length_is_counted_in_unicode_characters() {
        for character in ["x", "é", "🚀"] {
            let longest = character.repeat(2_000);
            assert_eq!(Note::read(&longest).unwrap().unwrap().as_str(), longest);
            let longer = character.repeat(2_001);
            assert_eq!(Note::read(&longer), Err(NoteError::TooLong(2_001)));
            assert!(Note::read(&format!("  {longest}  ")).is_ok());
        }
    }

    #[test]
    fn control_characters_other_than_line_breaks_and_tabs_are_rejected() {
        for text in ["a\0b", "a\u{1b}[31mb", "a\u{7f}b", "a\u{85}b"] {
            assert_eq!(Note::read(text), Err(NoteError::ControlCharacter), "{text:?}");
        }
        assert!(Note::read("<b>\u{202e}kcots</b>").is_ok());
    }
}
