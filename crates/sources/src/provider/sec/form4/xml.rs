//! A minimal XML walker: element names and their text.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use super::Form4Error;

/// Maximum nesting depth of a form.
const MAX_XML_DEPTH: usize = 32;
/// Maximum number of elements of a form.
const MAX_XML_ELEMENTS: usize = 100_000;

/// An event of the walk through a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum XmlEvent<'a> {
    /// An element starts. The slice has the names from the root.
    ElementStart(&'a [String]),
    /// An element ends. The text is the element's direct text.
    ElementEnd(&'a [String], &'a str),
}

/// Walks through the document. References to entities other than XML's five predefined ones are dropped, so entity expansion
/// attacks are impossible.
pub(super) fn walk_xml(xml: &str, mut on_event: impl FnMut(XmlEvent<'_>)) -> Result<(), Form4Error> {
    let broken = |error: &dyn std::fmt::Display| Form4Error::NotXml(error.to_string());
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    let (mut path, mut texts): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut elements = 0;
    loop {
        match reader.read_event().map_err(|error| broken(&error))? {
            Event::Start(start) => {
                let name = start.local_name();
                path.push(name.as_ref().to_owned());
                texts.push(String::new());
                if path.len() > MAX_XML_DEPTH {
                    return Err(Form4Error::NotXml("it is nested too deeply".to_owned()));
                }
                on_event(XmlEvent::ElementStart(&path));
            }
            Event::End(_) => {
                let text = texts.pop().unwrap_or_default();
                on_event(XmlEvent::ElementEnd(&path, text.trim()));
                path.pop();
                elements += 1;
                if elements > MAX_XML_ELEMENTS {
                    return Err(Form4Error::NotXml("it has too many elements".to_owned()));
                }
            }
            Event::Text(text) => append_text(&mut texts, &text.xml10_content()),
            Event::CData(text) => append_text(&mut texts, &text.xml10_content()),
            Event::GeneralRef(reference) => append_text(&mut texts, &resolve_reference(&reference)),
            Event::Eof if path.is_empty() => return Ok(()),
            Event::Eof => return Err(Form4Error::NotXml("it ends too early".to_owned())),
            _ => {}
        }
    }
}

fn append_text(texts: &mut [String], text: &str) {
    if let Some(last) = texts.last_mut() {
        last.push_str(text);
    }
}

fn resolve_reference(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    resolve_predefined_entity(reference).unwrap_or_default().to_owned()
}
