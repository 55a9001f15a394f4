//! Splits a line into its fields.
//!
//! The `csv` crate continues a quoted field over line breaks, and creating its reader for each line is slower than
//! everything else here. So the few rules of RFC 4180 that apply within one line are implemented here; the tests compare
//! them with the `csv` crate.

use csv::ByteRecord;

use super::rejected::RowError;

/// Splits `line` at its commas into `record`, and resolves quotes.
///
/// # Errors
/// [`RowError::UnclosedQuote`]; the content of `record` is then undefined.
pub(super) fn split(line: &[u8], record: &mut ByteRecord) -> Result<(), RowError> {
    record.clear();
    let mut rest = Some(line);
    while let Some(line) = rest {
        rest = if let Some(quoted) = line.strip_prefix(b"\"") {
            push_quoted(quoted, record)?
        } else {
            let (field, rest) = split_at_next(line, b',');
            record.push_field(field);
            rest
        };
    }
    Ok(())
}

/// Pushes the quoted field after whose opening quote `line` begins. Returns the rest after its comma, if there is one.
fn push_quoted<'l>(line: &'l [u8], record: &mut ByteRecord) -> Result<Option<&'l [u8]>, RowError> {
    let (mut part, mut rest) = split_at_next(line, b'"');
    let mut unescaped = Vec::new();
    while let Some(second) = rest.and_then(|rest| rest.strip_prefix(b"\"")) {
        unescaped.extend_from_slice(part);
        unescaped.push(b'"');
        (part, rest) = split_at_next(second, b'"');
    }
    if unescaped.is_empty() {
        record.push_field(part);
    } else {
        unescaped.extend_from_slice(part);
        record.push_field(&unescaped);
    }
    match rest {
        Some([]) => Ok(None),
        Some([b',', rest @ ..]) => Ok(Some(rest)),
        _ => Err(RowError::UnclosedQuote),
    }
}

/// Returns the parts before and after the next `byte`.
fn split_at_next(line: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    match line.iter().position(|other| *other == byte) {
        Some(at) => (&line[..at], Some(&line[at + 1..])),
        None => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn fields(line: &str) -> Result<Vec<String>, RowError> {
        let mut record = ByteRecord::new();
        split(line.as_bytes(), &mut record)?;
        let text = |field| String::from_utf8_lossy(field).into_owned();
        Ok(record.iter().map(text).collect())
    }

    /// Returns the fields that the `csv` crate reads from `line`.
    fn oracle(line: &str) -> Vec<String> {
        let mut record = ByteRecord::new();
        ReaderBuilder::new()
            .has_headers(false)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(line.as_bytes())
            .read_byte_record(&mut record)
            .unwrap();
        let text = |field| String::from_utf8_lossy(field).into_owned();
        record.iter().map(text).collect()
    }

    #[test]
    fn fields_end_at_commas_and_may_be_empty() {
        assert_eq!(fields("a,,b,").unwrap(), ["a", "", "b", ""]);
        assert_eq!(fields("a").unwrap(), ["a"]);
    }

    #[test]
    fn quoted_field_may_contain_commas_and_doubled_quotes() {
        assert_eq!(fields(r#""a,b","c ""d""","#).unwrap(), ["a,b", r#"c "d""#, ""]);
        assert_eq!(fields("\"\",\"\"\"\"").unwrap(), ["", "\""]);
    }

    #[test]
    fn unclosed_quotes_are_rejected() {
        for line in ["\"", "\"a", "a,\"b", "\"a\"b,c", "\"a\" ,c", "\"a\"\"\"\""] {
            assert_eq!(fields(line), Err(RowError::UnclosedQuote), "{line}");
        }
    }

    #[test]
    fn quote_within_an_unquoted_field_is_literal() {
        assert_eq!(fields(r#"a,5" pipe"#).unwrap(), ["a", r#"5" pipe"#]);
    }

    proptest! {
        #[test]
        fn reads_the_same_fields_as_the_csv_crate(line in "[ab,\"\r ]{1,20}") {
            if let Ok(fields) = fields(&line) {
                prop_assert_eq!(fields, oracle(&line));
            }
        }

        #[test]
        fn reads_lines_written_by_the_csv_crate(written in vec("[^\n]{0,6}|[a,\"]{0,6}", 1..6), always: bool) {
            let style = if always { QuoteStyle::Always } else { QuoteStyle::Necessary };
            let mut writer = WriterBuilder::new().quote_style(style).from_writer(Vec::new());
            writer.write_record(&written).unwrap();
            let bytes = writer.into_inner().unwrap();
            let line = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(fields(line.trim_end_matches('\n')).unwrap(), written);
        }
    }
}
