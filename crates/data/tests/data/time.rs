//! Columns of times: what they tell, what they forbid, and what resampling makes of them.

use std::fs;

use intervalid_data::{
    ClipSpikes, Dataset, MissingPolicy, Part, Position, Preparation, ReadOptions, SpotKind, Trend, read, spots,
};

fn parse(text: &str, options: &ReadOptions) -> Result<Dataset, String> {
    crate::parse("a.csv", text, options)
}

fn split() -> ReadOptions {
    ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    }
}

fn resample(step: f64) -> ReadOptions {
    ReadOptions {
        resample: Some(step),
        ..ReadOptions::default()
    }
}

/// Rows of time, u and y = 2u, where u is the time in seconds.
fn record(times: &[f64]) -> String {
    let rows = times.iter().map(|time| format!("{time},{time},{}\n", 2.0 * time));
    format!("time,u,y\n{}", rows.collect::<String>())
}

fn even(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|k| k as f64 * step).collect()
}

#[test]
fn seconds_give_the_sample_time() {
    let dataset = parse(&record(&even(20, 0.1)), &ReadOptions::default()).expect("reads");
    assert_eq!(dataset.sample_time(), Some(0.1));
    let experiment = &dataset.experiments()[0];
    assert_eq!(experiment.time().expect("known").at(3).to_string(), "0.3");
    assert_eq!(experiment.row(3), Some(Position::Line(5)));
    assert_eq!(dataset.inputs().len(), 1, "the time is no input");
}

#[test]
fn dates_give_the_sample_time_whatever_their_column_is_called() {
    for name in ["Timestamp", "wann"] {
        let text = format!("{name},u,y\n2024-03-01 10:00:00,1,2\n2024-03-01 10:00:30,2,3\n2024-03-01 10:01:00,4,5\n");
        let dataset = parse(&text, &ReadOptions::default()).expect("reads");
        assert_eq!(dataset.sample_time(), Some(30.0));
        let time = dataset.experiments()[0].time().expect("known");
        assert_eq!(time.at(2).to_string(), "2024-03-01T10:01:00");
    }
}

#[test]
fn units_of_time_are_understood() {
    for (header, step) in [("time [ms]", 0.01), ("Time (min)", 600.0), ("t_h", 36000.0)] {
        let text = record(&even(5, 10.0)).replacen("time", header, 1);
        let dataset = parse(&text, &ReadOptions::default()).expect("reads");
        assert_eq!(dataset.sample_time(), Some(step), "{header}");
    }
}

#[test]
fn jitter_is_refused_with_its_place_and_extent() {
    let mut times = even(20, 1.0);
    times[7] += 0.3;
    assert_eq!(
        parse(&record(&times), &split()).expect_err("uneven"),
        "a.csv: line 9, time column 'time': 1.3 s after the sample before, where 1 s are usual (2 of 19 intervals are more \
         than 5 % off): samples must be evenly spaced; resample them"
    );
    times[7] = 7.02;
    assert_eq!(
        parse(&record(&times), &ReadOptions::default()).map(|dataset| dataset.sample_time()),
        Ok(Some(1.0)),
        "a little is what clocks do"
    );
}

#[test]
fn gaps_split_where_that_is_asked_for() {
    let times: Vec<f64> = even(10, 1.0)
        .into_iter()
        .chain(even(5, 1.0).iter().map(|t| t + 60.0))
        .collect();
    assert_eq!(
        parse(&record(&times), &ReadOptions::default()).expect_err("gap"),
        "a.csv: line 12, time column 'time': a gap of 51 s where 1 s are usual: use the missing-sample policy 'split' to \
         start a new experiment there"
    );
    let dataset = parse(&record(&times), &split()).expect("splits");
    let lengths: Vec<usize> = dataset.experiments().iter().map(|e| e.len()).collect();
    assert_eq!(lengths, [10, 5]);
    let second = &dataset.experiments()[1];
    assert_eq!((second.name(), second.row(0)), ("a#2", Some(Position::Line(12))));
    assert_eq!(second.time().expect("known").start.to_string(), "60");
    assert_eq!(
        dataset.warnings()[0]
            .to_string()
            .split_once("a.csv")
            .expect("names the file")
            .1,
        ": 1 gap in column 'time', the longest of 51 s where 1 s are usual: a new experiment starts after each"
    );
}

#[test]
fn times_that_go_back_are_refused() {
    let times = [0.0, 1.0, 2.0, 3.0, 1.5, 2.5, 3.5];
    assert_eq!(
        parse(&record(&times), &ReadOptions::default()).expect_err("back"),
        "a.csv: line 6, time column 'time': -1.5 s after the sample before: times must rise; sort the rows, or use the \
         missing-sample policy 'split' to start a new experiment there"
    );
}

#[test]
fn times_that_do_not_rise_are_no_gaps() {
    let told = |times: &[f64]| {
        let dataset = parse(&record(times), &split()).expect("splits");
        let warning = dataset.warnings()[0].to_string();
        warning.split_once("a.csv: ").expect("names the file").1.to_owned()
    };
    assert_eq!(
        told(&[0.0, 1.0, 2.0, 3.0, 1.5, 2.5, 3.5]),
        "1 time in column 'time' not after the one before: a new experiment starts at each"
    );
    assert_eq!(
        told(&[0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 9.0, 10.0]),
        "1 gap in column 'time', the longest of 5 s where 1 s are usual: a new experiment starts after each; 1 time in \
         column 'time' not after the one before: a new experiment starts at each"
    );
}

#[test]
fn a_tiny_step_is_refused_before_memory_is_taken() {
    let text = record(&even(601, 1.0));
    assert_eq!(
        parse(&text, &resample(1e-6)).expect_err("too many"),
        "a.csv: resampling to a step of 0.000001 s makes 1200000002 values of the chosen columns, expected at most \
         200000000: take a longer step, or allow more values"
    );
    let limited = |max_samples| {
        let options = ReadOptions {
            max_samples: Some(max_samples),
            ..resample(0.5)
        };
        parse(&text, &options).map(|dataset| dataset.samples())
    };
    assert_eq!(limited(2402), Ok(1201));
    assert!(limited(2401).is_err());
}

#[test]
fn labels_of_one_file_share_their_usual_step() {
    // Thirty rows every second, then three every ten: one second is usual, and five are means in both.
    let fast = (0..30).map(|k| format!("a,{k},{k},{}\n", k % 2));
    let slow = (0..3).map(|k| format!("b,{},{k},{k}\n", 100 + 10 * k));
    let text = format!("run,t,u,y\n{}", fast.chain(slow).collect::<String>());
    let options = ReadOptions {
        experiment: Some("run".to_owned()),
        ..resample(5.0)
    };
    let dataset = parse(&text, &options).expect("resamples");
    let told = dataset.warnings()[0].to_string();
    assert!(
        told.contains("33 rows, one every 1 s") && told.contains("by means over each step"),
        "{told}"
    );
}

#[test]
fn interpolation_puts_jitter_on_a_grid() {
    let times: Vec<f64> = (0..40).map(|k| f64::from(k) + 0.2 * f64::from(k % 3)).collect();
    let dataset = parse(&record(&times), &resample(1.0)).expect("resamples");
    let experiment = &dataset.experiments()[0];
    assert_eq!((dataset.sample_time(), experiment.len()), (Some(1.0), 40));
    // Both channels are linear in time, so interpolation is exact.
    for k in 0..40 {
        assert!((experiment.input(0)[k] - k as f64).abs() < 1e-9);
        assert!((experiment.output(0)[k] - 2.0 * k as f64).abs() < 1e-9);
    }
    assert_eq!(experiment.row(0), None, "no row of the file holds these samples");
    let told = dataset.warnings()[0].to_string();
    assert!(
        told.ends_with("resampled to 40 samples every 1 s by linear interpolation"),
        "what did not happen is not told: {told}"
    );
}

#[test]
fn long_steps_take_means() {
    // An alternating disturbance vanishes in means of two and would survive interpolation.
    let rows: String = (0..40).map(|k| format!("{k},{k},{}\n", k % 2)).collect();
    let dataset = parse(&format!("t,u,y\n{rows}"), &resample(4.0)).expect("resamples");
    let output = dataset.experiments()[0].output(0);
    assert_eq!(output.len(), 10);
    assert!(
        output[1..9].iter().all(|value| (value - 0.5).abs() < 1e-9),
        "{output:?}"
    );
}

/// Rows on the border between two means belong to both: rounding must not choose, and no mean lags behind.
#[test]
fn a_ramp_stays_a_ramp_in_means() {
    let start_1970 = |step: f64| (0..200).map(|k| 1.7e9 + f64::from(k) * step).collect::<Vec<f64>>();
    for (times, step) in [
        (even(200, 0.1), 0.2),
        (even(200, 1.0), 2.0),
        (even(200, 0.1), 0.6),
        (even(200, 0.1), 0.3),
        (start_1970(0.1), 0.4),
    ] {
        let dataset = parse(&record(&times), &resample(step)).expect("resamples");
        let input = dataset.experiments()[0].input(0);
        for (k, u) in input.iter().enumerate().take(input.len() - 1).skip(1) {
            let expected = times[0] + k as f64 * step;
            // Seconds since 1970 are stored to a quarter of a microsecond.
            assert!((u - expected).abs() < 1e-6, "{step}: {u}, not {expected}");
        }
    }
}

#[test]
fn resampling_bridges_short_gaps_and_no_long_ones() {
    let mut times = even(30, 1.0);
    times.drain(5..7);
    times.drain(15..25);
    assert!(
        parse(&record(&times), &resample(1.0))
            .expect_err("long gap")
            .contains("a gap of 11 s")
    );
    let options = ReadOptions { ..split() };
    let dataset = parse(
        &record(&times),
        &ReadOptions {
            resample: Some(1.0),
            ..options
        },
    )
    .expect("resamples");
    let lengths: Vec<usize> = dataset.experiments().iter().map(|e| e.len()).collect();
    assert_eq!(lengths, [17, 3]);
    assert!((dataset.experiments()[0].input(0)[5] - 5.0).abs() < 1e-9, "bridged");
    assert_eq!(
        parse("u,y\n1,2\n3,4\n", &resample(1.0)).expect_err("no time"),
        "a.csv: there is no time column to resample by: the columns are u, y"
    );
    assert_eq!(
        parse(&record(&times), &resample(-1.0)).expect_err("negative"),
        "cannot resample to a step of -1 seconds: expected a positive number of seconds"
    );
}

/// The file that was read first is named: an option is not to blame.
#[test]
fn files_of_one_record_have_one_rate() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let paths = [("fast.csv", 0.1), ("slow.csv", 0.2)].map(|(name, step)| {
        let path = folder.path().join(name);
        fs::write(&path, record(&even(40, step))).expect("writes");
        path
    });
    let prefix = format!("{}/", folder.path().display());
    let error = read(&paths, &ReadOptions::default()).expect_err("two rates");
    assert_eq!(
        error.to_string().replace(&prefix, ""),
        "slow.csv: the time column 'time' has a sample every 0.2 s, but fast.csv has one every 0.1 s: files of one record \
         need the same sample time"
    );
    assert_eq!(read(&paths, &resample(0.2)).expect("one grid").sample_time(), Some(0.2));
}

#[test]
fn options_and_the_column_must_agree() {
    let text = record(&even(10, 2.0));
    let with = |sample_time, time: Option<&str>| ReadOptions {
        sample_time: Some(sample_time),
        time: time.map(str::to_owned),
        ..ReadOptions::default()
    };
    assert_eq!(
        parse(&text, &with(1.0, None)).expect_err("conflict"),
        "a.csv: the time column 'time' has a sample every 2 s, expected 1 s: leave out one of the two"
    );
    let ignored = parse(&text, &with(1.0, Some(""))).expect("ignored");
    assert!(ignored.sample_time() == Some(1.0) && ignored.experiments()[0].time().is_none());
    // A column that counts rows says nothing about seconds.
    let counted = parse(&record(&even(10, 1.0)), &with(0.2, None)).expect("counts");
    assert_eq!(counted.sample_time(), Some(0.2));
    assert!(
        parse(&text.replace("\n2,", "\nnoon,"), &with(2.0, Some("time")))
            .expect_err("no time")
            .contains("line 3, time column 'time': 'noon' is not a time")
    );
    let told = parse(&text.replace("\n2,", "\nnoon,"), &ReadOptions::default()).expect("reads without");
    assert!(told.sample_time().is_none() && told.warnings()[0].to_string().contains("is not used as the time"));
}

/// A record that runs backwards would give a model of another system.
#[test]
fn times_that_fall_from_first_to_last_are_refused() {
    let falling: Vec<f64> = even(20, 1.0).into_iter().rev().collect();
    for options in [ReadOptions::default(), split(), resample(1.0)] {
        let refused = parse(&record(&falling), &options).expect_err("backwards");
        assert!(
            refused.contains("line 3, time column 'time': -1 s after the sample before"),
            "{refused}"
        );
    }
    let passed_over = ReadOptions {
        time: Some(String::new()),
        ..ReadOptions::default()
    };
    assert_eq!(parse(&record(&falling), &passed_over).expect("reads").samples(), 20);
}

#[test]
fn a_time_that_stands_still_is_told() {
    let dataset = parse(&record(&[7.0; 12]), &ReadOptions::default()).expect("reads");
    assert_eq!((dataset.sample_time(), dataset.samples()), (None, 12));
    let told = dataset.warnings()[0].to_string();
    assert!(
        told.ends_with("column 'time' is not used as the time: it is the same in all rows"),
        "{told}"
    );
}

/// Milliseconds since 1970, read as seconds, would make every time constant a thousand times too long.
#[test]
fn times_of_the_far_future_are_doubted() {
    let since_1970: Vec<f64> = even(12, 100.0).iter().map(|time| 1.7e12 + time).collect();
    let dataset = parse(&record(&since_1970), &ReadOptions::default()).expect("reads");
    let told = dataset.warnings()[0].to_string();
    assert!(
        told.contains("one sample every 100 s: if these are milliseconds, name the column 'time [ms]'"),
        "{told}"
    );
    let named = record(&since_1970).replacen("time", "time [ms]", 1);
    let dataset = parse(&named, &ReadOptions::default()).expect("reads");
    assert_eq!((dataset.sample_time(), dataset.warnings().len()), (Some(0.1), 0));
}

/// A mean over a spike is no spike any more: it is clipped among the rows of the file.
#[test]
fn spikes_are_clipped_before_samples_are_resampled() {
    let prepare = Preparation {
        clip_spikes: ClipSpikes::Outputs(6.0),
        ..Preparation::default()
    };
    let y = |k: u32| (f64::from(k) * 0.3).sin();
    let text = |spike: Option<u32>| {
        let rows = (0..80).map(|k| format!("{k},1,{}\n", if spike == Some(k) { 100.0 } else { y(k) }));
        format!("time,u,y\n{}", rows.collect::<String>())
    };
    for step in [0.4, 4.0] {
        let options = ReadOptions {
            prepare: prepare.clone(),
            ..resample(step)
        };
        let clean = parse(&text(None), &resample(step)).expect("reads");
        let clipped = parse(&text(Some(41)), &options).expect("reads");
        let pairs = clean.experiments()[0]
            .output(0)
            .iter()
            .zip(clipped.experiments()[0].output(0));
        for (clean, clipped) in pairs {
            assert!((clean - clipped).abs() < 1.0, "{step}: {clipped}, not {clean}");
        }
        let told: Vec<String> = clipped.warnings().iter().map(ToString::to_string).collect();
        assert!(
            told.iter()
                .any(|words| words.contains("1 spike") && words.contains("line 43")),
            "{told:?}"
        );
        let spots = spots(&clipped, &[]);
        let at = (41.0 / step).round() as usize;
        assert!(
            spots
                .iter()
                .any(|mark| mark.kind == SpotKind::SpikeClipped && mark.start == at),
            "{spots:?}"
        );
        let done = clipped.preparation();
        assert_eq!(done.clip_spikes, ClipSpikes::Channels(vec![None, Some(6.0)]));
    }
}

/// Rows from this second of a day on, 30 s apart.
fn clocked(start: u32, rows: u32) -> String {
    let row = |k: u32| {
        let second = (start + 30 * k) % 86_400;
        let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
        format!(
            "{hours:02}:{minutes:02}:{seconds:02},{},{}\n",
            k % 7,
            f64::from(k) * 0.01
        )
    };
    format!("time,u,y\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn times_of_day_go_on_after_midnight() {
    let dataset = parse(&clocked(79_200, 400), &ReadOptions::default()).expect("reads");
    assert_eq!((dataset.experiments().len(), dataset.sample_time()), (1, Some(30.0)));
    let time = dataset.experiments()[0].time().expect("known");
    let shown = [0, 239, 240].map(|sample| time.at(sample).to_string());
    assert_eq!(shown, ["22:00:00", "23:59:30", "00:00:00"]);
    // Back by less than half a day is back.
    let mixed = clocked(36_000, 30) + clocked(35_000, 30).split_once('\n').expect("rows").1;
    let refused = parse(&mixed, &ReadOptions::default()).expect_err("goes back");
    assert!(refused.contains("-1870 s after the sample before"), "{refused}");
}

#[test]
fn a_drift_over_midnight_is_one_line_and_the_next_day_is_told_of() {
    let dataset = parse(&clocked(79_200, 400), &split()).expect("reads");
    let trend = Trend::fit(&dataset, &Part::whole(&dataset), &["y"]).expect("fits");
    let line = trend.lines().1[0].expect("a line");
    assert!((line.slope - 0.01).abs() < 1e-9, "{line:?}");
    let next_day = parse(&clocked(79_200, 50), &split()).expect("reads");
    let told: Vec<String> = trend.warnings(&next_day).iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|text| text.contains("do not say of which day")),
        "{told:?}"
    );
}
