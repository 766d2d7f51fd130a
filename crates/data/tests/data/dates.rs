//! What loggers and historians write: dates in several orders, days and times in columns of their own, numbers with grouped thousands, and words where a
//! number is missing.

use intervalid_data::{Dataset, Decimal, MissingPolicy, ReadOptions};

fn parse(text: &str) -> Result<Dataset, String> {
    crate::parse("a.csv", text, &ReadOptions::default())
}

/// The first time of a record, its step and its warnings without the place of the file.
fn clock(text: &str) -> (String, Option<f64>, Vec<String>) {
    let dataset = parse(text).expect("reads");
    let time = dataset.experiments()[0].time();
    let told = dataset.warnings().iter().map(ToString::to_string);
    let told = told.map(|text| text.split_once("a.csv: ").expect("names the file").1.to_owned());
    (
        time.map_or_else(String::new, |time| time.start.to_string()),
        dataset.sample_time(),
        told.collect(),
    )
}

/// Rows with these times.
fn record(times: &[&str]) -> String {
    let rows = times
        .iter()
        .enumerate()
        .map(|(k, time)| format!("{time},{k},{}\n", k * k));
    format!("Zeitpunkt,u,y\n{}", rows.collect::<String>())
}

#[test]
fn a_day_beyond_the_twelfth_tells_the_order() {
    for (times, start) in [
        (
            ["12/03/2024 23:59:30", "13/03/2024 00:00:00", "13/03/2024 00:00:30"],
            "2024-03-12T23:59:30",
        ),
        (
            [
                "3/12/2024 11:59:30 PM",
                "3/13/2024 12:00:00 AM",
                "3/13/2024 12:00:30 AM",
            ],
            "2024-03-12T23:59:30",
        ),
        (
            ["12-Mar-24 23:59:30", "13-Mar-24 00:00:00", "13-Mar-24 00:00:30"],
            "2024-03-12T23:59:30",
        ),
        (
            ["31.03.24 23:59:30", "01.04.24 00:00:00", "01.04.24 00:00:30"],
            "2024-03-31T23:59:30",
        ),
        (
            ["24/03/31 23:59:30", "24/04/01 00:00:00", "24/04/01 00:00:30"],
            "2024-03-31T23:59:30",
        ),
    ] {
        let (first, step, told) = clock(&record(&times));
        assert_eq!((first.as_str(), step), (start, Some(30.0)), "{times:?}");
        assert!(told.len() <= 1, "{told:?}");
    }
    // No warning where one order alone is possible.
    assert_eq!(
        clock(&record(&["12/03/2024 23:59:30", "13/03/2024 00:00:00"])).2,
        Vec::<String>::new()
    );
}

#[test]
fn of_two_orders_the_one_with_the_shorter_record_is_taken_and_told() {
    let (first, step, told) = clock(&record(&[
        "03/04/2024 23:59:00",
        "04/04/2024 00:00:00",
        "04/04/2024 00:01:00",
    ]));
    assert_eq!((first.as_str(), step), ("2024-04-03T23:59:00", Some(60.0)));
    assert_eq!(
        told,
        [
            "dates in column 'Zeitpunkt' such as '03/04/2024 23:59:00' are read with the day first: otherwise the record would last longer"
        ]
    );
    let (first, step, told) = clock(&record(&[
        "03/04/2024 23:59:00",
        "03/05/2024 00:00:00",
        "03/05/2024 00:01:00",
    ]));
    assert_eq!((first.as_str(), step), ("2024-03-04T23:59:00", Some(60.0)));
    assert!(told[0].contains("with the month first"), "{told:?}");
}

#[test]
fn a_day_that_nobody_can_know_leaves_times_of_day() {
    let (first, step, told) = clock(&record(&[
        "03/04/2024 10:00:00",
        "03/04/2024 10:00:10",
        "03/04/2024 10:00:20",
    ]));
    assert_eq!((first.as_str(), step), ("10:00:00", Some(10.0)));
    assert_eq!(
        told,
        [
            "nothing tells the day from the month in dates such as '03/04/2024 10:00:00' of column 'Zeitpunkt': only their times of day \
             are used"
        ]
    );
    let (first, _, told) = clock(&record(&["04/04/2024 10:00:00", "04/04/2024 10:00:10"]));
    assert_eq!(
        (first.as_str(), told.len()),
        ("2024-04-04T10:00:00", 0),
        "the same in every order"
    );
}

#[test]
fn dates_of_two_orders_in_one_column_are_no_times() {
    let text = record(&["30/03/2024 10:00:00", "03/31/2024 10:00:00"]);
    let (_, step, told) = clock(&text);
    assert_eq!(step, None);
    assert_eq!(
        told,
        ["column 'Zeitpunkt' is not used as the time: line 3, '03/31/2024 10:00:00' is not one"]
    );
    let options = ReadOptions {
        time: Some("Zeitpunkt".to_owned()),
        ..ReadOptions::default()
    };
    let refused = crate::parse("a.csv", &text, &options).expect_err("two orders");
    assert!(
        refused.starts_with("a.csv: line 3, time column 'Zeitpunkt': '03/31/2024 10:00:00' is not a time"),
        "{refused}"
    );
}

#[test]
fn a_day_that_is_said_in_every_order_stays_known_where_a_time_is_missing() {
    let split = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    let times = ["04/04/2024 10:00:00", "04/04/2024 10:00:30", "", "04/04/2024 10:01:30"];
    let dataset = crate::parse("a.csv", record(&times), &split).expect("reads");
    let start = dataset.experiments()[0].time().expect("a time").start;
    assert_eq!(start.to_string(), "2024-04-04T10:00:00");
    // Loggers of hourly values leave the minutes out.
    for hours in [["01.03.2024 10", "01.03.2024 11"], ["2024/03/01 10", "2024/03/01 11"]] {
        let (first, step, _) = clock(&record(&hours));
        assert_eq!(
            (first.as_str(), step),
            ("2024-03-01T10:00:00", Some(3600.0)),
            "{hours:?}"
        );
    }
}

#[test]
fn days_and_times_in_two_columns_are_one_clock() {
    let rows = ["30.03.2024,23:59:30", "31.03.2024,00:00:00", "31.03.2024,00:00:30"];
    let of = |names: &str, swap: bool| {
        let rows = rows.iter().enumerate().map(|(k, row)| {
            let (day, time) = row.split_once(',').expect("two");
            let (a, b) = if swap { (time, day) } else { (day, time) };
            format!("{a},{b},{k},{}\n", k * k)
        });
        format!("{names},u,y\n{}", rows.collect::<String>())
    };
    for (names, swap) in [("Date,Time", false), ("Datum,Uhrzeit", false), ("Time,Date", true)] {
        let (first, step, told) = clock(&of(names, swap));
        assert_eq!(
            (first.as_str(), step, told.len()),
            ("2024-03-30T23:59:30", Some(30.0), 0),
            "{names}"
        );
    }
    // Digits alone are a day where a time of day stands beside them.
    let digits = |names, swap| {
        of(names, swap)
            .replace("30.03.2024", "20240330")
            .replace("31.03.2024", "20240331")
    };
    for (names, swap) in [("Date,Time of day", false), ("Time,Date", true)] {
        let (first, step, told) = clock(&digits(names, swap));
        assert_eq!(
            (first.as_str(), step, told.len()),
            ("2024-03-30T23:59:30", Some(30.0), 0),
            "{names}"
        );
    }
    // Days of which one has a time of its own are none.
    let doubled = of("Date,Time", false).replace("31.03.2024,00:00:30", "31.03.2024 00:00:30,00:00:30");
    assert!(
        clock(&doubled).2[0].contains("is not used as the time: line 4, '31.03.2024 00:00:30 00:00:30'"),
        "{doubled}"
    );
    // A row that lacks its time of day lacks its time.
    let holed = of("Date,Time", false).replace("31.03.2024,00:00:00,", "31.03.2024,,");
    let (_, step, told) = clock(&holed);
    assert_eq!(step, None);
    assert!(
        told[0].contains("is not used as the time: line 3, '31.03.2024 '"),
        "{told:?}"
    );
    // Other columns with times of day are left alone.
    let (first, step, _) = clock("Date,Shift start,u,y\n2024-03-01,06:00:00,1,2\n2024-03-02,06:00:00,2,4\n");
    assert_eq!((first.as_str(), step), ("2024-03-01T00:00:00", Some(86_400.0)));
}

#[test]
fn grouped_thousands_are_refused() {
    let by_comma = ReadOptions {
        decimal: Decimal::Comma,
        delimiter: Some(';'),
        ..ReadOptions::default()
    };
    let read = |y: [&str; 3], options: &ReadOptions| {
        let rows = y.iter().enumerate().map(|(k, y)| format!("{k};{y}\n"));
        crate::parse("a.csv", format!("u;y\n{}", rows.collect::<String>()), options)
    };
    assert_eq!(
        read(["999", "1,710", "1,002"], &by_comma).expect_err("thousands"),
        "a.csv: line 3, column 'y': the comma of '1,710' seems to group thousands, as '999' stands in the same column: write numbers \
         without separators between their thousands, or '999,0' if it is a decimal one"
    );
    // Decimals: of another length, below one, or without anything that is too small for a separator.
    for y in [
        ["999", "1,710", "2,5"],
        ["100", "0,710", "1,710"],
        ["1,999", "1,710", "2,000"],
        ["7", "1,710", "2,000"],
    ] {
        assert_eq!(read(y, &by_comma).expect("reads").samples(), 3, "{y:?}");
    }
    let by_point = ReadOptions {
        delimiter: Some(';'),
        ..ReadOptions::default()
    };
    for (cell, options) in [
        ("1,234,567", &by_point),
        ("3,423.8", &by_point),
        ("1.234,56", &by_comma),
        ("1.234.567", &by_comma),
    ] {
        let refused = read(["1", cell, "2"], options).expect_err("thousands");
        assert!(
            refused.ends_with(&format!(
                "'{cell}' is not a number: write it without separators between its thousands"
            )),
            "{refused}"
        );
    }
}

#[test]
fn days_of_matlab_are_doubted() {
    // 2024-03-25, every ten seconds.
    let rows = (0..20).map(|k| format!("{:.10},{k},{}\n", 739_336.586_8 + f64::from(k) * 10.0 / 86_400.0, k * k));
    let (_, _, told) = clock(&format!("Timestamp,u,y\n{}", rows.collect::<String>()));
    assert!(told[0].contains("was read as seconds"), "{told:?}");
    // Seconds in such a range are told of as little as before.
    let rows = (0..20).map(|k| format!("{},{k},{}\n", 739_336 + 10 * k, k * k));
    assert_eq!(
        clock(&format!("Timestamp,u,y\n{}", rows.collect::<String>())).2,
        Vec::<String>::new()
    );
}

#[test]
fn words_for_missing_samples_are_no_units() {
    let split = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    for word in ["I/O Timeout", "Bad Input", "---", "#NUM!", "-nan(ind)", "?"] {
        let text = format!("u,y\n{word},{word}\n1,2\n3,4\n{word},5\n6,7\n8,9\n");
        let dataset = crate::parse("a.csv", text, &split).expect("reads");
        assert_eq!(
            (dataset.samples(), dataset.inputs()[0].unit.as_deref()),
            (4, None),
            "{word}"
        );
    }
    // A dash beside a unit is one.
    let dataset = crate::parse("a.csv", "u,y\n--,V\n1,2\n3,4\n", &split).expect("reads");
    assert_eq!(
        (dataset.samples(), dataset.outputs()[0].unit.as_deref()),
        (2, Some("V"))
    );
    assert_eq!(dataset.inputs()[0].unit, None, "and no unit itself");
}
