//! Texts that came from users or from data, made fit to stand in a line among our own.

/// A text as one line of at most so many characters: line ends, tabs and other controls are blanks, blanks are single, and
/// what is not seen but moves or hides what is (the marks that turn the direction of writing, blanks without width) is left
/// out. What is cut ends with an ellipsis.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut is_apart = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            is_apart = !line.is_empty();
            continue;
        }
        if !is_visible(c) {
            continue;
        }
        let needed = 1 + usize::from(is_apart);
        if length + needed > most {
            while length >= most && line.pop().is_some() {
                length -= 1;
            }
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        if is_apart {
            line.push(' ');
            is_apart = false;
        }
        line.push(c);
        length += needed;
    }
    line
}

/// Whether a character is seen, or is a blank, and leaves those around it where they are.
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
    fn what_came_from_outside_becomes_one_line_without_anything_unseen() {
        for (text, most, expected) in [
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
            assert_eq!(plain(text, most), expected, "{text:?}");
        }
    }
}
