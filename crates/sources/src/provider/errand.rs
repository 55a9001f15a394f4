//! What a question takes in requests: piece by piece, page by page.
//!
//! An adapter says where a piece's page is and reads it ([`Errand`]); walking there is the same for all ([`run`]).

use url::Url;

use super::asked::Asked;
use super::http::Http;
use super::{Answer, ProviderError};

/// More pages than this are no answer but a provider that goes round in circles.
const MOST_PAGES: usize = 1_000;

/// A page of an answer.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// What is on it.
    pub(super) answer: Answer,
    /// What it says about the next one, if there is one.
    pub(super) next: Option<String>,
}

impl From<Answer> for Page {
    fn from(answer: Answer) -> Self {
        Self { answer, next: None }
    }
}

/// Requests of one kind. It does nothing itself.
pub(super) trait Errand: Sync {
    /// Where a piece's page is; `page` is what the one before said about it.
    fn url(&self, piece: &Asked, page: Option<&str>) -> Url;

    /// What is on it.
    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError>;

    /// How large a page may be, if not as large as usual.
    fn most_bytes(&self) -> Option<usize> {
        None
    }
}

/// Asks for each piece. A symbol that the provider has nothing of, or refuses by its name, is unknown and costs no other.
pub(super) async fn run(
    provider: &'static str,
    http: &Http,
    errand: &dyn Errand,
    pieces: Vec<Asked>,
) -> Result<Answer, ProviderError> {
    let mut answer = Answer::default();
    for mut piece in pieces {
        loop {
            match piece_by_pages(provider, http, errand, &piece).await {
                Ok(pages) => answer.append(pages),
                Err(ProviderError::NotFound { .. }) if piece.len() == 1 => {
                    answer.unknown.extend(piece.missing(|_| false))
                }
                Err(ProviderError::Refused { symbol: Some(name), .. }) if !piece.of(&name).is_empty() => {
                    answer.unknown.extend(piece.leave_out(&name));
                    if piece.len() > 0 {
                        continue;
                    }
                }
                Err(error) => return Err(error),
            }
            break;
        }
    }
    Ok(answer)
}

async fn piece_by_pages(
    provider: &'static str,
    http: &Http,
    errand: &dyn Errand,
    piece: &Asked,
) -> Result<Answer, ProviderError> {
    let (mut answer, mut token) = (Answer::default(), None::<String>);
    for _ in 0..MOST_PAGES {
        let url = errand.url(piece, token.as_deref());
        let body = match errand.most_bytes() {
            Some(most_bytes) => http.get_up_to(url, most_bytes).await?,
            None => http.get(url).await?,
        };
        let page = errand.read(&body, piece)?;
        answer.append(page.answer);
        match page.next {
            None => return Ok(answer),
            next if next == token => break,
            next => token = next,
        }
    }
    Err(ProviderError::Malformed {
        provider,
        what: "its pages do not end".to_owned(),
    })
}
