//! `report` and the pages that `fit` and `compare` write. What they look like is tested in a browser, in crates/report.

use insta::assert_snapshot;

use crate::support::Folder;

const FIT: [&str; 8] = [
    "fit",
    "hair-dryer",
    "--preset",
    "paper",
    "--epochs",
    "2",
    "--out",
    "dryer",
];

fn page(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("a page")
}

/// A page needs nothing from elsewhere.
fn is_self_contained(html: &str) {
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
    for outside in [
        "src=\"",
        "<link rel=\"stylesheet\"",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn a_fit_has_a_page_that_can_be_written_again() {
    let folder = Folder::new();
    folder.json(&[&FIT[..], &["--json"]].concat());
    let first = page(&folder, "dryer/report.html").replace("&#x2f;", "/");
    is_self_contained(&first);
    for section in [
        "record",
        "metrics",
        "residuals",
        "coverage",
        "training",
        "elasticity",
        "data",
        "configuration",
    ] {
        assert!(first.contains(&format!("id=\"{section}\"")), "{section}");
    }
    for words in [
        "of 499 samples inside the band (target 90",
        "ARX, lags",
        "intervalid fit hair-dryer --config dryer/config.toml",
        "y(k-1)",
    ] {
        assert!(first.contains(words), "{words}");
    }
    let written = folder.json(&["report", "dryer", "--out", "again.html", "--json"]);
    assert_eq!(
        (&written["kind"], &written["out"]),
        (&"fit".into(), &"again.html".into())
    );
    let again = page(&folder, "again.html");
    assert_eq!(again.replace("&#x2f;", "/"), first);
    assert_eq!(written["bytes"], again.len());
    // Without a name, in place.
    std::fs::remove_file(folder.path().join("dryer/report.html")).expect("removed");
    folder.json(&["report", "dryer", "--json"]);
    assert_eq!(page(&folder, "dryer/report.html"), again);
}

#[test]
fn names_from_files_cannot_break_a_page() {
    let folder = Folder::new();
    let mut text = "\"<script>alert(1)</script>\",y\n".to_owned();
    text += folder_csv().split_once('\n').expect("a header").1;
    folder.write("odd.csv", text);
    let input = "<script>alert(1)</script>";
    let options = [
        "--preset", "paper", "--input", input, "--epochs", "1", "--lags", "1,1,1", "--out", "odd", "--json",
    ];
    folder.json(&[&["fit", "odd.csv"][..], &options].concat());
    let html = page(&folder, "odd/report.html");
    assert!(!html.contains("<script>alert"), "escaped everywhere");
    assert!(html.contains("&lt;script&gt;alert"), "and shown");
}

fn folder_csv() -> String {
    crate::support::csv(300, crate::support::plain)
}

#[test]
fn a_study_has_a_page() {
    let folder = Folder::new();
    let spec = "name = \"small\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"arx\"]\ncoverages = [0.9]\nseeds = [1]\n";
    folder.write("small.toml", spec);
    folder.json(&["study", "run", "small.toml", "--out", "small", "--json"]);
    let written = folder.json(&["report", "small", "--json"]);
    assert_eq!(
        (&written["kind"], &written["out"]),
        (&"study".into(), &"small/report.html".into())
    );
    let html = page(&folder, "small/report.html");
    is_self_contained(&html);
    assert!(
        html.contains("1 of 1 runs are done: 1 data set, 1 model, 1 coverage, 1 seed."),
        "how far it is"
    );
}

#[test]
fn a_comparison_has_a_linear_model() {
    let folder = Folder::new();
    folder.json(&[&FIT[..], &["--json"]].concat());
    let report = folder.json(&["compare", "dryer", "--out", "compare.html", "--json"]);
    assert_eq!(report["fits"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["linear"]["test"]["n"], 499);
    assert!(
        report["linear"]["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("ARX, lags"))
    );
    let html = page(&folder, "compare.html");
    is_self_contained(&html);
    assert!(html.contains("Comparison of dryer"));
    let table = folder.transcript(&["compare", "dryer"]);
    assert!(table.contains("(ARX, lags"), "{table}");
}

#[test]
fn mistakes_are_one_message() {
    let folder = Folder::new();
    folder.write("empty/readme.txt", "nothing here");
    let metrics =
        "{\"dataset\": \"a\", \"model\": \"arx\", \"coverage\": 0.9, \"train_seconds\": 1, \"test\": {\"rmse\": 1}}";
    folder.write("old/metrics.json", metrics);
    folder.write("other/metrics.json", "{\"test\": {}}");
    folder.write("damaged/report.json", "{\"format\": 1, \"kind\"");
    folder.write("newer/report.json", "{\"format\": 7, \"kind\": \"fit\"}");
    let old = include_str!("../../../report/tests/fixtures/fit-0.1.0.json");
    let mut chartless: serde_json::Value = serde_json::from_str(old).expect("an old page");
    chartless["parts"][0]["runs"][0]["charts"][1] = serde_json::json!([]);
    folder.write("chartless/report.json", chartless.to_string());
    folder.write("chartless/metrics.json", metrics);
    let cases: [&[&str]; 9] = [
        &["report", "nowhere"],
        &["report", "empty"],
        &["report", "old"],
        &["report", "damaged"],
        &["report", "newer", "--out", "page.html"],
        &["compare", "old", "--out", "page.html"],
        &["compare", "other"],
        &["report", "chartless"],
        &["compare", "chartless", "--out", "page.html"],
    ];
    let transcripts: Vec<String> = cases.iter().map(|case| folder.transcript(case)).collect();
    assert_snapshot!(transcripts.join("\n"));
    assert!(!folder.path().join("page.html").exists(), "nothing is written");
}
