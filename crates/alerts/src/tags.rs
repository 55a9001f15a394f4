//! The tags of an alert, by which its owner filters lists.

/// The maximum number of tags of an alert.
pub const MAX_TAGS: usize = 20;

/// The maximum length of a tag in Unicode characters.
pub const MAX_TAG_CHARACTERS: usize = 40;

/// The tags of an alert, in the order of its owner, each of them once.
///
/// A tag is trimmed, not empty, has at most [`MAX_TAG_CHARACTERS`] characters, and neither commas nor control characters: lists are
/// filtered by tags separated by commas. Upper and lower case are different.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tags(Vec<String>);

/// An error: the texts are not valid tags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TagError {
    /// There are too many tags.
    #[error("must have at most {MAX_TAGS} tags, but has {0}; remove some")]
    TooMany(usize),
    /// A tag is empty.
    #[error("must not have empty tags; remove them")]
    Empty,
    /// A tag is too long.
    #[error("must have tags of at most {MAX_TAG_CHARACTERS} characters, but one has {0}; shorten it")]
    TooLong(usize),
    /// A tag has a comma or a control character.
    #[error("must have tags without commas and control characters; remove them")]
    BadCharacter,
}

impl Tags {
    /// Reads tags. Of equal tags, the first is kept.
    ///
    /// # Errors
    /// [`TagError`] if there are too many tags, or if one of them is invalid.
    pub fn read<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> Result<Self, TagError> {
        let count = texts.len();
        if count > MAX_TAGS {
            return Err(TagError::TooMany(count));
        }
        let mut tags: Vec<String> = Vec::with_capacity(count);
        for text in texts {
            let tag = checked_tag(text)?;
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        Ok(Self(tags))
    }

    /// Returns the tags.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns whether there are no tags.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn checked_tag(text: &str) -> Result<&str, TagError> {
    let tag = text.trim();
    let length = tag.chars().count();
    match length {
        0 => Err(TagError::Empty),
        _ if length > MAX_TAG_CHARACTERS => Err(TagError::TooLong(length)),
        _ if tag.chars().any(|c| c == ',' || c.is_control()) => Err(TagError::BadCharacter),
        _ => Ok(tag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Vec<String>, TagError> {
        Tags::read(texts.iter().copied()).map(|tags| tags.0)
    }

    #[test]
    fn tags_keep_their_order_and_equal_tags_count_once() {
        let tags = read(&["swing", " earnings ", "Swing", "swing", "earnings"]).unwrap();
        assert_eq!(tags, ["swing", "earnings", "Swing"]);
        assert!(read(&[]).unwrap().is_empty());
    }

    #[test]
    fn at_most_20_tags_of_40_unicode_characters_are_accepted() {
        let names: Vec<String> = (0..21).map(|number| format!("tag {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(read(&names[..20]).unwrap().len(), 20);
        assert_eq!(read(&names), Err(TagError::TooMany(21)));
        for character in ["x", "é", "🚀"] {
            assert!(read(&[&character.repeat(40)]).is_ok());
            assert_eq!(read(&[&character.repeat(41)]), Err(TagError::TooLong(41)));
        }
    }

    #[test]
    fn empty_tags_commas_and_control_characters_are_rejected() {
        for (text, error) in [
            ("", TagError::Empty),
            (" \t", TagError::Empty),
            ("a,b", TagError::BadCharacter),
            ("a\nb", TagError::BadCharacter),
            ("a\0b", TagError::BadCharacter),
        ] {
            assert_eq!(read(&["fine", text]), Err(error), "{text:?}");
        }
    }
}
