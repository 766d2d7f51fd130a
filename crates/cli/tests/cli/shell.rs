//! Completions and manual pages.

use std::fs;
use std::process::Command;

use crate::promised::{GLOBAL_OPTIONS, OPTIONS};
use crate::support::Folder;

#[test]
fn completions_of_every_shell_know_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = folder.run(&["completions", shell]);
        let script = String::from_utf8(output.stdout).expect("text");
        for verb in OPTIONS.iter().filter_map(|(command, _)| command.first()) {
            assert!(script.contains(verb), "{shell} completes {verb}");
        }
        assert!(script.contains("sample-time"), "{shell} completes options");
        let json = folder.json(&["completions", shell, "--json"]);
        assert_eq!(json["shell"], shell);
        assert_eq!(json["script"].as_str().map(str::trim_end), Some(script.trim_end()));
    }
    assert_eq!(folder.run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn bash_loads_its_script_and_completes() {
    let folder = Folder::new();
    folder.write("intervalid.bash", folder.run(&["completions", "bash"]).stdout);
    let complete = |words: &[&str]| {
        let script = format!(
            "source ./intervalid.bash\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_intervalid intervalid {2} ''\necho \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words.last().expect("a word"),
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &script])
            .current_dir(folder.path())
            .output()
            .expect("bash runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    assert_eq!(complete(&["intervalid", "ev"]), "evaluate");
    assert_eq!(complete(&["intervalid", "study", "fig"]), "figures");
    assert_eq!(complete(&["intervalid", "fit", "--cov"]), "--coverage");
}

#[test]
fn manual_pages_hold_every_option_of_every_command() {
    let folder = Folder::new();
    let written = folder.json(&["man", "--out", "man1", "--json"]);
    assert_eq!(written["out"], "man1");
    // Groups have pages besides.
    assert_eq!(written["pages"].as_array().map(Vec::len), Some(OPTIONS.len() + 3));
    for &(command, own) in OPTIONS {
        let name = [&["intervalid"], command].concat().join("-");
        let page = fs::read_to_string(folder.path().join(format!("man1/{name}.1"))).expect(&name);
        for option in own.split_whitespace().chain(GLOBAL_OPTIONS.split_whitespace()) {
            let roff = format!("\\-\\-{}", option.replace('-', "\\-"));
            assert!(page.contains(&roff), "--{option} in {name}.1");
        }
        assert!(
            page.contains(".SH EXAMPLES\n.nf\n"),
            "examples in {name}.1, line by line"
        );
        assert!(
            page.starts_with(".ie") || page.contains(".TH intervalid"),
            "{name}.1 has a title"
        );
    }
    let printed = folder.run(&["man"]);
    let main = fs::read(folder.path().join("man1/intervalid.1")).expect("written");
    assert_eq!(
        String::from_utf8_lossy(&printed.stdout).trim_end(),
        String::from_utf8_lossy(&main).trim_end()
    );

    // Where groff is installed it finds nothing to complain about.
    let pages = fs::read_dir(folder.path().join("man1"))
        .expect("a folder")
        .map(|entry| entry.expect("a page").path());
    for page in pages {
        let Ok(output) = Command::new("groff")
            .args(["-man", "-Tutf8", "-ww", "-z"])
            .arg(&page)
            .output()
        else {
            return;
        };
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", page.display());
    }
}
