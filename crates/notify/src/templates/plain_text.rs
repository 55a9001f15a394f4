//! Sanitises texts from users and from data, so that they are safe in a line of another text.

/// Converts a text to one line of at most `max_length` characters. Line breaks, tabs and other control characters become spaces, and
/// repeated spaces become one. Invisible characters are removed, such as direction marks and zero-width spaces. A text that is cut
/// ends with an ellipsis.
pub(crate) fn plain(text: &str, max_length: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut needs_space = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            needs_space = !line.is_empty();
            continue;
        }
        if !is_visible(c) {
            continue;
        }
        let needed = 1 + usize::from(needs_space);
        if length + needed > max_length {
            while length >= max_length && line.pop().is_some() {
                length -= 1;
            }
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        if needs_space {
            line.push(' ');
            needs_space = false;
        }
        line.push(c);
        length += needed;
    }
    line
}

/// Returns whether a character is visible or a space, and does not change the direction of the text around it.
pub(crate) fn is_visible(c: char) -> bool {
    !matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_one_line_without_invisible_characters() {
        for (text, max_length, expected) in [
            ("", 10, ""),
            (" \r\n ", 10, ""),
            ("a\r\nBcc: b@example.com", 40, "a Bcc: b@example.com"),
            ("  a \t\0 b\u{2028}c  ", 10, "a b c"),
            ("\u{202e}evil\u{200b}\u{feff}", 10, "evil"),
            ("abcde", 5, "abcde"),
            ("abcdef", 5, "abcd…"),
            ("abc def", 5, "abc…"),
            ("ab cdef", 4, "ab…"),
            ("éééééé", 3, "éé…"),
            ("ab", 1, "…"),
            ("abcde    ", 5, "abcde"),
        ] {
            assert_eq!(plain(text, max_length), expected, "{text:?}");
        }
    }
}
