//! A spreadsheet that is read without options.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook with one sheet.
pub(crate) fn workbook(sheet: &[u8]) -> anyhow::Result<Vec<u8>> {
    let book = format!(
        r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    let strings = format!(r#"<sst xmlns="{MAIN}" count="2" uniqueCount="2"><si><t>u</t></si><si><t>y</t></si></sst>"#);
    let relationships = format!(
        r#"<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#
    );
    let root = format!(
        r#"<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in [
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relationships.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet),
    ] {
        archive.start_file(name, options)?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A sheet with a column u and a column y.
pub(crate) fn sheet() -> Vec<u8> {
    let header = r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>y</t></is></c></row>"#;
    let row = |k: usize| {
        let (u, y) = (k % 7, k % 5);
        format!(r#"<row r="{k}"><c r="A{k}"><v>{u}</v></c><c r="B{k}" t="n"><v>{y}.5</v></c></row>"#)
    };
    let rows: String = (2..32).map(row).collect();
    format!(r#"<worksheet xmlns="{MAIN}"><dimension ref="A1:B31"/><sheetData>{header}{rows}</sheetData></worksheet>"#)
        .into_bytes()
}
