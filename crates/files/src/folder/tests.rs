use super::*;

fn write(folder: &Path, files: &[(&str, &str)], obsolete: &[&str]) -> Result<()> {
    let owned = OwnedFolder::take(folder)?;
    let mut staged = owned.stage()?;
    for (name, content) in files {
        staged.write(name, content.as_bytes())?;
    }
    staged.switch(obsolete)
}

/// Names and content of a folder, without the list.
fn content(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, _)| name != MANIFEST)
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    found
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn files_are_replaced_together_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    write(folder.path(), &[("a", "1"), ("b", "1")], &[]).unwrap();
    settle(folder.path(), &["a", "b", "c"]).unwrap();
    write(folder.path(), &[("a", "2"), ("c", "2")], &["a", "b"]).unwrap();
    settle(folder.path(), &["a", "b", "c"]).unwrap();
    assert_eq!(
        content(folder.path()),
        pairs(&[("a", "2"), ("c", "2"), ("notes.txt", "mine")])
    );
    // Others may be added to what is listed.
    write(folder.path(), &[("d", "3")], &[]).unwrap();
    let owned = OwnedFolder::take(folder.path()).unwrap();
    assert_eq!(
        owned.manifest().unwrap().unwrap().names().collect::<Vec<_>>(),
        ["a", "c", "d"]
    );
    assert_eq!(
        owned.foreign(&["a", "c", "d", "notes.txt", "absent"]).unwrap(),
        ["notes.txt"]
    );
}

#[test]
fn files_in_a_folder_of_the_users_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let held = OwnedFolder::take(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let owned = OwnedFolder::take_in_turn(folder.path()).unwrap();
            let mut staged = owned.stage().unwrap();
            staged.write("model.h", b"1").unwrap();
            staged.write("model.c", b"1").unwrap();
            staged.switch_unlisted().unwrap();
        });
        std::thread::sleep(Duration::from_millis(30));
        drop(held);
        writer.join().unwrap();
    });
    assert_eq!(content(folder.path()), pairs(&[("model.c", "1"), ("model.h", "1")]));
    assert!(!folder.path().join(MANIFEST).exists());
}

#[test]
fn one_owner_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let owned = OwnedFolder::take(folder.path()).unwrap();
    assert!(matches!(
        OwnedFolder::take(folder.path()),
        Err(FolderError::Locked { .. })
    ));
    drop(owned);
    OwnedFolder::take(folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no lock is left");
}

#[test]
fn a_mixture_is_recognised_and_so_is_a_file_that_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a", "1"), ("b", "1")], &[]).unwrap();
    fs::write(folder.path().join("b"), "2").unwrap();
    let found = settle(folder.path(), &["a", "b", "c"]).unwrap_err();
    assert!(
        matches!(&found, FolderError::Changed { file, .. } if file == "b"),
        "{found}"
    );
    let owned = OwnedFolder::take(folder.path()).unwrap();
    assert_eq!(owned.foreign(&["a", "b"]).unwrap(), ["b"]);
}

/// Whatever was done of a switch when its process was killed, the next reader sees all of it.
#[test]
fn a_switch_is_finished_from_wherever_it_was_left() {
    for moved in 0..=3 {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("a", "1"), ("b", "1"), ("old", "1")], &[]).unwrap();
        let other = tempfile::tempdir().unwrap();
        write(other.path(), &[("a", "2"), ("b", "2")], &[]).unwrap();
        let switch = folder.path().join(SWITCH);
        fs::create_dir(&switch).unwrap();
        for name in ["a", "b", MANIFEST] {
            // Miri knows no `fs::copy`.
            fs::write(switch.join(name), fs::read(other.path().join(name)).unwrap()).unwrap();
        }
        fs::write(switch.join(PLAN), r#"{"put": ["a", "b"], "remove": ["old"]}"#).unwrap();
        for name in ["a", "b", MANIFEST].iter().take(moved) {
            fs::rename(switch.join(name), folder.path().join(name)).unwrap();
        }
        settle(folder.path(), &["a", "b", "c"]).unwrap();
        assert_eq!(
            content(folder.path()),
            pairs(&[("a", "2"), ("b", "2")]),
            "{moved} moved"
        );
    }
}

#[test]
fn what_was_not_decided_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a", "1")], &[]).unwrap();
    fs::create_dir(folder.path().join(STAGED)).unwrap();
    fs::write(folder.path().join(STAGED).join("a"), "2").unwrap();
    fs::write(folder.path().join(".intervalid-Ab3dE9"), "half").unwrap();
    fs::write(folder.path().join(FOLDER_LOCK), "").unwrap();
    drop(OwnedFolder::take(folder.path()).unwrap());
    assert_eq!(content(folder.path()), pairs(&[("a", "1")]));
    // Files that were staged and never switched go as well.
    let owned = OwnedFolder::take(folder.path()).unwrap();
    owned.stage().unwrap().write("a", b"2").unwrap();
    assert_eq!(content(folder.path()).len(), 2, "the file and the lock");
}

#[test]
fn a_plan_cannot_reach_outside_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir_all(inner.join(SWITCH)).unwrap();
    fs::write(folder.path().join("precious"), "x").unwrap();
    for plan in [
        r#"{"put": [], "remove": ["../precious"]}"#,
        r#"{"put": ["../precious"], "remove": []}"#,
        "{}",
        "",
    ] {
        fs::write(inner.join(SWITCH).join(PLAN), plan).unwrap();
        assert!(
            matches!(settle(&inner, &[]), Err(FolderError::Damaged { .. })),
            "{plan}"
        );
    }
    assert_eq!(fs::read_to_string(folder.path().join("precious")).unwrap(), "x");
}

#[cfg(unix)]
#[test]
fn a_plan_or_a_switch_that_is_a_link_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let switch = inner.join(SWITCH);
    fs::create_dir_all(&switch).unwrap();
    let refused = |words: &str| match settle(&inner, &[]) {
        Err(FolderError::Damaged { reason, .. }) => assert!(reason.contains(words), "{reason}"),
        other => panic!("{other:?}"),
    };
    std::os::unix::fs::symlink("/dev/zero", switch.join(PLAN)).unwrap();
    refused("it is a link");
    fs::remove_file(switch.join(PLAN)).unwrap();
    fs::write(switch.join(PLAN), vec![b' '; MOST_PLAN_BYTES as usize + 1]).unwrap();
    refused("too long");
    // The files of a folder elsewhere are not moved.
    let outside = folder.path().join("outside");
    fs::rename(&switch, &outside).unwrap();
    fs::write(outside.join(PLAN), r#"{"put": ["a"], "remove": []}"#).unwrap();
    fs::write(outside.join("a"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, &switch).unwrap();
    refused("it is a link");
    assert!(outside.join("a").exists() && !inner.join("a").exists());
}

/// Of a first export there is no list yet: files that are on their way are waited for all the same.
#[test]
fn a_switch_under_way_is_waited_for_without_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let owned = OwnedFolder::take(folder.path()).unwrap();
    let switch = folder.path().join(SWITCH);
    fs::create_dir(&switch).unwrap();
    fs::write(switch.join("a"), "1").unwrap();
    fs::write(switch.join(PLAN), r#"{"put": ["a"], "remove": []}"#).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            drop(owned);
        });
        settle(folder.path(), &["a"]).unwrap();
        assert_eq!(content(folder.path()), pairs(&[("a", "1")]));
    });
}

#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "Miri changes no permissions")]
fn files_that_are_replaced_together_keep_who_may_read_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a", "1"), ("b", "1")], &[]).unwrap();
    let a = folder.path().join("a");
    fs::set_permissions(&a, fs::Permissions::from_mode(0o600)).unwrap();
    write(folder.path(), &[("a", "2"), ("b", "2")], &[]).unwrap();
    assert_eq!(fs::metadata(&a).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn readers_meet_whole_states_while_writers_switch() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a", "0"), ("b", "0")], &[]).unwrap();
    // Miri takes a second for each.
    let last = if cfg!(miri) { 4 } else { 59 };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=last {
                let text = round.to_string();
                write(folder.path(), &[("a", &text), ("b", &text)], &[]).unwrap();
            }
        });
        while !writer.is_finished() {
            match settle(folder.path(), &["a", "b", "c"]) {
                Ok(()) | Err(FolderError::Locked { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    let last = last.to_string();
    assert_eq!(content(folder.path()), pairs(&[("a", &last), ("b", &last)]));
}
