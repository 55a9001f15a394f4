//! Text messages in the GSM 03.38 alphabet.
//!
//! A text message has 160 GSM characters (septets), and two concatenated messages have 306. A single other character reduces a
//! message to 70 characters. So texts are converted to the GSM alphabet, and other characters become question marks. Characters of
//! the extension table count twice.

/// Maximum number of septets: two concatenated messages.
const MAX_SEPTETS: usize = 306;

const GSM_BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const GSM_EXTENSION: &str = "^{}\\[~]|€";

/// Converts a text to the GSM alphabet, and cuts it to the maximum length.
pub(super) fn to_gsm(text: &str) -> String {
    to_gsm_with_end(text, "")
}

/// Converts a text to the GSM alphabet and appends an end, which is ASCII, as links are. The text is cut to what the end leaves of the
/// maximum length.
pub(super) fn to_gsm_with_end(text: &str, end: &str) -> String {
    let max_septets = MAX_SEPTETS.saturating_sub(length(end));
    let mut gsm = cut_to(text, max_septets);
    gsm.push_str(end);
    gsm
}

/// Returns the links of a text message as its end.
pub(super) fn links_at_the_end(links: [(&str, &Option<String>); 2]) -> String {
    let links = links
        .into_iter()
        .filter_map(|(label, link)| Some(format!(" {label}: {}", link.as_ref()?)));
    links.collect()
}

/// Appends as many texts to a beginning as fit before an end, each complete, and the end.
pub(super) fn to_gsm_list(beginning: &str, texts: impl Iterator<Item = String>, end: &str) -> String {
    let mut list = beginning.to_owned();
    for text in texts {
        let longer = format!("{list} {text}");
        if length(&converted(&longer)) + length(end) > MAX_SEPTETS {
            break;
        }
        list = longer;
    }
    to_gsm_with_end(&list, end)
}

fn length(text: &str) -> usize {
    text.chars().map(septets).sum()
}

fn converted(text: &str) -> String {
    text.chars().map(|c| to_gsm_chars(c).unwrap_or("?".into())).collect()
}

fn cut_to(text: &str, max_septets: usize) -> String {
    let converted = converted(text);
    if length(&converted) <= max_septets {
        return converted;
    }
    let mut left = max_septets.saturating_sub(3);
    let mut cut: String = converted
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

/// Returns whether the GSM alphabet has all characters of a text, or similar ones.
pub(super) fn fits_gsm(text: &str) -> bool {
    text.chars().all(|c| to_gsm_chars(c).is_some())
}

/// Returns whether the GSM alphabet has a letter or digit of a text, or a similar one. Another text, such as one in another script or of
/// emoji only, would become question marks.
pub(super) fn is_readable_in_gsm(text: &str) -> bool {
    text.chars().any(|c| c.is_alphanumeric() && to_gsm_chars(c).is_some())
}

/// Breaks up everything that a phone would turn into a link: spaces are inserted into URL schemes, host names, email addresses and
/// phone links. Numbers like 198.66 stay unchanged.
pub(super) fn without_links(text: &str) -> String {
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

/// Returns whether a text ends with a number and its first point: `198.` but not `10.0.`.
fn is_number_before(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let digits = word
        .trim_end_matches('.')
        .trim_start_matches(['-', '+', '$', '(', '€', '£']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

fn septets(c: char) -> usize {
    1 + usize::from(GSM_EXTENSION.contains(c))
}

/// Converts a character to one or more GSM characters; `None` if there are no similar ones.
fn to_gsm_chars(c: char) -> Option<GsmChars> {
    if GSM_BASIC.contains(c) || GSM_EXTENSION.contains(c) {
        return Some(c.to_string().into());
    }
    let similar = match c {
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
    Some(similar.into())
}

/// One or more GSM characters.
type GsmChars = std::borrow::Cow<'static, str>;
