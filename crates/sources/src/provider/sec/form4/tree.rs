//! XML as the texts at the ends of its branches.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use super::Form4Error;

/// No form is deeper.
const MOST_DEEP: usize = 32;
/// No form has more ends.
const MOST_LEAVES: usize = 100_000;

/// What is met on a walk through the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// An element begins: the names from the root on.
    Open(&'a [String]),
    /// An element ends, with the text that was directly in it.
    Close(&'a [String], &'a str),
}

/// Walks through the document. References to entities other than XML's own five stand for nothing: there is nothing to be
/// expanded, so nothing can explode.
pub(super) fn walk(xml: &str, mut step: impl FnMut(Step<'_>)) -> Result<(), Form4Error> {
    let broken = |error: &dyn std::fmt::Display| Form4Error::NotXml(error.to_string());
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    let (mut path, mut texts): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut leaves = 0;
    loop {
        match reader.read_event().map_err(|error| broken(&error))? {
            Event::Start(start) => {
                let name = start.local_name();
                path.push(name.as_ref().to_owned());
                texts.push(String::new());
                if path.len() > MOST_DEEP {
                    return Err(Form4Error::NotXml("it is too deep".to_owned()));
                }
                step(Step::Open(&path));
            }
            Event::End(_) => {
                let text = texts.pop().unwrap_or_default();
                step(Step::Close(&path, text.trim()));
                path.pop();
                leaves += 1;
                if leaves > MOST_LEAVES {
                    return Err(Form4Error::NotXml("it is too long".to_owned()));
                }
            }
            Event::Text(text) => add(&mut texts, &text.xml10_content()),
            Event::CData(text) => add(&mut texts, &text.xml10_content()),
            Event::GeneralRef(reference) => add(&mut texts, &meaning(&reference)),
            Event::Eof if path.is_empty() => return Ok(()),
            Event::Eof => return Err(Form4Error::NotXml("it ends too early".to_owned())),
            _ => {}
        }
    }
}

fn add(texts: &mut [String], text: &str) {
    if let Some(last) = texts.last_mut() {
        last.push_str(text);
    }
}

fn meaning(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    resolve_predefined_entity(reference).unwrap_or_default().to_owned()
}
