//! Small files that hold very many numbers are refused before they fill the memory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use intervalid_data::{ReadOptions, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::fixture;

/// Two columns of these many zeros are more than is read from a small file without being asked for.
const ROWS: usize = 6_000_000;

fn npz(folder: &Path) -> PathBuf {
    let path = folder.join("bomb.npz");
    let mut archive = ZipWriter::new(fs::File::create(&path).expect("creates"));
    for name in ["u.npy", "y.npy"] {
        archive.start_file(name, SimpleFileOptions::default()).expect("starts");
        let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({ROWS},), }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").expect("writes");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("writes");
        archive.write_all(header.as_bytes()).expect("writes");
        archive.write_all(&vec![0; ROWS]).expect("writes");
    }
    archive.finish().expect("finishes");
    path
}

/// Level 5 arrays of signed bytes, each in a compressed element.
fn mat(folder: &Path) -> PathBuf {
    let mut file = vec![b' '; 124];
    file.extend([0, 1, b'I', b'M']);
    for name in [b'u', b'y'] {
        let rows = ROWS as u32;
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        // Flags of class int8, dimensions, a name of one byte inside its tag, numbers.
        let mut body = words(&[6, 8, 8, 0, 5, 8, rows, 1]);
        body.extend([1, 0, 1, 0, name, 0, 0, 0]);
        body.extend(words(&[1, rows]));
        body.resize(body.len() + ROWS, 0);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&words(&[14, body.len() as u32])).expect("writes");
        encoder.write_all(&body).expect("writes");
        let packed = encoder.finish().expect("finishes");
        file.extend(words(&[15, packed.len() as u32]));
        file.extend(packed);
    }
    let path = folder.join("bomb.mat");
    fs::write(&path, file).expect("writes");
    path
}

#[cfg(feature = "parquet")]
fn parquet(folder: &Path) -> PathBuf {
    use std::sync::Arc;

    use parquet::data_type::Int32Type;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let path = folder.join("bomb.parquet");
    let schema = parse_message_type("message record { required int32 u; required int32 y; }").expect("parses");
    let properties = Arc::new(WriterProperties::builder().build());
    let file = fs::File::create(&path).expect("creates");
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties).expect("starts");
    let mut group = writer.next_row_group().expect("group");
    let zeros = vec![0; ROWS];
    while let Some(mut column) = group.next_column().expect("column") {
        column
            .typed::<Int32Type>()
            .write_batch(&zeros, None, None)
            .expect("writes");
        column.close().expect("closes");
    }
    group.close().expect("closes");
    writer.close().expect("closes");
    path
}

#[test]
fn a_small_file_may_not_hold_millions_of_values() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let bombs = [
        npz(folder.path()),
        mat(folder.path()),
        #[cfg(feature = "parquet")]
        parquet(folder.path()),
    ];
    for path in bombs {
        let bytes = fs::metadata(&path).expect("exists").len();
        assert!(bytes < 100_000, "{}: {bytes} bytes", path.display());
        let error = read(&[&path], &ReadOptions::default()).expect_err("a bomb").to_string();
        assert_eq!(
            error.replace(&format!("{}/", folder.path().display()), ""),
            format!(
                "{}: {bytes} bytes expand to 12000000 values, far more than a recording of that size holds",
                path.file_name().expect("a name").display()
            )
        );
        let meant = ReadOptions {
            max_samples: Some(12_000_000),
            ..ReadOptions::default()
        };
        assert_eq!(read(&[&path], &meant).expect("reads").samples(), ROWS);
    }
}

#[test]
fn a_given_limit_is_kept() {
    let files = [
        "plain.mat",
        "plain.npz",
        #[cfg(feature = "parquet")]
        "plain.parquet",
    ];
    for name in files {
        let path = fixture(name);
        // Six samples of two inputs and an output.
        let limited = |max_samples| {
            let options = ReadOptions {
                max_samples: Some(max_samples),
                ..ReadOptions::default()
            };
            read(&[&path], &options).map_err(|error| error.to_string())
        };
        assert!(limited(18).is_ok(), "{name}");
        let error = limited(17).expect_err("too many");
        assert!(
            error.ends_with(": 18 values announced for the chosen columns, expected at most 17"),
            "{error}"
        );
    }
}

/// A workbook with one sheet, as spreadsheets write it, but for what the sheet and the texts say.
fn workbook(path: &Path, sheet: &str, texts: &str) {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relationship = |id: &str, kind: &str, target: &str| {
        format!(r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>"#)
    };
    let relationships =
        |list: &[String]| format!(r#"<Relationships xmlns="{PACKAGE}">{}</Relationships>"#, list.concat());
    let parts = [
        (
            "_rels/.rels",
            relationships(&[relationship("r1", "officeDocument", "xl/workbook.xml")]),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            relationships(&[
                relationship("r1", "worksheet", "worksheets/sheet1.xml"),
                relationship("r2", "sharedStrings", "sharedStrings.xml"),
            ]),
        ),
        (
            "xl/sharedStrings.xml",
            texts.replace("<sst", &format!(r#"<sst xmlns="{MAIN}""#)),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{MAIN}">{sheet}</worksheet>"#),
        ),
    ];
    let mut archive = ZipWriter::new(fs::File::create(path).expect("creates"));
    for (name, content) in parts {
        archive.start_file(name, SimpleFileOptions::default()).expect("starts");
        archive.write_all(content.as_bytes()).expect("writes");
    }
    archive.finish().expect("finishes");
}

/// Beyond 32 bits a row comes round to another one, whose numbers it would replace.
#[test]
fn a_sheet_may_not_claim_what_no_sheet_has() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("claims.xlsx");
    let header = r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>"#;
    let row = |row: u64| format!(r#"<row r="{row}"><c r="A{row}"><v>1</v></c><c r="B{row}"><v>{row}</v></c></row>"#);
    let texts = r#"<sst uniqueCount="2"><si><t>u</t></si><si><t>y</t></si></sst>"#;
    let sheet = |dimension: &str, rows: &[u64]| {
        let rows: String = rows.iter().map(|&number| row(number)).collect();
        format!(r#"<dimension ref="{dimension}"/><sheetData>{header}{rows}</sheetData>"#)
    };
    let found = |sheet: &str, texts: &str| {
        workbook(&path, sheet, texts);
        let found = read(&[&path], &ReadOptions::default()).map_err(|error| error.to_string());
        found.map_err(|error| error.replace(&format!("{}/", folder.path().display()), ""))
    };
    let sound = found(&sheet("A1:B4", &[2, 3, 4]), texts).expect("reads");
    assert_eq!(sound.experiments()[0].output(0), [2.0, 3.0, 4.0]);
    let refused = "claims.xlsx: not a readable spreadsheet file: ";
    for (sheet, texts, expected) in [
        // 2³² + 2 would be row 2 again.
        (
            sheet("A1:B4", &[2, 3, 4_294_967_298]),
            texts,
            "'4294967298' is beyond the last cell of any sheet",
        ),
        (
            sheet("A1:B4294967298", &[2, 3, 4]),
            texts,
            "'A1:B4294967298' reaches beyond the last cell of any sheet",
        ),
        (
            sheet("B4:A1", &[2, 3, 4]),
            texts,
            "the sheet's size 'B4:A1' ends before it starts",
        ),
        (
            sheet("A1:B4", &[2, 3, 4]),
            r#"<sst uniqueCount="1000000000000000"><si><t>u</t></si><si><t>y</t></si></sst>"#,
            "1000000000000000 texts are announced in ",
        ),
    ] {
        let error = found(&sheet, texts).expect_err("a claim");
        assert!(error.starts_with(&format!("{refused}{expected}")), "{error}");
    }
    // The last row that is believed is only too far away.
    let error = found(&sheet("A1:B4", &[2, 3, u64::from(u32::MAX / 2)]), texts).expect_err("too large");
    assert!(error.contains("4294967294 values announced"), "{error}");
    // Rows without a number go on counting from the last that has one.
    let last = u64::from(u32::MAX);
    let counted = sheet("A1:B4", &[2, 3, last]).replace("</sheetData>", "<row><c><v>1</v></c></row></sheetData>");
    let error = found(&counted, texts).expect_err("a claim");
    assert!(error.contains("'4294967295' is beyond"), "{error}");
}
