//! Dates as loggers and historians write them: their order, their half of the day, and days and times in columns of their own.

use intervalid_data::{Dataset, ReadOptions};

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
