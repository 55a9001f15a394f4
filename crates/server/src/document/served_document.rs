//! A document as it is served: plain, compressed, and with its entity tag.
//!
//! The document is large, public, and the same for every client. So each form is built once.

use std::io::{self, Read, Write};
use std::sync::OnceLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, header};

use crate::entity_tag::EntityTag;

const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 4_096;

/// A document with its compressed forms.
#[derive(Debug)]
pub(crate) struct ServedDocument {
    content_type: &'static str,
    whole: Bytes,
    tag: EntityTag,
    gzip: OnceLock<Option<Bytes>>,
    brotli: OnceLock<Option<Bytes>>,
}

/// A content coding that a request accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Coding {
    Gzip,
    Brotli,
}

impl ServedDocument {
    pub(crate) fn new(content_type: &'static str, whole: Bytes) -> Self {
        Self {
            content_type,
            tag: EntityTag::of(&[&whole]),
            whole,
            gzip: OnceLock::new(),
            brotli: OnceLock::new(),
        }
    }

    /// Creates a document that is stored compressed with brotli.
    ///
    /// # Errors
    /// If `brotli` is not a brotli stream.
    pub(crate) fn from_brotli(content_type: &'static str, brotli: &'static [u8]) -> io::Result<Self> {
        let mut whole = Vec::new();
        brotli::Decompressor::new(brotli, BUFFER_BYTES).read_to_end(&mut whole)?;
        Ok(Self {
            brotli: OnceLock::from(Some(Bytes::from_static(brotli))),
            ..Self::new(content_type, whole.into())
        })
    }

    pub(crate) const fn whole(&self) -> &Bytes {
        &self.whole
    }

    /// Responds to a GET with these request headers.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let mut response = self.tag.respond(request, || self.body(request));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        response
    }

    fn body(&self, request: &HeaderMap) -> Response {
        let compressed = match coding(request) {
            Some(Coding::Brotli) => self.brotli.get_or_init(|| brotli(&self.whole)).clone().zip(Some("br")),
            Some(Coding::Gzip) => self.gzip.get_or_init(|| gzip(&self.whole)).clone().zip(Some("gzip")),
            None => None,
        };
        let content_type = [(header::CONTENT_TYPE, self.content_type)];
        match compressed {
            Some((body, coding)) => (content_type, [(header::CONTENT_ENCODING, coding)], body).into_response(),
            None => (content_type, self.whole.clone()).into_response(),
        }
    }
}

/// Returns the best coding that the request accepts.
fn coding(request: &HeaderMap) -> Option<Coding> {
    let values = request.get_all(header::ACCEPT_ENCODING).iter();
    let accepted = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let mut best = None;
    for accepted in accepted {
        let (name, quality) = accepted.split_once(';').unwrap_or((accepted, "q=1"));
        let quality = quality
            .trim()
            .strip_prefix("q=")
            .and_then(|quality| quality.parse::<f32>().ok());
        if quality.is_none_or(|quality| quality <= 0.0) {
            continue;
        }
        match name.trim().to_ascii_lowercase().as_str() {
            "br" => best = Some(Coding::Brotli),
            "gzip" if best.is_none() => best = Some(Coding::Gzip),
            _ => {}
        }
    }
    best
}

fn brotli(whole: &[u8]) -> Option<Bytes> {
    let mut compressor = brotli::CompressorWriter::new(Vec::new(), BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    compressor.write_all(whole).ok()?;
    Some(compressor.into_inner().into())
}

fn gzip(whole: &[u8]) -> Option<Bytes> {
    let mut compressor = GzEncoder::new(Vec::new(), flate2::Compression::default());
    compressor.write_all(whole).ok()?;
    Some(compressor.finish().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_the_best_accepted_coding() {
        for (accepted, expected) in [
            ("gzip, deflate, br", Some(Coding::Brotli)),
            ("br;q=0.5, gzip", Some(Coding::Brotli)),
            ("gzip", Some(Coding::Gzip)),
            ("GZIP;q=0.1", Some(Coding::Gzip)),
            ("br;q=0, gzip;q=0.0", None),
            ("*", None),
            ("br;q=0, *", None),
            ("identity", None),
            ("deflate, zstd", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
            assert_eq!(coding(&headers), expected, "{accepted}");
        }
        assert_eq!(coding(&HeaderMap::new()), None);
    }
}
