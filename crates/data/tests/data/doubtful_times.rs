//! Columns that count something else than they seem to, and times that gaps must not be filled across.

use intervalid_data::{Dataset, MissingPolicy, Preparation, ReadOptions};

fn parse(text: &str, options: &ReadOptions) -> Result<Dataset, String> {
    crate::parse("a.csv", text, options)
}

fn told(dataset: &Dataset) -> Vec<String> {
    let told = dataset.warnings().iter().map(ToString::to_string);
    told.map(|words| {
        words
            .split_once("a.csv: ")
            .map_or(words.clone(), |(_, what)| what.to_owned())
    })
    .collect()
}

/// Rows of a time, u and y.
fn record(name: &str, time: impl Fn(u32) -> String) -> String {
    let rows = (0..40).map(|k| format!("{},{},{}\n", time(k), k % 3, k * k % 7));
    format!("{name},u,y\n{}", rows.collect::<String>())
}

fn sampled(sample_time: f64) -> ReadOptions {
    ReadOptions {
        sample_time: Some(sample_time),
        ..ReadOptions::default()
    }
}

#[test]
fn a_clock_that_ticks_every_second_is_no_counter() {
    let dates = |k: u32| format!("2024-03-01 10:00:{k:02}");
    let clocks = [
        ("time", record("time", dates)),
        ("time", record("time", |k| format!("10:00:{k:02}"))),
        ("time [s]", record("time [s]", |k| k.to_string())),
    ];
    for (column, text) in clocks {
        assert_eq!(
            parse(&text, &sampled(5.0)).expect_err("another rate"),
            format!("a.csv: the time column '{column}' has a sample every 1 s, expected 5 s: leave out one of the two")
        );
        let agreed = parse(&text, &sampled(1.0)).expect("reads");
        assert!(agreed.experiments()[0].time().is_some(), "{column} is kept");
        assert_eq!(told(&agreed), [""; 0]);
    }
}

#[test]
fn a_counter_that_is_not_used_is_told() {
    let text = record("t", |k| k.to_string());
    let dataset = parse(&text, &sampled(0.2)).expect("reads");
    assert!(dataset.sample_time() == Some(0.2) && dataset.experiments()[0].time().is_none());
    assert_eq!(
        told(&dataset),
        ["column 't' counts rows and is not used as the time: the sample time is 0.2 s, as given"]
    );
    // Seconds, to somebody who says so.
    let dataset = parse(&text, &sampled(1.0)).expect("reads");
    assert!(dataset.experiments()[0].time().is_some());
    assert_eq!(told(&dataset), [""; 0]);
}

#[test]
fn numbers_that_are_hardly_seconds_are_doubted_with_and_without_resampling() {
    let resample = |step| ReadOptions {
        resample: Some(step),
        ..ReadOptions::default()
    };
    let milliseconds = record("time", |k| (1_700_000_000_000_u64 + u64::from(100 * k)).to_string());
    let years = record("date", |k| (1960 + k).to_string());
    let days = record("Date Time", |k| (45_352 + k).to_string());
    for (text, step, words) in [
        (milliseconds, 100.0, "one sample every 100 s: if these are milliseconds"),
        (
            years,
            1.0,
            "column 'date' holds numbers, from 1960 on, and was read as seconds",
        ),
        (days, 1.0, "or name their unit, as in 'Date Time [d]'"),
    ] {
        for options in [ReadOptions::default(), resample(step)] {
            let dataset = parse(&text, &options).expect("reads");
            let told = told(&dataset);
            assert!(told.iter().any(|told| told.contains(words)), "{words}: {told:?}");
        }
    }
    let with_unit = parse(&record("date [d]", |k| k.to_string()), &ReadOptions::default()).expect("reads");
    assert_eq!((with_unit.sample_time(), told(&with_unit).len()), (Some(86_400.0), 0));
}

#[test]
fn days_of_a_spreadsheet_are_doubted_under_any_name() {
    let told = |step: f64| {
        let text = record("time", |k| (45_352.25 + step * f64::from(k)).to_string());
        told(&parse(&text, &ReadOptions::default()).expect("reads"))
    };
    for step in [1.0 / 24.0, 1.0 / 1440.0, 1.0 / 96.0] {
        let told = told(step);
        let words = "column 'time' holds numbers, from 45352.25 on, and was read as seconds";
        assert!(told.iter().any(|told| told.contains(words)), "{step}: {told:?}");
    }
    // A clock that counts the seconds of a day gets there at noon.
    for step in [0.1, 0.25, 0.05] {
        assert!(told(step).is_empty(), "{step}: {:?}", told(step));
    }
}

fn filled(samples: usize, missing: MissingPolicy) -> ReadOptions {
    ReadOptions {
        missing,
        prepare: Preparation {
            fill_gaps: Some(samples),
            ..Preparation::default()
        },
        ..ReadOptions::default()
    }
}

#[test]
fn no_line_is_drawn_over_a_gap_in_the_times() {
    // The sample before a pause of a day is missing, and the next one is far away.
    let row = |k: u32| match k {
        0..59 => format!("{k},1,0.5\n"),
        59 => format!("{k},1,\n"),
        _ => format!("{},1,100\n", 86_400 + k),
    };
    let text = format!("time,u,y\n{}", (0..120).map(row).collect::<String>());
    let dataset = parse(&text, &filled(3, MissingPolicy::Split)).expect("splits");
    let outputs: Vec<&[f64]> = dataset.experiments().iter().map(|e| e.output(0)).collect();
    assert_eq!(outputs, [&[0.5; 59][..], &[100.0; 60]]);
    assert_eq!(
        parse(&text, &filled(3, MissingPolicy::Error)).expect_err("a gap"),
        "a.csv: line 61, column 'y': missing sample in a gap that is not filled: expected at most 3 in a row, with a sample \
         before and after and no gap in the times between"
    );
    let resampled = ReadOptions {
        resample: Some(1.0),
        ..filled(3, MissingPolicy::Split)
    };
    let dataset = parse(&text, &resampled).expect("splits");
    assert!(
        dataset
            .experiments()
            .iter()
            .flat_map(|e| e.output(0))
            .all(|y| *y < 1.0 || *y > 99.0)
    );
}

#[test]
fn a_line_over_a_gap_goes_by_the_times() {
    // y is the time, and rows come when they like.
    let mut time = 0.0;
    let rows = (0..200).map(|k| {
        time += 0.4 + 0.3 * f64::from(k * 7 % 5);
        match k % 10 {
            4 => format!("{time},1,\n"),
            _ => format!("{time},1,{time}\n"),
        }
    });
    let text = format!("time,u,y\n{}", rows.collect::<String>());
    let options = ReadOptions {
        resample: Some(1.0),
        ..filled(1, MissingPolicy::Error)
    };
    let dataset = parse(&text, &options).expect("resamples");
    for (k, y) in dataset.experiments()[0].output(0).iter().enumerate() {
        assert!((y - 0.4 - k as f64).abs() < 1e-9, "{y} at {}", 0.4 + k as f64);
    }
}
