//! Spreadsheets: what their cells are, whatever their columns are called.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use intervalid_data::{Dataset, Decimal, ReadOptions, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A workbook with one table, which is called `a.xlsx`.
#[derive(Default)]
struct Workbook<'a> {
    /// Names of the columns.
    names: [&'a str; 3],
    /// Cells as they are stored: numbers, or text.
    rows: Vec<[String; 3]>,
    /// The number format of the first column; 0 is none, 14 a date, 21 a time of day, 46 a duration.
    format: u32,
    /// The number format of the second column.
    second_format: u32,
    from_1904: bool,
    chart_first: bool,
}

impl Workbook<'_> {
    fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("a.xlsx");
        let mut archive = ZipWriter::new(fs::File::create(&path).expect("creates"));
        let relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let package = "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"";
        let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
        let (chart_tab, chart_relation) = match self.chart_first {
            true => (
                "<sheet name=\"chart\" sheetId=\"2\" r:id=\"rId2\"/>",
                format!("<Relationship Id=\"rId2\" Type=\"{relation}/chartsheet\" Target=\"chartsheets/sheet1.xml\"/>"),
            ),
            false => ("", String::new()),
        };
        for (part, content) in [
            (
                "[Content_Types].xml",
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".to_owned(),
            ),
            (
                "_rels/.rels",
                format!(
                    "<Relationships {package}><Relationship Id=\"rId1\" Type=\"{relation}/officeDocument\" \
                     Target=\"xl/workbook.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                format!(
                    "<Relationships {package}><Relationship Id=\"rId1\" Type=\"{relation}/worksheet\" \
                     Target=\"worksheets/sheet1.xml\"/>{chart_relation}</Relationships>"
                ),
            ),
            (
                "xl/workbook.xml",
                format!(
                    "<workbook {main} xmlns:r=\"{relation}\"><workbookPr date1904=\"{}\"/><sheets>{chart_tab}<sheet name=\"a\" \
                     sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
                    u8::from(self.from_1904)
                ),
            ),
            (
                "xl/styles.xml",
                format!(
                    "<styleSheet {main}><cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"{}\" \
                     applyNumberFormat=\"1\"/><xf numFmtId=\"{}\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>",
                    self.format, self.second_format
                ),
            ),
            ("xl/chartsheets/sheet1.xml", format!("<chartsheet {main}/>")),
            ("xl/worksheets/sheet1.xml", self.sheet(main)),
        ] {
            archive.start_file(part, SimpleFileOptions::default()).expect("starts");
            archive.write_all(content.as_bytes()).expect("writes");
        }
        archive.finish().expect("finishes");
        path
    }

    fn sheet(&self, main: &str) -> String {
        let names = self.names.map(str::to_owned);
        let rows = std::iter::once(&names)
            .chain(&self.rows)
            .enumerate()
            .map(|(index, cells)| {
                let row = index + 1;
                let cells = cells
                    .iter()
                    .zip([("A", 1), ("B", 2), ("C", 0)])
                    .map(|(cell, (column, style))| match cell.parse::<f64>() {
                        Ok(_) => format!("<c r=\"{column}{row}\" s=\"{style}\"><v>{cell}</v></c>"),
                        Err(_) => format!("<c r=\"{column}{row}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>"),
                    });
                format!("<row r=\"{row}\">{}</row>", cells.collect::<String>())
            });
        let rows: String = rows.collect();
        format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>")
    }

    fn read(&self, options: &ReadOptions) -> Result<Dataset, String> {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = self.write(folder.path());
        read(&[path], options).map_err(|error| error.to_string())
    }
}

/// Rows of a first cell each, and u and y that count them.
fn rows(first: impl Fn(u32) -> f64) -> Vec<[String; 3]> {
    (0..30)
        .map(|k| [first(k).to_string(), k.to_string(), (k * k).to_string()])
        .collect()
}

#[test]
fn workbooks_count_days_from_1900_or_1904() {
    // 2024-03-01.
    for (from_1904, first) in [(false, 45_352.0), (true, 43_890.0)] {
        let workbook = Workbook {
            names: ["time", "u", "y"],
            rows: rows(|k| first + f64::from(k)),
            format: 14,
            from_1904,
            ..Workbook::default()
        };
        let dataset = workbook.read(&ReadOptions::default()).expect("reads");
        assert_eq!((dataset.samples(), dataset.sample_time()), (30, Some(86_400.0)));
        let time = dataset.experiments()[0].time().expect("known");
        assert_eq!(time.start.to_string(), "2024-03-01T00:00:00", "from 1904: {from_1904}");
    }
}

/// They are stored as days, so `Time [min]` is not about them.
#[test]
fn times_of_day_and_durations_have_no_unit() {
    for (format, second) in [(21, "10:00:10"), (46, "36010")] {
        let workbook = Workbook {
            names: ["Time [min]", "u", "y"],
            rows: rows(|k| f64::from(36_000 + 10 * k) / 86_400.0),
            format,
            ..Workbook::default()
        };
        let dataset = workbook.read(&ReadOptions::default()).expect("reads");
        assert_eq!(dataset.sample_time(), Some(10.0), "{format}");
        let time = dataset.experiments()[0].time().expect("known");
        assert_eq!(time.at(1).to_string(), second, "{format}");
        // As a channel it still counts seconds.
        let options = ReadOptions {
            inputs: crate::names(&["Time [min]"]),
            ..ReadOptions::default()
        };
        let input = workbook.read(&options).expect("reads").experiments()[0].input(0)[1];
        assert!((input - 36_010.0).abs() < 1e-6, "{format}: {input}");
    }
}

#[test]
fn text_with_decimal_commas_is_read_where_that_is_said() {
    let workbook = Workbook {
        names: ["t", "u", "y"],
        rows: (0..30)
            .map(|k| [(f64::from(k) * 0.5).to_string(), format!("0,{:02}", k), format!("{k}")])
            .collect(),
        ..Workbook::default()
    };
    let refused = workbook.read(&ReadOptions::default()).expect_err("a comma");
    assert!(
        refused.contains("row 2, column 'u': '0,00' is not a number"),
        "{refused}"
    );
    let options = ReadOptions {
        decimal: Decimal::Comma,
        ..ReadOptions::default()
    };
    let dataset = workbook.read(&options).expect("reads");
    assert_eq!(dataset.sample_time(), Some(0.5), "numbers are numbers");
    assert!((dataset.experiments()[0].input(0)[29] - 0.29).abs() < 1e-12);
}

#[test]
fn a_chart_is_no_table() {
    let workbook = Workbook {
        names: ["t", "u", "y"],
        rows: rows(f64::from),
        chart_first: true,
        ..Workbook::default()
    };
    assert_eq!(workbook.read(&ReadOptions::default()).expect("reads").samples(), 30);
}

#[test]
fn days_and_times_in_two_columns_are_one_clock() {
    // Every six hours from 2024-03-01.
    let row = |k: u32| [45_352 + k / 4, k % 4, k].map(f64::from);
    let rows = (0..30)
        .map(row)
        .map(|[day, quarter, y]| [day.to_string(), (quarter / 4.0).to_string(), y.to_string()]);
    let workbook = Workbook {
        names: ["Date", "Time", "y"],
        rows: rows.collect(),
        format: 14,
        second_format: 21,
        ..Workbook::default()
    };
    let options = ReadOptions {
        inputs: Some(Vec::new()),
        ..ReadOptions::default()
    };
    let dataset = workbook.read(&options).expect("reads");
    assert_eq!((dataset.samples(), dataset.sample_time()), (30, Some(21_600.0)));
    let time = dataset.experiments()[0].time().expect("known");
    assert_eq!(time.at(5).to_string(), "2024-03-02T06:00:00");
}
