use crate::column::Column;

use super::*;

fn compared(first: &Page, second: &Page) -> CompareContent {
    let fits = [("one", first), ("two", second)].map(|(name, page)| Comparison { name, page });
    match compare_page(&fits, "compare one two").expect("two fits").content() {
        Content::Compare(content) => (**content).clone(),
        _ => panic!("a comparison"),
    }
}

#[test]
fn models_are_laid_over_one_another_where_their_samples_are_the_same() {
    let old = include_str!("../../tests/fixtures/fit-0.1.0.json");
    let page = Page::from_json(old).expect("an old page");
    let same = compared(&page, &page);
    assert_eq!(
        (same.overlays.len(), same.cautions.len()),
        (2, 0),
        "one chart per output"
    );
    let means: Vec<&Row> = same.rows.iter().filter(|row| row.output == MEAN).collect();
    assert!(
        means
            .iter()
            .all(|row| row.numbers.rmse.is_none() && row.cells[1] == "–")
    );
    assert!(same.lead[0].contains("the best mean fit"), "{:?}", same.lead);

    // Bars against the target are of the worst output: 0 and 30 %, 78 and 98 %.
    let Chart::Bars(inside) = &same.charts[0] else {
        panic!("bars");
    };
    let shown: Vec<String> = inside
        .values
        .iter()
        .flatten()
        .map(|share| format!("{share:.0}"))
        .collect();
    assert_eq!(shown, ["0", "0", "78"]);

    // Early versions judged the mean of the outputs.
    let mut data: serde_json::Value = serde_json::from_str(old).expect("JSON");
    data["baseline"]["rows"][2]["kept"] = true.into();
    let mean = Page::from_json(&data.to_string()).expect("a page");
    let lead = &compared(&mean, &mean).lead[0];
    assert!(
        lead.ends_with("but falls short of its coverage target in flow."),
        "{lead}"
    );

    let mut data: serde_json::Value = serde_json::from_str(old).expect("JSON");
    data["parts"][0]["runs"][0]["charts"][0]["x"]["start"] = 7.0.into();
    let other = Page::from_json(&data.to_string()).expect("a page");
    let different = compared(&page, &other);
    assert!(different.overlays.is_empty());
    assert!(different.cautions[0].starts_with("The test parts of these fits are not the same"));
    // Fits that differ in a later run alone.
    let with_second_run = |start: f64| {
        let mut data: serde_json::Value = serde_json::from_str(old).expect("JSON");
        let runs = data["parts"][0]["runs"].as_array_mut().expect("runs");
        let mut second = runs[0].clone();
        second["charts"][0]["x"]["start"] = start.into();
        runs.push(second);
        Page::from_json(&data.to_string()).expect("a page")
    };
    let [first, second] = [100.0, 200.0].map(with_second_run);
    assert_eq!(compared(&first, &first).cautions.len(), 0);
    let different = compared(&first, &second);
    assert!(different.overlays.is_empty());
    assert!(different.cautions[0].starts_with("The test parts of these fits are not the same"));
    assert_eq!(
        different.lead,
        ["These fits are not scored on the same samples, so none of them is called the best."]
    );
    let one = [Comparison {
        name: "one",
        page: &page,
    }];
    let comparison = compare_page(&one, "compare one").expect("a page");
    let nested = [Comparison {
        name: "two",
        page: &comparison,
    }];
    assert_eq!(
        compare_page(&nested, "compare two").expect_err("no fit").to_string(),
        "cannot compare: two is not the page of a fit"
    );
}

fn column(data: &serde_json::Value) -> Vec<f64> {
    serde_json::from_value::<Column>(data.clone())
        .expect("a column")
        .values()
}

/// The old page with changes to its data.
fn changed(change: impl Fn(&mut serde_json::Value)) -> Page {
    let old = include_str!("../../tests/fixtures/fit-0.1.0.json");
    let mut data: serde_json::Value = serde_json::from_str(old).expect("JSON");
    change(&mut data);
    Page::from_json(&data.to_string()).expect("a page")
}

/// The same with one output alone.
fn of_level(change: impl Fn(&mut serde_json::Value)) -> Page {
    changed(|data| {
        for rows in ["/metrics", "/baseline/rows"] {
            let rows = data
                .pointer_mut(rows)
                .and_then(serde_json::Value::as_array_mut)
                .expect("rows");
            rows.retain(|row| row["output"] == "level");
        }
        data["parts"][0]["runs"][0]["charts"]
            .as_array_mut()
            .expect("charts")
            .truncate(1);
        change(data);
    })
}

#[test]
fn clearly_different_shares_of_one_test_part_do_not_compare() {
    let scored = |n: usize| {
        of_level(|data| {
            for row in ["/metrics/0", "/baseline/rows/0"] {
                data.pointer_mut(row).expect("a row")["numbers"]["n"] = n.into();
            }
        })
    };
    let different = compared(&scored(1000), &scored(940));
    assert_eq!(
        different.cautions,
        ["940 samples of two are scored and 1000 of one, so their numbers are not comparable."]
    );
    assert!(
        different.lead[0].contains("none of them is called the best"),
        "{:?}",
        different.lead
    );
    let alike = compared(&scored(1000), &scored(951));
    assert_eq!((alike.cautions.len(), alike.overlays.len()), (0, 1));
    assert!(
        alike.lead[0].contains("has the lowest interval score"),
        "{:?}",
        alike.lead
    );
}

#[test]
fn runs_that_begin_apart_and_end_together_are_compared() {
    let later = |samples: usize| {
        of_level(|data| {
            let chart = &mut data["parts"][0]["runs"][0]["charts"][0];
            let start = chart["x"]["start"].as_f64().expect("a number");
            chart["x"]["start"] = (start + samples as f64).into();
            chart["outside"] = serde_json::json!([]);
            chart["online"] = serde_json::Value::Null;
            for name in ["measured", "prediction", "lower", "upper"] {
                let values = column(&chart[name]);
                chart[name] = serde_json::to_value(Column::new(values[samples..].iter().copied())).expect("JSON");
            }
        })
    };
    // A warm-up is part of a chart and of no score.
    let found = compared(&later(0), &later(25));
    assert_eq!((found.cautions.len(), found.overlays.len()), (0, 0));
    assert!(
        found.lead[0].contains("has the lowest interval score"),
        "{:?}",
        found.lead
    );
    // Models of different recordings on the same test.
    let elsewhere = of_level(|data| data["dataset"] = "tuesday".into());
    assert_eq!(compared(&later(25), &elsewhere).cautions.len(), 0);
    let without_charts = |name: &str| {
        of_level(|data| {
            data["dataset"] = name.into();
            data["parts"] = serde_json::json!([]);
        })
    };
    let found = compared(&without_charts("monday"), &without_charts("tuesday"));
    assert!(
        found.cautions[0].contains("different data sets"),
        "{:?}",
        found.cautions
    );
}

#[test]
fn a_coverage_below_the_target_is_not_said_to_reach_it() {
    let covered = |share: f64, kept: serde_json::Value| {
        let page = of_level(|data| {
            let row = &mut data["baseline"]["rows"][0];
            row["numbers"]["picp"] = share.into();
            row["kept"] = kept.clone();
        });
        compared(&page, &page).lead[0].clone()
    };
    let begin = "On the test part ARX, lags 1,1,1 (beside one) has the lowest interval score, which weighs width against misses,";
    assert_eq!(
        covered(0.9, true.into()),
        format!("{begin} and reaches its coverage target.")
    );
    assert_eq!(
        covered(0.87, true.into()),
        format!("{begin} and a coverage that is consistent with its target.")
    );
    assert_eq!(
        covered(0.7, false.into()),
        format!("{begin} but falls short of its coverage target.")
    );
}

#[test]
fn scores_of_different_targets_decide_nothing() {
    let with_target = |coverage: f64| of_level(|data| data["coverage"] = coverage.into());
    let different = compared(&with_target(0.9), &with_target(0.8));
    assert_eq!(different.cautions.len(), 1);
    assert!(
        different.lead[0].contains("has the lowest RMSE"),
        "{:?}",
        different.lead
    );
    let Chart::Bars(inside) = &different.charts[0] else {
        panic!("bars");
    };
    let targets: Vec<&str> = inside.references.iter().map(|target| target.label.as_str()).collect();
    assert_eq!(targets, ["target 80 %", "target 90 %"]);
}

#[test]
fn fits_of_equal_scores_are_both_named() {
    let best = of_level(|data| data["metrics"][0]["numbers"]["interval_score"] = 1e-3.into());
    let found = compared(&best, &best);
    assert!(
        found.lead[0].contains("(one) and ") && found.lead[0].contains("(two) have the lowest interval score"),
        "{:?}",
        found.lead
    );
}

#[test]
fn a_run_that_diverged_has_no_test_part_of_its_own() {
    let whole = of_level(|_| {});
    let diverged = of_level(|data| {
        let numbers = &mut data["metrics"][0]["numbers"];
        *numbers = serde_json::json!({ "n": 7, "diverged_at": 7 });
        data["parts"][0]["runs"][0]["charts"][0]["x"]["start"] = 3.0.into();
    });
    let found = compared(&whole, &diverged);
    assert_eq!((found.cautions.as_slice(), found.overlays.len()), ([].as_slice(), 0));
}
