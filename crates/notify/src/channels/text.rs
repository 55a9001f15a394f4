//! Length limits of services, and texts that are cut to them.

use crate::templates::is_visible;

/// The end of a text that was cut.
const ELLIPSIS: char = '…';

/// The unit in which a service counts the length of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthUnit {
    /// Unicode code points.
    Characters,
    /// Code units of UTF-16: a character outside the basic plane, like most emoji, counts as two.
    Utf16Units,
    /// Bytes of UTF-8.
    Bytes,
    /// Bytes of the text in a JSON string: those of UTF-8 and of escape sequences, without the quotation marks.
    JsonBytes,
}

impl LengthUnit {
    fn of(self, c: char) -> usize {
        match self {
            Self::Characters => 1,
            Self::Utf16Units => c.len_utf16(),
            Self::Bytes => c.len_utf8(),
            Self::JsonBytes => match c {
                '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
                '\0'..='\u{1f}' => 6,
                c => c.len_utf8(),
            },
        }
    }
}

/// The maximum length of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextLimit {
    /// The maximum, in `unit`.
    pub max: usize,
    /// The unit.
    pub unit: LengthUnit,
}

impl TextLimit {
    pub(super) const fn characters(max: usize) -> Self {
        let unit = LengthUnit::Characters;
        Self { max, unit }
    }

    pub(super) const fn utf16_units(max: usize) -> Self {
        let unit = LengthUnit::Utf16Units;
        Self { max, unit }
    }

    pub(super) const fn bytes(max: usize) -> Self {
        let unit = LengthUnit::Bytes;
        Self { max, unit }
    }

    pub(super) const fn json_bytes(max: usize) -> Self {
        let unit = LengthUnit::JsonBytes;
        Self { max, unit }
    }

    /// Returns the length of a text, in the unit of this limit.
    #[must_use]
    pub fn length(self, text: &str) -> usize {
        text.chars().map(|c| self.unit.of(c)).sum()
    }

    /// Returns what remains of this limit after a text.
    pub(super) fn after(self, text: &str) -> Self {
        let max = self.max.saturating_sub(self.length(text));
        Self { max, ..self }
    }

    /// Cuts a text. A text that was cut ends with an ellipsis.
    pub(super) fn cut(self, text: &str) -> String {
        self.cut_escaped(text, |_| None)
    }

    /// Escapes a text and cuts the result. No escape sequence is cut.
    pub(super) fn cut_escaped(self, text: &str, escape: impl Fn(char) -> Option<&'static str>) -> String {
        let mut result = String::new();
        let mut length = 0;
        // The longest beginning that leaves space for the ellipsis.
        let mut end_of_cut = 0;
        for c in text.chars() {
            let mut buffer = [0; 4];
            let piece = escape(c).unwrap_or_else(|| c.encode_utf8(&mut buffer));
            length += self.length(piece);
            if length > self.max {
                result.truncate(end_of_cut);
                result.truncate(result.trim_end().len());
                if self.max >= self.unit.of(ELLIPSIS) {
                    result.push(ELLIPSIS);
                }
                return result;
            }
            result.push_str(piece);
            if length + self.unit.of(ELLIPSIS) <= self.max {
                end_of_cut = result.len();
            }
        }
        result
    }

    /// Cuts a text so that it fits together with a footer, which is appended after an empty line. A footer that does not fit on its
    /// own is left out.
    pub(super) fn cut_with_footer(self, text: &str, footer: &str) -> String {
        if footer.is_empty() {
            return self.cut(text);
        }
        let footer = format!("\n\n{footer}");
        let left = self.after(&footer);
        if left.max == 0 {
            return self.cut(text);
        }
        left.cut(text) + &footer
    }
}

/// Removes control characters and invisible characters from a text, except line feeds, and the white space around it.
pub(crate) fn plain_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let visible = text.chars().filter(|c| is_visible(*c));
    let lines: String = visible
        .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
        .collect();
    lines.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_the_limit_in_each_unit() {
        for (limit, text, expected) in [
            (TextLimit::characters(5), "abcde", "abcde"),
            (TextLimit::characters(5), "abcdef", "abcd…"),
            (TextLimit::characters(5), "ab  cdef", "ab…"),
            (TextLimit::characters(3), "😀😀😀", "😀😀😀"),
            (TextLimit::utf16_units(6), "😀😀😀", "😀😀😀"),
            (TextLimit::utf16_units(5), "😀😀😀", "😀😀…"),
            (TextLimit::utf16_units(4), "😀😀😀", "😀…"),
            (TextLimit::bytes(6), "ééé", "ééé"),
            (TextLimit::bytes(6), "éééé", "é…"),
            (TextLimit::bytes(2), "éé", ""),
            (TextLimit::json_bytes(4), "\"\n", "\"\n"),
            (TextLimit::json_bytes(6), "\"\n\u{1}", "\"…"),
            (TextLimit::json_bytes(3), "\"\n", "…"),
            (TextLimit::characters(0), "a", ""),
        ] {
            assert_eq!(limit.cut(text), expected, "{limit:?} {text}");
        }
    }

    #[test]
    fn length_in_json_is_that_of_the_json_library() {
        for c in (0..0x300).filter_map(char::from_u32).chain(['€', '😀']) {
            let json = serde_json::to_string(&c).unwrap();
            assert_eq!(TextLimit::json_bytes(0).length(&c.to_string()), json.len() - 2, "{c:?}");
        }
    }

    #[test]
    fn escape_sequence_is_not_cut() {
        let escape = |c| (c == '&').then_some("&amp;");
        for (max, expected) in [(11, "a&amp;&amp;"), (10, "a&amp;…"), (6, "a…"), (7, "a&amp;…")] {
            assert_eq!(TextLimit::characters(max).cut_escaped("a&&", escape), expected, "{max}");
        }
    }

    #[test]
    fn footer_is_never_cut() {
        for (max, expected) in [(9, "abc\n\nlink"), (8, "a…\n\nlink"), (7, "…\n\nlink"), (6, "abc")] {
            assert_eq!(
                TextLimit::characters(max).cut_with_footer("abc", "link"),
                expected,
                "{max}"
            );
        }
        assert_eq!(TextLimit::characters(2).cut_with_footer("abc", ""), "a…");
    }

    #[test]
    fn lines_are_kept_and_control_characters_removed() {
        assert_eq!(plain_lines(" a\r\nb\tc\u{7}d\u{202e}e\n\nf\n "), "a\nb c de\n\nf");
    }
}
