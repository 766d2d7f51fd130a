//! Pages of a Parquet column, looked at before they are decoded.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Pages of which none looks values up in a dictionary that did not come before it: the decoder takes that for granted and panics.
pub(super) struct CheckedPages {
    pages: Box<dyn PageReader>,
    has_dictionary: bool,
}

impl CheckedPages {
    pub(super) fn new(pages: Box<dyn PageReader>) -> Self {
        Self {
            pages,
            has_dictionary: false,
        }
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        let needs_dictionary =
            |page: &Page| matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        match &page {
            Some(Page::DictionaryPage { .. }) => self.has_dictionary = true,
            Some(page) if needs_dictionary(page) && !self.has_dictionary => {
                return Err(ParquetError::General("a page lacks its dictionary".to_owned()));
            }
            _ => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<Page>);

    impl PageReader for Given {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.pop())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Iterator for Given {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.get_next_page().transpose()
        }
    }

    fn data(encoding: Encoding) -> Page {
        Page::DataPage {
            buf: Vec::new().into(),
            num_values: 0,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    fn dictionary() -> Page {
        Page::DictionaryPage {
            buf: Vec::new().into(),
            num_values: 0,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        }
    }

    #[test]
    fn a_page_without_its_dictionary_is_refused() {
        let read = |mut pages: Vec<Page>| {
            pages.reverse();
            CheckedPages::new(Box::new(Given(pages)))
                .collect::<Result<Vec<Page>>>()
                .map(|pages| pages.len())
        };
        assert_eq!(read(vec![dictionary(), data(Encoding::RLE_DICTIONARY)]).unwrap(), 2);
        assert_eq!(read(vec![data(Encoding::PLAIN)]).unwrap(), 1);
        for encoding in [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY] {
            assert!(read(vec![data(Encoding::PLAIN), data(encoding)]).is_err());
        }
    }
}
