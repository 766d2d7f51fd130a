//! What users remark on fits: pins and notes. They are kept by the name of the fit's folder and follow it into the bin and back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::state::Remembered;

/// Longer notes belong into a document.
const LONGEST_NOTE: usize = 4000;

/// What a user remarked on a fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Remark {
    /// Whether it stands above the others.
    pub(crate) pinned: bool,
    /// Any text.
    pub(crate) note: String,
}

impl Remark {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl App {
    /// What was remarked on a fit.
    pub(crate) fn remark_on(&self, name: &str) -> Remark {
        self.store
            .read(|kept| kept.remarks.get(name).cloned().unwrap_or_default())
    }

    /// Pins a fit, or writes a note to it.
    pub(crate) fn remark(&self, name: &str, remark: Remark) -> ApiResult<()> {
        self.workspace.fit(name)?;
        let characters = remark.note.chars().count();
        if characters > LONGEST_NOTE {
            return Err(ApiError::bad(format!(
                "a note of {characters} characters: expected at most {LONGEST_NOTE}"
            )));
        }
        self.store.change(|kept| {
            match remark.is_empty() {
                true => kept.remarks.remove(name),
                false => kept.remarks.insert(name.to_owned(), remark),
            };
        })?;
        self.queue.tell_listing();
        Ok(())
    }

    /// A fit of that name is another one from now on.
    pub(crate) fn forget_remark(&self, name: &str) -> ApiResult<()> {
        self.drop_remark(Place::Workspace(name))
    }

    /// Writes what was remarked on a fit under the name that it is about to have as well: whenever its move is cut short, it has its
    /// remark. Nothing of an earlier fit of that name is left.
    pub(crate) fn copy_remark(&self, from: Place<'_>, to: Place<'_>) -> ApiResult<()> {
        self.store.change(|kept| {
            match from.remarks(kept).get(from.name()).cloned() {
                Some(remark) => to.remarks(kept).insert(to.name().to_owned(), remark),
                None => to.remarks(kept).remove(to.name()),
            };
        })
    }

    /// Nothing of that name is there any more.
    pub(crate) fn drop_remark(&self, of: Place<'_>) -> ApiResult<()> {
        let has_one = |kept: &Remembered| match of {
            Place::Workspace(name) => kept.remarks.contains_key(name),
            Place::Bin(name) => kept.bin_remarks.contains_key(name),
        };
        match self.store.read(has_one) {
            true => self.store.change(|kept| {
                of.remarks(kept).remove(of.name());
            }),
            false => Ok(()),
        }
    }
}

/// Where a fit is, by the name that it has there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Workspace(&'a str),
    Bin(&'a str),
}

impl<'a> Place<'a> {
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Workspace(name) | Self::Bin(name) => name,
        }
    }

    fn remarks(self, kept: &mut Remembered) -> &mut BTreeMap<String, Remark> {
        match self {
            Self::Workspace(_) => &mut kept.remarks,
            Self::Bin(_) => &mut kept.bin_remarks,
        }
    }
}
