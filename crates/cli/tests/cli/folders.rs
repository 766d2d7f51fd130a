//! The folder of a fit holds the files of one fit: whoever else writes there, whatever ends the program, whatever fails.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use intervalid_files::OwnedFolder;

use crate::support::{Folder, csv, plain};

/// A fit that takes no time; its seed tells it from others.
fn fit(seed: &str) -> [&str; 10] {
    [
        "fit", "data.csv", "--model", "arx", "--quiet", "--out", "fit", "--seed", seed, "--force",
    ]
}

fn with_record() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    folder
}

fn run(folder: &Folder, arguments: &[&str]) {
    let output = folder.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The seeds that the files of a fit name, each of which tells whose it is.
fn seeds(fit: &Path) -> Vec<String> {
    let text = |name: &str| fs::read(fit.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut found = Vec::new();
    for (name, before) in [
        ("metrics.json", "\"seed\": "),
        ("config.toml", "seed = "),
        ("model.safetensors", "\\\"seed\\\":"),
    ] {
        let text = text(name).unwrap_or_default();
        let rest = text.split_once(before).map(|(_, rest)| rest).unwrap_or_default();
        found.push(rest.chars().take_while(char::is_ascii_digit).collect());
    }
    found
}

#[test]
fn two_fits_do_not_share_a_folder() {
    let folder = with_record();
    let out = folder.path().join("fit");
    let slow = [
        "fit", "data.csv", "--model", "inode", "--epochs", "100000", "--out", "fit", "--quiet",
    ];
    let mut first = folder.command(&slow).stderr(Stdio::null()).spawn().expect("runs");
    while !out.join("checkpoint.safetensors").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = folder.transcript(&["fit", "data.csv", "--model", "arx", "--out", "fit"]);
    first.kill().expect("killed");
    first.wait().expect("ended");
    assert_snapshot!(second);
    // The lock ends with its holder.
    fs::remove_file(out.join("checkpoint.safetensors")).expect("an interrupted fit");
    run(&folder, &fit("1"));
    assert!(
        !names(&out).iter().any(|name| name.starts_with(".intervalid")),
        "{:?}",
        names(&out)
    );
}

#[test]
fn files_of_others_are_not_replaced() {
    let folder = with_record();
    folder.write("fit/report.html", "my own page");
    let plain = ["fit", "data.csv", "--model", "arx", "--out", "fit"];
    assert_snapshot!(folder.transcript(&plain));
    assert_eq!(names(&folder.path().join("fit")), ["report.html"]);
    run(&folder, &fit("1"));
    // Its own files are replaced without a word, also when a page was written again.
    run(&folder, &["report", "fit"]);
    run(&folder, &["report", "fit", "--out", "fit/report.html"]);
    folder.write("fit/notes.txt", "mine");
    run(&folder, &[&plain[..], &["--quiet"]].concat());
    // Files of others stay.
    assert_eq!(
        fs::read_to_string(folder.path().join("fit/notes.txt")).expect("there"),
        "mine"
    );
    let config = folder.path().join("fit/config.toml");
    let edited = fs::read_to_string(&config).expect("written") + "# a remark\n";
    fs::write(&config, edited).expect("edited");
    let output = folder.run(&plain);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'config.toml' in it was not written by a fit, or was changed since"));
}

#[test]
fn a_folder_of_version_0_1_is_replaced_as_it_used_to_be() {
    let folder = with_record();
    run(&folder, &fit("1"));
    fs::remove_file(folder.path().join("fit/manifest.json")).expect("written");
    run(
        &folder,
        &["fit", "data.csv", "--model", "arx", "--out", "fit", "--quiet"],
    );
}

#[test]
fn a_mixture_is_recognised() {
    let folder = with_record();
    run(&folder, &fit("1"));
    fs::copy(folder.path().join("fit/model.safetensors"), folder.path().join("one")).expect("copied");
    run(&folder, &fit("2"));
    fs::rename(folder.path().join("one"), folder.path().join("fit/model.safetensors")).expect("mixed");
    assert_snapshot!(folder.transcript(&["predict", "fit", "data.csv"]));
    for command in [
        &["evaluate", "fit", "data.csv"][..],
        &["explain", "fit"],
        &["compare", "fit", "fit"],
        &["report", "fit"],
        &["export", "fit", "--to", "c", "--out", "fit.c"],
    ] {
        let output = folder.run(command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(
            stderr(&output).contains("'model.safetensors' is not the file"),
            "{command:?}: {}",
            stderr(&output)
        );
    }
    // A file that is not read may be what it likes, and without the list nothing is compared.
    run(&folder, &fit("2"));
    folder.write("fit/history.csv", "");
    run(&folder, &["report", "fit"]);
    folder.write("fit/metrics.json", "{}");
    fs::remove_file(folder.path().join("fit/manifest.json")).expect("written");
    run(&folder, &["report", "fit"]);
}

/// At every file operation of a fit: an error, and the end of the program. Afterwards the folder holds the old fit or the new
/// one, and the next fit leaves nothing behind.
#[test]
fn a_fault_at_any_file_operation_leaves_one_fit() {
    let folder = with_record();
    let out = folder.path().join("fit");
    run(&folder, &fit("1"));
    let whole = names(&out);
    let (mut old, mut new) = (0, 0);
    for kind in ["error", "kill"] {
        for operation in 1.. {
            let mut command = folder.command(&fit("2"));
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let output = output.expect("runs");
            if !stderr(&output).contains("injected fault") {
                assert!(output.status.success(), "{}", stderr(&output));
                assert!(operation > 30, "only {operation} operations");
                break;
            }
            if kind == "error" && !output.status.success() {
                assert!(
                    matches!(output.status.code(), Some(1 | 2)),
                    "{operation}: {}",
                    stderr(&output)
                );
                assert!(stderr(&output).contains("hint: "), "{operation}: {}", stderr(&output));
            }
            // What any reader sees.
            run(&folder, &["report", "fit", "--out", "page.html", "--quiet"]);
            let found = seeds(&out);
            assert!(found == ["1"; 3] || found == ["2"; 3], "{kind}:{operation}: {found:?}");
            if output.status.success() {
                assert_eq!(found, ["2"; 3], "{kind}:{operation}");
            }
            if found == ["1"; 3] {
                old += 1
            } else {
                new += 1
            }
            run(&folder, &fit("1"));
            assert_eq!(names(&out), whole, "{kind}:{operation}");
        }
        run(&folder, &fit("1"));
    }
    assert!(old > 40 && new > 10, "{old} old, {new} new");
}

/// Header and source are of one model, or the switch that will make them so is under way and the next export finishes it.
#[test]
fn a_fault_at_any_file_operation_of_an_export_leaves_files_of_one_model() {
    let folder = with_record();
    run(&folder, &fit("1"));
    let export = |lags: &str| {
        run(&folder, &[&fit("1")[..], &["--lags", lags]].concat());
        run(
            &folder,
            &["export", "fit", "--to", "c", "--out", "model.c", "--force", "--quiet"],
        );
        ["model.h", "model.c"].map(|name| fs::read(folder.path().join(name)).expect("exported"))
    };
    let (new, old) = (export("2,0,2"), export("1,0,1"));
    assert!(new[0] != old[0] && new[1] != old[1]);
    run(&folder, &[&fit("1")[..], &["--lags", "2,0,2"]].concat());
    let read = || ["model.h", "model.c"].map(|name| fs::read(folder.path().join(name)).expect("there"));
    let arguments = ["export", "fit", "--to", "c", "--out", "model.c", "--force", "--quiet"];
    for kind in ["error", "kill"] {
        for operation in 1.. {
            for (name, content) in ["model.h", "model.c"].iter().zip(&old) {
                fs::write(folder.path().join(name), content).expect("written");
            }
            let mut command = folder.command(&arguments);
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let output = output.expect("runs");
            let found = read();
            let is_pending = folder.path().join(".intervalid-folder-switch").exists();
            assert!(
                found == old || found == new || (kind == "kill" && is_pending),
                "{kind}:{operation}"
            );
            if !stderr(&output).contains("injected fault") {
                assert!(output.status.success() && found == new && operation > 8);
                break;
            }
            run(&folder, &arguments);
            assert!(read() == new, "{kind}:{operation}");
            assert!(
                !names(folder.path()).iter().any(|name| name.starts_with(".intervalid")),
                "{kind}:{operation}"
            );
        }
    }
}

/// Whatever fails or ends a study, the same command goes on to the same table.
#[test]
fn a_fault_at_any_transaction_of_a_study_is_made_up_for() {
    let folder = Folder::new();
    folder.write(
        "study.toml",
        "name = 's'\ndatasets = ['hair-dryer']\nmodels = ['arx']\ncoverages = [0.9, 0.95]\nseeds = [1, 2]\n",
    );
    let study = |out: &'static str| ["study", "run", "study.toml", "--jobs", "1", "--quiet", "--out", out];
    let table = |out: &str| folder.run(&["study", "table", out, "--format", "csv"]).stdout;
    run(&folder, &study("whole"));
    let whole = table("whole");
    assert!(!whole.is_empty());
    for kind in ["error", "kill"] {
        for operation in 1.. {
            let mut command = folder.command(&study("out"));
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let output = output.expect("runs");
            run(&folder, &study("out"));
            assert!(table("out") == whole, "{kind}:{operation}");
            fs::remove_dir_all(folder.path().join("out")).expect("a study");
            if !stderr(&output).contains("injected fault") {
                assert!(
                    output.status.success() && operation > 2,
                    "{operation}: {}",
                    stderr(&output)
                );
                break;
            }
            assert!(!output.status.success(), "{kind}:{operation}");
        }
    }
}

#[test]
fn a_fault_at_any_file_operation_of_a_report_leaves_the_old_page_or_the_new() {
    let folder = with_record();
    run(&folder, &fit("1"));
    let page = folder.path().join("fit/report.html");
    let new = fs::read(&page).expect("written");
    for kind in ["error", "kill"] {
        for operation in 1.. {
            fs::write(&page, "old").expect("written");
            let mut command = folder.command(&["report", "fit", "--quiet"]);
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let output = output.expect("runs");
            run(&folder, &["compare", "fit", "fit", "--quiet"]);
            let found = fs::read(&page).expect("there");
            assert!(found == b"old" || found == new, "{kind}:{operation}");
            if !stderr(&output).contains("injected fault") {
                assert!(output.status.success() && found == new && operation > 5);
                break;
            }
        }
    }
}

/// Its files are read once the folder is taken: a fit that ends in between would be left with the page of the one before it.
#[test]
fn a_report_takes_the_folder_before_it_reads() {
    let folder = with_record();
    run(&folder, &fit("1"));
    let held = OwnedFolder::take(&folder.path().join("fit")).expect("nobody has it");
    // Whoever read first would find this.
    folder.write("fit/report.json", "{}");
    let text = folder.transcript(&["report", "fit"]);
    assert!(
        text.contains("exit code: 2") && text.contains("another run is writing into this folder"),
        "{text}"
    );
    drop(held);
    let text = folder.transcript(&["report", "fit"]);
    assert!(text.contains("'report.json' is not the file"), "{text}");
}

/// A process that dies among the renames of its first export leaves some of its files in their places and the rest in a hidden folder. The
/// next one must not write beside that: whoever finished it later would put old files over new ones.
#[test]
fn a_switch_that_was_left_is_finished_before_anything_is_written_beside_it() {
    let folder = with_record();
    run(&folder, &fit("1"));
    let out = folder.path().join("out");
    let left = |put: &[&str]| {
        let list: Vec<String> = put.iter().map(|name| format!("{name:?}")).collect();
        let plan = format!("{{\"put\":[{}],\"remove\":[]}}", list.join(","));
        folder.write("out/.intervalid-folder-switch/.plan.json", plan);
        let last = put.last().expect("a file");
        folder.write(&format!("out/.intervalid-folder-switch/{last}"), "of the dead");
    };
    folder.write("out/p.c", "of the dead");
    left(&["p.c", "p.h"]);
    run(&folder, &["export", "fit", "--to", "c", "--out", "out/p.c", "--force"]);
    assert_eq!(names(&out), ["p.c", "p.h"]);
    folder.write("out/page.html", "older");
    left(&["page.html"]);
    run(&folder, &["report", "fit", "--out", "out/page.html"]);
    assert_eq!(names(&out), ["p.c", "p.h", "page.html"]);
    for name in names(&out) {
        let text = fs::read_to_string(out.join(&name)).expect("text");
        assert!(!text.contains("of the dead"), "{name}");
    }
}
