//! Texts as telephones show them.
//!
//! A text message is 160 characters of GSM 03.38, or two put together 306; one character from beyond that alphabet and it is
//! 70. So what can be written in it is, and the rest becomes a question mark. Characters of its extension count twice.

/// Two messages put together hold so many septets.
const MOST: usize = 306;

const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const EXTENSION: &str = "^{}\\[~]|€";

/// A text that fits, in the telephones' alphabet.
pub(super) fn fitted(text: &str) -> String {
    let written: String = text.chars().map(|c| write(c).unwrap_or("?".into())).collect();
    if written.chars().map(septets).sum::<usize>() <= MOST {
        return written;
    }
    let mut left = MOST - 3;
    let mut cut: String = written
        .chars()
        .take_while(|c| {
            let fits = septets(*c) <= left;
            left = left.saturating_sub(septets(*c));
            fits
        })
        .collect();
    cut.truncate(cut.trim_end().len());
    cut.push_str("...");
    cut
}

/// Whether all of a text can be written.
pub(super) fn is_written(text: &str) -> bool {
    text.chars().all(|c| write(c).is_some())
}

/// A text of which no telephone makes a link, a number to call or an address to write to: what looks like a scheme, a host's
/// name or a mailbox is pulled apart by a blank. Numbers like 198.66 stay whole.
pub(super) fn unlinked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        if c == '@' && !before.is_whitespace() {
            out.push_str(" @");
        } else {
            out.push(c);
        }
        let is_inside = !before.is_whitespace() && !next.is_whitespace();
        let both_digits = before.is_ascii_digit() && next.is_ascii_digit();
        let parts = match c {
            '.' | '。' | '．' | '｡' | '․' => !both_digits || !is_number_before(&out),
            '@' => true,
            ':' => next == '/' || !both_digits,
            _ => false,
        };
        if is_inside && parts {
            out.push(' ');
        }
        before = c;
    }
    out
}

/// Whether what ends with this point is a number so far, with no other point in it: `198.` and not `10.0.`.
fn is_number_before(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let digits = word
        .trim_end_matches('.')
        .trim_start_matches(['-', '+', '$', '(', '€', '£']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

fn septets(c: char) -> usize {
    1 + usize::from(EXTENSION.contains(c))
}

/// A character as it is written; what is like another one becomes that.
fn write(c: char) -> Option<Written> {
    if BASIC.contains(c) || EXTENSION.contains(c) {
        return Some(c.to_string().into());
    }
    let like = match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '`' | '´' => "'",
        '\u{201c}'..='\u{201f}' | '«' | '»' => "\"",
        '\u{2010}'..='\u{2015}' | '−' => "-",
        '…' => "...",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\t' => " ",
        '×' => "x",
        '·' | '•' => "-",
        '≥' => ">=",
        '≤' => "<=",
        '™' => "(TM)",
        '®' => "(R)",
        '©' => "(C)",
        'À' | 'Á' | 'Â' | 'Ã' | 'Ā' | 'Ă' | 'Ą' => "A",
        'á' | 'â' | 'ã' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'Ć' | 'Č' => "C",
        'Ď' | 'Đ' => "D",
        'ď' | 'đ' => "d",
        'È' | 'Ê' | 'Ë' | 'Ē' | 'Ė' | 'Ę' | 'Ě' => "E",
        'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'Ğ' => "G",
        'ğ' => "g",
        'Ì' | 'Í' | 'Î' | 'Ï' | 'Ī' | 'Į' | 'İ' => "I",
        'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'Ł' | 'Ľ' => "L",
        'ł' | 'ľ' => "l",
        'Ń' | 'Ň' => "N",
        'ń' | 'ň' => "n",
        'Ò' | 'Ó' | 'Ô' | 'Õ' | 'Ő' | 'Ō' => "O",
        'ó' | 'ô' | 'õ' | 'ő' | 'ō' => "o",
        'Œ' => "OE",
        'œ' => "oe",
        'Ř' => "R",
        'ř' => "r",
        'Ś' | 'Š' | 'Ş' | 'Ș' => "S",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'Ť' | 'Ț' => "T",
        'ť' | 'ț' => "t",
        'Ù' | 'Ú' | 'Û' | 'Ū' | 'Ů' | 'Ű' => "U",
        'ú' | 'û' | 'ū' | 'ů' | 'ű' => "u",
        'Ý' => "Y",
        'ý' | 'ÿ' => "y",
        'Ź' | 'Ż' | 'Ž' => "Z",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    };
    Some(like.into())
}

/// One character, or those that stand for one.
type Written = std::borrow::Cow<'static, str>;
