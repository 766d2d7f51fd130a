//! Places and counts that a spreadsheet claims, checked before its reader believes them: it computes with them in 32 bits, where a row
//! beyond would land on another one without a word, and takes room for as many texts as are announced.

use std::io::{BufRead, BufReader, Read, Seek};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

/// The first claim of an archive's parts that cannot be true, in words.
pub(super) fn impossible_claim(archive: &mut ZipArchive<impl Read + Seek>) -> Option<String> {
    (0..archive.len()).find_map(|index| {
        // What cannot be opened, the reader refuses.
        let part = archive.by_index(index).ok()?;
        let (name, bytes) = (part.name().ok()?.into_owned(), part.size());
        // Sizes were compared with what is allowed as they are announced, so no part may have more.
        let mut part = part.take(bytes.saturating_add(1));
        let claim = claim_of_part(BufReader::new(&mut part), bytes);
        let is_longer = part.limit() == 0;
        claim.or_else(|| is_longer.then(|| format!("'{name}' is longer than the {bytes} bytes it announces")))
    })
}

/// Of one part, which may be a picture as well: what is no XML makes no claims.
fn claim_of_part(part: impl BufRead, bytes: u64) -> Option<String> {
    let mut reader = Reader::from_reader(part);
    // As the reader of the cells has it, so that both see the same elements.
    let config = reader.config_mut();
    config.check_end_names = false;
    config.check_comments = false;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let found = match reader.read_event_into(&mut buffer).ok()? {
            Event::Start(element) | Event::Empty(element) => claim_of_element(&element, bytes),
            Event::Eof => return None,
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
}

fn claim_of_element(element: &BytesStart<'_>, bytes: u64) -> Option<String> {
    let attribute = |name: &str| {
        let found = attributes(element.attributes_raw()).find(|(key, _)| *key == name);
        found.map(|(_, value)| value)
    };
    match element.local_name().as_ref() {
        "row" | "c" => attribute("r")
            .filter(|value| place(value).is_none())
            .map(|value| format!("'{value}' is beyond the last cell of any sheet")),
        "dimension" => {
            let value = attribute("ref")?;
            let ends: Option<Vec<(u32, u32)>> = value.split(':').map(place).collect();
            match ends.as_deref() {
                None => Some(format!("'{value}' reaches beyond the last cell of any sheet")),
                Some([a, b]) if b.0 < a.0 || b.1 < a.1 => {
                    Some(format!("the sheet's size '{value}' ends before it starts"))
                }
                Some(_) => None,
            }
        }
        "sst" => {
            let value = attribute("uniqueCount")?;
            // A text takes more than a byte. What is no number is not believed by anyone.
            let is_more = value.parse::<u128>().is_ok_and(|count| count > u128::from(bytes));
            is_more.then(|| format!("{value} texts are announced in {bytes} bytes"))
        }
        _ => None,
    }
}

/// Names and values up to the first that has no quotation marks, as the reader of the cells takes them apart.
fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_ascii_start();
        let mark = after.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        let (value, after) = after[1..].split_once(mark)?;
        rest = after;
        Some((name.trim_ascii(), value))
    })
}

/// The last row and column that is believed: with half of 32 bits there is room to count on from, however many cells without a place follow.
const LAST: u32 = u32::MAX / 2;

/// Column and row of `AB12`, from 1 on, either 0 where it is missing; none beyond [`LAST`]. Text of another form is no place and counts
/// as 0, 0, unless it begins with a number beyond: the reader of the cells counts before it sees what follows.
fn place(text: &str) -> Option<(u32, u32)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (column, rest) = text.split_at(letters);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (row, rest) = rest.split_at(digits);
    let number = |digits: &str, base: u32, value: fn(u8) -> u32| {
        let number = digits.bytes().try_fold(0_u32, |number, digit| {
            number.checked_mul(base)?.checked_add(value(digit))
        });
        number.filter(|number| *number <= LAST)
    };
    let column = number(column, 26, |letter| u32::from(letter.to_ascii_uppercase() - b'A') + 1)?;
    let row = number(row, 10, |digit| u32::from(digit - b'0'))?;
    Some(if rest.is_empty() { (column, row) } else { (0, 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(xml: &str) -> Option<String> {
        claim_of_part(xml.as_bytes(), xml.len() as u64)
    }

    #[test]
    fn places_leave_room_to_count_on() {
        assert_eq!(place("A1"), Some((1, 1)));
        assert_eq!(place("XFD1048576"), Some((16_384, 1_048_576)));
        assert_eq!(place("xfd2147483647"), Some((16_384, LAST)));
        assert_eq!(place("007"), Some((0, 7)));
        assert_eq!(place("15.75"), Some((0, 0)));
        for beyond in [
            "A2147483648",
            "A4294967296",
            "99999999999999999999",
            "ZZZZZZZ1",
            "AAAAAAAAAAAAAAA",
            "9544569179s",
            "AAAAAAAAAAAAAAA!",
        ] {
            assert_eq!(place(beyond), None, "{beyond}");
        }
    }

    #[test]
    fn claims_are_found_wherever_they_stand() {
        for (xml, expected) in [
            (
                r#"<sheetData><row r="4294967297"><c r="A1"/></row></sheetData>"#,
                "'4294967297' is beyond",
            ),
            (
                "<x:row><x:c s='1' r = 'ABCDEFGH1'></x:c></x:row>",
                "'ABCDEFGH1' is beyond",
            ),
            (r#"<dimension ref="A1:B99999999999"/>"#, "reaches beyond"),
            (r#"<dimension ref="B9:A1"/>"#, "ends before it starts"),
            (
                r#"<sst count="3" uniqueCount="1000000000000"><si/></sst>"#,
                "texts are announced in",
            ),
        ] {
            let found = claim(xml).unwrap_or_else(|| panic!("{xml}"));
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn sound_parts_make_none() {
        for xml in [
            r#"<row r="1" spans="1:2" ht="15.75" dyDescent="0.25"><c r="A1" s="5" t="s"><v>4294967299</v></c></row>"#,
            r#"<row r="1"><c t="inlineStr" note="99999999999" r="A1"/></row>"#,
            r#"<dimension ref="A1"/>"#,
            r#"<sst count="99999" uniqueCount="2"><si><t>u</t></si><si><t>y</t></si></sst>"#,
            r#"<sst uniqueCount="many"/>"#,
            "\u{89}PNG\r\n<<<",
            "",
        ] {
            assert_eq!(claim(xml), None, "{xml}");
        }
    }
}
