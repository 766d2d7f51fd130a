//! The name of an export is a user's own: none that can prefix names in C may clash with names of ours.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};
use std::process::Command;

use intervalid_deploy::{COptions, FmiVersion, FmuOptions, StepProgram, c_code, fmu};
use intervalid_model::{CoverageTest, Monitor, MonitorConfig};
use tempfile::TempDir;

use crate::models::{Case, cases};
use crate::tools::{run, tool, write};

/// A name that nothing of ours begins with.
const UNIQUE: &str = "zzq";

fn c_files(plan: &StepProgram, name: &str, monitor: &CoverageTest) -> [(String, String); 2] {
    let options = COptions {
        name: name.to_owned(),
        jacobian: true,
        monitor: Some(monitor.clone()),
        ..COptions::default()
    };
    let code = c_code(plan, &options).unwrap();
    [(format!("{name}.h"), code.header), (format!("{name}.c"), code.source)]
}

fn fmu_options(name: &str, version: FmiVersion, with_binary: bool, monitor: &CoverageTest) -> FmuOptions {
    FmuOptions {
        name: name.to_owned(),
        version,
        with_binary,
        monitor: Some(monitor.clone()),
    }
}

/// All that is written in C for a model under a name.
fn all_code(plan: &StepProgram, name: &str, monitor: &CoverageTest) -> String {
    let mut text: String = c_files(plan, name, monitor).map(|(_, text)| text).concat();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        let package = fmu(plan, &fmu_options(name, version, false, monitor)).unwrap();
        let mut archive = zip::ZipArchive::new(Cursor::new(package.bytes)).unwrap();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            if file.name().unwrap().ends_with(".c") {
                file.read_to_string(&mut text).unwrap();
            }
        }
    }
    text
}

/// Prefixes with which an exported name becomes one that the code has already.
fn hostile(code: &str) -> BTreeSet<String> {
    let words: BTreeSet<&str> = code
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
        .collect();
    let exported = |word: &&str| word.to_ascii_lowercase().starts_with(UNIQUE);
    let endings: Vec<&str> = words
        .iter()
        .filter(|word| exported(word))
        .map(|word| &word[UNIQUE.len()..])
        .filter(|ending| ending.starts_with('_'))
        .collect();
    let own = words.iter().filter(|word| !exported(word));
    let prefix = |word: &&str| {
        let of = |ending: &&str| word.strip_suffix(*ending).filter(|prefix| !prefix.is_empty());
        endings
            .iter()
            .filter_map(of)
            .map(str::to_ascii_lowercase)
            .collect::<Vec<_>>()
    };
    own.flat_map(prefix).collect()
}

fn assert_compiles(case: &Case, name: &str, gcc: &str) {
    let plan = StepProgram::new(&case.model).unwrap();
    let monitor = Monitor::new(&case.model, MonitorConfig::default())
        .unwrap()
        .coverage_test();
    let folder = TempDir::new().unwrap();
    for (file, text) in c_files(&plan, name, &monitor) {
        write(folder.path(), &file, &text);
    }
    let mut command = Command::new(gcc);
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
    run(command.args(flags).arg(format!("{name}.c")).current_dir(folder.path()));
    for version in [FmiVersion::V2, FmiVersion::V3] {
        let package = fmu(&plan, &fmu_options(name, version, true, &monitor));
        assert!(package.is_ok_and(|package| package.has_binary), "{name}.fmu");
    }
}

#[test]
fn no_name_of_a_user_clashes_with_one_of_ours() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let cases = cases();
    let mut names: BTreeSet<String> = ["run", "inner", "watch", "show", "is", "as_run"]
        .map(str::to_owned)
        .into();
    for case in &cases {
        let plan = StepProgram::new(&case.model).unwrap();
        let monitor = Monitor::new(&case.model, MonitorConfig::default())
            .unwrap()
            .coverage_test();
        let found = hostile(&all_code(&plan, UNIQUE, &monitor));
        if names.is_superset(&found) {
            continue;
        }
        names.extend(found.iter().cloned());
        for name in found {
            assert_compiles(case, &name, &gcc);
        }
    }
    for name in &names {
        assert_compiles(&cases[0], name, &gcc);
    }
}
