//! What a user sees after a mistake in the data or the command: one message, exit code 2, nothing on standard output,
//! nothing written.

use insta::assert_snapshot;

use crate::study::SPEC;
use crate::support::{Folder, csv, plain};

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let text = folder.transcript(arguments);
    assert!(
        text.contains("\nexit code: 2\n") && !text.contains("--- stdout"),
        "{text}"
    );
    text
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    folder.write("folder/inner.csv", csv(30, plain));
    folder.write("binary.csv", [0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00, 0x0a]);
    folder.write("empty.csv", "");
    folder.write("page.html", "<html>");
    let files = ["absent.csv", "folder", "binary.csv", "empty.csv", "page.html"];
    assert_snapshot!(files.map(|file| refused(&folder, &["data", "show", file])).join("\n"));
}

#[test]
fn names() {
    let folder = Folder::new();
    let cases: [&[&str]; 5] = [
        &["data", "show", "hair-drier"],
        &["data", "show", "something"],
        &["data", "show", "mr-damper"],
        &["data", "show", "mr-damper", "--data-dir", "nowhere"],
        &["data", "list", "--data-dir", "nowhere"],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn columns() {
    let folder = Folder::new();
    folder.write("tank.csv", csv(30, plain).replacen("u,y", "valve,level", 1));
    let cases: [&[&str]; 4] = [
        &["data", "show", "tank.csv"],
        &["data", "show", "tank.csv", "--input", "valv", "--output", "level"],
        &["data", "show", "tank.csv", "--input", "valve", "--output", "valve"],
        &[
            "data",
            "show",
            "tank.csv",
            "--input",
            "valve",
            "--output",
            "level",
            "--experiment",
            "run",
        ],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn cells() {
    let folder = Folder::new();
    let comma = |row, column, value| plain(row, column, value).replace('.', ",");
    let semicolons = csv(30, plain).replace(',', ";");
    folder.write("semicolon.csv", semicolons);
    folder.write(
        "decimal.csv",
        csv(30, |row, column, value| format!("\"{}\"", comma(row, column, value))),
    );
    folder.write("unquoted.csv", csv(30, comma));
    folder.write("german.csv", csv(30, plain).replace(',', ";").replace('.', ","));
    let missing = |row, column, value| {
        if row == 57 && column == 'y' {
            "NaN".to_owned()
        } else {
            plain(row, column, value)
        }
    };
    folder.write("missing.csv", csv(100, missing));
    folder.write("headless.csv", csv(30, plain).replacen("u,y\n", "", 1));
    let files = [
        "semicolon.csv",
        "decimal.csv",
        "unquoted.csv",
        "german.csv",
        "missing.csv",
        "headless.csv",
    ];
    let mut messages = files.map(|file| refused(&folder, &["data", "show", file])).to_vec();
    messages.push(refused(&folder, &["data", "show", "german.csv", "--delimiter", ";"]));
    assert_snapshot!(messages.join("\n"));
    // Both hints lead to a record.
    for options in [&["--delimiter", ";", "--decimal", ","][..], &["--decimal", ","]] {
        let arguments = [&["data", "show", "german.csv", "--json"], options].concat();
        assert_eq!(folder.json(&arguments)["samples"], 30);
    }
    let quoted = [
        "data",
        "show",
        "decimal.csv",
        "--json",
        "--delimiter",
        ",",
        "--decimal",
        ",",
    ];
    assert_eq!(folder.json(&quoted)["samples"], 30);
}

#[test]
fn settings_of_a_fit() {
    let folder = Folder::new();
    folder.write("typo.toml", "epoch = 3\n");
    folder.write("value.toml", "margin = \"cube\"\n");
    folder.write("broken.toml", "epochs = \n");
    let cases: [&[&str]; 20] = [
        &["--coverage", "90"],
        &["--coverage", "90%"],
        &["--coverage", "0,9"],
        &["--coverage", "high"],
        &["--coverage", "1"],
        &["--coverage", "-0.9"],
        &["--lags", "2,0"],
        &["--lags", "2,0,0"],
        &["--lags", "-1,0,1"],
        &["--lags", "2,5000,3"],
        &["--lags", "2,0,400"],
        &["--epochs", "0"],
        &["--hidden", "0"],
        &["--lr", "-1"],
        &["--model", "gru"],
        &["--preset", "best"],
        &["--config", "typo.toml"],
        &["--config", "value.toml"],
        &["--config", "broken.toml"],
        &["--config", "absent.toml"],
    ];
    let messages = cases.map(|options| refused(&folder, &[&["fit", "hair-dryer"], options].concat()));
    assert_snapshot!(messages.join("\n"));
    assert!(!folder.path().join("intervalid-fit").exists(), "nothing was written");
}

#[test]
fn records_that_cannot_be_fitted() {
    let folder = Folder::new();
    folder.write("short.csv", csv(20, plain));
    let still = |stands: char| {
        move |row, column, value| {
            if column == stands {
                "1.5".to_owned()
            } else {
                plain(row, column, value)
            }
        }
    };
    folder.write("still-input.csv", csv(200, still('u')));
    folder.write("still-output.csv", csv(200, still('y')));
    folder.write("good.csv", csv(200, plain));
    folder.write("other.csv", csv(200, plain).replacen("u,y", "u,level", 1));
    let cases: [&[&str]; 8] = [
        &["fit", "short.csv"],
        &["fit", "short.csv", "--lags", "2,0,3"],
        &["fit", "short.csv", "--model", "arx"],
        &["fit", "still-input.csv"],
        &["fit", "still-output.csv"],
        &["fit", "good.csv", "--split", "0.6,0.399,0.001"],
        &["fit", "good.csv", "other.csv"],
        &["fit", "good.csv", "--lags", "2,150,3"],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
    assert!(!folder.path().join("intervalid-fit").exists(), "nothing was written");
}

#[test]
fn models_data_and_folders_mixed_up() {
    let folder = Folder::new();
    let fitted = folder.run(&["fit", "hair-dryer", "--model", "arx", "--quiet", "--out", "arx"]);
    assert!(fitted.status.success());
    let model = std::fs::read(folder.path().join("arx/model.safetensors")).expect("written");
    folder.write("cut/model.safetensors", &model[..model.len() / 2]);
    folder.write("zeros/model.safetensors", [0_u8; 20]);
    folder.write("cut/metrics.json", "{\"dataset\": ");
    folder.write("odd/metrics.json", "{}");
    folder.write("data.csv", csv(200, plain));
    folder.write("tank.csv", csv(200, plain).replacen("u,y", "valve,level", 1));
    let cases: [&[&str]; 17] = [
        &["fit", "arx/model.safetensors"],
        &["fit", "arx"],
        &["data", "show", "arx/model.safetensors"],
        &["predict", "data.csv", "arx"],
        &["evaluate", "hair-dryer", "arx"],
        &["predict", "nowhere", "hair-dryer"],
        &["predict", "odd", "hair-dryer"],
        &["evaluate", "odd", "hair-dryer"],
        &["explain", "odd"],
        &["predict", "cut", "hair-dryer"],
        &["predict", "zeros", "hair-dryer"],
        &["predict", "arx", "tank.csv"],
        &["compare", "arx", "nowhere"],
        &["compare", "arx", "data.csv"],
        &["compare", "zeros"],
        &["compare", "cut"],
        &["compare", "odd"],
    ];
    let text = cases.map(|arguments| refused(&folder, arguments)).join("\n");
    // How long a header is depends on the last digits of what was fitted.
    let announced = u64::from_le_bytes(model[..8].try_into().expect("eight bytes"));
    let sizes = format!("a header of {announced} bytes and has {}:", model.len() / 2 - 8);
    assert!(text.contains(&sizes), "{sizes} in {text}");
    assert_snapshot!(text.replace(&sizes, "a header of SIZE bytes and has HALF:"));
}

#[test]
fn mistakes_in_studies() {
    let folder = Folder::new();
    folder.write("typo.toml", SPEC.replace("seeds", "seed"));
    folder.write("setting.toml", SPEC.replace("epochs = 2", "epoch = 2"));
    folder.write("share.toml", SPEC.replace("0.9,", "90,"));
    folder.write("model.toml", SPEC.replace("\"arx\"", "\"gru\""));
    folder.write("twice.toml", SPEC.replace("[1, 2]", "[1, 1]"));
    folder.write("broken.toml", "name = ");
    folder.write("file", "");
    let files = ["typo", "setting", "share", "model", "twice", "broken", "absent"];
    let files = files.map(|name| format!("{name}.toml"));
    let mut messages: Vec<String> = Vec::new();
    for file in &files {
        messages.push(refused(&folder, &["study", "run", file, "--out", "out"]));
    }
    let cases: [&[&str]; 12] = [
        &["study", "run", "paper", "--out", "out", "--shard", "0/4"],
        &["study", "run", "paper", "--out", "out", "--shard", "5/4"],
        &["study", "run", "paper", "--out", "out", "--shard", "/4"],
        &["study", "merge", "out"],
        &["study", "merge", "out", "nowhere"],
        &["study", "merge", "file", "nowhere"],
        &["study", "run", "papper", "--out", "out"],
        &["study", "run", "paper"],
        &["study", "run", "paper", "--out", "file"],
        &["study", "status", "nowhere"],
        &["study", "table", "."],
        &["study", "figures", "file"],
    ];
    messages.extend(cases.map(|arguments| refused(&folder, arguments)));
    assert_snapshot!(messages.join("\n"));
    assert!(!folder.path().join("out").exists(), "nothing was written");
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("file", "");
    folder.write("data.csv", csv(200, plain));
    let fitted = folder.run(&["fit", "data.csv", "--model", "arx", "--quiet", "--out", "arx"]);
    assert!(fitted.status.success());
    folder.write("history.csv", csv(200, plain));
    let cases: [&[&str]; 12] = [
        &["fit", "history.csv", "--model", "arx", "--out", "."],
        &["demo", "--out", "file"],
        &["demo", "--out", "file/inside"],
        &["fit", "hair-dryer", "--out", "file"],
        &["explain", "arx", "--out", "file"],
        &["man", "--out", "file"],
        &["predict", "arx", "data.csv", "--out", "arx"],
        &["predict", "arx", "data.csv", "--out", "nowhere/simulated.csv"],
        &["predict", "arx", "data.csv", "--out", "./data.csv"],
        &["predict", "arx", "data.csv", "--out", "arx/model.safetensors"],
        &["predict", "arx", "data.csv", "--plot", "band.pdf"],
        &["study", "run", "paper-quick", "--out", "file/inside"],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn json_keeps_standard_output_clean_on_failure() {
    let folder = Folder::new();
    refused(&folder, &["data", "show", "absent.csv", "--json"]);
    refused(&folder, &["data", "show", "hair-dryer", "--split", "1", "--json"]);
}

#[test]
fn settings_of_networks_do_nothing_for_a_linear_model() {
    let folder = Folder::new();
    let warning = "says how a network is trained: all it does to arx is to leave out the search and its calibration";
    let printed = |more: &[&str]| {
        let text = folder.transcript(&[&["fit", "hair-dryer", "--model", "arx", "--print-config"], more].concat());
        assert!(text.contains("exit code: 0"), "{text}");
        text
    };
    for (option, name) in [
        (["--strategy", "joint"], "strategy"),
        (["--hidden", "9"], "hidden"),
        (["--epochs", "3"], "epochs"),
        (["--lr", "0.01"], "--lr"),
    ] {
        assert!(printed(&option).contains(&format!("{name} {warning}")), "{name}");
    }
    // What says how a linear model is fitted is fine, and so is the file that a fit wrote.
    folder.write(
        "paper.toml",
        printed(&["--preset", "paper"])
            .split("exit code")
            .next()
            .unwrap_or_default(),
    );
    folder.write("lags.toml", "lag_search = true\n");
    for more in [&["--lags", "1,0,2"][..], &["--calibrate"], &["--config", "lags.toml"]] {
        assert!(!printed(more).contains(warning), "{more:?}");
    }
}

#[test]
fn flags_that_do_nothing_to_a_model_are_told_and_files_of_fits_are_not() {
    let folder = Folder::new();
    let printed = |arguments: &[&str]| {
        let output = folder.run(&[&["fit", "hair-dryer", "--print-config"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let [config, told] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (config, told)
    };
    for (model, flag, words) in [
        (
            "bnode",
            ["--strategy", "joint"],
            "--strategy says how an interval network is trained: it does nothing to bnode",
        ),
        (
            "dropout-lstm",
            ["--margin", "relu"],
            "--margin says how an interval network is trained",
        ),
        (
            "arx",
            ["--lr", "0.01"],
            "--lr says how a network is trained: it does nothing to arx",
        ),
        (
            "arx",
            ["--epochs", "3"],
            "--epochs says how a network is trained: it does nothing to arx",
        ),
    ] {
        let (_, told) = printed(&["--model", model, "--preset", "paper", flag[0], flag[1]]);
        assert!(told.contains(words), "{model} {flag:?}: {told}");
    }
    for model in ["bnode", "arx", "inode"] {
        let (config, told) = printed(&["--model", model, "--preset", "paper"]);
        assert_eq!(told, "", "{model}");
        folder.write("fit.toml", config);
        assert_eq!(printed(&["--config", "fit.toml"]).1, "", "{model}");
        assert_eq!(printed(&["--config", "fit.toml", "--seed", "3"]).1, "", "{model}");
    }
    // Beside the file of a fit, too.
    let (_, told) = printed(&["--config", "fit.toml", "--model", "bnode", "--strategy", "joint"]);
    assert!(told.contains("--strategy says"), "{told}");
}

#[test]
fn limits_of_one_output_by_flag_leave_those_of_others_in_the_file() {
    let folder = Folder::new();
    folder.write("two.csv", "u,y1,y2\n1,2,3\n");
    folder.write("limits.toml", "[output_range]\ny1 = '0:5'\ny2 = ':9'\n");
    let arguments = [
        "fit",
        "two.csv",
        "--config",
        "limits.toml",
        "--output-range",
        "y1=-1:7",
        "--print-config",
        "--json",
    ];
    let found = folder.json(&arguments);
    assert_eq!(found["output_range"], serde_json::json!({ "y1": "-1:7", "y2": ":9" }));
}

#[test]
fn limits_that_a_refit_would_break_are_refused_before_the_fit() {
    let folder = Folder::new();
    // The test part alone is beyond the limit.
    folder.write(
        "a.csv",
        csv(300, |row, column, value| {
            plain(
                row,
                column,
                if row > 250 && column == 'y' {
                    value + 50.0
                } else {
                    value
                },
            )
        }),
    );
    let fit = [
        "fit",
        "a.csv",
        "--model",
        "arx",
        "--lags",
        "1,0,1",
        "--output-range",
        "y=:20",
        "--out",
        "m",
        "--json",
    ];
    let text = refused(&folder, &[&fit[..], &["--refit-all"]].concat());
    assert!(text.contains("widen --output-range"), "{text}");
    assert!(!folder.path().join("m").exists());
    assert!(folder.run(&fit).status.success(), "the test part alone may be beyond");
}
