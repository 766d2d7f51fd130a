//! Which columns are times, in which unit, in every format.

use std::fs;
use std::io::Write;

use intervalid_data::{Dataset, MissingPolicy, ReadOptions, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn load(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("writes");
    let prefix = format!("{}/", folder.path().display());
    read(&[path], options).map_err(|error| error.to_string().replace(&prefix, ""))
}

fn by(time: &str) -> ReadOptions {
    ReadOptions {
        time: Some(time.to_owned()),
        ..ReadOptions::default()
    }
}

fn policy(missing: MissingPolicy) -> ReadOptions {
    ReadOptions {
        missing,
        ..ReadOptions::default()
    }
}

/// The only warning, without the folder.
fn told(dataset: &Dataset) -> String {
    let [warning] = dataset.warnings() else {
        panic!("{:?}", dataset.warnings());
    };
    let warning = warning.to_string();
    let at = warning.find("a.").expect("names the file");
    warning[at..].to_owned()
}

#[test]
fn a_named_column_has_the_unit_that_it_says() {
    for (name, step) in [
        ("elapsed [ms]", 0.01),
        ("elapsed ( MIN )", 600.0),
        ("elapsed_ms", 0.01),
        ("elapsed", 10.0),
    ] {
        let text = format!("{name},u,y\n0,1,2\n10,2,3\n20,4,5\n");
        let dataset = load("a.csv", text, &by(name)).expect("reads");
        assert_eq!(dataset.sample_time(), Some(step), "{name}");
    }
    let row = "elapsed,u,y\n[ MS ],V,K\n0,1,2\n10,2,3\n20,4,5\n";
    assert_eq!(
        load("a.csv", row, &by("elapsed")).expect("reads").sample_time(),
        Some(0.01)
    );
    assert_eq!(
        load("a.csv", "x [K],u,y\n0,1,2\n10,2,3\n", &by("x [K]")).expect_err("no time"),
        "a.csv: time column 'x [K]': 'K' is not a unit of time: expected ns, us, ms, s, min, h or d"
    );
    let dates = "stamp (UTC),u,y\n2024-03-01 10:00,1,2\n2024-03-01 10:01,2,3\n";
    assert_eq!(
        load("a.csv", dates, &by("stamp (UTC)"))
            .expect("dates need no unit")
            .sample_time(),
        Some(60.0)
    );
    // A temperature, as the row of units tells.
    let guessed = load("a.csv", "t,u,y\nK,V,K\n300,1,2\n310,2,3\n", &ReadOptions::default()).expect("reads");
    assert_eq!(guessed.sample_time(), None);
    assert_eq!(
        told(&guessed),
        "a.csv: column 't' is not used as the time: line 3, '300 K' is not one"
    );
}

#[test]
fn a_row_with_a_time_holds_no_units() {
    for time in ["0", "2024-03-01 10:00:00", "10:00:00"] {
        let text = format!("time,u,y\n{time},Pt Stuck,Bad Luck\n1,2,3\n");
        assert_eq!(
            load("a.csv", text, &policy(MissingPolicy::Split)).expect_err("a sample"),
            "a.csv: line 2, column 'u': 'Pt Stuck' is not a number"
        );
    }
    let dates = "wann,u,y\n2024-03-01,on hold,Bad Luck\n2024-03-02,2,3\n";
    assert!(
        load("a.csv", dates, &ReadOptions::default()).is_err(),
        "known by its date alone"
    );
}

#[test]
fn a_column_without_a_single_time_is_not_used() {
    for missing in [MissingPolicy::Error, MissingPolicy::Split] {
        let dataset = load("a.csv", "time,u,y\n,1,2\n,3,4\n", &policy(missing)).expect("reads");
        assert_eq!((dataset.samples(), dataset.sample_time()), (2, None));
        assert_eq!(
            told(&dataset),
            "a.csv: column 'time' is not used as the time: line 2, '' is not one"
        );
    }
    assert!(
        load("a.csv", "time,u,y\n,1,2\n1,3,4\n", &ReadOptions::default())
            .expect_err("missing")
            .starts_with("a.csv: line 2, column 'time': missing sample")
    );
}

fn npz(columns: &[(&str, [f64; 3])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, values) in columns {
        archive
            .start_file(format!("{name}.npy"), SimpleFileOptions::default())
            .expect("starts");
        let header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n";
        archive.write_all(b"\x93NUMPY\x01\x00").expect("writes");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("writes");
        archive.write_all(header).expect("writes");
        for value in values {
            archive.write_all(&value.to_le_bytes()).expect("writes");
        }
    }
    archive.finish().expect("finishes").into_inner()
}

#[test]
fn arrays_that_only_look_like_times_are_not_used() {
    for (time, found) in [
        ([0.0, f64::INFINITY, 2.0], "row 2, 'inf'"),
        ([f64::NAN; 3], "row 1, ''"),
    ] {
        let content = npz(&[("t", time), ("u", [1.0, 2.0, 3.0]), ("y", [1.0, 4.0, 9.0])]);
        for missing in [MissingPolicy::Error, MissingPolicy::Split] {
            let dataset = load("a.npz", &content, &policy(missing)).expect("reads");
            assert_eq!((dataset.samples(), dataset.sample_time()), (3, None));
            assert_eq!(
                told(&dataset),
                format!("a.npz: column 't' is not used as the time: {found} is not one")
            );
        }
        assert!(
            load("a.npz", &content, &by("t")).is_err(),
            "the user says that it holds times"
        );
    }
}

#[cfg(feature = "parquet")]
mod parquet_columns {
    use std::sync::Arc;

    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// Columns `when` of text, `time` of numbers, u and y.
    fn parquet(when: [&str; 3], time: [f64; 3]) -> Vec<u8> {
        let schema = "message record { required binary when (UTF8); required double time; required double u; required double y; }";
        let schema = Arc::new(parse_message_type(schema).expect("parses"));
        let properties = Arc::new(WriterProperties::builder().build());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).expect("starts");
        let mut group = writer.next_row_group().expect("group");
        let mut column = group.next_column().expect("column").expect("column");
        let texts = when.map(ByteArray::from);
        column
            .typed::<ByteArrayType>()
            .write_batch(&texts, None, None)
            .expect("writes");
        column.close().expect("closes");
        for values in [time, [1.0, 2.0, 3.0], [1.0, 4.0, 9.0]] {
            let mut column = group.next_column().expect("column").expect("column");
            column
                .typed::<DoubleType>()
                .write_batch(&values, None, None)
                .expect("writes");
            column.close().expect("closes");
        }
        group.close().expect("closes");
        writer.close().expect("closes");
        bytes
    }

    #[test]
    fn text_that_is_no_date_is_no_time() {
        let content = parquet(["2024-03-01", "noon", "2024-03-03"], [0.0, 1.0, 2.0]);
        for missing in [MissingPolicy::Error, MissingPolicy::Split] {
            let options = ReadOptions { missing, ..by("when") };
            let error = load("a.parquet", &content, &options).expect_err("no time");
            assert!(
                error.starts_with("a.parquet: row 2, time column 'when': 'noon' is not a time"),
                "{error}"
            );
        }
        let dates = parquet(["2024-03-01", "2024-03-02", "2024-03-03"], [0.0, 1.0, 2.0]);
        let dataset = load("a.parquet", &dates, &by("when")).expect("reads");
        assert_eq!(dataset.sample_time(), Some(86_400.0));
    }

    #[test]
    fn numbers_that_only_look_like_times_are_not_used() {
        let content = parquet(["a", "b", "c"], [0.0, f64::INFINITY, 2.0]);
        let dataset = load("a.parquet", &content, &ReadOptions::default()).expect("reads");
        assert_eq!((dataset.samples(), dataset.sample_time()), (3, None));
        assert_eq!(
            told(&dataset),
            "a.parquet: column 'time' is not used as the time: row 2, 'inf' is not one"
        );
    }
}
