//! The words of a text after its expression.

/// A word with its position in characters, from 1. Commas and semicolons separate words, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PlacedWord<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
}

/// Splits a text that begins at a position. Returns its words and the position after its end.
pub(super) fn split(text: &str, start: usize) -> (Vec<PlacedWord<'_>>, usize) {
    let is_separator = |next: char| next.is_whitespace() || matches!(next, ',' | ';');
    let mut words = Vec::new();
    let mut begun: Option<(usize, usize)> = None;
    let mut position = start;
    for (offset, next) in text.char_indices() {
        match (begun, is_separator(next)) {
            (Some((from, placed)), true) => {
                words.push(PlacedWord {
                    text: &text[from..offset],
                    position: placed,
                });
                begun = None;
            }
            (None, false) => begun = Some((offset, position)),
            _ => {}
        }
        position += 1;
    }
    words.extend(begun.map(|(from, placed)| PlacedWord {
        text: &text[from..],
        position: placed,
    }));
    (words, position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let (words, end) = split(" é, once;to sms ", 5);
        let words: Vec<_> = words.iter().map(|word| (word.text, word.position)).collect();
        assert_eq!(words, [("é", 6), ("once", 9), ("to", 14), ("sms", 17)]);
        assert_eq!(end, 21);
    }
}
