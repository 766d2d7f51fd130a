//! Saving.

use intervalid_figure::{FigureError, SAVED_PNG_SCALE, Style};

use crate::band;

#[test]
fn extension_chooses_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let figure = band(20).draw(&Style::default()).unwrap();
    for name in ["a.svg", "b.png", "C.PNG"] {
        figure.save(folder.path().join(name)).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a.svg")).unwrap(),
        figure.to_svg()
    );
    assert_eq!(
        std::fs::read(folder.path().join("b.png")).unwrap(),
        figure.to_png(SAVED_PNG_SCALE).unwrap()
    );
    // Nothing temporary stays behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[cfg(unix)]
#[test]
fn files_have_the_permissions_of_any_other() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let (saved, plain) = (folder.path().join("a.svg"), folder.path().join("b"));
    band(20).draw(&Style::default()).unwrap().save(&saved).unwrap();
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&saved), mode(&plain));
}

#[test]
fn other_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let figure = band(20).draw(&Style::default()).unwrap();
    for name in ["a.pdf", "svg", ".png", "a."] {
        let error = figure.save(folder.path().join(name)).unwrap_err();
        assert!(matches!(error, FigureError::Extension { .. }), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = figure.save(folder.path().join("missing").join("a.svg")).unwrap_err();
    assert!(matches!(error, FigureError::Write { .. }));
}
