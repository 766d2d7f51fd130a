//! Parquet stores decimals, dates and times as integers; a column's type says what they count.

use std::fs;
use std::sync::Arc;

use intervalid_data::{Dataset, ReadOptions, read};
use parquet::basic::Type;
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Reads a file with one column of integers, `typed` as Parquet writes it, and u and y.
fn load(typed: &str, stored: &[i64], options: &ReadOptions) -> Result<Dataset, String> {
    let schema = format!("message record {{ required {typed}; required double u; required double y; }}");
    let schema = Arc::new(parse_message_type(&schema).expect("parses"));
    let is_short = schema.get_fields()[0].get_physical_type() == Type::INT32;
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("a.parquet");
    let file = fs::File::create(&path).expect("creates");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).expect("starts");
    let mut group = writer.next_row_group().expect("group");
    let mut column = group.next_column().expect("column").expect("column");
    if is_short {
        let short: Vec<i32> = stored
            .iter()
            .map(|value| i32::try_from(*value).expect("short"))
            .collect();
        column.typed::<Int32Type>().write_batch(&short, None, None)
    } else {
        column.typed::<Int64Type>().write_batch(stored, None, None)
    }
    .expect("writes");
    column.close().expect("closes");
    for factor in [1.0, 3.0] {
        let values: Vec<f64> = (0..stored.len()).map(|k| factor * (k * k) as f64).collect();
        let mut column = group.next_column().expect("column").expect("column");
        column
            .typed::<DoubleType>()
            .write_batch(&values, None, None)
            .expect("writes");
        column.close().expect("closes");
    }
    group.close().expect("closes");
    writer.close().expect("closes");
    let prefix = format!("{}/", folder.path().display());
    read(&[path], options).map_err(|error| error.to_string().replace(&prefix, ""))
}

fn input(name: &str) -> ReadOptions {
    ReadOptions {
        inputs: crate::names(&[name]),
        ..ReadOptions::default()
    }
}

#[test]
fn decimals_have_their_scale() {
    for typed in ["int32 v (DECIMAL(9,2))", "int64 v (DECIMAL(18,2))"] {
        let dataset = load(typed, &[373, -5, 1_000_001], &input("v")).expect("reads");
        assert_eq!(dataset.experiments()[0].input(0), [3.73, -0.05, 10_000.01], "{typed}");
    }
}

#[test]
fn the_type_of_a_column_gives_the_unit_of_its_times() {
    let cases: [(&str, i64, i64, f64, &str); 6] = [
        ("int32 date (DATE)", 19_000, 1, 86_400.0, "2022-01-08T00:00:00"),
        ("int32 time (TIME_MILLIS)", 36_000_000, 100, 0.1, "10:00:00"),
        ("int64 time (TIME_MICROS)", 36_000_000_000, 100_000, 0.1, "10:00:00"),
        // What the name says of numbers is not about times of day.
        (
            "int64 time_min (TIME(NANOS,false))",
            36_000_000_000_000,
            100,
            1e-7,
            "10:00:00",
        ),
        (
            "int64 time (TIMESTAMP(MILLIS,true))",
            1_700_000_000_000,
            100,
            0.1,
            "2023-11-14T22:13:20Z",
        ),
        (
            "int64 time (TIMESTAMP(NANOS,false))",
            1_700_000_000_000_000_001,
            1000,
            1e-6,
            "2023-11-14T22:13:20.000000001",
        ),
    ];
    for (typed, start, step, seconds, shown) in cases {
        let stored: Vec<i64> = (0..50).map(|k| start + k * step).collect();
        let dataset = load(typed, &stored, &ReadOptions::default()).expect(typed);
        assert_eq!(dataset.sample_time(), Some(seconds), "{typed}");
        let time = dataset.experiments()[0].time().expect("known");
        assert_eq!(time.start.to_string(), shown, "{typed}");
    }
}

#[test]
fn a_column_of_times_is_no_channel() {
    for (typed, what) in [
        ("int32 v (DATE)", "dates"),
        ("int32 v (TIME_MILLIS)", "times of day"),
        ("int64 v (TIMESTAMP_MILLIS)", "timestamps"),
    ] {
        assert_eq!(
            load(typed, &[1, 2, 3], &input("v")).expect_err("no numbers"),
            format!("a.parquet: array 'v' is one of {what}: expected a flat column of real numbers")
        );
    }
}

#[test]
fn a_day_may_name_an_experiment() {
    let options = ReadOptions {
        experiment: Some("day".to_owned()),
        ..ReadOptions::default()
    };
    let dataset = load("int32 day (DATE)", &[19_000, 19_000, 19_001, 19_001], &options).expect("reads");
    let names: Vec<&str> = dataset.experiments().iter().map(|e| e.name()).collect();
    assert_eq!(names, ["a:2022-01-08T00:00:00", "a:2022-01-09T00:00:00"]);
}
